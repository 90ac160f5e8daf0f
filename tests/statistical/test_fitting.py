"""Coverage of the intervals of fitted parameters, over many logs of profiles with known numbers."""

import numpy as np
import pytest

from bbfalsify.fitting.delays import fit_bounds, fit_rate
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
