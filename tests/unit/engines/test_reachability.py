"""Randomized reachability: the schedule of walks, findings in their order, better and better traces."""

import numpy as np
import pytest

from bbfalsify import reach
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.reachability.concrete_trace import TimeIsUp, checked_trace, follow
from bbfalsify.engines.reachability.schedule import CYCLE, LAST_DEPTH, turns
from bbfalsify.engines.reachability.walk_search import PORTFOLIO, SearchPlan, Wanted, in_this_process, search
from bbfalsify.examples.models import FAMILIES, named_model
from bbfalsify.examples.models.protocols import fischer
from bbfalsify.examples.models.scheduling import satellite
from bbfalsify.kernel import compile_network
from bbfalsify.kernel.target_search import Heuristic, Target, TargetSearch
from bbfalsify.logic.reach_query import parse_query
from bbfalsify.modelling import Network, NetworkBuilder
from bbfalsify.modelling.reference.step_replay import NotAllowed, Replayer


def look(name: str, query: str | None = None, heuristics=(Heuristic.RET,), **options):
    network, family = named_model(name)
    return look_in(network, query or family.query, heuristics, **options)


def look_in(network: Network, query: str, heuristics, seed: int = 1, **options):
    asked = parse_query(query, network)
    target = Target(compile_network(network), asked.alive, asked.dead)
    execute = in_this_process(target, lambda: True)
    plan = {name: options.pop(name) for name in ("wanted", "depth", "walks") if name in options}
    return search(target, asked, execute, SearchPlan(heuristics, SeedTree(seed), **plan), **options)


def test_half_of_the_steps_are_for_deep_walks_half_evenly_for_shallower_ones():
    made = [units for _, units in zip(range(18), turns((Heuristic.RET, Heuristic.RLC_A), SeedTree(1)), strict=False)]
    for number, units in enumerate(made):
        for heuristic in (Heuristic.RET, Heuristic.RLC_A):
            steps: dict[int, int] = {}
            walked = [u for u in units if u.heuristic is heuristic]
            for unit in walked:
                steps[unit.depth] = steps.get(unit.depth, 0) + len(unit.seeds) * unit.depth
            deepest = max(steps)
            assert list(steps) == [16 << i for i in range(min(number, 14) + 1)]
            whole = CYCLE * deepest
            assert steps.pop(deepest) == whole
            # A cycle is never divided, so a depth close to the deepest may have up to twice its share, or half of it.
            assert all(whole / 2 <= each * len(steps) <= whole * len(steps) for each in steps.values())
            assert [d for u in walked for d in u.distributions] == [
                i % CYCLE for i in range(sum(len(u.seeds) for u in walked))
            ]
    numbers = [(u.first, len(u.seeds)) for units in made for u in units if u.heuristic is Heuristic.RET]
    assert all(first + count == after for (first, count), (after, _) in zip(numbers, numbers[1:], strict=False))
    # Deep walks are units of their own, except where counters go from walk to walk.
    deep = [len(u.seeds) for u in made[-1] if u.depth == LAST_DEPTH]
    assert deep == [1] * CYCLE + [CYCLE]


def test_a_start_that_costs_makes_fewer_shallow_walks():
    count = [
        sum(len(u.seeds) for u in units)
        for start in (0, 256)
        for _, units in zip(range(10), turns((Heuristic.RET,), SeedTree(1), start=start), strict=False)
    ]
    assert count[9] > 3 * count[19]


def test_a_target_near_the_beginning_is_found_after_walks_have_grown_deep():
    """One walk in 512 takes the first eight steps right and the ninth, too; every other one goes on without end.

    Without shallow walks, 512 walks would be more than 10^8 steps.  With them, none of 5,000 meets Goal once in 2·10^4
    seeds.
    """
    builder = NetworkBuilder("near").declare("int[0,8] n = 0;")
    process = builder.automaton("P").location("A").location("Goal").location("Far")
    process.edge("A", "A", guard="n < 8", update="n = n + 1").edge("A", "Goal", guard="n == 8").edge("A", "Far")
    process.edge("Far", "Far")
    found = look_in(builder.build(), "E<> P.Goal", (Heuristic.RET,), walks=5_000)
    assert found.best is not None and len(found.best.trace.steps) == 9
    assert found.steps < 1_000_000


def timed_race(update: str) -> Network:
    builder = NetworkBuilder("race").declare("clock t, x; double y; int[0,9] n = 0;")
    process = builder.automaton("P").location("A", invariant="x <= 1").location("B")
    process.edge("A", "A", guard="x >= 1", update=f"x = 0{update}").edge("A", "B").edge("B", "A", update="x = 0")
    return builder.build()


