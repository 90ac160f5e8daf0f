"""Deep random search (DRS): Figure 3 of Grosu, Huang, Smolka, Tan and Tripakis.

    DRS(increment):       for co = increment, 2·increment, … ≤ cutoff, until done:   Bounded-DRS(co)
    Bounded-DRS(cutoff):  `walks` walks from different children of the initial state;
                          while the fringe is not empty:  Random-Walk from a random node of it
    Random-Walk(node):    go to a random child that was not generated, as deep as possible; a node on the way stays in
                          the fringe while it has more than one such child

The fringe is what makes it random: the next walk begins anywhere, not at the last choice.  It is complete: when the
fringe is empty and no walk was cut off, every state was generated (Theorem 3).

Optimal up to the increment (Theorem 5).  As printed, Figure 3 is not: a state that a long walk generates just above the
cutoff is never entered again by a shorter way, and what it leads to is missed until a later round.  Here, in a bounded
round, a state counts as generated only if it was at most as deep; one that is found again by a shorter way goes back to
the fringe.  Then a round with cutoff c finds every target within c steps.

Two more differences.  The initial state is in the fringe: as printed, those of its children that no initial walk enters
are never explored, and the search is not complete.  A child without successors is recognised when a walk enters it, not
before, as computing all successors of all children costs more than such a walk.
"""

from __future__ import annotations

from math import inf

from bbfalsify.engines.searching.bookkeeping import Search
from bbfalsify.engines.searching.transition_system import State


def deep_random_search(search: Search) -> str | None:
    settings = search.settings
    cutoff = settings.depth or inf
    bound = min(search.rounds.searched + (settings.increment or inf), cutoff)
    while True:
        if search.rng_of is not None and bound < inf:
            search.rng = search.rng_of(int(bound))
        if _Bounded(search, bound).run():
            return None
        if bound >= cutoff:
            return f"there are states after more than {settings.depth:,} steps"
        search.rounds.report(int(bound))
        bound = min(bound + (settings.increment or inf), cutoff)


class Fringe:
    """Generated states with unexplored successors: insert, remove and draw in constant time."""

    def __init__(self) -> None:
        self._states: list[State] = []
        self._place: dict[State, int] = {}

    def __len__(self) -> int:
        return len(self._states)

    def insert(self, state: State) -> None:
        if state not in self._place:
            self._place[state] = len(self._states)
            self._states.append(state)

    def remove(self, state: State) -> None:
        place = self._place.pop(state, None)
        if place is not None:
            last = self._states.pop()
            if place < len(self._states):
                self._states[place] = last
                self._place[last] = place

    def random(self, number: float) -> State:
        """The state that a number from [0, 1) draws."""
        return self._states[int(number * len(self._states))]


class _Bounded:
    """Bounded-DRS: a complete search up to a cutoff."""

    def __init__(self, search: Search, cutoff: float) -> None:
        self.search, self.cutoff = search, cutoff
        self.fringe = Fringe()
        self.generated: dict[State, int] = {}
        """States with the least depth at which they were generated."""
        self.done = True

    def run(self) -> bool:
        """Return True if no walk was cut off."""
        search = self.search
        search.parent.clear()
        for state in search.first():
            self.generated[state] = 0
            self.fringe.insert(state)
            for _ in range(search.settings.walks):
                children = self.children(state)
                if not children:
                    break
                self.random_walk(self.enter(self.draw(children), state))
        while len(self.fringe):
            self.random_walk(self.fringe.random(search.rng.random()))
        return self.done

    def random_walk(self, state: State) -> None:
        while self.generated[state] < self.cutoff:
            children = self.children(state)
            if len(children) <= 1:
                self.fringe.remove(state)
                if not children:
                    return
            state = self.enter(self.draw(children), state)
        self.fringe.remove(state)
        self.done = False

    def enter(self, child: State, parent: State) -> State:
        depth = self.generated[parent] + 1
        self.generated[child] = depth
        self.search.remember(child, parent)
        self.search.deepest = max(self.search.deepest, depth)
        self.fringe.insert(child)
        return child

    def draw(self, children: list[State]) -> State:
        return children[int(self.search.rng.random() * len(children))]

    def children(self, state: State) -> list[State]:
        """Nonaccepting-Interior-Children: successors that were not generated; a target among them ends the search."""
        generated, depth = self.generated, self.generated[state] + 1
        bounded = self.cutoff != inf
        found = []
        for successor in dict.fromkeys(self.search.successors(state)):
            before = generated.get(successor)
            if before is None:
                self.search.look_at(successor, state)
            if before is None or (bounded and depth < before):
                found.append(successor)
        return found
