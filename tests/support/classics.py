"""Well-known models as networks, for long walks: they never deadlock, and their invariants are known."""

from __future__ import annotations

from bbfalsify.modelling import NetworkBuilder
from bbfalsify.modelling.network.expressions import Bound, Call, Evaluate, Function, If, Kind, Read, Return, While
from bbfalsify.modelling.network.network import Location, Network, Rate
from tests.support.sketches import Sketch, both, edge, element, let, op, term


def fischer(processes: int, delay: int = 2) -> Network:
    """Fischer's mutual exclusion; at most one process is in location 3, the critical section."""
    sketch = Sketch("fischer")
    owner = sketch.integer("id", 0, processes)
    for me in range(1, processes + 1):
        x = sketch.clock(f"P{me}.x")
        locations = [
            Location("idle"),
            Location("request", op("<=", x, delay)),
            Location("wait"),
            Location("critical", op("<=", x, 5)),
        ]
        edges = [
            edge(0, 1, op("==", owner, 0), [let(x, 0)], action="try"),
            edge(1, 2, op("<=", x, delay), [let(x, 0), let(owner, me, 0, processes)], action="set"),
            edge(2, 1, op("==", owner, 0), [let(x, 0)], action="retry"),
            edge(2, 3, both(op(">", x, delay), op("==", owner, me)), [let(x, 0)], action="enter"),
            edge(3, 0, None, [let(owner, 0, 0, processes)], action="leave"),
        ]
        sketch.process(f"P{me}", locations, edges)
    return sketch.network(delay)


def train_gate(trains: int) -> Network:
    """Trains share a bridge behind a controller with a queue in functions; location 2 is the crossing."""
    sketch = Sketch("train gate")
    queue = sketch.integer("queue", 0, trains, size=trains + 1)
    length = sketch.integer("length", 0, trains)
    arrive, leave, stop, go = (
        [sketch.channel(f"{name}[{i}]", urgent=name == "go") for i in range(trains)]
        for name in ("appr", "leave", "stop", "go")
    )
    front, tail = element(queue, 0), element(queue, op("-", length, 1))
    enqueue = sketch.function(
        Function(
            "enqueue",
            (Kind.INT,),
            None,
            1,
            (
                let(element(queue, length), Bound(0, Kind.INT), 0, trains),
                let(length, op("+", length, 1), 0, trains),
            ),
        )
    )
    dequeue = sketch.function(_shift(queue, length, trains))
    for i in range(trains):
        x = sketch.clock(f"Train{i}.x")
        locations = [
            Location("safe"),
            Location("approaching", op("<=", x, 20)),
            Location("crossing", op("<=", x, 5)),
            Location("stopped"),
            Location("starting", op("<=", x, 15)),
        ]
        edges = [
            edge(0, 1, None, [let(x, 0)], send=arrive[i], action=f"appr[{i}]"),
            edge(1, 2, op(">=", x, 10), [let(x, 0)], action="cross"),
            edge(1, 3, op("<=", x, 10), [let(x, 0)], receive=stop[i]),
            edge(3, 4, None, [let(x, 0)], receive=go[i]),
            edge(4, 2, op(">=", x, 7), [let(x, 0)], action="cross"),
            edge(2, 0, op(">=", x, 3), [let(x, 0)], send=leave[i], action=f"leave[{i}]"),
        ]
        sketch.process(f"Train{i}", locations, edges)
    edges = []
    for i in range(trains):
        add = Evaluate(Call(enqueue, (term(i),), Kind.INT))
        edges += [
            edge(0, 1, op("==", length, 0), [add], receive=arrive[i]),
            edge(0, 1, both(op(">", length, 0), op("==", front, i)), send=go[i], action=f"go[{i}]"),
            edge(1, 2, None, [add], receive=arrive[i]),
            edge(2, 1, op("==", tail, i), send=stop[i], action=f"stop[{i}]"),
            edge(1, 0, op("==", front, i), [Evaluate(Call(dequeue, (), Kind.INT))], receive=leave[i]),
        ]
    sketch.process("Gate", [Location("free"), Location("occupied"), Location("stopping", committed=True)], edges)
    return sketch.network(20)


