"""The self-check of a run: it finds estimates that the run's own walks contradict, and leaves right ones alone."""

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.estimates import estimating
from bbfalsify.engines.falsification.estimates.self_check import FALSE_ALARMS, PlainWalks, contradictions
from bbfalsify.engines.falsification.search import probable, search
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import parse_profile
from bbfalsify.reporting.terminal.falsify import falsification_lines
from bbfalsify.results.self_check import Meetings
from bbfalsify.stats.intervals import Passes
from tests.support.chooser import COMMITTED
from tests.unit.engines.test_instants import copier


def passes_of(p, rng, passes=10, traces=100):
    """As splitting along a word with cylinder 2p (exactly known) sees it."""
    return Passes((2 * p,) * passes, tuple(rng.binomial(traces, 0.5, passes).tolist()), (traces,) * passes, exact=True)


def test_right_numbers_raise_alarms_as_seldom_as_stated():
    """Null hypothesis: the false-alarm rate is at most 0.001 per run of ten rows.

    1,000 runs: at most 5 alarms with probability 0.9994 if the rate is 0.001 (it is far lower: Bonferroni and
    the confidence sequence are cautious); a check at 95 % for each row would raise dozens.
    """
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(1000):
        p = rng.uniform(0.0005, 0.05, 10)
        walks = rng.integers(50, 2000, 10)
        rows = [(passes_of(q, rng), Meetings(int(rng.binomial(n, q)), int(n))) for q, n in zip(p, walks, strict=True)]
        alarms += bool(contradictions(rows))
    assert alarms <= 5 and FALSE_ALARMS == 1e-3


@pytest.mark.parametrize(("met", "too_low"), [(60, True), (0, False)])
def test_wrong_numbers_are_found_on_both_sides(met, too_low):
    rng = np.random.default_rng(2)
    right, wrong = (passes_of(0.02, rng), Meetings(20, 1000)), (passes_of(0.02, rng), Meetings(met, 1000))
    [found] = contradictions([right, wrong])
    assert found.row == 1 and (found.share[0] > found.estimate.high) is too_low
    unknown = contradictions([(wrong[0], Meetings(0, 1000, unknown=1000))])
    assert unknown == []  # who was not judged may have met it
    assert contradictions([(wrong[0], Meetings())]) == []


def test_only_walks_after_the_discovery_count():
    walks = PlainWalks()
    walks.count([(0, ("a",))], judged=True)
    walks.know(0, ("a",))
    for key in (("a",), ("b",)):
        walks.count([(0, key)], judged=True)
    walks.count((), judged=False)
    assert walks.meetings(0, ("a",)) == Meetings(1, 3, 1)
    assert walks.meetings(0, ("b",)) == walks.meetings(1, ("a",)) == Meetings(0, 0, 0)


def whole_run(**options):
    requirement = Requirement("R1", "", parse_stl("always[0:3](y <= 0.5)"))
    return falsify(
        copier, parse_profile(COMMITTED), [requirement], horizon=3.0, seed=1, executor="in-process",
        options=Options(simulations=660, shrink=0), **options,
    )  # fmt: skip


@pytest.mark.parametrize("baseline", [None, smc.SmcOptions(simulations=300)])
def test_a_key_attributed_to_the_wrong_step_is_called_wrong_loudly(monkeypatch, baseline):
    """The mistake that this check was made for: the key ends with the first action of its moment."""
    fine = whole_run(baseline=baseline)
    assert fine.self_check.contradictions == () and fine.self_check.rows == len(fine.counterexamples)
    first = fine.counterexamples[0].as_json()["met_by_plain_walks"]
    assert first["walks"] > (300 if baseline else 20) and 0.1 < first["met"] / first["walks"] < 0.4
    for module in (search, estimating, smc):
        monkeypatch.setattr(module, "violating_step", lambda times, t: int(np.searchsorted(times, t)) + 1)
    for module in (estimating, probable):
        monkeypatch.setattr(module, "whole_moments", lambda model, walks, seeds: list(walks))
    result = whole_run(baseline=baseline)
    found = result.self_check.contradictions
    assert ("a",) in [c.actions for c in found] and result.as_json()["self_check"]["false_alarm_rate"] == FALSE_ALARMS
    assert result.notes[0].startswith("WARNING: the probability of R1 #")
    assert "\nWARNING: " in str(result)
    lines = [line for line in falsification_lines(result.as_json(), 120, False) if isinstance(line, str)]
    assert sum(line.startswith("WARNING: ") for line in lines) == len(found)
