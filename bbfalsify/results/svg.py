"""Plots of signals over time as one small SVG file, without a plotting library.

One panel per signal, stacked above a common time axis; each walk has its colour.  Events are short ticks under the
panels.  Text stays text, so the file can be searched and styled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np

COLOURS = ("#0b6bb5", "#d1602b", "#2c8a4b", "#8d4bb0", "#b8960c", "#c2376f", "#3b9fa8", "#6b6b6b")
WIDTH, PANEL, LEFT, RIGHT, TOP, BOTTOM, SPACE = 880, 150, 78, 24, 34, 46, 26


@dataclass(frozen=True)
class Line:
    """One walk: `values` holds one array per panel, each as long as `times`."""

    label: str
    times: np.ndarray
    values: Sequence[np.ndarray]
    events: tuple[tuple[float, str], ...] = ()
    colour: str | None = None
    """By default the next of COLOURS."""
    stroke: str = 'stroke-width="1.6"'


@dataclass(frozen=True)
class Level:
    """A horizontal line in a panel: a bound that the requirement speaks of."""

    panel: int
    value: float
    label: str


def plot(
    title: str,
    names: Sequence[str],
    lines: Sequence[Line],
    *,
    time_label: str = "time",
    start: float = 0.0,
    levels: Sequence[Level] = (),
) -> str:
    """The SVG text; the time axis begins at `start`."""
    lines = [replace(line, colour=line.colour or COLOURS[i % len(COLOURS)]) for i, line in enumerate(lines)]
    end = max((float(line.times[-1]) for line in lines if len(line.times)), default=start + 1.0)
    span = (start, end if end > start else start + 1.0)
    height = TOP + len(names) * (PANEL + SPACE) + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="15" font-weight="bold">{escape(title)}</text>',
        _legend(lines),
    ]
    for index, name in enumerate(names):
        top = TOP + index * (PANEL + SPACE) + 14
        series = [(line, np.asarray(line.values[index])) for line in lines]
        parts.append(_panel(name, top, span, series, [at for at in levels if at.panel == index]))
    bottom = TOP + len(names) * (PANEL + SPACE) - SPACE + 14
    for tick in nice_ticks(*span, 8):
        parts.append(f'<text x="{_x(tick, span):.1f}" y="{bottom + 22}" text-anchor="middle">{_label(tick)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.1f}" y="{bottom + 40}" text-anchor="middle">{escape(time_label)}</text>')
    parts.append("</svg>\n")
    return "\n".join(part for part in parts if part)


def _legend(lines: Sequence[Line]) -> str:
    if len(lines) < 2:
        return ""
    shown = lines[: len(COLOURS)]
    items, x = [], WIDTH - RIGHT - 74 * len(shown)
    for line in shown:
        items.append(f'<rect x="{x}" y="11" width="12" height="4" fill="{line.colour}"/>')
        items.append(f'<text x="{x + 16}" y="17">{escape(line.label)}</text>')
        x += 74
    return "\n".join(items)


def _panel(
    name: str, top: float, span: tuple[float, float], series: list[tuple[Line, np.ndarray]], levels: Sequence[Level]
) -> str:
    shown = [values[np.isfinite(values)] for _, values in series] + [np.array([at.value]) for at in levels]
    finite = np.concatenate(shown or [np.zeros(1)])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    margin = 0.06 * (high - low) or max(abs(high), 1.0) * 0.1
    low, high = low - margin, high + margin

    def y(value: float) -> float:
        return top + PANEL * (high - value) / (high - low)

    parts = [f'<text x="{LEFT}" y="{top - 5}" font-weight="bold">{escape(name)}</text>']
    for tick in nice_ticks(low, high, 5):
        parts.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{_label(tick)}</text>')
    for tick in nice_ticks(*span, 8):
        parts.append(f'<path d="M{_x(tick, span):.1f} {top}v{PANEL}" stroke="#f0f0f0"/>')
    parts.append(
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH - RIGHT - LEFT}" height="{PANEL}" fill="none" stroke="#888"/>'
    )
    for at in levels:
        parts.append(f'<path d="M{LEFT} {y(at.value):.1f}H{WIDTH - RIGHT}" stroke="#b00" stroke-dasharray="5 4"/>')
        parts.append(
            f'<text x="{WIDTH - RIGHT - 4}" y="{y(at.value) - 3:.1f}" text-anchor="end" font-size="11" fill="#b00">'
            f"{escape(at.label)}</text>"
        )
    for line, values in series:
        colour = line.colour
        for piece in _pieces(values):
            pairs = zip(line.times[piece], values[piece], strict=True)
            points = " ".join(f"{_x(time, span):.1f},{y(value):.1f}" for time, value in pairs)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" {line.stroke}/>')
        for time, action in line.events:
            if time <= span[1]:
                tip = f"<title>{escape(action)} at {time:.6g}</title>"
                parts.append(
                    f'<path d="M{_x(time, span):.1f} {top + PANEL}v7" stroke="{colour}" stroke-width="1.5">{tip}</path>'
                )
    return "\n".join(parts)


def _pieces(values: np.ndarray) -> list[slice]:
    """Maximal runs of finite values; a gap in the data is a gap in the line."""
    finite = np.isfinite(values)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], finite, [False]]).astype(int)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _x(time: float, span: tuple[float, float]) -> float:
    return LEFT + (WIDTH - RIGHT - LEFT) * (time - span[0]) / (span[1] - span[0])


def nice_ticks(low: float, high: float, about: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten inside [low, high], roughly `about` of them."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _label(value: float) -> str:
    return f"{value:.6g}"
