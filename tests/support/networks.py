"""Random small networks for hypothesis: every corner of the modelling language, in numbers float64 holds exactly.

    @given(networks())
    def test_something(network): ...

One to four processes of one to four locations; integers and arrays with ranges; shared and local clocks, stopwatches
and rates from data; guards with `&&`, `||`, `!`, `!=`, strict and closed bounds on clocks and their differences,
functions, quantifiers and other processes' locations; handshake, broadcast and urgent channels; urgent and committed
locations; weights and branches; updates with `if`, loops and calls.

Constants are multiples of 1/4 and rates are 0, 1 or 2, so that every bound of a delay is a dyadic number: a kernel in
float64 and a judge in exact fractions must then agree to the last bit.  Shared clocks get their rates from the first
process only, since two rates for one clock have no meaning.

Needs hypothesis, which only tests have: nothing but tests may import this module.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from hypothesis import strategies as st

from bbfalsify.modelling.language.receiver_choices import with_receiver_choices
from bbfalsify.modelling.network.expressions import (
    Assign,
    AtLocation,
    Bound,
    Builtin,
    Call,
    Conditional,
    Evaluate,
    Expression,
    Function,
    If,
    Kind,
    Quantifier,
    Read,
    Return,
    Statement,
    While,
)
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network, Rate
from tests.support.sketches import Sketch, both, element, let, negation, op, term

FRAME = 4
HIGHEST_INTEGER = 3
LARGEST_CONSTANT = 8
ARRAY = 2

Thing = TypeVar("Thing")


# Hypothesis looks closely at every new strategy: making each of them once makes drawing twice as fast.
_places = functools.cache(lambda count: st.sampled_from(range(count)))
_between = functools.cache(st.integers)


@st.composite
def networks(
    draw: st.DrawFn, *, handshakes: bool = True, single_component: bool = False, urgent_channels: bool = True,
    dialects: bool = False, zero_rates: bool = False, prepared: bool = True,
) -> Network:  # fmt: skip
    """A random network.

    Without handshakes it has a stochastic semantics; with a single component only the first process has outputs; with
    dialects half of them are UPPAAL's, where a branch that cannot be entered does not forbid the others; some
    exponential rates are 0 in some states if asked for.  Engines get networks that are prepared: where several edges
    receive a broadcast, those that cannot be entered have guards.
    """
    maker = _Maker(draw, handshakes=handshakes, single_component=single_component, urgent_channels=urgent_channels)
    maker.zero_rates = zero_rates
    network = maker.network()
    network = replace(network, as_uppaal=dialects and draw(st.booleans()))
    return with_receiver_choices(network) if prepared else network


class _Maker:
    """Draws one network, part by part."""

    def __init__(self, draw: st.DrawFn, *, handshakes: bool, single_component: bool, urgent_channels: bool) -> None:
        self.draw = draw
        self.handshakes = handshakes
        self.single_component = single_component
        self.urgent_channels = urgent_channels
        self.zero_rates = False
        self.sketch = Sketch("random")

    # --- choices -----------------------------------------------------------------------------------------------------

    def one_of(self, *makers: Callable[[], Thing]) -> Thing:
        return self.pick(makers)()

    def pick(self, things: Sequence[Thing]) -> Thing:
        """Draw an index: hypothesis draws differently in every process from objects that hash by their address."""
        return things[self.draw(_places(len(things)))]

    def chance(self, one_in: int) -> bool:
        """Draw a Boolean that is rarely true, and false in the simplest example."""
        return self.draw(_between(0, one_in - 1)) == one_in - 1

    def count(self, low: int, high: int) -> int:
        return self.draw(_between(low, high))

    # --- the whole ---------------------------------------------------------------------------------------------------

    def network(self) -> Network:
        sketch = self.sketch
        self.integers = [sketch.integer(f"n{i}", 0, HIGHEST_INTEGER, self.count(0, 2)) for i in range(self.count(1, 3))]
        self.array = sketch.integer("a", 0, HIGHEST_INTEGER, 1, size=ARRAY)
        self.shared = [sketch.clock(f"x{i}") for i in range(self.count(1, 2))]
        self.clock_array = sketch.clock("xs", size=ARRAY)
        self.real = sketch.real("level", self.pick([Fraction(1), Fraction(5, 2)]))
        self.process_count = self.count(1, 4)
        self.location_counts = [self.count(1, 4) for _ in range(self.process_count)]
        self.local = [sketch.clock(f"P{p}.y") for p in range(self.process_count)]
        self.channels = [self.channel(c) for c in range(self.count(0, 3))]
        self.functions = [self.function_of_integers(), self.function_of_clocks(), self.procedure()]
        for process in range(self.process_count):
            self.process(process)
        return sketch.network(LARGEST_CONSTANT)

    def channel(self, number: int) -> int:
        broadcast = not self.handshakes or self.chance(2)
        urgent = self.urgent_channels and self.chance(4)
        return self.sketch.channel(f"c{number}", broadcast=broadcast, urgent=urgent)

    def process(self, process: int) -> None:
        self.clocks: list[Read] = [*self.shared, *(element(self.clock_array, i) for i in range(ARRAY))]
        self.clocks += [self.local[process]] * 3
        locations = [self.location(process, here) for here in range(self.location_counts[process])]
        passive = self.single_component and process > 0
        edges: list[Edge] = []
        for here in range(len(locations)):
            if not passive:
                edges += [self.output(process, here) for _ in range(self.count(1, 3))]
            if self.channels:
                edges += [self.input(process, here) for _ in range(self.count(0, 2))]
        self.sketch.process(f"P{process}", locations, edges)

    def integer_rate(self) -> Expression:
        rate = self.pick(self.integers)
        return rate if self.zero_rates and self.chance(3) else op("+", rate, 1)

    # --- locations ---------------------------------------------------------------------------------------------------

    def location(self, process: int, number: int) -> Location:
        own = [self.local[process], *(self.shared if process == 0 else [])]
        rates = tuple(Rate(clock.slot, self.rate()) for clock in own if self.chance(4))
        urgent = self.chance(12)
        return Location(
            f"L{number}",
            invariant=None if self.chance(3) else self.invariant(process),
            rates=rates,
            exponential_rate=self.pick([None, None, term(2), self.integer_rate()]),
            urgent=urgent,
            committed=not urgent and self.chance(12),
        )

    def rate(self) -> Expression:
        number = self.pick(self.integers)
        return self.one_of(
            lambda: term(0),
            lambda: term(2),
            lambda: term(1.0),
            lambda: op("%", number, 3),
            lambda: Conditional(op("==", number, 1), term(2), term(0), Kind.INT),
        )

    def invariant(self, process: int) -> Expression:
        clock = self.local[process] if self.chance(2) else self.pick(self.clocks)
        return self.one_of(
            lambda: op("<=", clock, self.count(2, 7)),
            lambda: op("<=", clock, self.quarter(8, 28)),
            lambda: op("<", clock, self.count(2, 7)),
            lambda: op("<=", clock, op("+", self.pick(self.integers), 3)),
            lambda: both(op("<=", clock, 6), op("<", self.pick(self.clocks), self.count(5, 8))),
            lambda: op("||", op("<=", clock, self.count(2, 5)), op("==", self.pick(self.integers), 1)),
            lambda: op("imply", op(">", self.pick(self.integers), 1), op("<=", clock, 4)),
            lambda: op("<=", op("-", clock, self.pick(self.clocks)), self.count(1, 4)),
            lambda: Quantifier("forall", 0, 0, ARRAY - 1, op("<=", self.any_of_array(), 7), Kind.BOOL),
        )

    # --- edges -------------------------------------------------------------------------------------------------------

    def output(self, process: int, source: int) -> Edge:
        channel = self.pick(self.channels) if self.channels and self.chance(3) else None
        urgent = channel is not None and self.sketch.channels[channel].urgent
        guard = self.integer_guard() if urgent and self.chance(2) else self.guard()
        action = f"c{channel}" if channel is not None else self.pick(["go", "stay", "jump"])
        weight = self.pick([None, None, term(2), term(0.5), op("+", self.pick(self.integers), 1)])
        return self.edge(process, source, guard, channel, sends=channel is not None, action=action, weight=weight)

    def input(self, process: int, source: int) -> Edge:
        channel = self.pick(self.channels)
        guard = self.integer_guard() if self.sketch.channels[channel].urgent and self.chance(2) else self.guard()
        return self.edge(process, source, guard, channel, sends=False, action=f"c{channel}", weight=None)

    def edge(
        self, process: int, source: int, guard: Expression | None, channel: int | None, *, sends: bool, action: str,
        weight: Expression | None,
    ) -> Edge:  # fmt: skip
        several = self.chance(4)
        branches = [self.branch(process, weighted=several) for _ in range(2 if several else 1)]
        return Edge(source, tuple(branches), guard, FRAME, channel, sends, action, weight)

    def branch(self, process: int, *, weighted: bool) -> Branch:
        target = self.count(0, self.location_counts[process] - 1)
        updates = tuple(self.update(process) for _ in range(self.count(0, 3)))
        weight = self.pick([None, term(1), term(3), op("+", self.pick(self.integers), 1)]) if weighted else None
        return Branch(target, updates, FRAME, weight)

    # --- conditions --------------------------------------------------------------------------------------------------

    def guard(self) -> Expression | None:
        return self.one_of(
            lambda: None,
            self.clock_guard,
            self.clock_guard,
            lambda: both(self.clock_guard(), self.clock_guard()),
            lambda: both(self.integer_guard(), self.clock_guard()),
            lambda: op("||", self.clock_guard(), self.clock_guard()),
            lambda: op("||", both(self.clock_guard(), self.integer_guard()), self.clock_guard()),
            lambda: negation(self.clock_guard()),
            lambda: negation(both(self.clock_guard(), self.clock_guard())),
            self.integer_guard,
        )

    def clock_guard(self) -> Expression:
        clock, other = self.pick(self.clocks), self.pick(self.clocks)
        operator = self.pick([">=", ">=", ">", "<=", "<", "!=", "=="])
        inequality = self.pick([">=", ">", "<=", "<"])
        return self.one_of(
            lambda: op(operator, clock, self.count(0, 5)),
            lambda: op(operator, clock, self.quarter(0, 20)),
            lambda: op(inequality, clock, self.pick(self.integers)),
            lambda: op(inequality, self.quarter(0, 16), clock),
            lambda: op(inequality, op("-", clock, other), self.count(-2, 3)),
            lambda: op(inequality, clock, other),
            lambda: op(inequality, clock, self.real),
            lambda: op(inequality, Builtin("max", (clock, other), Kind.DOUBLE), self.count(1, 4)),
            lambda: op(inequality, element(self.clock_array, op("%", self.pick(self.integers), ARRAY)), 2),
            lambda: Call(1, (self.pick(self.integers),), Kind.BOOL),
            lambda: Quantifier(
                self.pick(["forall", "exists"]), 0, 0, ARRAY - 1, op(operator, self.any_of_array(), 2), Kind.BOOL
            ),
        )

    def any_of_array(self) -> Read:
        return element(self.clock_array, Bound(0, Kind.INT))

    def integer_guard(self) -> Expression:
        left, right = self.integer(), self.integer()
        process = self.count(0, self.process_count - 1)
        return self.one_of(
            lambda: op(self.pick(["==", "!=", "<", "<=", ">", ">="]), left, self.count(0, 2)),
            lambda: op(self.pick(["==", "!=", "<="]), left, right),
            lambda: op("||", op("==", left, 0), op(">", right, 1)),
            lambda: AtLocation(process, self.count(0, self.location_counts[process] - 1)),
        )

    def integer(self) -> Expression:
        """An integer expression with values from 0 to HIGHEST_INTEGER."""
        number = self.pick(self.integers)
        return self.one_of(
            lambda: number,
            lambda: element(self.array, self.count(0, ARRAY - 1)),
            lambda: element(self.array, op("%", number, ARRAY)),
            lambda: Call(0, (number,), Kind.INT),
            lambda: op("%", op("+", number, self.count(1, 2)), HIGHEST_INTEGER + 1),
            lambda: op("/", op("*", number, 3), 4),
        )

    def quarter(self, low: int, high: int) -> Fraction:
        return Fraction(self.count(low, high), 4)

    # --- updates -----------------------------------------------------------------------------------------------------

    def update(self, process: int) -> Statement:
        clock, number = self.pick(self.clocks), self.pick(self.integers)
        return self.one_of(
            lambda: let(self.local[process], 0),
            lambda: let(clock, 0),
            lambda: let(clock, self.quarter(0, 12)),
            lambda: let(clock, self.pick(self.clocks)),
            lambda: let(clock, number),
            lambda: self.set(number, self.integer()),
            lambda: self.set(number, self.count(0, HIGHEST_INTEGER)),
            lambda: self.set(element(self.array, op("%", number, ARRAY)), self.integer()),
            lambda: let(self.real, Builtin("min", (clock, term(Fraction(3)), ), Kind.DOUBLE)),
            lambda: If(self.clock_guard(), (self.set(number, 1),), (self.set(number, 2),)),
            lambda: If(self.integer_guard(), (let(clock, 1),), ()),
            lambda: Evaluate(Call(2, (self.integer(),), Kind.INT)),
            lambda: self.set(number, op("+", number, 1)) if self.chance(2) else let(clock, 0),
        )  # fmt: skip

    def set(self, target: Read, value: Expression | int) -> Assign:
        return Assign(target, term(value), 0, HIGHEST_INTEGER)

    # --- functions ---------------------------------------------------------------------------------------------------

    def function_of_integers(self) -> int:
        """int f(int k) { int i = 0; while (i < k) { if (a[i % 2] > 1) return i; i++; } return k; }"""
        k, i = Bound(0, Kind.INT), Bound(1, Kind.INT)
        found = If(op(">", element(self.array, op("%", i, ARRAY)), 1), (Return(i),))
        loop = While(op("<", i, k), (found, let(i, op("+", i, 1))))
        return self.sketch.function(Function("f", (Kind.INT,), Kind.INT, 2, (loop, Return(k))))

    def function_of_clocks(self) -> int:
        """bool late(int k) { double limit = k + 1; if (k > 1) return x > limit; return x0 >= 2 || xs[0] < limit; }"""
        k, limit = Bound(0, Kind.INT), Bound(1, Kind.DOUBLE)
        body = (
            let(limit, op("+", k, 1)),
            If(op(">", k, 1), (Return(op(">", self.pick(self.shared), limit)),)),
            Return(op("||", op(">=", self.shared[0], 2), op("<", element(self.clock_array, 0), limit))),
        )
        return self.sketch.function(Function("late", (Kind.INT,), Kind.BOOL, 2, body))

    def procedure(self) -> int:
        """int shift(int k) { a[0] = a[1]; a[1] = k; if (x0 > k) xs[k % 2] = 0; return k; }"""
        k = Bound(0, Kind.INT)
        body = (
            self.set(element(self.array, 0), element(self.array, 1)),
            self.set(element(self.array, 1), k),
            If(op(">", self.shared[0], k), (let(element(self.clock_array, op("%", k, ARRAY)), 0),)),
            Return(k),
        )
        return self.sketch.function(Function("shift", (Kind.INT,), Kind.INT, 1, body))
