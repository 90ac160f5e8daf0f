"""Replay long runs of large networks incrementally: only what a step changes is evaluated again.

`KeptRun` keeps what is known about the current state; here the questions of the interpreter are answered from that.
Steps that are refused, fail, draw at random or start where the flow is not linear are left to the `Replayer`, whose
answer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from bbfalsify.modelling.reference.delay_sets import ALL_DELAYS, Window, Windows, solve
from bbfalsify.modelling.reference.evaluation import AnyEvaluator, Draw, Evaluator, Slots, no_draw
from bbfalsify.modelling.reference.exact_values import DependsOnDraw, ModelRuntimeError, NotAffine, Real, Sample
from bbfalsify.modelling.reference.flow import RealFlow
from bbfalsify.modelling.reference.interpreter import Predicate
from bbfalsify.modelling.reference.kept_run import KeptRun, layered
from bbfalsify.modelling.reference.memory_layers import At, Layer, Layered, Place, Within, noting
from bbfalsify.modelling.reference.state import AnyState, EdgeName, Move
from bbfalsify.modelling.reference.step_replay import TOLERANCE, NotAllowed


class LongReplay(KeptRun):
    """A run up to some step.

    The inherited methods are called with the current state (`here`); the overrides answer from the kept data.
    """

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
                self.network, self._loaded.locations, self._loaded.integers, self._loaded.reals, step=self.step
            )  # fmt: skip
            return lambda delay: tuple(map(float, flow.concrete(delay)))
        now = float(here.time)
        values = [float(v) for v in here.values]
        moving = [(i, float(r), now - float(here.since[i])) for i, r in enumerate(here.rates) if r]

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
            read: set[Place] = set()
            noted: AnyEvaluator = Evaluator(self.network, noting(memory, read), evaluator.sample, draw)
            over = layered(super()._after(noted, moves, draw))
            effect = dict(over.locations), dict(over.integers), dict(over.reals)
            if not any(kind == "real" for kind, _ in read):
                self._effects[moves] = effect
        locations, integers, reals = effect
        after = Layered(
            Layer(under.locations.store, locations),
            Layer(under.integers.store, integers),
            Layer(under.reals.store, reals),
        )
        return Evaluator(self.network, after, evaluator.sample, draw)

    def evaluator_at(self, state: AnyState, delay: Real) -> AnyEvaluator:
        here = self.kept()
        return Evaluator(self.network, self._memory(At(here, here.time + Fraction(delay))), Sample(delay, set()))

    def _solve(self, state: AnyState, predicate: Predicate, within: Windows = ALL_DELAYS) -> Windows:
        memory = self._memory(Within(self.kept()))
        return solve(lambda s: predicate(Evaluator(self.network, memory.copy(), s)), within=within)

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
            if place[0] == "location":
                found.add(place[1])
        return sorted(found)
