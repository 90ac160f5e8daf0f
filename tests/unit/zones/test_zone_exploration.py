"""Numbers of symbolic states, targets, traces and refusals."""

import pytest

from bbfalsify import verify
from bbfalsify.core.errors import UserError
from bbfalsify.engines.verification.answer import HOLDS, UNDECIDED, VIOLATED
from bbfalsify.engines.verification.states import StateVerification
from bbfalsify.examples.models import named_model
from bbfalsify.logic.reach_query import parse_query
from bbfalsify.modelling.formats.python_builder import NetworkBuilder
from bbfalsify.zones import Explorer, Question, ZoneGraph, zone_tables
from bbfalsify.zones.explorer import Order, Outcome


def test_as_many_states_of_fischer_as_tchecker_visits():
    """TChecker's covering reachability, breadth first, visits 3,458 states with six processes."""
    explorer = Explorer(zone_tables(named_model("fischer:6")[0]))
    assert explorer.run().outcome is Outcome.ALL
    assert explorer.visited == 3458
    assert explorer.used_bytes / explorer.stored <= 200 + 4 * 7**2


def answered(network, text, **options):
    settings = {"order": Order.BREADTH, "most_bytes": 1e9, **options}
    return StateVerification(network, parse_query(text, network), **settings).run(lambda effort: True)


def test_a_proof_and_a_shortest_trace():
    right, family = named_model("fischer:3")
    assert answered(right, family.query).verdict == HOLDS
    wrong, _ = named_model("fischer-faulty:3")
    found = answered(wrong, family.query)
    assert (found.verdict, len(found.trace.steps), found.trace.time) == (VIOLATED, 6, 4)


def test_an_unreachable_state_refutes_e():
    network, _ = named_model("fischer:3")
    assert answered(network, "E<> P(1).cs && P(2).cs").verdict == VIOLATED
    assert answered(network, "E<> P(1).cs && P(1).x > 7").verdict == HOLDS


def test_memory_and_time_make_it_undecided():
    network, family = named_model("fischer:6")
    full = answered(network, family.query, most_bytes=300_000)
    assert full.verdict == UNDECIDED and "memory is used up" in full.why
    work = StateVerification(network, parse_query(family.query, network), order=Order.BREADTH, most_bytes=1e9)
    stopped = work.run(lambda effort: False)
    assert stopped.verdict == UNDECIDED and "time is up" in stopped.why
    assert work.run(lambda effort: True).verdict == HOLDS
    assert work.effort.states == 3458


def test_bits_go_on_when_the_memory_is_used_up():
    """300 kB hold a fifth of the states."""
    network, family = named_model("fischer:6")
    full = answered(network, family.query, most_bytes=300_000, bits=True, seed=1)
    assert full.verdict == UNDECIDED and "bit-state hashing then visited" in full.why and "proves nothing" in full.why
    assert full.effort.states > 3458
    deep = answered(network, "E<> id == 1 && forall (i : id_t) !P(i).A && !P(i).cs", most_bytes=100_000, bits=True)
    assert deep.verdict == HOLDS and deep.found_by == "zones, bit-state hashing"


def test_a_memory_below_some_states_is_refused():
    network, family = named_model("fischer:30")
    with pytest.raises(UserError, match="too little for 64 states of this model: 30 clocks"):
        answered(network, family.query, most_bytes=100_000)


def one_process(declarations, *edges, invariant=None):
    b = NetworkBuilder("m")
    b.declare(declarations)
    p = b.automaton("P")
    p.location("A", invariant=invariant)
    p.location("B")
    for edge in edges:
        p.edge("A", "B", **edge)
    b.instance("P")
    return b.build()


def test_fractions_are_scaled():
    network = one_process("clock x;", {"guard": "x >= 1.25"}, invariant="x <= 1.5")
    assert answered(network, "E<> P.B").trace.time == 1.25
    assert answered(network, "E<> P.A && x > 1.5").verdict == VIOLATED


def test_a_difference_of_clocks_is_kept_exact():
    network = one_process("clock x, y;", {"guard": "x - y > 0"})
    assert answered(network, "E<> P.B").verdict == VIOLATED
    assert zone_tables(network, Question()).diagonal == "y - x"


def test_clocks_of_an_array_by_a_computed_index():
    network = one_process(
        "clock x[3]; int[0,2] i = 1;", {"guard": "x[i] >= 2 && x[0] <= 5", "update": "x[i] = 1, i = 2"}
    )
    found = answered(network, "E<> P.B && x[2] >= 4 && x[1] < 4")
    assert found.verdict == HOLDS and found.trace.time == 4


