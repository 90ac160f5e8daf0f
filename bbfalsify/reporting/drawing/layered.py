"""Places for a graph drawn in layers from left to right: its nodes, the labels of its arrows, the ways of its arrows.

As Sugiyama, Tagawa and Toda (1981) and Graphviz's dot do it:

columns   nodes stand by their layer; between two layers is a column for labels, so that no label hides anything
order     inside the columns: towards their neighbours, back and forth; the order with the fewest crossings is kept
heights   each as near to its neighbours as that order and its size allow

Layers are distances from a start, so an arrow goes one layer on, stays, or goes back any number of layers.  Arrows that
go back to the same node are one line after their labels: a hub to which all return costs one line, not thirty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Edge = tuple[int, int]
Place = tuple[float, float]
Size = tuple[float, float]
"""Width and height."""

MARGIN = 24
SWEEPS, SETTLINGS = 16, 30
APART = {"node": 13.0, "label": 4.0, "line": 4.0}
"""Room above and below, on each side."""
UNDER = 3.0
"""Between a label and the line that it stands on."""
TURN = 9.0
"""Room before the label of an arrow inside a layer, which turns round there."""
STUB = 7.0
"""On both sides of a column, where arrows are straight: heads point at what they lead to."""
STRAIGHTNESS = 4.0
"""Weight of a straight line against a node in the middle of its neighbours."""


@dataclass(eq=False)
class _Item:
    """An item that takes room in a column: a node, a label, or a line that only passes."""

    kind: str
    column: int
    width: float = 0.0
    up: float = 0.0
    down: float = 0.0
    turns: bool = False
    beside: dict[int, list[_Item]] = field(default_factory=lambda: {-1: [], 1: []})
    """Neighbours in the column before and the one after."""
    at: int = 0
    """The place in its column, from the top."""
    x: float = 0.0
    y: float = 0.0

    @property
    def neighbours(self) -> list[_Item]:
        return self.beside[-1] + self.beside[1]


@dataclass(frozen=True)
class Layout:
    width: float
    height: float
    nodes: dict[int, Place]
    """Their middles."""
    labels: dict[Edge, tuple[float, float, str]]
    """The top of each label's text, at its middle or its start: x, y, and which of the two."""
    ways: dict[Edge, str]
    """Each arrow as the path of an SVG."""


def layered(layers: Mapping[int, int], nodes: Mapping[int, Size], labels: Mapping[Edge, Size]) -> Layout:
    """`layers` and `nodes` say where each node belongs and how large it is; the keys of `labels` are the arrows.

    No arrow may lead from a node to itself, nor more than one layer to the right.
    """
    items = {node: _Item("node", 2 * layers[node], w, h / 2, h / 2) for node, (w, h) in nodes.items()}
    routes = _routes(items, labels)
    columns = _columns(items, routes)
    _put_in_order(columns)
    _find_heights(columns)
    edges = _find_sides(columns)
    ways, texts = {}, {}
    ports = _ports(routes)
    for edge, route in routes.items():
        label = route[1]
        ways[edge] = _way(route, ports, edges)
        x = label.x - label.width / 2 + TURN if label.turns else label.x
        texts[edge] = (x, label.y - label.up, "start" if label.turns else "middle")
    bottom = max(item.y + item.down for column in columns for item in column)
    return Layout(edges[-1][1] + MARGIN, bottom + MARGIN, {n: (i.x, i.y) for n, i in items.items()}, texts, ways)


# --- columns ---------------------------------------------------------------------------------------------------------