@pytest.mark.parametrize(
    ("query", "update", "latest"),
    [
        ("E<> P.B && t <= 60", "", 60),
        ("E<> P.B && 60 > t && t <= 80", "", 60),
        ("E<> (P.B && t < 5) || t == 7", "", 7),
        ("A[] P.B imply t > 9", "", 9),
        ("E<> P.B && t >= 60", "", None),
        ("E<> P.B && (t <= 60 || x <= 1)", "", None),
        ("E<> P.B && t <= 60", ", t = 0", None),
        ("E<> P.B && y <= 60", "", None),
        ("E<> deadlock && t <= 4", "", 4),
        ("E<> deadlock || t <= 4", "", None),
    ],
)
def test_walks_end_where_a_clock_that_tells_the_time_rules_the_target_out(query, update, latest):
    network = timed_race(update)
    asked = parse_query(query, network)
    target = Target(compile_network(network), asked.alive, asked.dead)
    assert target.latest == (float("inf") if latest is None else pytest.approx(latest, abs=1e-4))
    assert latest is None or target.latest > latest


def test_a_walk_is_given_up_once_the_time_of_the_query_has_passed():
    network = timed_race("")
    found = [
        look_in(network, f"E<> n == 1 && {bound}", (Heuristic.RLC,), depth=500, walks=11)
        for bound in ("t <= 9", "x <= 9")
    ]
    assert found[0].steps < 11 * 100 < found[1].steps == 11 * 500


def test_a_number_of_walks_and_a_depth_are_kept_to():
    units = [unit for turn in turns((Heuristic.SEM,), SeedTree(1), depth=50, walks=500) for unit in turn]
    assert sum(len(u.seeds) for u in units) == 500
    assert {u.depth for u in units} == {50}
    assert [int(d) for u in units for d in u.distributions][:12] == [*range(11), 0]


def test_seeds_depend_on_names_alone():
    alone = next(turns((Heuristic.RLC,), SeedTree(5)))
    together = next(turns(PORTFOLIO, SeedTree(5)))
    np.testing.assert_array_equal(alone[0].seeds, next(u.seeds for u in together if u.heuristic is Heuristic.RLC))


@pytest.mark.parametrize("name", [n for n, f in FAMILIES.items() if not f.never and "gossip" not in n])
def test_the_question_of_every_small_model_is_answered(name):
    """Each trace is re-checked before it is a finding, so a finding is proof enough."""
    found = look(name, heuristics=PORTFOLIO, walks=3300 if name == "herschel" else 330)
    assert found.best is not None
    assert found.unconfirmed == []


def test_models_without_an_answer_walk_without_trouble():
    for name in ("fischer:3", "satellite:90", "gossip-table:3", "gossip-exchange:3", "gossip-masks:3"):
        found = look(name, "A[] not deadlock", walks=33)
        assert found.findings == []
        assert found.timelocks == 0


@pytest.mark.parametrize(("wanted", "measure"), [(Wanted.SHORTEST, "steps"), (Wanted.FASTEST, "time")])
def test_traces_get_better_and_better(wanted, measure):
    found = look("fischer-faulty:4", wanted=wanted, walks=880)
    sizes = [len(f.trace.steps) if measure == "steps" else f.trace.time for f in found.findings]
    assert len(sizes) > 1
    assert all(after < before for before, after in zip(sizes, sizes[1:], strict=False))
    assert found.stopped == "walks"
    # Two processes must request, write and enter: six steps and two waits of 2 at least.
    assert sizes[-1] >= (6 if measure == "steps" else 4)


def test_a_trace_of_no_steps_cannot_be_shortened():
    found = look("fischer:3", "E<> P(1).A", wanted=Wanted.SHORTEST, walks=10_000)
    assert len(found.best.trace.steps) == 0
    assert found.walks < 100


def test_any_number_of_workers_finds_the_same(monkeypatch):
    """Workers from the first turn on, and a target that is met late: the first in the order of turns counts."""
    monkeypatch.setattr("bbfalsify.running.reach.team.ALONE_S", -1.0)
    network, family = named_model("gossip-masks:5")
    results = [reach(network, family.query, seed=2, jobs=jobs, walks=200, timeout=None) for jobs in (1, 3)]
    first, second = ((r.finding.heuristic, r.finding.walk, r.finding.trace) for r in results)
    assert first == second
    assert results[0].found.steps == results[1].found.steps


def test_targets_over_clocks_are_met_while_time_passes():
    found = look("difficult-b8", "E<> P.Init && x > 5 && x < 6", walks=1)
    assert len(found.best.trace.steps) == 0
    assert 5 < found.best.trace.time < 6


