"""All regions of a small timed network, by the reference interpreter: the judge of zones.

Two states with the same locations and integers are in one region if their clocks have the same integral parts up to the
largest constant, the same clocks are integers, and the fractions are in the same order.  One representative of each is
followed: waiting until the next region, and every transition at once.  Exact fractions; no code of the zones is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from bbfalsify.modelling import Network
from bbfalsify.modelling.network.expressions import Expression
from bbfalsify.modelling.reference.delay_sets import contains
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.state import State

MOST = 20_000
Key = tuple


@dataclass
class Region:
    state: State
    waits: Key | None = None
    """The region after waiting; itself, if time passes for ever."""
    fires: list[Key] = field(default_factory=list)


class Regions:
    def __init__(self, network: Network, largest: int) -> None:
        self.network, self.largest = network, largest
        self.interpreter = ReferenceInterpreter(network)
        self.regions: dict[Key, Region] = {}
        first = self.interpreter.initial_state()
        self.first = self.key(first)
        if not self.interpreter.delays(first):
            return
        pending = [first]
        while pending:
            state = pending.pop()
            key = self.key(state)
            if key in self.regions:
                continue
            if len(self.regions) > MOST:
                raise ValueError("too many regions")
            region = self.regions[key] = Region(self.representative(state))
            for successor in self._expanded(region):
                pending.append(successor)

    def key(self, state: State) -> Key:
        large = [r > self.largest for r in state.reals]
        fractions = sorted({r % 1 for r, out in zip(state.reals, large, strict=True) if not out and r % 1 != 0})
        clocks = tuple(
            "large" if out else (int(r), 0 if r % 1 == 0 else 1 + fractions.index(r % 1))
            for r, out in zip(state.reals, large, strict=True)
        )
        return state.locations, state.integers, clocks

    def representative(self, state: State) -> State:
        """The same region, with small numbers."""
        _, _, clocks = self.key(state)
        parts = 1 + max([c[1] for c in clocks if c != "large"], default=0)
        reals = tuple(
            Fraction(self.largest + 1) if c == "large" else Fraction(c[0]) + Fraction(c[1], parts) for c in clocks
        )
        return State(state.locations, state.integers, reals)

    def _expanded(self, region: Region) -> list[State]:
        state, found = region.state, []
        inside = [r for r in state.reals if r <= self.largest]
        if not inside:
            delay = Fraction(1)
        elif any(r % 1 == 0 for r in inside):
            delay = min(1 - r % 1 for r in inside) / 2
        else:
            delay = min(1 - r % 1 for r in inside)
        if contains(self.interpreter.delays(state), delay):
            later = self.interpreter.wait(state, delay)
            region.waits = self.key(later)
            found.append(later)
        for transition in self.interpreter.transitions(state):
            if contains(transition.windows, Fraction(0)):
                for outcome in self.interpreter.outcomes(state, transition, Fraction(0)):
                    assert outcome.state is not None, outcome.error
                    region.fires.append(self.key(outcome.state))
                    found.append(outcome.state)
        return found

    def holds(self, key: Key, condition: Expression) -> bool:
        return self.interpreter.evaluator_at(self.regions[key].state, Fraction(0)).holds(condition)

    def is_dead(self, key: Key) -> bool:
        """Tell whether nothing fires, now or after any delay."""
        seen = set()
        while key not in seen:
            seen.add(key)
            region = self.regions[key]
            if region.fires:
                return False
            if region.waits is None:
                return True
            key = region.waits
        return True

    def reaches(self, alive: Expression, dead: Expression | None) -> bool:
        """Tell whether a state is a target; `dead` is the target in deadlocks."""
        for key in self.regions:
            target = dead if dead is not None and self.is_dead(key) else alive
            if self.holds(key, target):
                return True
        return False

    def can_avoid(self, condition: Expression, trigger: Expression | None = None) -> bool:
        """Tell whether some run goes on for ever, or ends, without the condition, from its begin or from a trigger on.

        A run ends where neither time passes nor anything fires.
        """
        kept = {key for key in self.regions if not self.holds(key, condition)}
        forever = set(kept)
        while True:
            lost = {
                key for key in forever
                if (self.regions[key].fires or self.regions[key].waits is not None)
                and not any(n in forever for n in self._next(key))
            }  # fmt: skip
            if not lost:
                break
            forever -= lost
        if trigger is None:
            return self.first in forever
        return any(self.holds(key, trigger) for key in forever)

    def _next(self, key: Key) -> list[Key]:
        region = self.regions[key]
        return [*region.fires, *([] if region.waits is None else [region.waits])]
