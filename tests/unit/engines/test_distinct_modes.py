"""Stop rule: as many failure modes as are wanted."""

import numpy as np
import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus, StopReason
from bbfalsify.engines.falsification.engine import Progress, run
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import parse_stl
from bbfalsify.logic.stl.stl_monitor import judge
from tests.unit.engines.test_falsification import Quiet, usage_of

PROFILE = """
format_version: 1
name: two_ways
automata:
  User:
    declarations: "clock x;"
    initial: S
    locations: {S: {invariant: "x <= 2"}}
    edges:
      - {from: S, to: S, action: press, guard: "x >= 1", update: "x = 0"}
      - {from: S, to: S, action: turn, guard: "x >= 1", update: "x = 0", weight: 0.5}
      - {from: S, to: S, action: rest, guard: "x >= 1", update: "x = 0", weight: 6}
inputs:
  u: {actions: {press: 1, turn: 2, rest: 0}, initial: 0}
"""
FORMULA = parse_stl("always[0:12](y <= 0.5)", signals=["y"])


def ask(queries):
    """y rises with the third press, or with the second turn."""
    return [Answer(SimulationStatus.OK, (judged(query.stimulus),)) for query in queries]


def judged(stimulus):
    y = np.zeros(len(stimulus.times))
    for action, times in (("press", 3), ("turn", 2)):
        at = [time for time, name in stimulus.events if name == action]
        if len(at) >= times:
            y[stimulus.times >= at[times - 1]] = 1.0
    return judge(FORMULA, stimulus.times, {"y": y})


def searched(modes, **options):
    progress = Progress()
    options = Options(**{"passes": 0, "simulations": 2000, "patience": 2000, "distinct_modes": modes, **options})
    run(ask, usage_of(PROFILE, 12.0), progress, options, requirements=1, seeds=SeedTree(1), listener=Quiet())
    return progress.search


@pytest.mark.parametrize("kind", ["first", "probable"])
def test_a_search_stops_when_its_violations_show_the_modes_that_are_wanted(kind):
    one, two = searched(1, search=kind), searched(2, search=kind)
    assert one.stopped is two.stopped is StopReason.MODES_SHOWN
    assert one.iterations <= two.iterations < 700 and two.modes.count(0) >= 2
    presses, turns = ([f for f in two.findings if f.actions.count(a) >= n] for a, n in (("press", 3), ("turn", 2)))
    assert presses and turns
    many = searched(9, search=kind, simulations=300)
    assert many.stopped is StopReason.BUDGET_SIMULATIONS and many.modes.count(0) < 9


def test_a_full_list_takes_further_counterexamples_of_other_modes_only():
    found = searched(2, search="first", counterexamples=1)
    assert 2 <= len(found.findings) <= 3


def test_a_profile_without_actions_is_searched_on_for_its_modes():
    space = "format_version: 1\nname: s\nsignals: {u: {range: [0, 1], every: 3}, v: {range: [0, 1], every: 3}}"
    formula = parse_stl("always[0:12](u <= 0.9) and always[0:12](v <= 0.9)", signals=["u", "v"])

    def ask_signals(queries):
        return [
            Answer(SimulationStatus.OK, (judge(formula, q.stimulus.times, dict(q.stimulus.inputs)),)) for q in queries
        ]

    searches = []
    for modes in (1, 2):
        progress, options = Progress(), Options(passes=0, simulations=200, distinct_modes=modes)
        usage = usage_of(space, 12.0)
        run(ask_signals, usage, progress, options, requirements=1, seeds=SeedTree(1), listener=Quiet())
        searches.append(progress.search)
    assert searches[0].iterations < searches[1].iterations and searches[0].stopped is StopReason.MODES_SHOWN
