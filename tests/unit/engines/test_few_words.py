"""Profiles with few words: counted, and no reason to search on for ever."""

from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, StopReason, Verdict
from bbfalsify.engines.falsification.engine import Progress, run
from bbfalsify.engines.falsification.search.few_words import count_words
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.modelling import load_profile, parse_profile
from tests import heater
from tests.unit.engines.test_falsification import Quiet

ROOT = Path(__file__).parents[3]


def usage_of(profile, duration=30.0):
    return Usage(profile, compile_network(profile.network), duration, 1.0)


def driver_profile():
    return load_profile(ROOT / "profiles" / "throttle_and_brake.yaml")


def test_a_profile_whose_only_choice_is_in_its_values_has_a_word_per_step():
    # begin at 0, change at 5, 10, …, 30, and the one after the horizon
    assert count_words(usage_of(driver_profile()), 10, SeedTree(0)) == 8
    assert count_words(usage_of(driver_profile()), 7, SeedTree(0)) is None


def test_a_profile_that_branches_has_more():
    assert count_words(usage_of(parse_profile(heater.PROFILE), 20.0), 10, SeedTree(0)) is None


@pytest.mark.parametrize("search", ["first", "probable"])
def test_a_search_that_has_found_nothing_goes_on(search):
    def ask(queries):
        return [Answer(SimulationStatus.OK, (Judgement(Verdict.SATISFIED, 1.0),)) for _ in queries]

    progress, options = Progress(), Options(search=search, simulations=300, patience=50, passes=0)
    run(ask, usage_of(driver_profile()), progress, options, requirements=1, seeds=SeedTree(1), listener=Quiet())
    assert progress.search.stopped is StopReason.BUDGET_SIMULATIONS
    assert 300 - 4 <= progress.search.iterations <= 300, "another one could not be confirmed"


@pytest.mark.parametrize("search", ["first", "probable"])
def test_a_list_that_cannot_be_filled_does_not_cost_the_whole_budget(search):
    """Only uses that are violated in the fifth step violate: one key of eight."""

    def ask(queries):
        found = []
        for query in queries:
            times, throttle = query.stimulus.times, query.stimulus.inputs["throttle"]
            late = query.stimulus.duration > 20.5 and throttle[np.searchsorted(times, 20.0)] > 50
            verdict = Verdict.VIOLATED if late else Verdict.SATISFIED
            found.append(Answer(SimulationStatus.OK, (Judgement(verdict, -1.0 if late else 1.0, 20.5),)))
        return found

    progress = Progress()
    options = Options(search=search, simulations=5000, patience=100, passes=0)
    run(ask, usage_of(driver_profile()), progress, options, requirements=1, seeds=SeedTree(1), listener=Quiet())
    assert progress.search.stopped is StopReason.COMPLETED
    assert progress.search.iterations < 600
    [finding] = progress.search.findings
    assert len(finding.actions) == 6 and finding.estimate is None  # passes: 0 only finds
