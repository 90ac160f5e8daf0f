"""Coverage of the intervals of fitted parameters, over many logs of profiles with known numbers."""

import numpy as np
import pytest

from bbfalsify.fitting.delays import (
    check_law,
    check_uniform,
    delays_and_waits,
    exponential_or_uniform,
    fit_bounds,
    fit_rate,
)
from bbfalsify.fitting.stays import Stay
from bbfalsify.fitting.weights import fit_weights

LOGS = 2000
SLACK = 4 * (0.05 * 0.95 / LOGS) ** 0.5
"""Four standard errors of a coverage of 95 % over so many logs: a false alarm in 1 of 15,000."""


@pytest.mark.slow
def test_intervals_of_rates_cover():
    """Null: coverage is 95 %, exactly for 30 whole delays, at least that where a log ends after 60 units of time.

    2,000 logs each; ±4 standard errors (0.0195), false-alarm rate 6e-5 each; a coverage below 0.93 is caught.
    """
    rng = np.random.default_rng(11)
    whole = cut = 0
    for _ in range(LOGS):
        delays = rng.exponential(2.0, size=30)
        rate = fit_rate([Stay(((0.0, d),), None, True, d) for d in delays])
        whole += rate.low <= 0.5 <= rate.high
        times = np.cumsum(rng.exponential(2.0, size=200))
        inside = np.diff(np.concatenate([[0.0], times[times < 60], [60.0]]))
        stays = [Stay(((0.0, d),), None, True, d) for d in inside[:-1]] + [Stay(((0.0, inside[-1]),), None, False, 0.0)]
        rate = fit_rate(stays)
        cut += rate.low <= 0.5 <= rate.high
    assert abs(whole / LOGS - 0.95) <= SLACK
    assert cut / LOGS >= 0.95 - SLACK


@pytest.mark.slow
@pytest.mark.parametrize("steps", [60, 400])
def test_intervals_of_shares_cover(steps):
    """Null: coverage is at least 95 % where the sets agree (Clopper–Pearson), about 95 % where they change (delta).

    The law of the weather: four edges, the last two only possible in 2/9 of the choices; 2,000 logs.  The delta method
    is asymptotic: 0.93 is asked of 400 choices and 0.90 of 60; false-alarm rate below 6e-5; a method that counted
    choices without a rival would cover the heater's share in less than 0.9 of the logs.
    """
    rng = np.random.default_rng(12)
    weights = np.array([4.0, 4.0, 2.0, 1.0])
    covered = np.zeros(4)
    simple = 0
    for _ in range(LOGS):
        choices = {}
        for late in rng.random(steps) < 2 / 9:
            possible = 4 if late else 2
            taken = int(rng.choice(possible, p=weights[:possible] / weights[:possible].sum()))
            key = (taken, tuple((e, 1) for e in range(possible)))
            choices[key] = choices.get(key, 0) + 1
        fitted = fit_weights(choices, dict.fromkeys(range(4), 1.0))
        for e, share in enumerate(weights / weights.sum()):
            covered[e] += e in fitted and fitted[e].share.low <= share <= fitted[e].share.high
        on = int(rng.binomial(steps, 0.25))
        both = {("on", (("off", 1), ("on", 1))): on, ("off", (("off", 1), ("on", 1))): steps - on}
        share = fit_weights({c: n for c, n in both.items() if n}, {"on": 1.0, "off": 1.0})["on"].share
        simple += share.low <= 0.25 <= share.high
    assert simple / LOGS >= 0.95 - SLACK
    assert np.all(covered / LOGS >= (0.93 if steps == 400 else 0.90))


@pytest.mark.slow
def test_ends_of_uniform_laws_cover_and_are_unbiased():
    """Null: both limits hold in 95 % of 2,000 logs of 20 delays on [3, 5], and the ends have means 3 and 5.

    ±4 standard errors; the uncorrected extremes would be off by 2/21 = 0.095, which is 45 standard errors.
    """
    rng = np.random.default_rng(13)
    ends = np.empty((LOGS, 2))
    low = high = 0
    for i in range(LOGS):
        found = fit_bounds(rng.uniform(3, 5, 20).tolist())
        ends[i] = found.low, found.high
        low, high = low + (found.low_least <= 3), high + (found.high_most >= 5)
    errors = ends.std(axis=0) / LOGS**0.5
    assert np.all(np.abs(ends.mean(axis=0) - [3, 5]) <= 4 * errors)
    assert abs(low / LOGS - 0.95) <= SLACK and abs(high / LOGS - 0.95) <= SLACK


