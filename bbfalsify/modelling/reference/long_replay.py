"""Replay long runs of large networks incrementally: only what a step changes is evaluated again.

`KeptRun` keeps what is known about the current state; here the questions of the interpreter are answered from that.
Steps that are refused, fail, draw at random or start where the flow is not linear are left to the `Replayer`, whose
answer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from bbfalsify.modelling.network.effects import Place
from bbfalsify.modelling.reference.delay_sets import ALL_DELAYS, Window, Windows, solve
from bbfalsify.modelling.reference.evaluation import AnyEvaluator, Draw, Evaluator, Slots, no_draw
from bbfalsify.modelling.reference.exact_values import (
    DependsOnDraw,
    ModelRuntimeError,
    NotAffine,
    Real,
    Sample,
    Value,
)
from bbfalsify.modelling.reference.flow import RealFlow
from bbfalsify.modelling.reference.interpreter import Predicate
from bbfalsify.modelling.reference.kept_run import Effect, KeptRun, layered
from bbfalsify.modelling.reference.memory_layers import At, Copied, Layer, Layered, Within
from bbfalsify.modelling.reference.state import AnyState, EdgeName, Move, Transition
from bbfalsify.modelling.reference.step_replay import TOLERANCE, NotAllowed, Replayer


class _Floats:
    """Value of a real, time of that value and rate, also as floats; most of them are the same in the next state."""

    __slots__ = ("at", "rate", "since", "value")

    def __init__(self, value: Fraction, since: Fraction, rate: Fraction) -> None:
        self.value, self.since, self.rate = value, since, rate
        self.at = float(value), float(since), float(rate)


class LongReplay(KeptRun):
    """A run up to some step.

    The inherited methods are called with the current state (`here`); the overrides answer from the kept data.
    """

    def __init__(self, replayer: Replayer) -> None:
        super().__init__(replayer)
        self._floats: list[_Floats] = []
        """The reals of `here` as floats, for pictures."""
        self._known_effects: dict[Move, tuple[bool, tuple[int, ...]]] = {}
        """Whether a move may read reals, and the integers it may write."""

    # --- from outside ------------------------------------------------------------------------------------------------

    @property
    def integers(self) -> tuple[int, ...]:
        return self._loaded.integers if self.here is None else tuple(self.here.integers)

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
        return self._loaded.time if self.here is None else self.here.time

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
                self._enter(layered(after), self.kept().time + delay)
                return delay
            except (NotAllowed, ModelRuntimeError, DependsOnDraw, NotAffine):
                pass
        entered, delay = self._plain.follow(self.state(), moves, time, tolerance=tolerance, prefer_bounds=prefer_bounds)
        self.load(entered)
        return delay

    # --- methods of the interpreter, answered from the kept data -----------------------------------------------------

    def _after(self, evaluator: AnyEvaluator, moves: tuple[Move, ...], draw: Draw) -> AnyEvaluator:
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
        here = self.kept()
        memory = Copied(list(here.locations), list(here.integers), Layer(layered(evaluator).reals.store))
        self._move(Evaluator(self.code, memory, evaluator.sample), moves)
        locations = {process: memory.locations[process] for process, _, _ in moves}
        return locations, self._changed_integers(memory.integers, moves), memory.reals

    def _changed_integers(self, integers: list[Value], moves: tuple[Move, ...]) -> dict[int, Value]:
        before = self.kept().integers
        return {slot: integers[slot] for slot in self.may_write(moves) if integers[slot] != before[slot]}

    def _read_reals(self, moves: tuple[Move, ...]) -> bool:
        """Tell whether updates may read a real."""
        return any(self._effects_of_move(move)[0] for move in moves)

    def may_write(self, moves: Sequence[Move]) -> list[int]:
        """The integers that updates may write, in their order."""
        return sorted({slot for move in moves for slot in self._effects_of_move(move)[1]})

    def _effects_of_move(self, move: Move) -> tuple[bool, tuple[int, ...]]:
        known = self._known_effects.get(move)
        if known is None:
            process, edge, branch = move
            effects = self._effects_of.statements(self._edges[process, edge].branches[branch].updates)
            reads = any(kind == "r" for kind, _ in effects.reads)
            known = reads, tuple(slot for kind, slot in effects.writes if kind == "i")
            self._known_effects[move] = known
        return known

    def _bound_nearby(self, state: AnyState, transition: Transition, delay: Fraction, tolerance: Fraction) -> Fraction:
        """Try the delays nearby at which a decision flips, before all delays are solved for."""
        noted: set[Fraction] = set()
        self._enabled(Evaluator(self.code, self._memory(Within(self.kept())), Sample(delay, noted)), transition)
        end = self._first_end()
        if end is not None:
            noted.add(end[0] - self.kept().time)
        near = [point for point in noted if point >= 0 and abs(point - delay) <= tolerance]
        for point in sorted(near, key=lambda point: abs(point - delay)):
            if self._allowed(state, transition, point):
                return point
        return self._nearby(state, transition, delay, tolerance)

    def evaluator_at(self, state: AnyState, delay: Real) -> AnyEvaluator:
        here = self.kept()
        return Evaluator(self.code, self._memory(At(here, here.time + Fraction(delay))), Sample(delay, set()))

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
        return any(delay in window for window in self._invariants_stay(state))

    def _time_stands_still(self, state: AnyState) -> bool:
        return bool(self._committed or self._urgent)

    def _respects_committed(self, locations: Slots[int], taking_part: list[list[EdgeName]]) -> bool:
        return not self._committed or any(group[0][0] in self._committed for group in taking_part)

    def _all_invariants(self, evaluator: AnyEvaluator) -> bool:
        """Evaluate only the invariants that a transition may have changed: up to the allowed delay all others hold."""
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
