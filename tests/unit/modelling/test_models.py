"""The well-known models of bbfalsify.testing: right structure, and cheap to build."""

from __future__ import annotations

from bbfalsify.modelling.expressions import Binary, Call, Conditional, Constant, Kind, Read
from bbfalsify.modelling.network import Rate
from bbfalsify.testing.models import fischer, preemptive_tasks, train_gate
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
