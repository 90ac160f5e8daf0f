"""Finite machines drawn as graphs, in SVG, without a layout program.

States stand in columns by their distance from the initial state; inside a column they are moved next to what they are
connected to (barycentres, a few sweeps).  Transitions between the same two states are one arrow with several labels,
which stand along it where they hide least of the states and of each other.
The path of a counterexample is drawn heavily.

    machine_svg(machine, path=("connect", "publish"))
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from bbfalsify.modelling.mealy import MealyMachine

RADIUS, MARGIN, LINE = 19, 46, 13
ROW = 128
"""Between the middles of two states of one column."""
SHOWN = 2
"""Labels of an arrow; the others are counted, and shown when the mouse rests on it."""
LONGEST = 12
"""Letters of a symbol in a label."""
SWEEPS = 12
ALONG = (0.38, 0.3, 0.46, 0.24, 0.54, 0.62, 0.7)
"""Where on an arrow its labels may stand.  Nearer to where it begins is better: what leads to one state from many sides
would meet in the middle."""
LETTER = 5.6
"""Width of one in a label, about."""

Place = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_STYLE = """
.machine { background: #fff } .machine .name { fill: #1c2b3a; font-size: 12px; font-weight: bold }
.machine .state { fill: #eef3f8; stroke: #4a6785; stroke-width: 1.4 } .machine .start { stroke-width: 3 }
.machine .edge { fill: none; stroke: #8396a9; stroke-width: 1.2 }
.machine .label { fill: #33475b; font-size: 11px; paint-order: stroke; stroke: #fff; stroke-width: 3px;
  stroke-linejoin: round }
.machine .on .edge, .machine .state.on { stroke: #c0392b; stroke-width: 2.4 }
.machine .on .label { fill: #a02015; font-weight: bold }
@media (prefers-color-scheme: dark) { @media not print {
  .machine { background: #12181f } .machine .label { stroke: #12181f; fill: #c3d0dc } .machine .name { fill: #e8eef4 }
  .machine .state { fill: #243240; stroke: #8fb0d0 } .machine .edge { stroke: #6c8298 }
  .machine .on .label { fill: #ff9d8f } .machine .on .edge, .machine .state.on { stroke: #ff7a66 }
} }"""
"""Every rule is about .machine: a page may hold several drawings and much else."""


@dataclass(frozen=True)
class Arrow:
    source: int
    target: int
    labels: tuple[str, ...]
    on_path: frozenset[str]
    """Of the labels, those that the path takes."""


def machine_svg(machine: MealyMachine, path: Sequence[str] = ()) -> str:
    """The machine as one SVG; `path` is a word from the initial state on that is to stand out."""
    arrows, states_on = _arrows(machine, path)
    columns = _columns(machine)
    width_of_column = 74 + 7 * max((len(_cut(t)) for a in arrows for t in a.labels), default=8)
    places = {
        state: (MARGIN + 30 + RADIUS + column * width_of_column, row)
        for column, states in enumerate(columns)
        for state, row in zip(states, _rows(len(states), max(map(len, columns))), strict=True)
    }
    right = MARGIN * 2 + 60 + RADIUS + (len(columns) - 1) * width_of_column
    top, bottom = _reach(arrows, places)
    height = bottom - top + 2 * MARGIN
    # In a page with several drawings each has arrow heads of its own: those of one that is folded away are not drawn.
    tip = f"tip-{zlib.crc32(repr((machine.name, *path)).encode()):x}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="machine" viewBox="0 0 {right} {height:.0f}" width="{right}" '
        f'height="{height:.0f}" font-family="Helvetica, Arial, sans-serif" role="img" '
        f"aria-label={quoteattr(f'{machine.name}: {len(machine)} states')}>",
        f"<style>{_STYLE}</style>",
        f'<defs><marker id="{tip}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z" fill="context-stroke"/></marker></defs>',
        f'<g transform="translate(0,{MARGIN - top:.0f})">',
    ]
    x, y = places[machine.initial]
    parts.append(f'<path class="edge" d="M{x - RADIUS - 30} {y}h28" marker-end="url(#{tip})"/>')
    labels = _label_places(arrows, places)
    parts += [_drawn(arrow, places, labels[arrow], tip) for arrow in sorted(arrows, key=lambda a: bool(a.on_path))]
    for state, (x, y) in places.items():
        kinds = f"state{' start' * (state == machine.initial)}{' on' * (state in states_on)}"
        parts.append(f'<circle class="{kinds}" cx="{x}" cy="{y}" r="{RADIUS}"/>')
        parts.append(
            f'<text class="name" x="{x}" y="{y + 4}" text-anchor="middle">{escape(machine.states[state])}</text>'
        )
    return "\n".join([*parts, "</g>", "</svg>\n"])


def _arrows(machine: MealyMachine, path: Sequence[str]) -> tuple[list[Arrow], set[int]]:
    taken: set[tuple[int, int]] = set()
    state, states = machine.initial, {machine.initial} if path else set()
    for symbol in path:
        i = machine.input_number(symbol)
        taken.add((state, i))
        state = int(machine.successor[state, i])
        states.add(state)
    labels: dict[tuple[int, int], list[str]] = {}
    bold: dict[tuple[int, int], set[str]] = {}
    for s in range(len(machine)):
        for i, symbol in enumerate(machine.inputs):
            key = s, int(machine.successor[s, i])
            text = f"{symbol}/{machine.outputs[machine.answer[s, i]]}"
            labels.setdefault(key, []).append(text)
            if (s, i) in taken:
                bold.setdefault(key, set()).add(text)
    return [Arrow(*key, tuple(texts), frozenset(bold.get(key, ()))) for key, texts in labels.items()], states


def _columns(machine: MealyMachine) -> list[list[int]]:
    """States by their distance from the initial one; each column sorted towards its neighbours."""
    distance, order = {machine.initial: 0}, [machine.initial]
    for state in order:  # grows while it is walked
        for target in map(int, machine.successor[state]):
            if target not in distance:
                distance[target] = distance[state] + 1
                order.append(target)
    for state in range(len(machine)):  # what cannot be reached stands at the end
        distance.setdefault(state, max(distance.values()) + 1)
    columns = [[s for s in distance if distance[s] == d] for d in range(max(distance.values()) + 1)]
    neighbours: dict[int, set[int]] = {s: set() for s in distance}
    for s in distance:
        for t in map(int, machine.successor[s]):
            neighbours[s].add(t)
            neighbours[t].add(s)
    height = {s: row for states in columns for s, row in zip(states, _rows(len(states), 1), strict=True)}
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wish = {}
            for s in column:
                near = [height[t] for t in neighbours[s] if abs(distance[t] - distance[s]) == 1]
                wish[s] = sum(near) / len(near) if near else height[s]
            column.sort(key=lambda s: (wish[s], s))
            height |= dict(zip(column, _rows(len(column), 1), strict=True))
    return columns


def _rows(count: int, most: int) -> list[float]:
    """Heights of so many states, around the middle; columns of two kinds of parity do not stand on one line."""
    shift = 0.0 if most == 1 else (most - count) % 2 * 0.001
    return [(i - (count - 1) / 2 + shift) * ROW for i in range(count)]


def _label_places(arrows: Sequence[Arrow], places: dict[int, Place]) -> dict[Arrow, Place]:
    """The middle of each arrow's labels: loops first, which have no choice, then the path, then the rest."""
    taken = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in places.values()]
    chosen = {}
    for arrow in sorted(arrows, key=lambda a: (a.source != a.target, not a.on_path)):
        boxes = {at: _label_box(arrow, at) for at in _curve(arrow, places)[1]}
        chosen[arrow] = min(boxes, key=lambda at: sum(_overlap(boxes[at], other) for other in taken))
        taken.append(boxes[chosen[arrow]])
    return chosen


def _label_box(arrow: Arrow, at: Place) -> Box:
    lines = _shown(arrow)
    half, (x, y) = LETTER * max(map(len, lines)) / 2, at
    top = y - LINE * len(lines) - 4 if arrow.source == arrow.target else y - LINE * len(lines) / 2 - 4
    return x - half, top, x + half, top + LINE * len(lines)


def _overlap(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0.0) * max(height, 0.0)


def _curve(arrow: Arrow, places: dict[int, Place]) -> tuple[str, list[Place]]:
    """The path of an arrow, and where its labels may stand, the best place first."""
    (x, y), (u, v) = places[arrow.source], places[arrow.target]
    if arrow.source == arrow.target:
        rim, far = y - RADIUS + 2, y - 54
        way = f"M{x - 9:.1f} {rim:.1f}C{x - 26:.1f} {far:.1f} {x + 26:.1f} {far:.1f} {x + 9:.1f} {rim:.1f}"
        return way, [(x, y - 46)]
    length = math.hypot(u - x, v - y)
    forward = u > x
    # To the right nearly straight; back and inside a column in a bow, the larger the farther it goes.
    bend = 0.10 * length if forward else 0.24 * length + 14
    dx, dy = (u - x) / length, (v - y) / length
    nx, ny = dy, -dx
    cx, cy = (x + u) / 2 + nx * 2 * bend * 0.5, (y + v) / 2 + ny * 2 * bend * 0.5
    start, end = _rim(x, y, cx, cy), _rim(u, v, cx, cy, gap=2)
    along = [
        tuple((1 - t) ** 2 * a + 2 * t * (1 - t) * c + t**2 * b for a, c, b in zip(start, (cx, cy), end, strict=True))
        for t in ALONG
    ]
    return f"M{start[0]:.1f} {start[1]:.1f}Q{cx:.1f} {cy:.1f} {end[0]:.1f} {end[1]:.1f}", along


def _rim(x: float, y: float, to_x: float, to_y: float, gap: float = 0) -> tuple[float, float]:
    length = math.hypot(to_x - x, to_y - y) or 1.0
    return x + (to_x - x) / length * (RADIUS + gap), y + (to_y - y) / length * (RADIUS + gap)


def _drawn(arrow: Arrow, places: dict[int, Place], at: Place, tip: str) -> str:
    (curve, _), (x, y), shown = _curve(arrow, places), at, _shown(arrow)
    first = y - 4 - LINE * (len(shown) - 1) if arrow.source == arrow.target else y - LINE * (len(shown) - 1) / 2 - 3
    lines = "".join(f'<tspan x="{x:.1f}" y="{first + LINE * i:.1f}">{escape(t)}</tspan>' for i, t in enumerate(shown))
    return (
        f'<g class="arrow{" on" * bool(arrow.on_path)}"><title>{escape(chr(10).join(arrow.labels))}</title>'
        f'<path class="edge" d="{curve}" marker-end="url(#{tip})"/>'
        f'<text class="label" text-anchor="middle">{lines}</text></g>'
    )


def _shown(arrow: Arrow) -> list[str]:
    """The lines of its label."""
    labels = sorted(arrow.labels, key=lambda text: text not in arrow.on_path)
    count = max(SHOWN, len(arrow.on_path)) if len(labels) > SHOWN + 1 else len(labels)
    shown = [_cut(text) for text in labels[:count]]
    if len(labels) > count:
        shown[-1] += f"  +{len(labels) - count}"
    return shown


def _reach(arrows: Iterable[Arrow], places: dict[int, Place]) -> tuple[float, float]:
    """From the highest to the lowest thing drawn."""
    heights = [y + side * RADIUS for _, y in places.values() for side in (-1, 1)]
    for arrow in arrows:
        for _, y in _curve(arrow, places)[1]:
            heights += [y - LINE * (min(len(arrow.labels), SHOWN) + 1), y + LINE]
    return min(heights), max(heights)


def _cut(text: str) -> str:
    return "/".join(t if len(t) <= LONGEST else t[: LONGEST - 1] + "…" for t in text.split("/", 1))
