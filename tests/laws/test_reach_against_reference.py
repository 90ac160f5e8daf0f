"""Walks that look for a target, judged by the reference interpreter: whatever is found must hold up."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.reachability.walk_search import PORTFOLIO, SearchPlan, in_this_process, search
from bbfalsify.kernel import compile_network
from bbfalsify.kernel.target_search import Target, TargetSearch
from bbfalsify.logic.reach_query import ReachQuery, parse_query
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.delay_sets import contains, endpoints
from bbfalsify.modelling.reference.step_replay import Replayer
from tests.drawing import examples
from tests.support.networks import networks
from tests.support.printing import network_text


@st.composite
def questions(draw: st.DrawFn) -> tuple[Network, str]:
    """A random network and a query about its locations, integers, clocks and deadlocks."""
    network = draw(networks(dialects=True))
    atoms = ["deadlock", "true"]
    for process in network.processes:
        atoms += [f"{process.name}.{location.name}" for location in process.locations]
    for variable in network.variables:
        if variable.size == 1 and "." not in variable.name:
            bound = draw(st.integers(0, 4))
            atoms.append(f"{variable.name} {draw(st.sampled_from(['<', '<=', '==', '>=', '>']))} {bound}")
    chosen = [draw(st.sampled_from(atoms)) for _ in range(draw(st.integers(1, 3)))]
    signs = [draw(st.sampled_from(["", "!"])) for _ in chosen]
    joined = draw(st.sampled_from([" && ", " || "])).join(f"{s}({a})" for s, a in zip(signs, chosen, strict=True))
    return network, f"{draw(st.sampled_from(['E<>', 'A[]']))} {joined}"


def every_finding_holds_up(network: Network, text: str, walks: int, depth: int) -> None:
    note(network_text(network))
    note(text)
    query = parse_query(text, network)
    target = Target(compile_network(network), query.alive, query.dead)
    for heuristic in PORTFOLIO:
        execute = in_this_process(target, lambda: True)
        found = search(target, query, execute, SearchPlan((heuristic,), SeedTree(1), depth=depth, walks=walks))
        assert found.unconfirmed == []


@examples(60)
@given(questions())
def test_what_walks_find_is_confirmed(question):
    every_finding_holds_up(*question, walks=11, depth=12)


@pytest.mark.slow
@examples(1500)
@given(questions())
def test_what_walks_find_in_thousands_of_networks_is_confirmed(question):
    every_finding_holds_up(*question, walks=22, depth=25)


# --- the other direction: what is there at the start is seen --------------------------------------------------------


def targets_at_the_start_are_seen(network: Network, text: str) -> None:
    """A target that a mere delay from the initial state reaches is met by every walk, without a step."""
    note(network_text(network))
    note(text)
    query = parse_query(text, network)
    expected = is_met_by_a_delay(Replayer(network), query)
    target = Target(compile_network(network), query.alive, query.dead)
    for heuristic in PORTFOLIO:
        batch = TargetSearch(target, heuristic).walks(np.arange(1, dtype=np.uint64), np.array([10]), 0)
        assert (batch.ended == "met") == expected


def is_met_by_a_delay(replayer: Replayer, query: ReachQuery) -> bool:
    """At all delays where something may change, and between them, by the definition: what holds there, what can fire
    from there?"""
    start = replayer.initial_state()
    conditions = [query.alive] if query.dead is None else [query.alive, query.dead]
    windows = [w for t in replayer.transitions(start) for w in t.windows]
    windows += [w for condition in conditions for w in replayer.delays_of(start, condition)]
    points = sorted({Fraction(0)} | endpoints(windows) | endpoints(replayer.delays(start)))
    between = [(low + high) / 2 for low, high in zip(points, points[1:], strict=False)]
    for delay in (*points, *between, points[-1] + 1):
        if contains(replayer.delays(start), delay):
            there = replayer.wait(start, delay)
            deadlocked = query.dead is not None and replayer.is_deadlocked(there)
            if replayer.evaluator_at(there, Fraction(0)).holds(query.target(deadlocked)):
                return True
    return False


@examples(60)
@given(questions())
def test_a_target_within_the_first_delay_is_seen(question):
    targets_at_the_start_are_seen(*question)


@examples(60)
@given(
    networks(dialects=True),
    st.sampled_from(["deadlock", "!deadlock", "x0 >= 2 && !deadlock", "x0 >= 2 imply deadlock"]),
)
def test_life_and_death_within_the_first_delay_are_told_apart(network, condition):
    targets_at_the_start_are_seen(network, f"E<> {condition}")


@pytest.mark.slow
@examples(1500)
@given(questions())
def test_targets_within_the_first_delay_of_thousands_of_networks_are_seen(question):
    targets_at_the_start_are_seen(*question)
