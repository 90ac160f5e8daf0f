"""Failures of sensors as a profile: the ranked list and the estimates against the exact Markov chain.

The oracle for a sequence of failures and repairs is a chain written by hand: state i is left at the total rate of what
can happen after i steps, and for i + 1 at the rate of the next step.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

from bbfalsify import Options, Requirement, falsify, load_profile, parse_stl
from bbfalsify.chains import answer_csl, explore_chain
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.modelling import load_network
from bbfalsify.records.recording import Recording
from bbfalsify.running.estimate.closed_loop import estimate_use
from bbfalsify.systems import load_system

ROOT = Path(__file__).parents[2]
PROFILE = ROOT / "profiles/sensor_faults.yaml"
TRUSTED = Requirement("R1", "", parse_stl("always[0:30](out_ok >= 0.5)"))
DAYS, FAILS, REPAIRS = 30.0, {1: 0.02, 2: 0.01, 3: 0.01}, 1.0
TOTAL = 0.02691620178


def voter():
    return load_system("adapters/voter", base=ROOT)


def exact(actions):
    """Probability that the sensors do exactly this first, within the 30 days."""
    rates = np.zeros((len(actions) + 1, len(actions) + 1))
    broken: set[int] = set()
    for step, action in enumerate(actions):
        sensor = int(action[-2])
        fails = action.startswith("fail")
        rates[step, step] = -sum(REPAIRS if s in broken else rate for s, rate in FAILS.items())
        rates[step, step + 1] = FAILS[sensor] if fails else REPAIRS
        broken ^= {sensor}
    return expm(rates * DAYS)[0, -1]


def test_the_chain_gives_the_total_of_a_matrix_written_by_hand():
    chain = explore_chain(load_network(PROFILE))
    answer = answer_csl(chain, "P=? [ F<=30 failed >= 2 ]")
    alone = np.array([[-sum(FAILS.values()), *FAILS.values(), 0.0]] + [[0.0] * 5 for _ in range(4)])
    for sensor, rate in FAILS.items():
        others = sum(FAILS.values()) - rate
        alone[sensor, [0, sensor, 4]] = REPAIRS, -(REPAIRS + others), others
    assert answer.value == pytest.approx(expm(alone * DAYS)[0, 4], rel=1e-9) == pytest.approx(TOTAL, rel=1e-9)


def test_the_sequences_of_failures_have_their_exact_probabilities():
    """Null hypothesis: each of six intervals covers with 99.9 %, as does the total: at most 0.7 % false alarms.

    An estimator that gives half or twice the probability is caught: the intervals are within 40 % of the truth.
    """
    options = Options(
        counterexamples=6, simulations=200, passes=10, traces=40, confidence=0.999, shrink=0, fan=0, sensitivity=False
    )
    result = falsify(voter(), load_profile(PROFILE), [TRUSTED], horizon=DAYS, options=options, seed=1, out=None)
    rows, overall = result.listed("R1"), result.requirements[0]
    assert len(rows) == 6
    for row in rows:
        low, truth, high = row.probability.low, exact(row.actions), row.probability.high
        assert low <= truth <= high and 0.6 * truth < low and high < 1.4 * truth, row.actions
        assert row.actions[-1].startswith("fail"), "the failure that outvotes the others ends the sequence"
    # The four most probable ones are the pairs with the old sensor.
    assert {row.actions for row in rows[:4]} == {
        ("fail[1]", "fail[2]"), ("fail[2]", "fail[1]"), ("fail[1]", "fail[3]"), ("fail[3]", "fail[1]"),
    }  # fmt: skip
    assert overall.violation is not None and overall.unseen is not None
    assert sum(exact(row.actions) for row in rows) < TOTAL <= overall.violation.high + overall.unseen.high
    assert overall.violation.low <= TOTAL


def test_plain_simulation_of_the_voter_covers_the_chain():
    """Null hypothesis: the interval covers the chain's total with 99.9 % (false alarms at most 0.1 %).

    Twice the probability is caught in 97 % of the cases, a third of it in 96 %.
    """
    settings = EstimateSettings(horizon=DAYS, runs=2000, confidence=0.999)
    [row] = estimate_use(
        voter(), load_profile(PROFILE), [TRUSTED], settings, seed=1, recording=Recording(out=None)
    ).requirements
    assert row.estimate.samples == 2000 and row.estimate.low <= TOTAL <= row.estimate.high
