"""Transition systems: the only thing that a search knows about what it searches.

    class Counter:
        def initial(self):
            return [0]

        def successors(self, state):
            return [("up", state + 1), ("reset", 0)]

States are hashable and compared with `==`; labels are for people.  `explicit` makes one from functions, `UntimedSystem`
from a model, `MachineSystem` from a learned machine.  A zone graph is one, too.

Two things are optional.  `expand(states)` returns the successors of many states at once, without labels: a system that
computes them in compiled code has it for speed, and labels are looked up when a trace is written.  `target(state)` says
which states are looked for, where the system itself knows; `met(state)` says so for a state that was just expanded, as
whether it is a deadlock is only known then.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

State = Any
"""Hashable."""
Step = tuple[object, State]
"""Label and state."""
Predicate = Callable[[State], bool]


@runtime_checkable
class TransitionSystem(Protocol):
    def initial(self) -> Sequence[State]:
        """The states in which a run may begin."""

    def successors(self, state: State) -> Sequence[Step]:
        """Labels and states of all steps from a state; always the same ones in the same order."""


@dataclass(frozen=True)
class ExplicitSystem:
    """A transition system given by its first states and a function."""

    first: tuple[State, ...]
    steps: Callable[[State], Iterable[Step]]

    def initial(self) -> Sequence[State]:
        return self.first

    def successors(self, state: State) -> Sequence[Step]:
        return list(self.steps(state))


def explicit(initial: Hashable, successors: Callable[[State], Iterable[Step]]) -> ExplicitSystem:
    """Make a transition system from its initial state and a function that returns (label, state) pairs."""
    return ExplicitSystem((initial,), successors)


def no_state(state: State) -> bool:
    """Target predicate of a search that only looks for deadlocks, or for nothing."""
    return False
