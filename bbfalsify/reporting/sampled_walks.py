"""Sampled walks as a CSV table or as a plot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.reporting.exports.recordings import csv_text
from bbfalsify.results.svg import Line, plot
from bbfalsify.running.simulate import SampledWalk, Walkable

MOST_PANELS = 8
"""A plot with more panels than this is not looked at; the CSV has everything."""


def walks_csv(walks: Sequence[SampledWalk]) -> str:
    """One row per sample; a column `walk` comes first where there are several."""
    many = len(walks) > 1
    header = ["time", "action", *walks[0].locations, *walks[0].signals]
    return csv_text(["walk", *header] if many else header, (row for w in walks for row in _rows(w, many)))


def plot_walks(walkable: Walkable, walks: Sequence[SampledWalk]) -> str:
    names = list(walks[0].signals)[:MOST_PANELS]
    held = walkable.profile is not None and not walkable.expressions
    lines = [
        Line(f"walk {w.number}", *_as_steps(w.times, [w.signals[n] for n in names], held), w.events) for w in walks
    ]
    return plot(walkable.title, names, lines)


def _as_steps(times: np.ndarray, values: list[np.ndarray], held: bool) -> tuple[np.ndarray, list[np.ndarray]]:
    """Inputs hold their value until the next sample: draw them as stairs."""
    if not held:
        return times, values
    return np.repeat(times, 2)[1:], [np.repeat(v, 2)[:-1] for v in values]


def _rows(walk: SampledWalk, many: bool) -> list[list[object]]:
    at: dict[float, list[str]] = {}
    for time, action in walk.events:
        at.setdefault(time, []).append(action)
    rows = []
    for i, time in enumerate(walk.times.tolist()):
        row = [time, " ".join(at.get(time, [])), *(names[i] for names in walk.locations.values())]
        row += [float(values[i]) for values in walk.signals.values()]
        rows.append([walk.number, *row] if many else row)
    return rows
