"""Plots about a whole run, as plain data for the page's script: how the search went, and when violations happen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bbfalsify.core.estimate import LEVELS, TimeDistribution
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.guides.scores import Scores
from bbfalsify.records.answer_records import answer_from_record
from bbfalsify.reporting.html.parts import recorded
from bbfalsify.reporting.terminal.insight_lines import convergence_lines, time_lines, violation_curves
from bbfalsify.results.falsify_result import FalsificationResult, RankedCounterexample


def search_plots(directory: Path, result: FalsificationResult, notes: list[str]) -> list[dict[str, Any]]:
    """Best score and robustness so far, and the list's probability mass, over the simulations of the search."""
    steps, scores = _best_so_far(directory, len(result.requirements), notes)
    plots = []
    for row, robustness, lacking in zip(result.requirements, steps, scores, strict=True):
        panels = []
        if row.convergence:
            mass = [(0, 0.0), *((point.simulations, point.mass) for point in row.convergence)]
            panels.append(_panel("probability mass of the list, by the search's rough estimates", "mass", mass))
            panels[-1]["floor"] = True
        if len(lacking) > 1:
            title = "score: what the closest run lacks for a violation"
            panels.append({**_panel(title, "score", lacking), "zero": True})
        if len(robustness) > 1:
            panels.append({**_panel("best robustness so far", "robustness", robustness), "zero": True})
        if panels:
            end = max(panel["lines"][0]["xs"][-1] for panel in panels)
            spec = {"title": f"search for {row.id}", "x": [0, max(end, 1)], "label": "simulations", "panels": panels}
            lines = list(convergence_lines(row))
            plots.append({"title": f"{row.id}: {row.text or row.stl}", "lines": lines, "spec": spec})
    return plots


def _panel(title: str, name: str, points: Sequence[tuple[float, float]]) -> dict[str, Any]:
    xs, ys = zip(*points, strict=True)
    return {"title": title, "lines": [{"name": name, "xs": list(xs), "ys": list(ys), "step": True}]}


Steps = list[tuple[float, float]]


def _best_so_far(directory: Path, requirements: int, notes: list[str]) -> tuple[list[Steps], list[Steps]]:
    """Per requirement: (simulations of the search, best robustness so far) where it improved, and at the end.

    The same for the scores that led the search, which are empty where no guide asked for them.
    """
    robustness: list[Steps] = [[] for _ in range(requirements)]
    lacking: list[Steps] = [[] for _ in range(requirements)]
    scores, count, guided = Scores(), 0, False
    for record in _search_answers(directory, notes):
        count += 1
        for number, judgement in enumerate(answer_from_record(record).judgements[:requirements]):
            _improve(robustness[number], count, judgement.robustness)
            guided |= bool(judgement.shortfalls)
            if judgement.shortfalls or judgement.verdict is Verdict.VIOLATED:
                _improve(lacking[number], count, max(scores.score(number, judgement), 0.0))
    if not guided:
        lacking = [[] for _ in range(requirements)]
    for steps in (*robustness, *lacking):
        if steps:
            steps.append((count, steps[-1][1]))
    return robustness, lacking


def _improve(steps: Steps, count: int, value: float) -> None:
    if abs(value) < float("inf") and (not steps or value < steps[-1][1]):
        steps.append((count, value))


def _search_answers(directory: Path, notes: list[str]) -> Iterator[dict[str, Any]]:
    searching = False
    for event in recorded(directory, notes):
        if event.kind == "StageStarted":
            searching = event.data["stage"] == "searching"
        elif event.kind == "BatchAnswered" and searching:
            yield from event.data["answers"]


_CURVES = {"plain": ("plain simulation", "plain"), "list": ("the list", "c0")}
"""Names and colours of the curves that are not of one counterexample."""


def time_plots(result: FalsificationResult) -> list[dict[str, Any]]:
    """The probability of a first violation in each bin, and by then."""
    plots = []
    for row in result.requirements:
        curves = list(violation_curves(row, result.listed(row.id)))
        if row.time_to_violation is not None and curves:
            spec = _moments(list(row.time_to_violation.bins), curves)
            lines = list(time_lines(row, bars=False))
            plots.append({"title": f"{row.id}: {row.text or row.stl}", "lines": lines, "spec": spec})
    return plots


def moments_of(row: RankedCounterexample) -> dict[str, Any] | None:
    """Distribution of one counterexample's time, from its quantiles, which are finer than a whole list's bins."""
    found = row.time_to_violation
    if found is None or found.quantiles[0] == found.quantiles[-1]:
        return None  # "violated at" says it
    xs, ys = list(found.quantiles), [level * found.probability for level in LEVELS]
    room = 0.05 * (xs[-1] - xs[0])
    panel = {"title": "probability of this violation by then", "lines": [{"name": "by then", "xs": xs, "ys": ys}],
             "floor": True}  # fmt: skip
    return {"title": "time to violation", "x": [xs[0] - room, xs[-1] + room], "label": "time of the violation",
            "panels": [panel], "height": 80}  # fmt: skip


def _moments(ends: list[float], curves: Sequence[tuple[str, TimeDistribution]]) -> dict[str, Any]:
    by_then, within = [], []
    ranked = itertools.count(1)
    for label, found in curves:
        name, kind = _CURVES.get(label) or (label, f"c{next(ranked)}")
        bars = found.histogram
        by_then.append({"name": name, "xs": ends, "ys": [0.0, *itertools.accumulate(bars)], "kind": kind})
        within.append({"name": name, "xs": ends, "ys": [*bars, bars[-1]], "step": True, "kind": kind})
    width = ends[1] - ends[0]
    panels = [
        {"title": "probability of a violation by then", "lines": by_then, "floor": True},
        {"title": f"probability of a first violation within {width:.3g}", "lines": within, "floor": True, "zero": True},
    ]
    return {"title": "time to violation", "x": [ends[0], ends[-1]], "label": "time of the first violation",
            "panels": panels}  # fmt: skip
