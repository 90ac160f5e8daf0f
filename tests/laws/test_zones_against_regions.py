"""Verdicts of zones against all regions of small timed automata, explored by the reference interpreter."""

from dataclasses import replace

import pytest

from bbfalsify.engines.verification.answer import HOLDS, UNDECIDED, VIOLATED
from bbfalsify.engines.verification.lasting import LastingVerification
from bbfalsify.engines.verification.searched import SearchVerification
from bbfalsify.engines.verification.states import StateVerification
from bbfalsify.logic.reach_query import parse_asked, parse_query
from bbfalsify.modelling.network.expressions import Kind
from bbfalsify.modelling.network.network import Variable
from bbfalsify.zones.explorer import Order
from tests.support.regions import Regions
from tests.support.timed_automata import LARGEST, random_condition, random_network
from tests.support.timed_texts import random_text

SPLIT = "an invariant (or the condition to keep) is a disjunction over clocks"
URGENT = "whether an urgent channel can fire depends on clocks"
"""What zones refuse in these models."""


NO_EXACT_RUN = "no state of it repeats exactly"


def decided(network, text, method):
    query = parse_query(text, network)
    if method == "drs":
        settings = {"method": "drs", "increment": None if len(text) % 2 else 3}
        return SearchVerification(network, query, most_bytes=1e9, seed=1, settings=settings).run(lambda effort: True)
    return StateVerification(network, query, order=method, most_bytes=1e9, seed=1).run(lambda effort: True)


def compare(network, condition, name, refused=(URGENT,)):
    """Decide five queries in every order; return whether each target is reached."""
    regions = Regions(network, LARGEST)
    if not regions.regions:
        return []
    said = []
    for text in (f"E<> {condition}", f"A[] !({condition})", "A[] not deadlock", f"E<> deadlock && {condition}",
                 f"A[] (deadlock || !({condition}))"):  # fmt: skip
        query = parse_query(text, network)
        reached = regions.reaches(query.alive, query.dead)
        for method in (Order.BREADTH, Order.DEPTH, Order.RANDOM_DEPTH, "drs"):
            answer = decided(network, text, method)
            if answer.verdict == UNDECIDED and answer.why is not None and answer.why.startswith(refused):
                return said
            assert answer.verdict != UNDECIDED, (name, text, answer.why)
            found = (answer.verdict == VIOLATED) if query.universal else (answer.verdict == HOLDS)
            assert found == reached, (name, text, method, answer)
            assert (answer.trace is not None) == reached, (name, text, method)
        said.append(reached)
    return said


def compare_runs(network, condition, premise, name):
    """Decide four queries about whole runs; return whether some run avoids the condition, for each."""
    regions = Regions(network, LARGEST)
    if not regions.regions:
        return []
    said = []
    for text in (f"A<> {condition}", f"E[] {condition}", f"A<> !({condition})", f"{premise} --> {condition}"):
        query = parse_asked(text, network)
        avoided = regions.can_avoid(query.avoided, query.trigger)
        answer = LastingVerification(network, query, order=Order.BREADTH, most_bytes=1e9).run(lambda effort: True)
        if answer.verdict == UNDECIDED and answer.why is not None and answer.why.startswith((URGENT, SPLIT)):
            continue
        assert answer.verdict != UNDECIDED, (name, text, answer.why)
        found = (answer.verdict == VIOLATED) if query.universal else (answer.verdict == HOLDS)
        assert found == avoided, (name, text, answer)
        assert not avoided or answer.trace is not None or NO_EXACT_RUN in str(answer.why), (name, text)
        said.append((avoided, answer.trace is not None))
    return said


def compared(seed):
    network = random_network(seed)
    return compare(network, random_condition(seed, network), seed)


def compared_runs(seed):
    network = random_network(seed)
    return compare_runs(network, random_condition(seed, network), random_condition(-seed - 1, network), seed)


def compared_branches(seed):
    network = random_network(seed, branches=True)
    network = replace(network, as_uppaal=seed % 2 == 1)
    return compare(network, random_condition(seed, network), f"branches {seed}")


def compare_text(seed):
    """Everything for a network with the whole language: verdicts about states, and about runs."""
    drawn = random_text(seed)
    if drawn is None:
        return [], []
    name = f"text {seed}"
    try:
        Regions(drawn.network, LARGEST)
    except ValueError:  # too many of them to judge by
        return [], []
    return (
        compare(drawn.network, drawn.condition, name, (URGENT, SPLIT)),
        compare_runs(drawn.network, drawn.condition, drawn.premise, name),
    )


@pytest.mark.parametrize("block", range(3))
def test_verdicts_about_the_whole_language_are_those_of_the_regions(block):
    said = [compare_text(seed) for seed in range(6 * block, 6 * block + 6)]
    states = [reached for first, _ in said for reached in first]
    assert any(states) and not all(states)
    assert sum(len(second) for _, second in said) > 5


@pytest.mark.parametrize("block", range(6))
def test_verdicts_about_runs_are_those_of_the_regions(block):
    said = [verdict for seed in range(10 * block, 10 * block + 10) for verdict in compared_runs(seed)]
    avoided = [shown for found, shown in said if found]
    assert len(said) > 20 and 0 < len(avoided) < len(said)
    assert all(avoided), "each has a run that shows it"


@pytest.mark.parametrize("block", range(6))
def test_verdicts_are_those_of_the_regions(block):
    said = [verdict for seed in range(10 * block, 10 * block + 10) for verdict in compared(seed)]
    assert any(said) and not all(said)


def test_verdicts_about_branches_are_those_of_the_regions():
    said = [verdict for seed in range(12) for verdict in compared_branches(seed)]
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
        compared(seed)
        compared_runs(seed)
        compare_text(seed)
        compared_branches(seed)