def test_deadlock_looks_past_the_last_window():
    """In Mid with x beyond 4 nothing can ever fire; time may still pass until y is 1."""
    found = look("difficult-b8", "E<> deadlock && P.Mid", walks=11)
    assert found.best.trace.deadlocked


def last_chance() -> Network:
    """From A one may leave until x is 3; time passes in the dead end B, and none in the dead end C."""
    builder = NetworkBuilder("last_chance").declare("clock x;")
    process = builder.automaton("P").location("A").location("B").location("C", urgent=True)
    process.edge("A", "B", guard="x <= 2").edge("A", "C", guard="x > 2 && x <= 3")
    return builder.build()


@pytest.mark.parametrize("heuristic", PORTFOLIO)
@pytest.mark.parametrize(
    ("query", "moments", "deadlocked"),
    [
        ("E<> P.A && !deadlock", (0, 0), False),
        ("E<> P.A && x >= 3 && !deadlock", (3, 3), False),
        ("A[] P.B || deadlock", (0, 0), False),
        ("E<> P.A && x > 3 && !deadlock", None, None),
        ("E<> P.B && !deadlock", None, None),
        ("E<> P.C && !deadlock", None, None),
        ("A[] P.A || deadlock", None, None),
        ("E<> P.A && deadlock", (3, 3.001), True),
        ("E<> P.B && deadlock", (0, 2), True),
        ("E<> P.C && deadlock", (2, 3), True),
        ("E<> deadlock && x >= 9", (9, 9), True),
        ("A[] !deadlock", (0, 3.001), True),
        ("E<> P.A && x < 3 && deadlock", None, None),
        ("E<> P.C && x > 3 && deadlock", None, None),
    ],
)
def test_the_living_are_told_from_the_dead(query, moments, deadlocked, heuristic):
    found = look_in(last_chance(), query, (heuristic,), walks=22)
    assert found.unconfirmed == []
    assert (found.best is None) == (moments is None)
    if found.best is not None:
        assert moments[0] <= found.best.trace.time <= moments[1]
        assert found.best.trace.deadlocked == deadlocked


@pytest.mark.parametrize("heuristic", PORTFOLIO)
def test_walks_that_close_in_on_a_strict_bound_do_not_end_in_rounding(heuristic):
    """Time stays below 3, and x below 6: C can be entered at any moment, however late."""
    builder = NetworkBuilder("closing_in").declare("clock x, y;")
    process = builder.automaton("P").location("A", rates={"x": 2}, invariant="y < 3")
    process.location("B", invariant="y < 3").location("C", invariant="x < 6 && y < 3")
    for _ in range(15):
        process.edge("A", "A")
    process.edge("A", "B").edge("B", "C").edge("C", "C")
    found = look_in(builder.build(), "E<> deadlock", (heuristic,), depth=40, walks=110)
    assert found.findings == []
    assert found.unconfirmed == []


def called_out(bad: int, listeners: int, other: str) -> Network:
    """All go left or right when they are called after 2 time units; number `bad` may not be right as late as that.

    `other` is the invariant of going left.
    """
    builder = NetworkBuilder("called_out").declare(f"broadcast chan go; clock x; const int BAD = {bad};")
    caller = builder.automaton("Caller").location("Waits").location("Called").location("Done")
    caller.edge("Waits", "Called", sync="go!", guard="x >= 2").edge("Called", "Done")
    listener = builder.automaton("Listener", parameters=f"const int[0, {listeners - 1}] id").location("Here")
    listener.location("Left", invariant=other or None).location("Right", invariant="x < 1 || id != BAD")
    listener.edge("Here", "Left", sync="go?").edge("Here", "Right", sync="go?")
    return builder.build()


@pytest.mark.parametrize("bad", [-1, 0, 7, 15])
def test_a_broadcast_that_one_of_many_listeners_cannot_follow_is_impossible(bad):
    """Each of 16 has two ways to follow.  If neither can be entered by one of them, the others cannot help."""
    found = look_in(called_out(bad, 16, "x < 1 || id != BAD"), "E<> Caller.Done", PORTFOLIO, walks=11)
    assert (found.best is None) == (bad >= 0)
    assert found.unconfirmed == []


@pytest.mark.parametrize("bad", [0, 7, 15])
def test_a_listener_that_can_follow_in_one_way_only_follows_in_that_way(bad):
    """Half of the 65,536 outcomes break an invariant: those are no transitions, the others are (as in UPPAAL)."""
    found = look_in(called_out(bad, 16, ""), "E<> Caller.Done", PORTFOLIO, walks=11)
    assert found.best is not None
    never = look_in(called_out(bad, 16, ""), f"E<> Listener({bad}).Right", PORTFOLIO, walks=11)
    assert (never.findings, never.unconfirmed) == ([], [])