WINDOW = 4.0
"""Each session is watched for twice the mean delay of all laws below; about a third of all stays are censored."""
LAWS = {
    "exponential": lambda rng: rng.exponential(2.0),
    "uniform": lambda rng: rng.uniform(1.0, 3.0),
    "gamma": lambda rng: rng.gamma(2.0, 1.0),
    "triangular": lambda rng: rng.triangular(1.0, 2.0, 3.0),
}


def watched(law, rng, sessions=100, *, low=0.0, bound=None):
    """Stays of users who act again and again until nobody watches them any more."""
    stays = []
    for _ in range(sessions):
        left = WINDOW
        while left > 0:
            delay = LAWS[law](rng)
            waited = min(delay, left)
            stays.append(Stay(((low, waited),) if waited > low else (), bound, delay <= left, waited))
            left -= waited
    return stays


def as_exponential(stays):
    return check_law(stays, fit_rate(stays).value, fitted=True)


def as_uniform(stays):
    between = [Stay(((1.0, s.delay),) if s.delay > 1.0 else (), 3.0, s.acted, s.delay) for s in stays]
    return check_law(between, None, fitted=False)


def as_fitted_uniform(stays):
    delays, waits = delays_and_waits(stays)
    ends = fit_bounds(delays, waits=waits)
    return check_uniform(
        [Stay(((ends.low, s.delay),) if s.delay > ends.low else (), ends.high, s.acted, s.delay) for s in stays]
    )


@pytest.mark.parametrize(
    ("law", "test"),
    [("exponential", as_exponential), ("uniform", as_uniform), ("uniform", as_fitted_uniform)],
    ids=["exponential", "uniform", "uniform with fitted ends"],
)
def test_the_right_law_of_censored_delays_is_refused_at_the_nominal_level(law, test):
    """Null: p <= 0.05 in 5 % of the samples; 200 samples of 100 sessions, watched for twice the mean delay.

    1 to 25 refusals are accepted: false-alarm rate 5e-5.  Without the censored stays 77, 115 and 140 samples were
    refused; a level of 0.2 is caught with probability 0.996.
    """
    rng = np.random.default_rng(14)
    refused = sum(test(watched(law, rng)).p <= 0.05 for _ in range(200))
    assert 1 <= refused <= 25


@pytest.mark.parametrize(
    ("law", "test"),
    [("uniform", as_exponential), ("gamma", as_exponential), ("triangular", as_uniform)],
)
def test_a_wrong_law_of_censored_delays_is_refused(law, test):
    """Power at the 1 % level, 200 samples of 100 sessions: uniform taken for exponential 1.0, gamma of shape 2 taken
    for exponential 0.99, triangular taken for uniform 0.83.  At least 0.7 is asked, 4 standard errors (0.027) less.
    """
    rng = np.random.default_rng(15)
    assert sum(test(watched(law, rng)).doubtful for _ in range(200)) >= 140


@pytest.mark.parametrize("law", ["exponential", "uniform"])
def test_the_right_law_of_censored_delays_is_chosen(law):
    """200 samples of 100 sessions; Akaike's criterion erred in none of 400 such samples, and 2 % may be wrong."""
    rng = np.random.default_rng(16)
    chosen = [exponential_or_uniform(*delays_and_waits(watched(law, rng)))[0] for _ in range(200)]
    assert chosen.count(law) >= 196


def test_the_upper_end_of_a_uniform_law_is_found_from_censored_delays():
    """Null: the limit holds in at least 95 % of 200 samples, and the mean of the end is 3 within 1 %.

    At most 22 misses: false-alarm rate 2e-4 at 5 %.  Caught: a coverage below 0.85, and an end that is off by 0.04.
    """
    rng = np.random.default_rng(17)
    found = [fit_bounds(d, waits=w) for d, w in (delays_and_waits(watched("uniform", rng)) for _ in range(200))]
    assert sum(ends.high_most < 3 for ends in found) <= 22
    assert np.mean([ends.high for ends in found]) == pytest.approx(3.0, rel=0.01)
