"""Verdicts of zones against all regions of small timed automata, explored by the reference interpreter."""

from dataclasses import replace

import pytest

from bbfalsify.engines.verification.answer import HOLDS, UNDECIDED, VIOLATED
from bbfalsify.engines.verification.lasting import LastingVerification
from bbfalsify.engines.verification.states import StateVerification
from bbfalsify.logic.reach_query import parse_asked, parse_query
from bbfalsify.modelling.network.expressions import Kind
from bbfalsify.modelling.network.network import Variable
from bbfalsify.zones.explorer import Order
from tests.support.regions import Regions
from tests.support.timed_automata import LARGEST, random_condition, random_network

SPLIT = "an invariant (or the condition to keep) is a disjunction over clocks"
URGENT = "whether an urgent channel can fire depends on clocks"
"""What zones refuse in these models."""


def decided(network, text, order):
    work = StateVerification(network, parse_query(text, network), order=order, most_bytes=1e9, seed=1)
    return work.run(lambda effort: True)


def compare(seed):
    """Decide five queries in every order; return whether each target is reached."""
    network = random_network(seed)
    regions = Regions(network, LARGEST)
    condition = random_condition(seed, network)
    said = []
    for text in (f"E<> {condition}", f"A[] !({condition})", "A[] not deadlock", f"E<> deadlock && {condition}",
                 f"A[] (deadlock || !({condition}))"):  # fmt: skip
        query = parse_query(text, network)
        reached = bool(regions.regions) and regions.reaches(query.alive, query.dead)
        for order in (Order.BREADTH, Order.DEPTH, Order.RANDOM_DEPTH):
            answer = decided(network, text, order)
            if answer.verdict == UNDECIDED and answer.why is not None and answer.why.startswith(URGENT):
                return []
            assert answer.verdict != UNDECIDED, (seed, text, answer.why)
            found = (answer.verdict == VIOLATED) if query.universal else (answer.verdict == HOLDS)
            assert found == reached, (seed, text, order, answer)
            assert (answer.trace is not None) == reached
        said.append(reached)
    return said


def compare_runs(seed):
    """Decide three queries about whole runs; return whether some run avoids the condition, for each."""
    network = random_network(seed)
    regions = Regions(network, LARGEST)
    if not regions.regions:
        return []
    condition, premise = random_condition(seed, network), random_condition(-seed - 1, network)
    said = []
    for text in (f"A<> {condition}", f"E[] {condition}", f"A<> !({condition})", f"{premise} --> {condition}"):
        query = parse_asked(text, network)
        avoided = regions.can_avoid(query.avoided, query.trigger)
        answer = LastingVerification(network, query, order=Order.BREADTH, most_bytes=1e9).run(lambda effort: True)
        if answer.verdict == UNDECIDED and answer.why is not None and answer.why.startswith((URGENT, SPLIT)):
            continue
        assert answer.verdict != UNDECIDED, (seed, text, answer.why)
        found = (answer.verdict == VIOLATED) if query.universal else (answer.verdict == HOLDS)
        assert found == avoided, (seed, text, answer)
        said.append((avoided, answer.trace is not None))
    return said


@pytest.mark.parametrize("block", range(6))
def test_verdicts_about_runs_are_those_of_the_regions(block):
    said = [verdict for seed in range(10 * block, 10 * block + 10) for verdict in compare_runs(seed)]
    avoided = [shown for found, shown in said if found]
    assert len(said) > 20 and 0 < len(avoided) < len(said)
    assert all(avoided), "each has a run that shows it"


@pytest.mark.parametrize("block", range(6))
def test_verdicts_are_those_of_the_regions(block):
    said = [verdict for seed in range(10 * block, 10 * block + 10) for verdict in compare(seed)]
    assert any(said) and not all(said)


def earliest(seed):
    """The least time of a target: of the fastest trace, and of all regions with a clock that measures the time."""
    network = random_network(seed)
    clock = Variable("time", Kind.CLOCK, network.real_count)
    measured = replace(network, variables=(*network.variables, clock), real_count=network.real_count + 1)
    regions = Regions(measured, LARGEST)
    text = f"E<> {random_condition(seed, network)}"
    answer = decided(network, text, Order.EARLIEST)
    if answer.verdict == UNDECIDED or not regions.regions:
        return None
    targets = [key for key in regions.regions if regions.holds(key, parse_query(text, measured).alive)]
    times = [regions.regions[key].state.reals[-1] for key in targets]
    found = None if answer.trace is None else answer.trace.time
    return found, min(times, default=None)


@pytest.mark.parametrize("block", range(2))
def test_the_fastest_trace_takes_as_long_as_the_regions_say(block):
    """A strict bound is kept by any distance below 1, so times are compared as regions are."""
    compared = [pair for seed in range(20 * block, 20 * block + 20) if (pair := earliest(seed)) is not None]
    reached = [(found, least) for found, least in compared if least is not None]
    assert [found is None for found, _ in compared] == [least is None for _, least in compared]
    assert any(least > 0 for _, least in reached)
    for found, least in reached:
        if least > LARGEST:
            assert found > LARGEST
        else:
            assert (found // 1, found % 1 > 0) == (least // 1, least % 1 > 0)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_verdicts_are_those_of_the_regions_of_two_thousand(block):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        compare(seed)
        compare_runs(seed)