@pytest.mark.parametrize(
    ("declarations", "edge", "message"),
    [
        ("clock x; clock y;", {"guard": "x + y > 3"}, "difference"),
        ("clock x; int[0,9] n;", {"guard": "x > 3", "update": "n = fint(x)"}, "stored elsewhere"),
        ("clock x;", {"guard": "x > 1", "update": "x = random(3)"}, "random number"),
    ],
)
def test_what_has_no_zones_is_named(declarations, edge, message):
    with pytest.raises(UserError, match=message):
        zone_tables(one_process(declarations, edge))


def test_a_stopwatch_and_other_rates_are_named():
    assert zone_tables(one_process("clock x;", {"guard": "x > 1"}, invariant="x' == 0")).stopwatch == "x"
    with pytest.raises(UserError, match="rate other than 0 and 1"):
        zone_tables(one_process("clock x;", {"guard": "x > 1"}, invariant="x' == 2"))


def test_the_graph_as_an_explicit_system():
    network, family = named_model("fischer-faulty:2")
    query = parse_query(family.query, network)
    graph = ZoneGraph(zone_tables(network, Question(query.alive)))
    level, seen, depth = graph.initial(), set(graph.initial()), 0
    while not any(map(graph.is_target, level)):
        level = [s for state in level for _, s in graph.successors(state) if s not in seen and not seen.add(s)]
        depth += 1
    assert depth == 6
    assert level[0].locations in {("cs", "cs"), *(s.locations for s in level)}


def test_the_fastest_trace_is_not_the_shortest():
    """Two ways to B: one step after 9 time units, or three steps after 2 + 2."""
    b = NetworkBuilder("m")
    b.declare("clock x;")
    p = b.automaton("P")
    for name in ("A", "B", "C", "D"):
        p.location(name)
    p.edge("A", "B", guard="x >= 9")
    p.edge("A", "C", guard="x >= 2", update="x = 0")
    p.edge("C", "D", guard="x > 1", update="x = 1")
    p.edge("D", "B", guard="x >= 2")
    b.instance("P")
    network = b.build()
    assert answered(network, "E<> P.B").trace.time == 9
    fastest = answered(network, "E<> P.B", order=Order.EARLIEST).trace
    assert len(fastest.steps) == 3 and 4 < fastest.time < 5
    assert answered(network, "A[] P.B imply x < 20", order=Order.EARLIEST).trace.time > 4


def test_without_a_target_the_order_of_time_is_a_proof_too():
    network, family = named_model("fischer:4")
    assert answered(network, family.query, order=Order.EARLIEST).verdict == HOLDS
    with pytest.raises(UserError, match="fastest trace to a deadlock"):
        answered(network, "A[] not deadlock", order=Order.EARLIEST)


def deadlocks_of(locations, edges):
    builder = NetworkBuilder("small")
    builder.declare("clock x, z;")
    process = builder.automaton("P")
    for name, options in locations.items():
        process.location(name, **options)
    for source, target, options in edges:
        process.edge(source, target, action=f"{source}{target}", **options)
    return answered(builder.build(), "A[] not deadlock")


def test_no_deadlock_takes_as_many_states_as_any_other_proof():
    """Fischer with seven processes took 444,865 states where 11,951 are enough."""
    network, family = named_model("fischer:5")
    free, exclusive = answered(network, "A[] not deadlock"), answered(network, family.query)
    assert (free.verdict, free.effort.states) == (HOLDS, exclusive.effort.states)


def test_a_guard_beyond_an_invariant_does_not_hide_a_deadlock():
    found = deadlocks_of(
        {"S": {"invariant": "z <= 5"}, "A": {"invariant": "x <= 5"}, "B": {}},
        [("S", "A", {"guard": "z == 5", "update": "x = 0"}), ("A", "B", {"guard": "z > 10"}), ("B", "B", {})],
    )
    assert found.verdict == VIOLATED and found.trace.deadlocked


def test_a_deadlock_of_the_widened_zone_alone_is_none():
    found = deadlocks_of(
        {"A": {"invariant": "x <= 2"}, "U": {"urgent": True}},
        [("A", "U", {}), ("U", "A", {"guard": "x <= 3", "update": "x = 0"})],
    )
    assert found.verdict == HOLDS


def test_a_problem_of_the_initial_state_is_told_again():
    """A portfolio asks twice; the second answer was that the model has no behaviour."""
    builder = NetworkBuilder("soon")
    builder.declare("clock x; urgent broadcast chan soon;")
    process = builder.automaton("P")
    process.location("A")
    process.location("B")
    process.edge("A", "B", guard="x >= 3", sync="soon!")
    network = builder.build()
    for text in ("A[] P.A imply x <= 3", "P.A --> P.B"):
        assert "depends on clocks" in verify(network, text, walks=0.1, seed=1).answer.why
