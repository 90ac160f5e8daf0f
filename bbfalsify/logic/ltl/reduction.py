"""Make Büchi automata smaller without changing the words they accept.

    useless states out ► acceptance evened out inside components ► equal states merged ► simulated states merged

Simulation compares states pairwise and is left out for automata that are large anyway.
"""

from __future__ import annotations

from bbfalsify.logic.ltl.automaton import Automaton, Edges, strong_components

MOST_COMPARED = 60
"""States up to which every pair is compared."""


def reduced(automaton: Automaton) -> Automaton:
    """Return an automaton that accepts the same words, usually with fewer states."""
    work = _Work(automaton)
    work.trim()
    work.even_out()
    work.merge_equal()
    if 1 < len(work.edges) <= MOST_COMPARED:
        work.merge_simulated()
        work.trim()
        work.even_out()
        work.merge_equal()
    return Automaton(automaton.letters, tuple(work.initial), work.edges, tuple(work.accepting))


def trimmed(automaton: Automaton) -> Automaton:
    """Remove states that cannot be reached or cannot accept."""
    work = _Work(automaton)
    work.trim()
    return Automaton(automaton.letters, tuple(work.initial), work.edges, tuple(work.accepting))


class _Work:
    def __init__(self, automaton: Automaton) -> None:
        self.all = automaton.letters.all
        self.initial = list(automaton.initial)
        self.edges: Edges = [_joined(edges) for edges in automaton.edges]
        self.accepting = list(automaton.accepting)

    def _rename(self, names: dict[int, int]) -> None:
        """Keep the states that have a name, in the order of names; several states may share one."""
        count = max(names.values(), default=-1) + 1
        chosen: list[int] = [-1] * count
        for state in sorted(names):
            if chosen[names[state]] < 0:
                chosen[names[state]] = state
        self.edges = [_joined([(bits, names[t]) for bits, t in self.edges[state] if t in names]) for state in chosen]
        # States off cycles do not accept (see even_out), but may have been given the name of one that does.
        accepting = {names[s] for s, good in enumerate(self.accepting) if good and s in names}
        self.accepting = [name in accepting for name in range(count)]
        self.initial = list(dict.fromkeys(names[s] for s in self.initial if s in names))

    def trim(self) -> None:
        """Keep only states that can be reached and can still accept."""
        reached, pending = set(self.initial), list(self.initial)
        while pending:
            for _, target in self.edges[pending.pop()]:
                if target not in reached:
                    reached.add(target)
                    pending.append(target)
        graph = [[t for _, t in edges] for edges in self.edges]
        parts = strong_components(graph)
        useful = [False] * len(parts.cyclic)
        for state, part in enumerate(parts.of):
            useful[part] |= self.accepting[state] and parts.cyclic[part]
        # A component's successors come before it.
        for state in sorted(range(len(graph)), key=lambda s: parts.of[s]):
            useful[parts.of[state]] |= any(useful[parts.of[t]] for t in graph[state])
        keep = [s for s in self._in_order() if s in reached and useful[parts.of[s]]]
        self._rename({s: k for k, s in enumerate(keep)})

    def _in_order(self) -> list[int]:
        """States in order of discovery, so that the result does not depend on the order of construction."""
        order, k = list(dict.fromkeys(self.initial)), 0
        seen = set(order)
        while k < len(order):
            for _, target in self.edges[order[k]]:
                if target not in seen:
                    seen.add(target)
                    order.append(target)
            k += 1
        return order

    def even_out(self) -> None:
        """Make all states accept in components where every cycle accepts, and none off cycles."""
        graph = [[t for _, t in edges] for edges in self.edges]
        parts = strong_components(graph)
        rejecting = [
            [] if self.accepting[s] else [t for t in graph[s] if parts.of[t] == parts.of[s] and not self.accepting[t]]
            for s in range(len(graph))
        ]
        inner = strong_components(rejecting)
        mixed = {parts.of[s] for s in range(len(graph)) if inner.cyclic[inner.of[s]]}
        for s in range(len(graph)):
            if not parts.cyclic[parts.of[s]]:
                self.accepting[s] = False
            elif parts.of[s] not in mixed:
                self.accepting[s] = True

    def merge_equal(self) -> None:
        """Merge bisimilar states; off cycles acceptance does not matter."""
        graph = [[t for _, t in edges] for edges in self.edges]
        parts = strong_components(graph)
        transient = [not parts.cyclic[parts.of[s]] for s in range(len(graph))]
        block = [int(a) for a in self.accepting]
        count = len(set(block))
        while True:
            seen: dict[tuple, int] = {}
            block = [
                seen.setdefault(
                    (block[s], tuple(sorted(_joined([(b, block[t]) for b, t in self.edges[s]])))), len(seen)
                )
                for s in range(len(graph))
            ]
            if len(seen) == count:
                break
            count = len(seen)
        # A transient state is as good as one on a cycle that has the same edges.
        cyclic_like = {
            tuple(sorted(_joined([(b, block[t]) for b, t in self.edges[s]]))): block[s]
            for s in range(len(graph)) if not transient[s]
        }  # fmt: skip
        for s in range(len(graph)):
            if transient[s]:
                edges = tuple(sorted(_joined([(b, block[t]) for b, t in self.edges[s]])))
                block[s] = cyclic_like.get(edges, block[s])
        order = {b: k for k, b in enumerate(dict.fromkeys(block))}
        self._rename({s: order[block[s]] for s in range(len(graph))})

    def merge_simulated(self) -> None:
        """Merge states that simulate each other directly, and drop edges beside better ones."""
        n = len(self.edges)
        below = self._simulation()
        leader = list(range(n))
        for s in range(n):
            for t in range(s):
                if below[s] >> t & 1 and below[t] >> s & 1:
                    leader[s] = leader[t]
                    break
        for s in range(n):
            better: list[tuple[int, int]] = []
            for position, (bits, target) in enumerate(self.edges[s]):
                for other, (more, rival) in enumerate(self.edges[s]):
                    if other == position or not below[target] >> rival & 1:
                        continue
                    # If two simulate each other, the first stays.
                    if other < position or not below[rival] >> target & 1:
                        bits &= ~more
                if bits:
                    better.append((bits, target))
            self.edges[s] = better
        order = {b: k for k, b in enumerate(dict.fromkeys(leader))}
        self._rename({s: order[leader[s]] for s in range(n)})
        best = self._simulation()
        self.initial = [
            s for k, s in enumerate(self.initial)
            if not any(
                best[s] >> t & 1 and (j < k or not best[t] >> s & 1) for j, t in enumerate(self.initial) if j != k
            )
        ]  # fmt: skip

    def _simulation(self) -> list[int]:
        """Compute for each state the set (as bits) of states that simulate it."""
        n = len(self.edges)
        accepting = sum(1 << s for s in range(n) if self.accepting[s])
        everyone = (1 << n) - 1
        offered = [0] * n
        for s in range(n):
            for bits, _ in self.edges[s]:
                offered[s] |= bits
        above = [
            sum(1 << t for t in range(n) if not offered[s] & ~offered[t])
            & (accepting if self.accepting[s] else everyone)
            for s in range(n)
        ]
        changed = True
        while changed:
            changed = False
            for s in range(n):
                for t in range(n):
                    if t != s and above[s] >> t & 1 and not self._matches(s, t, above):
                        above[s] &= ~(1 << t)
                        changed = True
        return above

    def _matches(self, s: int, t: int, above: list[int]) -> bool:
        for bits, target in self.edges[s]:
            simulators = above[target]
            for more, rival in self.edges[t]:
                if simulators >> rival & 1:
                    bits &= ~more
                    if not bits:
                        break
            if bits:
                return False
        return True


def _joined(edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """One edge per target."""
    labels: dict[int, int] = {}
    for bits, target in edges:
        labels[target] = labels.get(target, 0) | bits
    return [(bits, target) for target, bits in labels.items() if bits]
