"""The current state of a long run, and what is known about it as long as nothing that it depends on changes.

    reals         value, time of that value, and rate of each: passing time costs nothing
    invariants    per process the time until which it holds, and the slots *read* to find it: valid until one of them is
                  assigned, starts or stops moving, or changes its rate
    rates         per clock the slots that its rate may read
    updates       of the current state what each transition writes, where that does not depend on the delay
    committed and urgent locations      the processes in one

Everything is exact: whole numbers are kept as `int`, whose arithmetic is many times faster, all others as fractions.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.core.errors import InvariantViolated
from bbfalsify.modelling.network.effects import EffectAnalysis, Place
from bbfalsify.modelling.network.expressions import Binary, Conditional, Constant, Expression, Kind, Read
from bbfalsify.modelling.reference.delay_sets import first_end
from bbfalsify.modelling.reference.evaluation import AnyEvaluator, Evaluator
from bbfalsify.modelling.reference.exact_values import (
    DependsOnDraw,
    Exact,
    Value,
    at_delay,
    fraction,
    simplest,
)
from bbfalsify.modelling.reference.flow import RealFlow
from bbfalsify.modelling.reference.memory_layers import At, Layer, Layered, Within, noting
from bbfalsify.modelling.reference.state import Move, State
from bbfalsify.modelling.reference.step_replay import Replayer


@dataclass(eq=False)
class Here:
    """A state that changes in place: each real has a value, the time of that value, and a rate."""

    locations: list[int]
    integers: list[int]
    values: list[Exact]
    since: list[Exact]
    rates: list[Exact]
    time: Exact

    @property
    def reals(self) -> tuple[Fraction, ...]:
        now = At(self, self.time)
        return tuple(fraction(now[slot]) for slot in range(len(self.values)))

    def state(self) -> State:
        return State(tuple(self.locations), tuple(self.integers), self.reals, fraction(self.time))


Effect = tuple[dict[int, int], dict[int, Value], dict[int, Value]]
"""Locations, integers and reals that a transition writes."""


@dataclass(frozen=True)
class Held:
    """An invariant holds until this time (None: without end), as long as these places do not change."""

    until: Exact | None
    closed: bool
    """It still holds then."""
    read: frozenset[Place]


class KeptRun(Replayer):
    """A run up to some step, with the data that is kept of it."""

    def __init__(self, replayer: Replayer) -> None:
        super().__init__(replayer.network, step=replayer.step, horizon=replayer.horizon)
        self._plain = replayer
        self.code = replayer.code
        self._raters: dict[int, dict[int, dict[int, Expression]]] = {}
        """Clock → processes that rate it, in their order → location → rate; the last process that rates it counts."""
        for number, process in enumerate(self.network.processes):
            for place, location in enumerate(process.locations):
                for rate in location.rates:
                    self._raters.setdefault(rate.slot, {}).setdefault(number, {})[place] = rate.expression
        self._effects_of = EffectAnalysis(self.network.functions)
        self.load(replayer.initial_state())

    def load(self, state: State) -> None:
        self._loaded: State = state
        self._moment: AnyEvaluator | None = None
        """The evaluator of the last delay asked about."""
        self.here: Here | None = None
        """The current state with kept data; None: as loaded."""

    def state(self) -> State:
        return self._loaded if self.here is None else self.here.state()

    def keep(self) -> bool:
        """Start to keep data; False if this state does not allow it."""
        if self.here is not None:
            return True
        state = self._loaded
        rates = self._rates(state) if state.exact else None
        if rates is None:
            return False
        time, values = simplest(Fraction(state.time)), [simplest(Fraction(value)) for value in state.reals]
        since = [time] * len(values)
        self.here = Here(list(state.locations), list(state.integers), values, since, [*map(simplest, rates)], time)
        processes = range(len(state.locations))
        self._committed = {p for p in processes if self._location(state, p).committed}
        self._urgent = {p for p in processes if self._location(state, p).urgent}
        self._held: dict[int, Held] = {}
        self._ends: list[tuple[Exact, bool, int]] = []
        """A heap: time, whether the invariant still holds then, process; outdated entries may remain."""
        self._readers: dict[Place, set[int]] = {}
        self._rate_readers: dict[Place, set[int]] = {}
        self._switched: dict[int, dict[int, set[int]]] = {}
        """Integer → value → clocks that have another rate at this value than at all others."""
        self._given: dict[int, Expression | None] = {}
        """The rate of each clock that some process may rate; None: 1."""
        self._read_by: dict[tuple[int, int], bool] = {}
        """Clock and identity of one of its rates, whose reads are known → whether it reads reals."""
        self._rates_read_reals = False
        for slot in self._raters:
            self._find_rate(slot)
        self._effects: dict[tuple[Move, ...], Effect] = {}
        self._unknown = {p for p in processes if self._location(state, p).invariant is not None}
        self._staying = None
        return True

    def kept(self) -> Here:
        if self.here is None:
            raise InvariantViolated("nothing is kept of this state")
        return self.here

    def _rates(self, state: State) -> list[Fraction] | None:
        """One rate per real, or None if the flow is not linear."""
        return RealFlow(self.code, state.locations, state.integers, state.reals, step=self.step).rates

    def _find_rate(self, slot: int) -> None:
        """Find what rates a clock in the current locations, and what that may read."""
        given, locations = None, self.kept().locations
        for process, rates in self._raters[slot].items():
            given = rates.get(locations[process], given)
        self._given[slot] = given
        if given is None or isinstance(given, Constant):
            return
        if (slot, id(given)) not in self._read_by:
            switch = _switch(given)
            if switch is not None:
                self._read_by[slot, id(given)] = False
                self._switched.setdefault(switch[0], {}).setdefault(switch[1], set()).add(slot)
                return
            read = self._effects_of.expression(given).reads
            self._read_by[slot, id(given)] = any(kind == "r" for kind, _ in read)
            for place in read:
                self._rate_readers.setdefault(place, set()).add(slot)
        if self._read_by[slot, id(given)]:
            self._rates_read_reals = True

    def _enter(self, memory: Layered, time: Exact) -> None:
        """Copy what a transition wrote into the current state, and forget what it may have changed."""
        here, self._moment = self.kept(), None
        reals = {slot: simplest(value) for slot, value in memory.reals.items() if isinstance(value, int | Fraction)}
        integers = {slot: value for slot, value in memory.integers.items() if isinstance(value, int)}
        if len(reals) < len(memory.reals) or len(integers) < len(memory.integers):
            raise DependsOnDraw("an update draws at random")
        here.time = time
        rated: set[int] = set()
        """The clocks whose rates may change."""
        changed = [("r", slot) for slot in reals]
        changed += [("i", slot) for slot, value in integers.items() if here.integers[slot] != value]
        changed += [("l", process) for process in memory.locations]
        self._effects = {}
        for process, location in memory.locations.items():
            locations = self.network.processes[process].locations
            left, entered = locations[here.locations[process]], locations[location]
            rated |= {rate.slot for rate in (*left.rates, *entered.rates)}
            here.locations[process] = location
            (self._committed.add if entered.committed else self._committed.discard)(process)
            (self._urgent.add if entered.urgent else self._urgent.discard)(process)
            self._forget(process)
            if entered.invariant is not None:
                self._unknown.add(process)
        for slot in rated:
            self._find_rate(slot)
        for slot, integer in integers.items():
            if slot in self._switched and here.integers[slot] != integer:
                switched = self._switched[slot]
                rated |= switched.get(here.integers[slot], set()) | switched.get(integer, set())
            here.integers[slot] = integer
        for slot, real in reals.items():
            here.values[slot], here.since[slot] = real, time
        self._changed(changed)
        self._staying = None
        for place in changed:
            rated |= self._rate_readers.get(place, set())
        self._change_rates(rated)

    def _change_rates(self, slots: set[int]) -> None:
        """Evaluate again the rates of these clocks; of all, where rates read reals."""
        here = self.kept()
        if self._rates_read_reals:
            rates = self._rates(here.state())
            if rates is None:
                self.load(here.state())
                return
            found: dict[int, int | Fraction | float] = dict(enumerate(rates))
        else:
            now = self.evaluator_at(here, 0)
            found = {slot: self._rate(self._given[slot], now) for slot in sorted(slots)}
        reals = At(here, here.time)
        for slot, rate in found.items():
            if here.rates[slot] != rate:
                here.values[slot], here.since[slot] = reals[slot], here.time
                here.rates[slot] = simplest(fraction(rate))
                self._changed([("r", slot)])

    def _rate(self, given: Expression | None, now: AnyEvaluator) -> int | Fraction | float:
        if given is None:
            return 1
        return given.value if isinstance(given, Constant) else at_delay(now.value(given), 0)

    def _changed(self, places: Iterable[Place]) -> None:
        for place in places:
            for process in tuple(self._readers.get(place, ())):
                self._forget(process)
                self._unknown.add(process)

    def _forget(self, process: int) -> None:
        held = self._held.pop(process, None)
        for place in held.read if held is not None else ():
            self._readers[place].discard(process)

    def _find_out(self) -> None:
        """Solve the invariants that are not known."""
        here = self.kept()
        while self._unknown:
            process = min(self._unknown)
            read: set[Place] = set()
            delay, closed = self._held_delays(self._location(here, process).invariant, read) or (-1, True)
            until = None if delay is None else simplest(here.time + delay)
            held = Held(until, closed, frozenset(read))
            self._held[process] = held
            for place in read:
                self._readers.setdefault(place, set()).add(process)
            if until is not None:
                heapq.heappush(self._ends, (until, closed, process))
            self._unknown.discard(process)

    def _held_delays(self, invariant: Expression | None, read: set[Place]) -> tuple[Exact | None, bool] | None:
        memory = noting(self._memory(Within(self.kept())), read)
        return first_end(lambda sample: Evaluator(self.code, memory, sample).holds(invariant))

    def _first_end(self) -> tuple[Exact, bool] | None:
        """The time at which the first invariant ends, and whether it still holds then; None: all hold without end."""
        self._find_out()
        while self._ends:
            until, closed, process = self._ends[0]
            held = self._held.get(process)
            if held is not None and held.until == until and held.closed == closed:
                return until, closed
            heapq.heappop(self._ends)
        return None

    def _memory(self, reals: At | Within) -> Layered:
        here = self.kept()
        return Layered(Layer(here.locations), Layer(here.integers), Layer(reals))


def _switch(rate: Expression) -> tuple[int, int] | None:
    """The integer and the value of a rate such as `running == 3 ? 1 : 0`."""
    match rate:
        case Conditional(condition=Binary("==", Read(slot, Kind.INT | Kind.BOOL, None), Constant(value)),
                         then=Constant(), otherwise=Constant()) if isinstance(value, int):  # fmt: skip
            return slot, value
    return None


def layered(evaluator: AnyEvaluator) -> Layered:
    if not isinstance(evaluator.memory, Layered):
        raise InvariantViolated("an evaluator of another interpreter")
    return evaluator.memory
