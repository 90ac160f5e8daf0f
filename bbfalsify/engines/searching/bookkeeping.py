"""Bookkeeping that all searches share: count, remember, look for the target, and stop at a limit.

A search is a function of a `Search` that returns None when it has seen every reachable state, or says why it has not.
It ends early by an exception: `Reached` with the states of a trace, `LimitHit` with the limit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from bbfalsify.core.errors import UserError
from bbfalsify.engines.searching.settings import Method, SearchSettings
from bbfalsify.engines.searching.transition_system import Predicate, State, TransitionSystem, no_state

AT_ONCE = 1024
"""States expanded in one call of a system that expands many."""
PER_ENTRY = 64
"""Bytes of an entry of a dictionary, free places included."""
_SHARED = range(-5, 257)
"""Integers of which Python has one object each."""
_SAMPLED = 64
"""The first states are measured, and then every 64th."""


class Reached(Exception):
    """The target is reached; carries the states of a trace."""

    def __init__(self, path: list[State]) -> None:
        super().__init__()
        self.path = path


class LimitHit(Exception):
    """A limit ends the search; carries the reason, and what to do about it."""

    def __init__(self, why: str, advice: str = "", *, memory: bool = False) -> None:
        super().__init__(why)
        self.why, self.advice, self.memory = why, advice, memory


@dataclass(frozen=True)
class Progress:
    """Counts of a search that is going on."""

    states: int
    transitions: int
    depth: int
    seconds: float
    memory_mb: float = 0.0


@dataclass(frozen=True)
class Rounds:
    """Rounds of a search of growing depth: what was searched before, and who is told of each that ends."""

    searched: int = 0
    report: Callable[[int], None] = lambda depth: None


class Search:
    """One search through a system: what was visited, from where, and what that cost."""

    def __init__(
        self,
        system: TransitionSystem,
        target: Predicate | None,
        settings: SearchSettings,
        rng: Random,
        *,
        deadlock: bool = False,
        listener: Callable[[Progress], None] | None = None,
    ) -> None:
        """`target` None: the states that the system itself looks for, or none; `deadlock`: any without successors."""
        self.system, self.settings, self.rng, self.deadlock = system, settings, rng, deadlock
        own: Predicate = getattr(system, "target", no_state)
        self.target = target or own
        self.met: Predicate = no_state if target else getattr(system, "met", no_state)
        self._many: Callable[[Sequence[State]], list[list[State]]] | None = getattr(system, "expand", None)
        self.rounds = Rounds()
        self.rng_of: Callable[[int], Random] | None = None
        """Random numbers of the round of each depth, so that a search that goes on draws the same."""
        self.parent: dict[State, State] = {}
        """Visited states, with the state from which each was visited; a first state has itself."""
        self.visits = 0
        """Visits of searches that keep no states."""
        self.transitions = 0
        self.deepest = 0
        self._bytes = self._measured = 0
        self._check_at = 1
        self._listener, self._begun = listener, time.monotonic()
        self._next_report = self._begun + 0.5

    # --- the system ---------------------------------------------------------------------------------------------------

    def first(self) -> list[State]:
        """The initial states, remembered and looked at."""
        states = list(dict.fromkeys(self.system.initial()))
        if not states:
            raise UserError("the transition system has no initial state.")
        for state in states:
            self.remember(state, state)
            if self.target(state):
                raise Reached([state])
        return states

    def expand(self, states: Sequence[State]) -> list[list[State]]:
        """The successors of each state; a deadlock that is looked for ends the search."""
        if self._many is not None:
            following = self._many(states)
        else:
            successors = self.system.successors
            following = [[step[1] for step in successors(state)] for state in states]
        self.transitions += sum(map(len, following))
        if self.deadlock or self.met is not no_state:
            for state, ends in zip(states, following, strict=True):
                if self.met(state) or (self.deadlock and not ends):
                    raise Reached(self.path(state))
        self._look_at_the_clock()
        return following

    def successors(self, state: State) -> list[State]:
        return self.expand((state,))[0]

    # --- visited states -----------------------------------------------------------------------------------------------

    def remember(self, state: State, parent: State) -> None:
        """Visit a state for the first time."""
        self.parent[state] = parent
        if len(self.parent) >= self._check_at:
            self._check_room(state)

    def path(self, state: State) -> list[State]:
        """The states from a first one to this one."""
        states = [state]
        while state in self.parent and self.parent[state] != state:
            state = self.parent[state]
            states.append(state)
        return states[::-1]

    def look_at(self, state: State, parent: State) -> None:
        """End the search if a considered successor is a target."""
        if self.target(state):
            raise Reached([*self.path(parent), state])

    # --- limits -------------------------------------------------------------------------------------------------------

    def _check_room(self, state: State) -> None:
        kept, settings = len(self.parent), self.settings
        self._bytes += size_of(state) + PER_ENTRY
        self._measured += 1
        self._check_at = kept + 1 if kept < _SAMPLED else kept + _SAMPLED
        if settings.states is not None:
            self._check_at = min(self._check_at, max(kept + 1, settings.states))
            self.check_states(kept)
        if settings.memory is not None and self.memory_mb > settings.memory:
            if kept == 1:
                raise UserError(f"`memory` is {settings.memory:g} MB, too little for one state of this system.")
            narrower = settings.method == Method.HIGHWAY
            raise LimitHit(
                f"the memory of {settings.memory:g} MB is full with {kept:,} states",
                "a narrower one goes deeper" if narrower else "`fallback` 'highway' or 'bits' would go on",
                memory=True,
            )

    def check_states(self, visited: int) -> None:
        most = self.settings.states
        if most is not None and visited > most:
            raise LimitHit(
                f"{most:,} states are visited, and there are more",
                "if the system is infinite, bound its `depth`; if not, allow more `states`",
            )

    @property
    def memory_mb(self) -> float:
        """Memory of the states that are kept: a measured sample of them, times their number."""
        return self._bytes / max(1, self._measured) * len(self.parent) / 1e6

    @property
    def states(self) -> int:
        return max(len(self.parent), self.visits)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def _look_at_the_clock(self) -> None:
        if self.settings.timeout is None and self._listener is None:
            return
        now = time.monotonic()
        if self.settings.timeout is not None and now - self._begun > self.settings.timeout:
            raise LimitHit(f"the time, {self.settings.timeout:g} s, is up")
        if self._listener is not None and now >= self._next_report:
            self._next_report = now + 0.5
            self._listener(Progress(self.states, self.transitions, self.deepest, now - self._begun, self.memory_mb))


def size_of(state: State) -> int:
    """Bytes of a state, its parts included; other objects that states share count for each of them."""
    if isinstance(state, int) and state in _SHARED:
        return 0
    size = sys.getsizeof(state)
    if isinstance(state, tuple | frozenset):
        size += sum(size_of(part) for part in state)
    return size


def in_batches(states: Sequence[State]) -> Iterable[Sequence[State]]:
    """Cut a list of states into parts that are expanded at once."""
    return (states[i : i + AT_ONCE] for i in range(0, len(states), AT_ONCE))
