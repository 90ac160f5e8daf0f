"""The compiled steps of untimed networks, judged by the reference interpreter; refusals."""

from fractions import Fraction
from random import Random

import pytest

from bbfalsify import NetworkBuilder, UserError
from bbfalsify.engines.searching import search
from bbfalsify.engines.searching.untimed_system import UntimedSystem
from bbfalsify.examples.models import named_model
from bbfalsify.modelling import Network
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.state import State


def random_network(seed: int) -> Network:
    """Processes with handshakes, broadcasts, branches, committed locations, invariants over integers and functions."""
    rng = Random(seed)
    b = NetworkBuilder("random")
    b.declare("int[-2,3] a = -1, c; bool flag; chan hand[2]; broadcast chan all;")
    b.declare("int[0,3] twice(int[0,3] k) { return (2 * k) % 4; }")
    processes = rng.choice((2, 3))
    for number in range(processes):
        p = b.automaton(f"P{number}", declarations="int[0,3] own;")
        for i in range(3):
            p.location(f"L{i}", committed=rng.random() < 0.15, invariant=rng.choice((None, None, None, "a < 3")))
        for _ in range(6):
            sync = rng.choice((None, None, "hand[0]!", "hand[0]?", "hand[1]!", "hand[1]?", "all!", "all?", "all?"))
            guard = rng.choice((None, "a < 2", "flag", "own != 2", "a + own >= 0", "!flag || c == 1"))
            update = rng.choice(
                ("a = a < 3 ? a + 1 : -2", "own = twice(own)", "flag = !flag", "c = own - 1", "own = (own + 1) % 4")
            )
            source, target = f"L{rng.randrange(3)}", f"L{rng.randrange(3)}"
            if rng.random() < 0.2:
                branches = [(target, 1, update), (f"L{rng.randrange(3)}", 2, "own = 0")]
                p.edge(source, guard=guard, sync=sync, branches=branches)
            else:
                p.edge(source, target, guard=guard, sync=sync, update=update)
    return b.build()


def reference_successors(interpreter: ReferenceInterpreter, state: State) -> set[tuple[int, ...]]:
    found = set()
    for transition in interpreter.transitions(state):
        for outcome in interpreter.outcomes(state, transition, Fraction(0)):
            assert outcome.state is not None
            found.add((*outcome.state.locations, *outcome.state.integers))
    return found


def compare(network: Network, most: int) -> int:
    system, interpreter = UntimedSystem(network), ReferenceInterpreter(network)
    first = interpreter.initial_state()
    processes = len(network.processes)
    seen, waiting = set(system.initial()), list(system.initial())
    while waiting and len(seen) < most:
        state = waiting.pop()
        values = system.unpacked(state)
        assert system.packed(values) == state
        slow = State(tuple(values[:processes]), tuple(values[processes:]), first.reals)
        [expanded] = system.expand([state])
        assert {tuple(system.unpacked(s)) for s in expanded} == reference_successors(interpreter, slow)
        assert [s for _, s in system.successors(state)] == expanded
        waiting += [s for s in dict.fromkeys(expanded) if s not in seen]
        seen.update(expanded)
    return len(seen)


@pytest.mark.parametrize("seed", range(25))
def test_successors_are_those_of_the_reference(seed):
    compare(random_network(seed), 40)


@pytest.mark.slow
def test_successors_are_those_of_the_reference_in_many_networks():
    assert sum(compare(random_network(seed), 150) for seed in range(25, 1000)) > 20_000


@pytest.mark.parametrize(
    "name", ["diamond:3", "back-loops:4", "components:3", "philosophers:3", "sliding-window:1", "lift:3"]
)
def test_successors_of_examples_are_those_of_the_reference(name):
    assert compare(named_model(name)[0], 100) > 10


def test_branches_are_followed_whatever_their_weight():
    b = NetworkBuilder("branches").declare("int[0,9] n;")
    p = b.automaton("P").location("A").location("B")
    p.edge("A", branches=[("B", 99, "n = 1"), ("A", 1, "n = 2")])
    system = UntimedSystem(b.build())
    assert sorted(system.describe(s) for _, s in system.successors(system.initial()[0])) == ["P.A, n = 2", "P.B, n = 1"]


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        ("E<> deadlock", "reached"),
        ("A[] not deadlock", "reached"),
        ("E<> deadlock && P(0).HasRight", "unreachable"),
        ("A[] (forall (i : id_t) not P(i).Fed) or not P(0).HasLeft", "reached"),
        ("E<> deadlock or P(1).Fed", "reached"),
        ("E<> P(0).Fed && P(1).HasBoth", "unreachable"),
    ],
)
def test_queries_of_models(query, verdict):
    network, _ = named_model("philosophers:4")
    for method in ("bfs", "dfs", "drs", "rdfs"):
        found = search(UntimedSystem(network, query), method=method, seed=2)
        assert found.verdict == verdict, (method, str(found))
    if query == "E<> deadlock":
        assert search(UntimedSystem(network, query)).length == 4


def test_values_at_the_ends_of_wide_ranges_are_packed():
    b = NetworkBuilder("wide").declare("int[-70000,70000] w = -70000; int free = -5;")
    b.automaton("P").location("A").edge("A", "A", guard="w < 0", update="w = 70000, free = 1000000")
    system = UntimedSystem(b.build(), "E<> w == 70000 && free == 1000000")
    assert search(system).trace[-1].state == "P.A, w = 70000, free = 1000000"


def test_many_successors_find_room():
    b = NetworkBuilder("many").declare("typedef int[0,69] k_t; int[0,69] i, j;")
    b.automaton("P").location("A").location("B").edge("A", "B", select="k : k_t, l : k_t", update="i = k, j = l")
    system = UntimedSystem(b.build())
    assert len({s for _, s in system.successors(system.initial()[0])}) == 4_900


def test_a_model_that_fails_is_named_with_its_state():
    b = NetworkBuilder("fails").declare("int[0,2] n;")
    b.automaton("P").location("A").edge("A", "A", update="n = n + 1")
    with pytest.raises(UserError, match="fails after P.A, n = 2: value 3 is out of range"):
        search(UntimedSystem(b.build()))


def test_timed_models_are_refused_part_by_part():
    b = NetworkBuilder("timed").declare("clock x; double d; int[0,3] n;")
    p = b.automaton("P").location("A", invariant="x <= 3")
    p.edge("A", "A", action="go", guard="x > 1", update="n = n + 1")
    with pytest.raises(UserError) as refused:
        UntimedSystem(b.build())
    says = str(refused.value)
    assert len(refused.value.problems) == 3
    assert "'d' is a double" in says and "the invariant of 'P.A' reads a clock" in says and "P.A (go)" in says


@pytest.mark.parametrize(
    ("name", "verdict", "length"),
    [
        ("bounded-retransmission:2", "reached", 3 * 3 + 1),
        ("bounded-retransmission:7", "reached", 3 * 8 + 1),
        ("sliding-window:2", "reached", 2 * 2 + 2),
        ("sliding-window:4", "reached", 2 * 4 + 2),
        ("sliding-window-right:3", "unreachable", None),
        ("lift:3", "reached", 7),
        ("lift:5", "reached", 7),
        ("buffers:4", "reached", 8),
        ("diamond:6", "reached", 6),
        ("components:4", "reached", 3),
    ],
)
def test_shortest_traces_of_examples(name, verdict, length):
    """Lengths by hand: all losses at once; a window without an answer, then its first frame again; and so on."""
    network, family = named_model(name)
    found = search(UntimedSystem(network, family.query))
    assert (found.verdict, found.length) == (verdict, length)
