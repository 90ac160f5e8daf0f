"""Walks that look for a target, judged by the reference interpreter: whatever is found must hold up."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.reachability.search import PORTFOLIO, in_this_process, search
from bbfalsify.kernel import compile_network
from bbfalsify.kernel.targets import Heuristic, Target, TargetSearch
from bbfalsify.logic.queries import parse_query
from bbfalsify.modelling.network import Network
from bbfalsify.modelling.reference_replay import Replayer
from bbfalsify.testing.networks import networks
from bbfalsify.testing.printing import network_text
from tests.laws.test_kernel_against_reference import examples


@st.composite
def questions(draw: st.DrawFn) -> tuple[Network, str]:
    """A random network and a query about its locations, integers, clocks and deadlocks."""
    network = draw(networks())
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
        found = search(target, query, execute, heuristics=(heuristic,), seeds=SeedTree(1), depth=depth, walks=walks)
        # Known: in rare states the kernel and the reference do not agree that a state is *not* a deadlock; such a walk
        # is counted as unconfirmed and never shown.  Everything else has to agree.
        assert found.unconfirmed == [] or "!(deadlock)" in text


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
    replayer = Replayer(network)
    start = replayer.initial_state()
    if query.dead is not None or not replayer.delays(start):
        return
    expected = bool(replayer.delays_of(start, query.alive))
    target = Target(compile_network(network), query.alive, None)
    batch = TargetSearch(target, Heuristic.RET).walks(np.arange(1, dtype=np.uint64), np.array([10]), 0)
    assert (batch.ended == "met") == expected


@examples(60)
@given(questions())
def test_a_target_within_the_first_delay_is_seen(question):
    targets_at_the_start_are_seen(*question)


def deadlocks_at_the_start_are_seen(network: Network) -> None:
    note(network_text(network))
    replayer = Replayer(network)
    start = replayer.initial_state()
    stay = replayer.delay_bound(start)
    if stay is None:
        return
    ends = [w for t in replayer.transitions(start) for w in t.windows]
    alive_to_the_end = any(
        w.high == stay.high and (stay.high is None or w.high_strict == stay.high_strict) for w in ends
    )
    target = Target(compile_network(network), None, parse_query("E<> deadlock", network).dead)
    batch = TargetSearch(target, Heuristic.SEM).walks(np.arange(1, dtype=np.uint64), np.array([10]), 0)
    assert (batch.ended == "met") == (not alive_to_the_end)


@examples(60)
@given(networks())
def test_a_deadlock_within_the_first_delay_is_seen(network):
    deadlocks_at_the_start_are_seen(network)
