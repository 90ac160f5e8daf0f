"""Replay long runs of large networks incrementally: only what a step changes is evaluated again.

`KeptRun` keeps what is known about the current state; here the questions of the interpreter are answered from that.
Steps that are refused, fail, draw at random or start where the flow is not linear are left to the `Replayer`, whose
answer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import cast

from bbfalsify.modelling.network.effects import Place
from bbfalsify.modelling.reference.delay_sets import ALL_DELAYS, Window, Windows, solve
from bbfalsify.modelling.reference.evaluation import AnyEvaluator, Draw, Evaluator, Slots, no_draw
from bbfalsify.modelling.reference.exact_values import (
    DependsOnDraw,
    Exact,
    ModelRuntimeError,
    NotAffine,
    Number,
    Real,
    Sample,
    Value,
    fraction,
    simplest,
)
from bbfalsify.modelling.reference.flow import RealFlow
from bbfalsify.modelling.reference.interpreter import Predicate
from bbfalsify.modelling.reference.kept_run import Effect, KeptRun, layered
from bbfalsify.modelling.reference.memory_layers import At, InPlace, Layer, Layered, Within
from bbfalsify.modelling.reference.state import AnyState, EdgeName, Move, Transition
from bbfalsify.modelling.reference.step_replay import TOLERANCE, NotAllowed, Replayer


class _Floats:
    """Value of a real, time of that value and rate, also as floats; most of them are the same in the next state."""

    __slots__ = ("at", "rate", "since", "value")

    def __init__(self, value: Exact, since: Exact, rate: Exact) -> None:
        self.value, self.since, self.rate = value, since, rate
        self.at = float(value), float(since), float(rate)


@lru_cache(maxsize=1024)
def _has_reals(places: frozenset[Place]) -> bool:
    """Cached, because arrays of constants are long and read by many."""
    return any(kind == "r" for kind, _ in places)


class LongReplay(KeptRun):
    """A run up to some step.

    The inherited methods are called with the current state (`here`); the overrides answer from the kept data.
    """

    def __init__(self, replayer: Replayer) -> None:
        super().__init__(replayer)
        self._floats: list[_Floats] = []
        """The reals of `here` as floats, for pictures."""
        self._known_effects: dict[tuple[Move, ...], tuple[bool, list[int]]] = {}
        """Whether moves may read reals, and the integers they may write, in their order."""
        # The last answers: a step is first tried, then taken.
        self._took_part: tuple[AnyEvaluator, Transition, list[list[EdgeName]] | None] | None = None
        self._made: tuple[AnyEvaluator, tuple[Move, ...], AnyEvaluator] | None = None
        self._entered: tuple[AnyEvaluator, bool] | None = None

    # --- from outside ------------------------------------------------------------------------------------------------

    def integers_at(self, slots: Iterable[int]) -> list[int]:
        integers = self._loaded.integers if self.here is None else self.here.integers
        return [integers[slot] for slot in slots]

    def reals_later(self) -> Callable[[Fraction], tuple[float, ...]]:
        """Make a function that gives the reals after a delay from now, also when a step has been taken.

        For pictures: in floating point, where exact fractions would cost as much as the replay itself.
        """
        here = self.here
        if here is None:
            flow = RealFlow(
                self.code, self._loaded.locations, self._loaded.integers, self._loaded.reals, step=self.step
            )  # fmt: skip
            return lambda delay: tuple(map(float, flow.concrete(delay)))
        now = float(here.time)
        exact = zip(here.values, here.since, here.rates, strict=True)
        if len(self._floats) != len(here.values):
            self._floats = [_Floats(*parts) for parts in exact]
        else:
            self._floats = [
                known if known.value is value and known.since is since and known.rate is rate
                else _Floats(value, since, rate)
                for known, (value, since, rate) in zip(self._floats, exact, strict=True)
            ]  # fmt: skip
        values = [known.at[0] for known in self._floats]
        moving = [(i, known.at[2], now - known.at[1]) for i, known in enumerate(self._floats) if known.at[2]]

        def later(delay: Fraction) -> tuple[float, ...]:
            passed, reals = float(delay), list(values)
            for slot, rate, before in moving:
                reals[slot] += rate * (before + passed)
            return tuple(reals)

        return later

    @property
    def time(self) -> Real:
        return self._loaded.time if self.here is None else fraction(self.here.time)

    @property
    def exact(self) -> bool:
        return self.here is not None or self._loaded.exact

    def take(
        self, moves: Sequence[Move], time: Real, *, tolerance: Fraction = TOLERANCE, prefer_bounds: bool = False
    ) -> Fraction:
        """Take the recorded step that ended at `time` and return its exact delay, or raise NotAllowed."""
        if self.keep():
            try:
                after, delay = self._after_step(self.kept(), moves, time, tolerance, prefer_bounds)
                self._enter(layered(after), simplest(fraction(self.kept().time) + delay))
                return delay
            except (NotAllowed, ModelRuntimeError, DependsOnDraw, NotAffine):
                pass
        entered, delay = self._plain.follow(self.state(), moves, time, tolerance=tolerance, prefer_bounds=prefer_bounds)
        self.load(entered)
        return delay

    def _after_step(
        self, state: AnyState, moves: Sequence[Move], time: Real, tolerance: Fraction, prefer_bounds: bool
    ) -> tuple[AnyEvaluator, Fraction]:
        alone = None if prefer_bounds or len(moves) > 1 else self._alone(moves[0], time)
        return alone or super()._after_step(state, moves, time, tolerance, prefer_bounds)

    def _alone(self, move: Move, time: Real) -> tuple[AnyEvaluator, Fraction] | None:
        """Take a step of one process that leaves no choice; None if it is not allowed at this very moment."""
        here, (process, number, _) = self.kept(), move
        moment = int(time) if isinstance(time, float) and time.is_integer() else Fraction(time)
        edge, delay = self._edges[process, number], moment - here.time
        if edge.channel is not None or len(edge.branches) > 1 or here.locations[process] != edge.source:
            return None
        if (self._committed and process not in self._committed) or delay < 0 or not self.can_wait(here, delay):
            return None
        evaluator = self.evaluator_at(here, delay)
        if not evaluator.holds(edge.guard):
            return None
        after = self._moved(evaluator, (move,), no_draw)
        return (after, fraction(delay)) if self._concerned_invariants(after) else None

    # --- methods of the interpreter, answered from the kept data -----------------------------------------------------

    def _taking_part(self, evaluator: AnyEvaluator, transition: Transition) -> list[list[EdgeName]] | None:
        last = self._took_part
        if last is None or last[0] is not evaluator or last[1] is not transition:
            last = self._took_part = evaluator, transition, super()._taking_part(evaluator, transition)
        return last[2]

    def _after(self, evaluator: AnyEvaluator, moves: tuple[Move, ...], draw: Draw) -> AnyEvaluator:
        last = self._made
        if last is not None and last[0] is evaluator and last[1] == moves and draw is no_draw:
            return last[2]
        after = self._moved(evaluator, moves, draw)
        self._made = (evaluator, moves, after) if draw is no_draw else None
        return after

    def _moved(self, evaluator: AnyEvaluator, moves: tuple[Move, ...], draw: Draw) -> AnyEvaluator:
        """Make the moves; updates that read no real write the same at every delay, and run only once."""
        memory = evaluator.memory
        written_already = not isinstance(memory, Layered) or memory.locations or memory.integers or memory.reals
        if self.here is None or written_already or draw is not no_draw:
            return super()._after(evaluator, moves, draw)
        under = layered(evaluator)
        effect = self._effects.get(moves)
        if effect is None:
            effect = self._effect(evaluator, moves)
            if not self._read_reals(moves):
                self._effects[moves] = effect
        locations, integers, reals = effect
        written = Layered(
            Layer(under.locations.store, locations),
            Layer(under.integers.store, integers),
            Layer(under.reals.store, reals),
        )
        return Evaluator(self.code, written, evaluator.sample, draw)

    def _effect(self, evaluator: AnyEvaluator, moves: tuple[Move, ...]) -> Effect:
        """Run the updates on the integers themselves, which may be thousands, and put back what they wrote."""
        here, slots = self.kept(), self.may_write(moves)
        integers, before = cast(list[Value], here.integers), self.integers_at(slots)
        memory = InPlace(list(here.locations), integers, Layer(layered(evaluator).reals.store))
        try:
            self._move(Evaluator(self.code, memory, evaluator.sample), moves)
            after = [integers[slot] for slot in slots]
        finally:
            for slot, value in zip(slots, before, strict=True):
                integers[slot] = value
        locations = {process: memory.locations[process] for process, _, _ in moves}
        changed = zip(slots, before, after, strict=True)
        return locations, {slot: new for slot, old, new in changed if new != old}, memory.reals

    def _read_reals(self, moves: tuple[Move, ...]) -> bool:
        """Tell whether updates may read a real."""
        return self._effects_of_moves(moves)[0]

    def may_write(self, moves: tuple[Move, ...]) -> list[int]:
        """The integers that updates may write, in their order."""
        return self._effects_of_moves(moves)[1]

    def _effects_of_moves(self, moves: tuple[Move, ...]) -> tuple[bool, list[int]]:
        known = self._known_effects.get(moves)
        if known is None:
            updates = [self._edges[process, edge].branches[branch].updates for process, edge, branch in moves]
            effects = [self._effects_of.statements(statements) for statements in updates]
            written = {slot for effect in effects for kind, slot in effect.writes if kind == "i"}
            known = any(_has_reals(effect.reads) for effect in effects), sorted(written)
            self._known_effects[moves] = known
        return known

    def _bound_nearby(self, state: AnyState, transition: Transition, delay: Fraction, tolerance: Fraction) -> Fraction:
        """Try the delays nearby at which a decision flips, before all delays are solved for."""
        noted: set[Exact] = set()
        self._enabled(Evaluator(self.code, self._memory(Within(self.kept())), Sample(delay, noted)), transition)
        end = self._first_end()
        if end is not None:
            noted.add(end[0] - self.kept().time)
        near = [fraction(point) for point in noted if point >= 0 and abs(point - delay) <= tolerance]
        for point in sorted(near, key=lambda point: abs(point - delay)):
            if self._allowed(state, transition, point):
                return point
        return self._nearby(state, transition, delay, tolerance)

    def evaluator_at(self, state: AnyState, delay: Number) -> AnyEvaluator:
        here, known = self.kept(), self._moment
        if known is None or known.sample.delay != delay:
            moment = simplest(here.time + (delay if type(delay) is int else fraction(delay)))
            known = self._moment = Evaluator(self.code, self._memory(At(here, moment)), Sample(delay, set()))
        return known

    def _solve(self, state: AnyState, predicate: Predicate, within: Windows = ALL_DELAYS) -> Windows:
        memory = self._memory(Within(self.kept()))
        return solve(lambda s: predicate(Evaluator(self.code, memory, s)), within=within)

    def _invariants_stay(self, state: AnyState) -> Windows:
        end = self._first_end()
        if end is None:
            return ALL_DELAYS
        until, closed = end
        if until < state.time or (until == state.time and not closed):
            return ()
        return (Window(Fraction(0), False, until - state.time, not closed),)

    def _invariants_hold_for(self, state: AnyState, delay: Fraction | float) -> bool:
        end, moment = self._first_end(), self.kept().time + delay
        return end is None or moment < end[0] or (end[1] and moment == end[0])

    def _time_stands_still(self, state: AnyState) -> bool:
        return bool(self._committed or self._urgent)

    def _respects_committed(self, locations: Slots[int], taking_part: list[list[EdgeName]]) -> bool:
        return not self._committed or any(group[0][0] in self._committed for group in taking_part)

    def _all_invariants(self, evaluator: AnyEvaluator) -> bool:
        """Evaluate only the invariants that a transition may have changed: up to the allowed delay all others hold."""
        last = self._entered
        if last is None or last[0] is not evaluator:
            last = self._entered = evaluator, self._concerned_invariants(evaluator)
        return last[1]

    def _concerned_invariants(self, evaluator: AnyEvaluator) -> bool:
        memory = layered(evaluator)
        return all(
            evaluator.holds(self.network.processes[p].locations[memory.locations[p]].invariant)
            for p in self._concerned(memory.places())
        )

    def _concerned(self, places: Iterable[Place]) -> list[int]:
        self._find_out()
        found: set[int] = set()
        for place in places:
            found |= self._readers.get(place, set())
            if place[0] == "l":
                found.add(place[1])
        return sorted(found)
