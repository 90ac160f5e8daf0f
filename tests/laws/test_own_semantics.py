"""Zones, walks and the exact interpreter on random UPPAAL files against a semantics that shares no code with them."""

from collections import Counter

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.engines.verification.answer import UNDECIDED, VIOLATED
from bbfalsify.engines.verification.lasting import LastingVerification
from bbfalsify.engines.verification.states import StateVerification
from bbfalsify.kernel import accelerated_walks, compile_network
from bbfalsify.logic.reach_query import parse_asked, parse_query
from bbfalsify.modelling import load_network
from bbfalsify.modelling.network.expressions import Constant, Kind
from bbfalsify.modelling.reference.delay_sets import contains
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.zones import Explorer, Question, zone_tables
from bbfalsify.zones.explorer import Order
from bbfalsify.zones.workspace import ZoneProblem
from tests.support.own_networks import Drawing
from tests.support.own_semantics import OwnSemantics, TooMany

URGENT = "whether an urgent channel can fire depends on clocks"


def integers_of(network):
    return [network.variable(name).slot for name in "nm"]


def states_of_zones(network, processes):
    """Locations, n and m of all symbolic states; None where zones do not keep n and m, which nothing reads."""
    tables = zone_tables(network, Question(alive=Constant(0, Kind.BOOL)))
    if not set(integers_of(network)) <= set(tables.integers):
        return None
    explorer = Explorer(tables)
    explorer.run()
    places = [len(network.processes) + list(tables.integers).index(slot) for slot in integers_of(network)]
    rows = [explorer.state(node)[0].tolist() for node in explorer.kept()]
    return {(tuple(row[:processes]), *(row[place] for place in places)) for row in rows}


def states_of_walks(network, processes, seed):
    walks = accelerated_walks(compile_network(network), np.arange(6, dtype=np.uint64) + seed, seed % 11, 1e9, 40)
    n, m = integers_of(network)
    for walk in (walks.walk(k) for k in range(6)):
        assert walk.error is None
        for locations, integers in zip(walk.locations, walk.integers, strict=True):
            yield tuple(locations[:processes].tolist()), int(integers[n]), int(integers[m])


def compare_steps(network, judge, regions):
    """What fires at once in some regions, by the exact interpreter; a process that receives after all is left out."""
    interpreter, (n, m) = ReferenceInterpreter(network), integers_of(network)
    first = interpreter.initial_state()
    clocks = [network.variable(name).slot for name in judge.network.clocks]
    for region in regions:
        locations = (*region[0], *first.locations[len(region[0]) :])
        integers, reals = list(first.integers), list(first.reals)
        integers[n], integers[m] = region[1:3]
        for slot, value in zip(clocks, region[3], strict=True):
            reals[slot] = value
        state = type(first)(locations, tuple(integers), tuple(reals))
        found = set()
        for transition in interpreter.transitions(state):
            if contains(transition.windows, 0):
                for outcome in interpreter.outcomes(state, transition, 0):
                    after = outcome.state
                    values = tuple(after.reals[slot] for slot in clocks)
                    found.add((after.locations[: len(region[0])], after.integers[n], after.integers[m], values))
        assert found == {after for _, after in judge.transitions(region)}, region


def compare(seed, folder):
    """Judge one network; return what was compared."""
    sketched = Drawing(seed).network()
    try:
        judge = OwnSemantics(sketched)
    except TooMany:
        return Counter()
    if not judge.fires:  # an initial invariant is broken
        return Counter()
    file = folder / f"random{seed}.xml"
    file.write_text(sketched.xml(), encoding="utf-8")
    try:
        network, processes, said = load_network(file), len(sketched.automata), Counter()
    except UserError as error:
        assert "these priorities are not supported" in str(error), seed
        return Counter()
    expected = judge.discrete()
    try:
        found = states_of_zones(network, processes)
    except ZoneProblem as problem:
        assert URGENT in str(problem), seed
    else:
        said["zones"] += found is not None
        assert found is None or found == expected, (seed, found ^ expected)
    walked = set(states_of_walks(network, processes, seed))
    assert walked <= expected, (seed, walked - expected)
    compare_steps(network, judge, list(judge.fires)[:20])
    said["walked"] += len(walked)
    place = seed % len(sketched.automata[0].locations)
    dead = any(judge.is_dead(region) for region in judge.fires)
    there = any(judge.is_dead(region) for region in judge.fires if region[0][0] == place)
    avoided = judge.can_avoid(0, place)
    for text, holds in (("A[] not deadlock", not dead), (f"A[] not (deadlock && P0.L{place})", not there),
                        (f"A<> P0.L{place}", not avoided)):  # fmt: skip
        if text.startswith("A<>"):
            work = LastingVerification(network, parse_asked(text, network), order=Order.BREADTH, most_bytes=1e9)
        else:
            work = StateVerification(network, parse_query(text, network), order=Order.BREADTH, most_bytes=1e9, seed=1)
        answer = work.run(lambda effort: True)
        if answer.verdict == UNDECIDED:
            assert URGENT in str(answer.why), (seed, text, answer.why)
            continue
        assert (answer.verdict != VIOLATED) == holds, (seed, text, answer)
        said[text[:3], holds] += 1
    return said


@pytest.mark.parametrize("block", range(4))
def test_what_can_happen_is_what_the_semantics_says(block, tmp_path):
    said = sum((compare(seed, tmp_path) for seed in range(10 * block, 10 * block + 10)), Counter())
    assert said["zones"] > 4 and said["walked"] > 8
    assert said["A[]", True] and said["A[]", False]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_what_can_happen_is_what_the_semantics_says_a_thousand_times(block, tmp_path):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        compare(seed, tmp_path)