def _routes(items: Mapping[int, _Item], labels: Mapping[Edge, Size]) -> dict[Edge, list[_Item]]:
    """Per arrow: its source, its label, the lines that it shares, its target."""
    lines: dict[tuple[int, int], _Item] = {}
    routes = {}
    for (source, target), (width, height) in labels.items():
        start, end = items[source], items[target]
        if start.column == end.column:
            label = _Item("label", start.column + 1, width + TURN, height / 2, height / 2, turns=True)
            routes[source, target] = [start, label, end]
            continue
        side = 1 if start.column < end.column else -1
        label = _Item("label", start.column + side, width, height + UNDER, UNDER)
        between = range(label.column - 1, end.column, -1) if side < 0 else ()
        passing = [lines.setdefault((target, c), _Item("line", c, 0.0, 1.0, 1.0)) for c in between]
        routes[source, target] = [start, label, *passing, end]
    return routes


def _columns(items: Mapping[int, _Item], routes: Mapping[Edge, list[_Item]]) -> list[list[_Item]]:
    there = dict.fromkeys([*items.values(), *(item for route in routes.values() for item in route)])
    columns: list[list[_Item]] = [[] for _ in range(max(item.column for item in there) + 1)]
    for item in there:
        columns[item.column].append(item)
    for one, other in dict.fromkeys(pair for r in routes.values() for pair in zip(r, r[1:], strict=False)):
        side = 1 if one.column < other.column else -1
        one.beside[side].append(other)
        other.beside[-side].append(one)
    return columns


# --- order -----------------------------------------------------------------------------------------------------------


def _put_in_order(columns: list[list[_Item]]) -> None:
    """Sort each column towards the one before, then towards the one after, and so on; keep the best order seen."""
    _number(columns)
    best, fewest = [list(column) for column in columns], _crossings(columns)
    for sweep in range(SWEEPS):
        side = -1 if sweep % 2 == 0 else 1
        for column in columns if side < 0 else reversed(columns):
            middle = {item: _middle(item, side, len(column), columns) for item in column}
            column.sort(key=lambda item: (middle[item], item.at))
            _number([column])
            _swap_neighbours(column)
        crossings = _crossings(columns)
        if crossings < fewest:
            best, fewest = [list(column) for column in columns], crossings
    columns[:] = best
    _number(columns)


def _number(columns: list[list[_Item]]) -> None:
    for column in columns:
        for place, item in enumerate(column):
            item.at = place


def _middle(item: _Item, side: int, count: int, columns: list[list[_Item]]) -> float:
    """Mean place of the neighbours on one side; without any, its own place on their scale."""
    near = item.beside[side]
    if near:
        return sum(other.at for other in near) / len(near)
    next_to = item.column + side
    return item.at * (len(columns[next_to]) if 0 <= next_to < len(columns) else count) / count


def _swap_neighbours(column: list[_Item]) -> None:
    """Swap what stands next to each other while that saves crossings."""
    better = True
    while better:
        better = False
        for place in range(len(column) - 1):
            one, other = column[place], column[place + 1]
            if _crossed(other, one) < _crossed(one, other):
                column[place], column[place + 1] = other, one
                one.at, other.at = other.at, one.at
                better = True


def _crossed(upper: _Item, lower: _Item) -> int:
    """Number of crossings between their links."""
    return sum(a.at > b.at for side in (-1, 1) for a in upper.beside[side] for b in lower.beside[side])


def _crossings(columns: list[list[_Item]]) -> int:
    """Number of crossings between all neighbouring columns."""
    total = 0
    for column in columns:
        ends = [near.at for item in column for near in sorted(item.beside[1], key=lambda other: other.at)]
        total += sum(a > b for place, a in enumerate(ends) for b in ends[place + 1 :])
    return total


# --- heights ---------------------------------------------------------------------------------------------------------


def _find_heights(columns: list[list[_Item]]) -> None:
    for column in columns:
        _settle(column, [0.0] * len(column))
    for round_ in range(SETTLINGS):
        for column in columns if round_ % 2 == 0 else reversed(columns):
            _settle(column, [_wish(item) for item in column])
    top = min(item.y - item.up for column in columns for item in column)
    for item in (item for column in columns for item in column):
        item.y += MARGIN - top


