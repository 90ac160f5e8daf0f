"""Plots about a whole run, as plain data for the page's script: how the search went, and when violations happen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bbfalsify.reporting.html.log import recorded
from bbfalsify.reporting.terminal.insight_lines import SHOWN_RANKS
from bbfalsify.results.recorded import CounterexampleRow, RequirementRow, RunResult

Lines = Callable[[RequirementRow], Iterable[str]]


def search_plots(directory: Path, result: RunResult, lines: Lines, notes: list[str]) -> list[dict[str, Any]]:
    """Best robustness so far and the list's probability mass, over the simulations of the search."""
    steps = _best_robustness(directory, len(result.requirements), notes)
    plots = []
    for number, row in enumerate(result.requirements):
        panels = []
        mass = [(0, 0.0), *row.convergence]
        if len(mass) > 1:
            panels.append(_panel("probability mass of the list, by the search's rough estimates", "mass", mass))
            panels[-1]["floor"] = True
        if len(steps[number]) > 1:
            panels.append({**_panel("best robustness so far", "robustness", steps[number]), "zero": True})
        if panels:
            end = max(panel["lines"][0]["xs"][-1] for panel in panels)
            spec = {"title": f"search for {row.id}", "x": [0, max(end, 1)], "label": "simulations", "panels": panels}
            plots.append({"title": f"{row.id}: {row.text or row.stl}", "lines": list(lines(row)), "spec": spec})
    return plots


def _panel(title: str, name: str, points: list[tuple[float, float]]) -> dict[str, Any]:
    xs, ys = zip(*points, strict=True)
    return {"title": title, "lines": [{"name": name, "xs": list(xs), "ys": list(ys), "step": True}]}


def _best_robustness(directory: Path, requirements: int, notes: list[str]) -> list[list[tuple[float, float]]]:
    """Per requirement: (simulations of the search, best robustness so far) where it improved, and at the end."""
    best: list[list[tuple[float, float]]] = [[] for _ in range(requirements)]
    count = 0
    for answer in _search_answers(directory, notes):
        count += 1
        for number, judgement in enumerate(answer["judgements"][:requirements]):
            value = float(judgement[1])
            if abs(value) < float("inf") and (not best[number] or value < best[number][-1][1]):
                best[number].append((count, value))
    return [[*steps, (count, steps[-1][1])] if steps else [] for steps in best]


def _search_answers(directory: Path, notes: list[str]) -> Iterator[dict[str, Any]]:
    searching = False
    for event in recorded(directory, notes):
        if event.kind == "StageStarted":
            searching = event.data["stage"] == "searching"
        elif event.kind == "BatchAnswered" and searching:
            yield from event.data["answers"]


def time_plots(result: RunResult, lines: Lines) -> list[dict[str, Any]]:
    """The probability of a first violation in each bin, and by then."""
    plots = []
    for row in result.requirements:
        times = row.time_to_violation
        if times is None:
            continue
        mine = [c for c in result.counterexamples if c.requirement == row.id and c.time_to_violation is not None]
        curves = [("plain simulation", "plain", times["smc"]), ("the list", "c0", times["counterexamples"])]
        curves += [(f"#{c.rank}", f"c{n}", c.time_to_violation) for n, c in enumerate(mine[:SHOWN_RANKS], start=1)]
        curves = [curve for curve in curves if curve[2] is not None]
        if curves:
            title = f"{row.id}: {row.text or row.stl}"
            plots.append({"title": title, "lines": list(lines(row)), "spec": _moments(row, curves)})
    return plots


def moments_of(row: CounterexampleRow) -> dict[str, Any] | None:
    """Of one counterexample: by when it has happened, from its quantiles, which are finer than a whole list's bins."""
    found = row.time_to_violation
    if found is None:
        return None
    points = sorted((float(level), at) for level, at in found["quantiles"].items())
    first, last = points[0][1], points[-1][1]
    if first == last:
        return None  # "violated at" says it
    xs, ys = [at for _, at in points], [level * found["probability"] for level, _ in points]
    room = 0.05 * (last - first)
    panel = {"title": "probability of this violation by then", "lines": [{"name": "by then", "xs": xs, "ys": ys}],
             "floor": True}  # fmt: skip
    return {"title": "time to violation", "x": [first - room, last + room], "label": "time of the violation",
            "panels": [panel], "height": 80}  # fmt: skip


def _moments(row: RequirementRow, curves: list[tuple[str, str, dict[str, Any]]]) -> dict[str, Any]:
    ends = row.time_to_violation["bins"]
    by_then, within = [], []
    for name, kind, found in curves:
        bars = found["histogram"]
        by_then.append({"name": name, "xs": ends, "ys": [0.0, *itertools.accumulate(bars)], "kind": kind})
        within.append({"name": name, "xs": ends, "ys": [*bars, bars[-1]], "step": True, "kind": kind})
    width = ends[1] - ends[0]
    panels = [
        {"title": "probability of a violation by then", "lines": by_then, "floor": True},
        {"title": f"probability of a first violation within {width:.3g}", "lines": within, "floor": True, "zero": True},
    ]
    return {"title": "time to violation", "x": [ends[0], ends[-1]], "label": "time of the first violation",
            "panels": panels}  # fmt: skip
