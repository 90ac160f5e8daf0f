"""The models of `bbfalsify.examples.models`: right structure, and cheap to build."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bbfalsify.examples.models.protocols import fischer, train_gate
from bbfalsify.modelling.network.expressions import Binary, Call, Conditional, Constant, Kind, Read
from bbfalsify.modelling.network.network import Rate
from tests.support.classics import preemptive_tasks
from tests.support.oracle import Oracle
from tests.unit.modelling.evaluator import Evaluator


def test_fischer():
    network = fischer(25)
    assert len(network.processes) == 25
    assert (network.integer_count, network.real_count) == (1, 25)
    assert network.processes[6].name == "P(7)"
    enter = network.processes[6].edges[3].guard
    assert enter.left.operator == ">" and enter.right.right == Constant(7, Kind.INT)
    assert fischer(2, faulty=True).processes[0].edges[3].guard.left.operator == ">="
    assert fischer(2, delay=9).largest_constant == 9


def test_train_gate():
    network = train_gate(3)
    gate = network.processes[-1]
    assert gate.name == "Gate" and network.largest_constant == 20
    assert [f.name for f in network.functions] == ["Gate.enqueue", "Gate.dequeue", "Gate.front", "Gate.tail"]
    go = [edge for edge in gate.edges if edge.action.startswith("go[")]
    assert [edge.action for edge in go] == ["go[0]", "go[1]", "go[2]"]
    assert go[1].guard.right == Binary("==", Call(2, (), Kind.INT), Constant(1, Kind.INT), Kind.BOOL)
    assert all(network.channels[edge.channel].urgent for edge in go)


def test_the_queue_of_the_gate_works():
    network = train_gate(3)
    gate = network.processes[-1]
    run = Evaluator(network)
    arrive = {e.action: e for e in gate.edges if e.action.startswith("appr") and e.source == 1}
    leave = {e.action: e for e in gate.edges if e.action.startswith("leave")}
    for action in ("appr[2]", "appr[0]", "appr[1]"):
        run.run(arrive[action].branches[0].updates)
    front, tail = Call(2, (), Kind.INT), Call(3, (), Kind.INT)
    assert (run.value(front), run.value(tail)) == (2, 1)
    assert run.value(leave["leave[2]"].guard) and not run.value(leave["leave[0]"].guard)
    run.run(leave["leave[2]"].branches[0].updates)
    assert (run.value(front), run.value(tail)) == (0, 1)


def test_stopwatch():
    network = preemptive_tasks()
    low = network.processes[1]
    done = network.variable("done").slot + 1
    assert low.locations[0].rates == (Rate(done, Constant(0, Kind.INT)),)
    running = Conditional(Read(0, Kind.BOOL), Constant(0, Kind.INT), Constant(1, Kind.INT), Kind.INT)
    assert low.locations[1].rates == (Rate(done, running),)
    assert [v.name for v in network.variables] == ["ready", "done", "High.p", "Low.p"]


def locations_seen(network, steps: int, seed: int) -> list[list[str]]:
    """The locations along a random walk of the reference interpreter: earliest or latest delay, or one between."""
    run, generator = Oracle(network), np.random.default_rng(seed)
    state, seen = run.initial_state(), []
    for _ in range(steps):
        transitions = run.transitions(state)
        if not transitions:
            break
        transition = transitions[generator.integers(len(transitions))]
        window = transition.windows[generator.integers(len(transition.windows))]
        high = window.low + 30 if window.high is None else window.high
        share = Fraction(int(generator.integers(5)), 4)
        delay = window.low + (high - window.low) * share
        if (delay == window.low and window.low_strict) or (delay == window.high and window.high_strict):
            delay = (window.low + high) / 2
        state = run.fire_choosing(state, transition, delay, generator=generator)
        seen.append([p.locations[i].name for p, i in zip(network.processes, state.locations, strict=True)])
    return seen


def test_only_one_train_crosses_at_a_time():
    seen = locations_seen(train_gate(3), 150, seed=1)
    assert len(seen) == 150
    assert any("Stop" in names for names in seen) and any("Cross" in names for names in seen)
    assert all(names.count("Cross") <= 1 for names in seen)


def test_fischer_excludes():
    assert all(names.count("cs") <= 1 for names in locations_seen(fischer(2), 200, seed=1))


def test_faulty_fischer_does_not_exclude():
    """The first enters at the last moment at which the second may still write its own name."""
    network = fischer(2, faulty=True)
    run = Oracle(network)
    state = run.initial_state()
    path = [(0, "A->req", 0), (1, "A->req", 0), (0, "req->wait", 0), (0, "wait->cs", 2), (1, "req->wait", 0)]
    for process, action, delay in [*path, (1, "wait->cs", 2)]:
        (transition,) = [
            t
            for t in run.transitions(state)
            if t.sender[0] == process and network.processes[process].edges[t.sender[1]].action == action
        ]
        state = run.fire(state, transition, Fraction(delay))
    assert [network.processes[p].locations[i].name for p, i in enumerate(state.locations)] == ["cs", "cs"]


def test_the_low_task_is_preempted():
    network = preemptive_tasks()
    run = Oracle(network)
    state = run.initial_state()
    done = network.variable("done").slot + 1
    while state.locations != (1, 1):  # both run
        transition = run.transitions(state)[0]
        state = run.fire(state, transition, transition.windows[0].low)
    later = run.wait(state, Fraction(1))
    assert later.reals[done] == state.reals[done]