def _shift(queue: Read, length: Read, most: int) -> Function:
    """Remove the first element of the queue: a loop over an array."""
    i = Bound(0, Kind.INT)
    move = let(element(queue, i), element(queue, op("+", i, 1)), 0, most)
    return Function(
        "dequeue",
        (),
        None,
        1,
        (
            let(length, op("-", length, 1), 0, most),
            While(op("<", i, length), (move, let(i, op("+", i, 1)))),
            If(op("<", i, most), (let(element(queue, i), 0, 0, most),)),
            Return(),
        ),
    )


def leaking_gas() -> Network:
    """The leaking gas burner: a stopwatch counts the time spent leaking, another clock runs twice as fast."""
    sketch = Sketch("gas burner")
    x, leaked, fast = sketch.clock("x"), sketch.clock("leaked"), sketch.clock("fast")
    tight = Location("tight", None, (Rate(leaked.slot, term(0)), Rate(fast.slot, term(2))), exponential_rate=term(0.5))
    leaking = Location("leaking", op("<=", x, 1))
    sketch.process(
        "Burner",
        [leaking, tight],
        [
            edge(0, 1, None, [let(x, 0)], action="stop"),
            edge(1, 0, op(">=", x, 30), [let(x, 0), let(fast, 0)], action="leak"),
            edge(1, 1, both(op(">=", fast, 10), op("<", leaked, 3)), [let(fast, 0)], action="tick"),
        ],
    )
    return sketch.network(30)


def cooling_and_heating() -> Network:
    """A thermostat: temperature' = -temperature / 4 when off, (20 - temperature) / 4 when on."""
    sketch = Sketch("thermostat")
    temperature, x = sketch.clock("temperature", 12), sketch.clock("x")
    off = Rate(temperature.slot, op("/", op("-", 0.0, temperature), 4.0))
    on = Rate(temperature.slot, op("/", op("-", 20.0, temperature), 4.0))
    sketch.process(
        "Thermostat",
        [Location("off", op(">=", temperature, 6), (off,)), Location("on", op("<=", temperature, 16), (on,))],
        [
            edge(0, 1, op("<=", temperature, 8), [let(x, 0)], action="on"),
            edge(1, 0, both(op(">=", temperature, 10), op(">=", x, 1)), [let(x, 0)], action="off"),
            edge(1, 1, op("==", x, 0.5), action="tick"),
        ],
    )
    return sketch.network(8)


def preemptive_tasks() -> Network:
    """Two periodic tasks on one processor: the low one's stopwatch stands still while the high one runs."""
    b = NetworkBuilder("preemptive_tasks")
    b.declare("const int HIGH = 0, LOW = 1; bool ready[2]; clock done[2]; const int COST[2] = {2, 4};")
    high = b.automaton("High", declarations="clock p;")
    high.location("Wait", invariant="p <= 10", rates={"done[HIGH]": 0})
    high.location("Run", invariant="done[HIGH] <= COST[HIGH] && p <= 10")
    high.edge("Wait", "Run", action="release_high", guard="p >= 10", update="p = 0, done[HIGH] = 0, ready[HIGH] = true")
    high.edge("Run", "Wait", action="finish_high", guard="done[HIGH] >= COST[HIGH]", update="ready[HIGH] = false")
    low = b.automaton("Low", declarations="clock p;")
    low.location("Wait", invariant="p <= 15 && done[LOW]' == 0")
    low.location("Run", invariant="done[LOW] <= COST[LOW] && done[LOW]' == (ready[HIGH] ? 0 : 1) && p <= 15")
    low.location("Missed")
    low.edge("Wait", "Run", action="release_low", guard="p >= 15", update="p = 0, done[LOW] = 0, ready[LOW] = true")
    low.edge("Run", "Wait", action="finish_low", guard="done[LOW] >= COST[LOW]", update="ready[LOW] = false")
    low.edge("Run", "Missed", action="miss_low", guard="p >= 15 && done[LOW] < COST[LOW]")
    return b.build()
