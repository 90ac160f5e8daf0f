"""Following long runs of large networks: as `reference_replay`, but what a step does not touch is not looked at again.

From one step to the next nearly everything stays as it is.  So a `Run` keeps, in exact fractions,

    reals         of each its value, since when, and its rate: time that passes costs nothing
    invariants    of each process until when it holds, and *what was read* to find that out: the answer stays as long
                  as nothing that was read is assigned, moves or changes its rate
    committed and urgent locations      who is in one

What is read is noted while a condition is evaluated, so nothing has to be known about models beforehand.  Only steps
that are plainly allowed go this way.  One that is refused, fails, draws at random or starts where the flow is not
linear is left to the `Replayer`; its answer counts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.modelling.network.expressions import Constant
from bbfalsify.modelling.reference.delay_sets import ALL_DELAYS, Window, Windows, first_stretch, solve
from bbfalsify.modelling.reference.evaluation import Draw, Machine, Memory, no_draw
from bbfalsify.modelling.reference.flow import Flow, rate_expressions
from bbfalsify.modelling.reference.memory_layers import At, Layer, Layered, Place, Within, noting
from bbfalsify.modelling.reference.state import EdgeName, Move, State
from bbfalsify.modelling.reference.step_replay import TOLERANCE, NotAllowed, Replayer
from bbfalsify.modelling.reference.values import DependsOnDraw, ModelRuntimeError, NotAffine, Sample


@dataclass(eq=False)
class Here:
    """A state that moves: what `State` holds, and since when each real has had its value, and its rate."""

    locations: list[int]
    integers: list[int]
    values: list[Fraction]
    since: list[Fraction]
    rates: list[Fraction]
    time: Fraction

    def state(self) -> State:
        reals = At(self, self.time)
        return State(
            tuple(self.locations), tuple(self.integers), tuple(reals[i] for i in range(len(self.values))), self.time
        )


@dataclass(frozen=True)
class Held:
    """An invariant holds until a moment (None: for ever), as long as these places do not change."""

    until: Fraction | None
    strict: bool
    read: frozenset[Place]


class Run(Replayer):
    """A run, as far as it has been followed.

    The methods that a `Replayer` asks about a state get `here` in its place, and answer from what is kept.
    """

    def __init__(self, replayer: Replayer) -> None:
        super().__init__(replayer.network, step=replayer.step, horizon=replayer.horizon)
        self._plain = replayer
        self.load(replayer.initial_state())

    # --- from outside ------------------------------------------------------------------------------------------------

    def load(self, state: State) -> None:
        self._loaded: State = state
        self.here: Here | None = None
        """None: as loaded, nothing is kept."""

    def state(self) -> State:
        return self._loaded if self.here is None else self.here.state()

    @property
    def integers(self) -> tuple[int, ...]:
        return self._loaded.integers if self.here is None else tuple(self.here.integers)

    @property
    def time(self) -> Fraction | float:
        return self._loaded.time if self.here is None else self.here.time

    @property
    def exact(self) -> bool:
        return self.here is not None or self._loaded.exact

    def take(
        self,
        moves: Sequence[Move],
        time: Fraction | float,
        *,
        tolerance: Fraction = TOLERANCE,
        prefer_bounds: bool = False,
    ) -> Fraction:
        """Take the recorded step that ended at `time`; its exact delay.  NotAllowed if it cannot be."""
        options = {"tolerance": tolerance, "prefer_bounds": prefer_bounds}
        if self.keep():
            try:
                entered, delay = self.follow(self.here, moves, time, **options)
                self._enter(entered, self.here.time + delay)
                return delay
            except (NotAllowed, ModelRuntimeError, DependsOnDraw, NotAffine):
                pass
        after, delay = self._plain.follow(self.state(), moves, time, **options)
        self.load(after)
        return delay

    # --- what is kept ------------------------------------------------------------------------------------------------

    def keep(self) -> bool:
        """Keep what is known from now on; False where this state is none for it."""
        if self.here is not None:
            return True
        state = self._loaded
        rates = self._rates(state) if state.exact else None
        if rates is None:
            return False
        count = len(state.reals)
        self.here = Here(
            list(state.locations), list(state.integers), list(state.reals), [state.time] * count, rates, state.time
        )
        processes = range(len(state.locations))
        self._committed = {p for p in processes if self._location(state, p).committed}
        self._urgent = {p for p in processes if self._location(state, p).urgent}
        self._held: dict[int, Held] = {}
        self._ends: list[tuple[Fraction, bool, int]] = []
        """A heap: moment, whether the invariant still holds then, process; entries that are no longer so may remain."""
        self._readers: dict[Place, set[int]] = {}
        self._unknown = {p for p in processes if self._location(state, p).invariant is not None}
        self._staying = None
        return True

    def _rates(self, state: State) -> list[Fraction] | None:
        """One per real, or None where the flow is not linear; from now on until they may change."""
        flow = Flow(self.network, state.locations, state.integers, state.reals, step=self.step)
        given = rate_expressions(self.network, state.locations)
        self._rates_change = not all(isinstance(rate, Constant) for rate in given.values())
        return flow.rates

    def _enter(self, memory: Layered, time: Fraction) -> None:
        """Make what a transition wrote the state, and forget what it may have changed."""
        here = self.here
        if any(type(value) is not Fraction for value in memory.reals.values()) or any(
            type(value) is not int for value in memory.integers.values()
        ):
            raise DependsOnDraw("an update draws at random")
        here.time = time
        rates_change = self._rates_change
        for process, location in memory.locations.items():
            locations = self.network.processes[process].locations
            left, entered = locations[here.locations[process]], locations[location]
            rates_change = rates_change or bool(left.rates or entered.rates)
            here.locations[process] = location
            (self._committed.add if entered.committed else self._committed.discard)(process)
            (self._urgent.add if entered.urgent else self._urgent.discard)(process)
            self._forget(process)
            if entered.invariant is not None:
                self._unknown.add(process)
        for slot, value in memory.integers.items():
            here.integers[slot] = value
        for slot, value in memory.reals.items():
            here.values[slot], here.since[slot] = value, time
        self._changed(memory.places())
        self._staying = None
        if rates_change:
            self._change_rates()

    def _change_rates(self) -> None:
        state = self.here.state()
        rates = self._rates(state)
        if rates is None:
            self.load(state)
            return
        for slot, (old, new) in enumerate(zip(self.here.rates, rates, strict=True)):
            if old != new:
                self.here.values[slot], self.here.since[slot] = state.reals[slot], state.time
                self._changed([("real", slot)])
        self.here.rates = rates

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
        """Until when the invariants hold of which that is not known."""
        while self._unknown:
            process = min(self._unknown)
            invariant = self._location(self.here, process).invariant
            read: set[Place] = set()
            memory = self._memory(Within(self.here))
            windows = first_stretch(
                solve(lambda s, m=memory, i=invariant, r=read: Machine(self.network, noting(m, r), s).holds(i))
            )
            end = windows[0].high if windows else Fraction(-1)
            until = None if end is None else self.here.time + end
            held = Held(until, bool(windows) and windows[0].high_strict, frozenset(read))
            self._held[process] = held
            for place in read:
                self._readers.setdefault(place, set()).add(process)
            if until is not None:
                heapq.heappush(self._ends, (until, not held.strict, process))
            self._unknown.discard(process)

    def _first_end(self) -> tuple[Fraction, bool] | None:
        """When the first invariant ends, and whether it still holds then; None: all hold for ever."""
        self._find_out()
        while self._ends:
            until, closed, process = self._ends[0]
            held = self._held.get(process)
            if held is not None and held.until == until and held.strict != closed:
                return until, closed
            heapq.heappop(self._ends)
        return None

    # --- the questions of the interpreter, answered from what is kept ------------------------------------------------

    def _memory(self, reals: At | Within) -> Layered:
        return Layered(Layer(self.here.locations), Layer(self.here.integers), Layer(reals))

    def machine_at(self, state: Here, delay: Fraction, draw: Draw = no_draw) -> Machine:
        return Machine(self.network, self._memory(At(state, state.time + delay)), Sample(delay, set()), draw)

    def _solve(self, state: Here, predicate: Callable[[Machine], bool], within: Windows = ALL_DELAYS) -> Windows:
        memory = self._memory(Within(state))
        return solve(lambda s: predicate(Machine(self.network, memory.copy(), s)), within=within)

    def _invariants_stay(self, state: Here) -> Windows:
        end = self._first_end()
        if end is None:
            return ALL_DELAYS
        until, closed = end
        if until < state.time or (until == state.time and not closed):
            return ()
        return (Window(Fraction(0), False, until - state.time, not closed),)

    def _invariants_hold_for(self, state: Here, delay: Fraction) -> bool:
        return any(delay in window for window in self._invariants_stay(state))

    def _time_stands_still(self, state: Here) -> bool:
        return bool(self._committed or self._urgent)

    def _respects_committed(self, locations: object, taking_part: list[list[EdgeName]]) -> bool:
        return not self._committed or any(group[0][0] in self._committed for group in taking_part)

    def _all_invariants(self, machine: Machine) -> bool:
        """Within the time that the network may stay, those that nobody has touched hold anyway."""
        memory = machine.memory
        return all(
            machine.holds(self.network.processes[p].locations[memory.locations[p]].invariant)
            for p in self._concerned(memory.places())
        )

    def _concerned(self, places: Iterable[Place]) -> list[int]:
        self._find_out()
        found: set[int] = set()
        for place in places:
            found |= self._readers.get(place, set())
            if place[0] == "location":
                found.add(place[1])
        return sorted(found)

    def _state(self, machine: Machine, time: Fraction) -> Memory:
        return machine.memory
