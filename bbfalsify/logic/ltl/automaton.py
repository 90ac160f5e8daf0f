"""Büchi automata over letter classes.

An automaton accepts a word if some run on it visits accepting states for ever.  Edges carry sets of letter classes
(one integer each, see letters.py).  `everything` are states from which every word is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from bbfalsify.logic.ltl.letters import Letters, classes_of

Edges = list[list[tuple[int, int]]]
"""For each state: (set of letter classes, target)."""


@dataclass(frozen=True, eq=False)
class Automaton:
    letters: Letters
    initial: tuple[int, ...]
    edges: Edges
    accepting: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.edges)

    @cached_property
    def table(self) -> list[list[tuple[int, ...]]]:
        """`table[state][letter class]`: the successors."""
        rows = []
        for edges in self.edges:
            row: list[list[int]] = [[] for _ in range(self.letters.count)]
            for bits, target in edges:
                for c in classes_of(bits):
                    if target not in row[c]:
                        row[c].append(target)
            rows.append([tuple(targets) for targets in row])
        return rows

    @cached_property
    def everything(self) -> frozenset[int]:
        """States from which every word is accepted: the largest set of accepting states that no letter leaves."""
        members = {s for s, good in enumerate(self.accepting) if good}
        while True:
            lost = {s for s in members if self._covered(s, members) != self.letters.all}
            if not lost:
                return frozenset(members)
            members -= lost

    def _covered(self, state: int, targets: set[int]) -> int:
        bits = 0
        for label, target in self.edges[state]:
            if target in targets:
                bits |= label
        return bits

    @cached_property
    def deterministic(self) -> bool:
        return len(self.initial) <= 1 and all(len(t) <= 1 for row in self.table for t in row)

    def number(self, symbol: str, answer: str) -> int:
        """The class of a letter, the second index of `table`."""
        return self.letters.number(symbol, answer)

    def accepts(self, prefix: Sequence[int], loop: Sequence[int]) -> bool:
        """Tell whether it accepts prefix·loop·loop·…, words of letter classes."""
        word, back = [*prefix, *loop], len(prefix)
        if not loop:
            raise ValueError("an infinite word needs a loop")
        follow = [*range(1, len(word)), back]
        start = [(0, s) for s in self.initial]
        graph: dict[tuple[int, int], list[tuple[int, int]]] = {}
        pending = list(start)
        while pending:
            node = pending.pop()
            if node not in graph:
                position, state = node
                graph[node] = [(follow[position], t) for t in self.table[state][word[position]]]
                pending.extend(graph[node])
        names = {node: k for k, node in enumerate(graph)}
        components = strong_components([[names[t] for t in targets] for targets in graph.values()])
        return any(self.accepting[node[1]] for node, k in names.items() if components.cyclic[components.of[k]])


@dataclass(frozen=True)
class Components:
    of: list[int]
    """The component of each node; a component's successors have smaller numbers."""
    cyclic: list[bool]
    """True for components that contain a cycle."""


def strong_components(graph: Sequence[Iterable[int]]) -> Components:
    """Tarjan's algorithm, without recursion."""
    index: list[int] = [-1] * len(graph)
    low = [0] * len(graph)
    of = [-1] * len(graph)
    cyclic: list[bool] = []
    stack: list[int] = []
    count = 0
    for root in range(len(graph)):
        if index[root] >= 0:
            continue
        index[root] = low[root] = count
        count += 1
        stack.append(root)
        path = [(root, iter(graph[root]))]
        while path:
            node, targets = path[-1]
            for target in targets:
                if index[target] < 0:
                    index[target] = low[target] = count
                    count += 1
                    stack.append(target)
                    path.append((target, iter(graph[target])))
                    break
                if of[target] < 0:
                    low[node] = min(low[node], index[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    number, members = len(cyclic), 0
                    while True:
                        member = stack.pop()
                        of[member] = number
                        members += 1
                        if member == node:
                            break
                    cyclic.append(members > 1 or node in graph[node])
    return Components(of, cyclic)
