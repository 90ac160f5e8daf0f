"""Timeline of a trace: the place of each process, variables and clocks, in one drawing with a common axis of time.

    drawing = timeline(trace)            the data of a trace file of `reach`

A trace that takes no time is drawn over its steps.  Processes that never move and variables that never change are left
out; of many variables the first ones are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bbfalsify.reporting.formatting import number
from bbfalsify.reporting.html.sequence import NOTHING

LEFT, WIDTH, RIGHT = 130, 940, 56
"""Room for names; width of the axis; room behind it."""
BAR, STRIP, TOP, AXIS = 20, 46, 8, 26
MOST_STRIPS, MOST_NAMES = 24, 40
"""Curves that are drawn; names of locations in the legend."""
STAYS = '<p class="soft">No step: {} time units pass in the initial locations.</p>'
GOLDEN_ANGLE = 137.5
"""Hues that follow each other at this distance are easily told apart."""
LETTER = 6.6


@dataclass(frozen=True)
class Stay:
    """A process in one location."""

    begin: float
    end: float
    location: str


def timeline(data: Mapping[str, Any]) -> str:
    steps = data["steps"]
    by_time = data["time"] > 0
    if not steps:
        return STAYS.format(number(data["time"], 8)) if by_time else NOTHING
    moments = [float(step["time"]) if by_time else float(place + 1) for place, step in enumerate(steps)]
    end = float(data["time"]) if by_time else float(len(steps) + 1)
    stays = {name: stays for name, stays in _stays(data, moments, end).items() if len(stays) > 1}
    curves = {name: points for name, points in _curves(data, moments, end).items() if len({v for _, v in points}) > 1}
    by_shape = sorted(curves.items(), key=lambda item: "[" in item[0])  # arrays come last
    shown = dict(by_shape[:MOST_STRIPS])
    names = dict.fromkeys(stay.location for of_process in stays.values() for stay in of_process)
    hues = {name: int(40 + GOLDEN_ANGLE * place) % 360 for place, name in enumerate(names)}
    axis = _Axis(end or 1.0)
    parts, y = [], TOP
    for name, of_process in stays.items():
        parts.append(_bars(name, of_process, y, axis, hues))
        y += BAR
    y += 6 if stays else 0
    for name, points in shown.items():
        parts.append(_strip(name, points, y, axis))
        y += STRIP
    parts.append(axis.drawn(y, "time" if by_time else "step"))
    y += AXIS
    if len(hues) <= MOST_NAMES:
        legend, y = _legend(hues, y)
        parts.append(legend)
    height, width = y, LEFT + WIDTH + RIGHT
    left_out = len(data["end"]["locations"]) - len(stays), len(curves) - len(shown)
    still = f"{left_out[0]} processes that never move" if left_out[0] > 1 else "one process that never moves"
    notes = [still if left_out[0] else "",
             f"{left_out[1]} more variable{'s' * (left_out[1] > 1)}" if left_out[1] else ""]  # fmt: skip
    note = " and ".join(note for note in notes if note)
    said = f'<p class="soft">Not drawn: {note}.</p>' if note else ""
    view = f'viewBox="0 0 {width} {height}"'
    return f'<svg class="timeline" width="{width}" height="{height}" {view}>{"".join(parts)}</svg>{said}'


def _stays(data: Mapping[str, Any], moments: Sequence[float], end: float) -> dict[str, list[Stay]]:
    """The locations of each process, one after the other; they follow from the moves."""
    moves: dict[str, list[tuple[float, str, str]]] = {name: [] for name in data["end"]["locations"]}
    for moment, step in zip(moments, data["steps"], strict=True):
        for mover in step["who"]:
            process, _, edge = mover.partition(": ")
            source, _, target = edge.partition(" -> ")
            moves[process].append((moment, source, target))
    stays = {}
    for process, own in moves.items():
        here = own[0][1] if own else data["end"]["locations"][process]
        begin, found = 0.0, []
        for moment, _, target in own:
            found.append(Stay(begin, moment, here))
            begin, here = moment, target
        stays[process] = [*found, Stay(begin, end, here)]
    return stays


def _curves(data: Mapping[str, Any], moments: Sequence[float], end: float) -> dict[str, list[tuple[float, float]]]:
    """Points of each variable; integers jump, clocks grow between steps."""
    begin = data.get("begin", {})
    curves = {name: [(0.0, float(value))] for name, value in begin.get("integers", {}).items()}
    for moment, step in zip(moments, data["steps"], strict=True):
        for name, value in step["changes"].items():
            points = curves.setdefault(name, [])
            points += [(moment, points[-1][1])] if points else []
            points.append((moment, float(value)))
    for points in curves.values():
        points.append((end, points[-1][1]))
    clocks = {name: [(0.0, float(value))] for name, value in begin.get("reals", {}).items()}
    for moment, step in zip(moments, data["steps"], strict=True):
        for name, value, after in zip(clocks, step.get("before", ()), step.get("after", ()), strict=False):
            clocks[name] += [(moment, value)] if value == after else [(moment, value), (moment, after)]
    for name, value in data["end"].get("reals", {}).items():
        if name in clocks:
            clocks[name].append((end, float(value)))
    return {**curves, **{name: points for name, points in clocks.items() if len(points) > 2}}


class _Axis:
    def __init__(self, end: float) -> None:
        self.end = end

    def x(self, moment: float) -> float:
        return LEFT + WIDTH * moment / self.end

    def moments(self) -> list[float]:
        """Four to nine round moments, and the end where there is room for its label."""
        apart = 10.0 ** math.floor(math.log10(self.end / 4))
        apart *= next(times for times in (5, 2, 1) if self.end / (apart * times) >= 4)
        found = [apart * i for i in range(int(self.end / apart * (1 + 1e-9)) + 1)]
        return found if self.end - found[-1] < 0.06 * self.end else [*found, self.end]

    def drawn(self, y: float, name: str) -> str:
        ticks = "".join(
            f'<path class="rule" d="M{self.x(moment):.1f} {TOP}V{y + 4}"/>'
            f'<text class="soft" x="{self.x(moment):.1f}" y="{y + 17}" text-anchor="middle">{number(moment, 4)}</text>'
            for moment in self.moments()
        )
        return f'{ticks}<text class="soft" x="{LEFT - 8}" y="{y + 17}" text-anchor="end">{name}</text>'


def _bars(name: str, stays: Sequence[Stay], y: float, axis: _Axis, hues: Mapping[str, int]) -> str:
    parts = [f"<g>{_label(name, y + 14)}"]
    for stay in stays:
        x, wide = axis.x(stay.begin), max(1.0, axis.x(stay.end) - axis.x(stay.begin))
        tip = f"{name}: {stay.location}, {number(stay.begin, 6)} to {number(stay.end, 6)}"
        box = f'x="{x:.1f}" y="{y + 2}" width="{wide:.1f}" height="{BAR - 4}" rx="2"'
        parts.append(
            f'<rect class="stay" style="--hue:{hues[stay.location]}" {box}><title>{escape(tip)}</title></rect>'
        )
        if wide > LETTER * len(stay.location) + 6:
            middle = x + wide / 2
            parts.append(f'<text x="{middle:.1f}" y="{y + 14}" text-anchor="middle">{escape(stay.location)}</text>')
    return "".join([*parts, "</g>"])


def _legend(hues: Mapping[str, int], y: int) -> tuple[str, int]:
    """Colours of locations below the drawing, in lines, and where they end."""
    parts, x = [], float(LEFT)
    for name, hue in hues.items():
        wide = 24 + LETTER * len(name)
        if x + wide > LEFT + WIDTH and x > LEFT:
            x, y = float(LEFT), y + BAR
        parts.append(f'<rect class="stay" style="--hue:{hue}" x="{x:.1f}" y="{y + 4}" width="12" height="12" rx="2"/>')
        parts.append(f'<text class="name" x="{x + 17:.1f}" y="{y + 14}">{escape(name)}</text>')
        x += wide + 8
    return "".join(parts), y + BAR + 4


def _strip(name: str, points: Sequence[tuple[float, float]], y: float, axis: _Axis) -> str:
    low, high = min(v for _, v in points), max(v for _, v in points)
    span = high - low or 1.0
    room = STRIP - 12

    def place(point: tuple[float, float]) -> str:
        return f"{axis.x(point[0]):.1f},{y + 4 + room * (1 - (point[1] - low) / span):.1f}"

    path = " ".join(map(place, points))
    tip = f"<title>{escape(name)}: {number(low, 6)} to {number(high, 6)}</title>"
    ends = "".join(
        f'<text class="soft" x="{LEFT + WIDTH + 3}" y="{place_y}" >{number(value, 3)}</text>'
        for value, place_y in ((high, y + 10), (low, y + 6 + room))
    )
    return f'<g>{_label(name, y + 22)}<polyline class="curve" points="{path}">{tip}</polyline>{ends}</g>'


def _label(name: str, y: float) -> str:
    most = int((LEFT - 14) / LETTER)
    text = name if len(name) <= most else name[: most - 1] + "…"
    whole = f"<title>{escape(name)}</title>"
    return f'<text class="name" x="{LEFT - 8}" y="{y}" text-anchor="end">{escape(text)}{whole}</text>'
