"""Edges of one location that compare the same expression with different constants.

A synchronisation on `stop[tail()]` becomes an edge per channel, with the guard `tail() == i`.  Of such a family only
the edges of the present value need a look: the expression is computed once.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.analysis import Analysis, Flow, conjuncts
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.table_pool import TablePool
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression, Kind
from bbfalsify.modelling.network.network import Edge

_LEAST = 4
"""Smaller families are not worth computing an expression for."""
_WIDEST = 8
"""Number of values per edge beyond which a table of all values is too large."""


def starts_of(values: list[int], low: int, high: int, first: int) -> list[int]:
    """Return where the members of each value from low to high begin, and the end; `values` are sorted."""
    return [first + bisect_left(values, value) for value in range(low, high + 2)]


@dataclass(frozen=True)
class EdgeFamily:
    code: int
    """Bytecode of the expression."""
    members: list[tuple[int, int]]
    """(value, edge), sorted."""
    others: list[int]
    """The other edges of the location."""

    def pack(self, pool: TablePool) -> int:
        values = [value for value, _ in self.members]
        low, high, count = values[0], values[-1], len(self.others)
        starts = pool.add(starts_of(values, low, high, count))
        head = {at.FAMILY_CODE: self.code, at.FAMILY_LOW: low, at.FAMILY_HIGH: high, at.FAMILY_STARTS: starts}
        words = [head[i] for i in range(len(head))] + [count, *self.others, *(edge for _, edge in self.members)]
        return pool.add(words)


def edge_family(edges: list[tuple[int, Edge]], compiler: Compiler, analysis: Analysis) -> EdgeFamily | None:
    """Find the largest family among the edges (with their numbers) of a location; None if none is worth it."""
    found: dict[Expression, list[tuple[int, int]]] = {}
    for number, edge in edges:
        for part in conjuncts(edge.guard):
            if isinstance(part, Binary) and part.operator == "==" and isinstance(part.right, Constant):
                found.setdefault(part.left, []).append((int(part.right.value), number))
    for expression, members in sorted(found.items(), key=lambda item: -len(item[1])):
        values = [value for value, _ in members]
        if len(members) < _LEAST or max(values) - min(values) >= _WIDEST * len(members):
            continue
        if expression.kind != Kind.INT or analysis.flow(expression) != Flow.DISCRETE:
            continue
        own = {edge for _, edge in members}
        if len(own) == len(members):
            others = [number for number, _ in edges if number not in own]
            return EdgeFamily(compiler.number(expression, "(synchronisation)"), sorted(members), others)
    return None