def test_a_trace_that_was_tampered_with_is_not_followed():
    found = look("fischer-faulty:3", walks=110)
    network, _ = named_model("fischer-faulty:3")
    steps = found.best.trace.steps
    moves, times = [s.moves for s in steps], [s.time for s in steps]
    follow(Replayer(network), moves, times, None)
    late = [*times[:-1], times[-1] + 100]
    follow(Replayer(network), moves, late, None)  # entering late is allowed
    with pytest.raises(NotAllowed, match="step 2"):
        follow(Replayer(network), [moves[0], *moves[2:]], [times[0], *times[2:]], None)
    entering = next(i for i, s in enumerate(steps) if network.processes[s.moves[0][0]].edges[s.moves[0][1]].source == 2)
    early = [*times[:entering], times[entering - 1], *times[entering + 1 :]]
    with pytest.raises(NotAllowed, match=f"step {entering + 1}: .* it can fire after"):
        follow(Replayer(network), moves, early, None)


def test_the_exact_re_check_ends_with_the_time():
    network = fischer(3)
    query = parse_query("E<> P(2).cs", network)
    target = Target(compile_network(network), query.alive, query.dead)
    search, distributions = TargetSearch(target, Heuristic.RET), np.zeros(1, np.int64)
    seed = next(
        s for s in range(1, 200) if search.walks(np.array([s], np.uint64), distributions, 200).ended == "met"
    )  # fmt: skip
    recording = search.record(seed, 0, 200)
    left = iter([True, True])
    with pytest.raises(TimeIsUp, match="after 2 of"):
        checked_trace(network, query, recording, lambda: next(left, False))
    assert len(checked_trace(network, query, recording).steps) == len(recording.times)


def test_rates_that_functions_switch_are_replayed_as_the_plain_interpreter_does():
    network = satellite(70, 5)
    query = parse_query("E<> Task(4).Last", network)
    search = TargetSearch(Target(compile_network(network), query.alive), Heuristic.RET)
    batch = search.walks(np.arange(1, 50, dtype=np.uint64), np.arange(49) % 11, 400)
    recording = search.record(1 + batch.walk, batch.walk % 11, 400)
    times = [float(t) for t in recording.times]
    steps, end = follow(Replayer(network), recording.moves, times, None)
    plain, state = Replayer(network), Replayer(network).initial_state()
    for step in steps:
        state, delay = plain.follow(state, step.moves, float(step.time))
        assert delay == step.delay
    assert state == end
    assert len({name for s in steps for name, _ in s.changes}) > 3


def stack(size: int) -> Network:
    """A committed gate calls the last of its list by a computed channel, or nobody if the list is empty."""
    builder = NetworkBuilder("stack")
    builder.declare(f"const int N = {size}; typedef int[0,N-1] id_t; broadcast chan heard; chan stop[N]; int[0,N] len;")
    builder.declare("id_t list[N]; int[-1,N-1] last = -1; bool nobody; int n;")
    gate = builder.automaton("Gate").location("Open").location("Busy", committed=True)
    gate.edge("Open", "Open", select="e : id_t", guard="len < N", update="list[len] = e, len++")
    gate.edge("Open", "Busy").edge("Busy", "Open", guard="len == 0", action="none", update="nobody = true")
    gate.edge("Busy", "Open", guard="len > 0", sync="stop[list[len-1]]!", update="len--")
    train = builder.automaton("Train", parameters="const id_t id").location("Here").location("Hit")
    train.edge("Here", "Hit", sync="stop[id]?", update="last = id").edge("Hit", "Here")
    return builder.build()


@pytest.mark.parametrize("heuristic", [Heuristic.RET, Heuristic.SEM, Heuristic.RCF])
def test_edges_of_a_committed_location_that_compare_one_value_are_all_found(heuristic):
    """`list[len-1]` has no value while the list is empty; then the other edge is taken.

    (Walks that prefer edges taken least let no two trains stand beside each other.)
    """
    network = stack(6)
    for query in ("E<> nobody", "E<> last == 0", "E<> last == 5 && len == 2", "E<> Train(3).Hit && Train(4).Hit"):
        found = look_in(network, query, (heuristic,), depth=64, walks=220)
        assert found.best is not None, query
        assert found.unconfirmed == [] and found.failure is None
    assert look_in(network, "E<> last != -1 && len == N", (heuristic,), depth=64, walks=22).failure is None