def _wish(item: _Item) -> float:
    weights = [STRAIGHTNESS if item.kind == other.kind == "line" else 1.0 for other in item.neighbours]
    if not weights:
        return item.y
    return sum(w * other.y for w, other in zip(weights, item.neighbours, strict=True)) / sum(weights)


def _settle(column: list[_Item], wishes: list[float]) -> None:
    """The heights nearest to what is wished (least squares) that keep the order and leave room for each item.

    Measured from where each would stand if all were stacked, heights only have to grow: neighbours that do not are
    pooled, and share their mean.
    """
    stacked, offset = [], 0.0
    for before, item in zip([None, *column], column, strict=False):
        if before is not None:
            offset += before.down + APART[before.kind] + APART[item.kind] + item.up
        stacked.append(offset)
    pools: list[list[float]] = []
    for wish, offset in zip(wishes, stacked, strict=True):
        pools.append([wish - offset, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, count = pools.pop()
            other, more = pools.pop()
            pools.append([(mean * count + other * more) / (count + more), count + more])
    heights = [mean for mean, count in pools for _ in range(int(count))]
    for item, height, offset in zip(column, heights, stacked, strict=True):
        item.y = height + offset


# --- ways ------------------------------------------------------------------------------------------------------------


def _find_sides(columns: list[list[_Item]]) -> list[tuple[float, float]]:
    """Left and right of each column; between two of them is the more room, the more links bend there."""
    sides, x = [], MARGIN + 30.0
    for column in columns:
        width = max((item.width for item in column), default=0.0)
        for item in column:
            # A label that an arrow turns round at begins at the left, near both of its ends.
            item.x = x + (item.width if item.turns else width) / 2
        sides.append((x - STUB, x + width + STUB))
        links = sum(len(item.beside[1]) for item in column)
        x += width + 2 * STUB + 26 + min(46.0, 1.2 * links)
    return sides


def _ports(routes: Mapping[Edge, list[_Item]]) -> dict[tuple[_Item, _Item], float]:
    """Heights at which the links of a node begin: spread out, in the order of their ends."""
    ports: dict[tuple[_Item, _Item], float] = {}
    nodes = dict.fromkeys(end for route in routes.values() for end in (route[0], route[-1]))
    for node in nodes:
        for side in (-1, 1):
            near = sorted(node.beside[side], key=lambda other: other.y)
            step = min(10.0, (node.up + node.down - 10) / max(1, len(near) - 1))
            for place, other in enumerate(near):
                ports[node, other] = node.y + (place - (len(near) - 1) / 2) * step
    return ports


def _way(route: list[_Item], ports: Mapping[tuple[_Item, _Item], float], sides: list[tuple[float, float]]) -> str:
    """Straight inside the columns, bent between them: there is nothing that a bend could hide."""
    start, label, end = route[0], route[1], route[-1]
    onward = 1 if label.column > start.column else -1
    x, y = sides[start.column][onward > 0], ports[start, label]
    parts = [f"M{start.x + onward * start.width / 2:.1f} {y:.1f}H{x:.1f}"]
    if label.turns:
        half = -3 if y <= ports[end, label] else 3  # of a hairpin, whose upper leg leads to what stands higher
        turn = sides[label.column][0]
        parts.append(f"{_bend(x, y, turn, label.y + half)}a3 3 0 0 {int(half < 0)} 0 {-2 * half}")
        x, y, onward = turn, label.y - half, -1
    else:
        for item in route[1:-1]:
            enter, leave = sides[item.column][::onward]
            parts.append(f"{_bend(x, y, enter, item.y)}H{leave:.1f}")
            x, y = leave, item.y
    bend = _bend(x, y, sides[end.column][onward < 0], ports[end, route[-2]])
    return f"{''.join(parts)}{bend}H{end.x - onward * end.width / 2:.1f}"


def _bend(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = (x + to_x) / 2
    return f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
