"""The failure modes on the page of a falsification."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.odds import odds_interval, percent
from bbfalsify.records.accepted import ACCEPTED, NEW
from bbfalsify.reporting.drawing.graphs import automaton_svg
from bbfalsify.reporting.formatting import interval, replay_command
from bbfalsify.reporting.html.parts import anchor, badge, interval_bar
from bbfalsify.results.falsify_modes import FailureMode, PastMode, PastRun
from bbfalsify.results.falsify_result import FalsificationResult
from bbfalsify.results.mode_words import fails, rank_change_text, time_text

MOST_COLUMNS = 8
"""Modes that a history shows."""
MOST_DRAWN, MOST_LOCATIONS = 5, 40
"""Modes whose way through the profile is drawn, and locations of an automaton that is."""
MOST_ROWS = 6
"""Rows that a mode links to."""


def modes_section(result: FalsificationResult) -> dict[str, Any]:
    places = {(row.requirement, row.rank): index for index, row in enumerate(result.counterexamples)}
    top = max((mode.probability.high for mode in result.modes), default=0.0)
    others = [
        {"requirement": row.id, "probability": odds_interval(row.other), "share": _part(row.other, row.violation)}
        for row in result.requirements
        if row.other is not None and row.violation is not None
    ]
    modes = [_mode(mode, places, top) | _acceptance(result, mode) | _drawings(result, mode) for mode in result.modes]
    return {"modes": modes, "others": others, "histories": _histories(result)}


def _acceptance(result: FalsificationResult, mode: FailureMode) -> dict[str, Any]:
    accepted = result.accepted_mode(mode)
    return {"badges": [] if accepted is None else [badge(ACCEPTED if accepted else NEW)]}


def _histories(result: FalsificationResult) -> list[dict[str, Any]]:
    """Modes over the runs of the store, this one last: a column per mode, most probable now first."""
    found = []
    for row in result.requirements:
        past = [run for run in result.history if run.requirement == row.id]
        if not past or row.violation is None:
            continue
        now = PastRun(
            run=result.directory.name if result.directory else "", time="this run", requirement=row.id,
            violation=row.violation,
            modes=tuple(PastMode(name=m.name, sentence=m.sentence, probability=m.probability)
                        for m in result.modes_of(row.id)),
        )  # fmt: skip
        current = {
            found.actions: mode.name
            for mode in result.modes_of(row.id)
            for found in result.listed(row.id)
            if found.rank in mode.counterexamples
        }
        runs = [*(_renamed(run, current) for run in past), now]
        names = list(dict.fromkeys(mode.name for run in reversed(runs) for mode in run.modes))[:MOST_COLUMNS]
        lines = []
        for run in runs:
            shown = {mode.name: odds_interval(mode.probability) for mode in run.modes}
            cells = [odds_interval(run.violation), *(shown.get(name, "–") for name in names)]
            lines.append({"run": run.run, "time": run.time, "cells": cells})
        found.append({"requirement": row.id, "names": names, "runs": lines, "plot": _over_runs(runs, names)})
    return found


def _renamed(run: PastRun, current: Mapping[tuple[str, ...], str]) -> PastRun:
    """An earlier run with today's names: a mode is the one that holds its typical counterexample now, if none has its
    name; `current` has the mode of each counterexample.
    """
    names, taken = set(current.values()), {mode.name for mode in run.modes}

    def name(mode: PastMode) -> str:
        new = current.get(mode.typical, mode.name)
        return mode.name if mode.name in names or new in taken else new

    return replace(run, modes=tuple(replace(mode, name=name(mode)) for mode in run.modes))


def _over_runs(runs: list[PastRun], names: list[str]) -> dict[str, Any]:
    """Probabilities over the runs, on a logarithmic axis by powers of ten."""

    def line(name: str, values: list[float | None]) -> dict[str, Any]:
        points = [(k + 1, math.log10(v)) for k, v in enumerate(values) if v]
        return {"name": name, "xs": [x for x, _ in points], "ys": [y for _, y in points]}

    curves = [line("any", [run.violation.value for run in runs])]
    for name in names:
        curves.append(
            line(name, [next((m.probability.value for m in run.modes if m.name == name), None) for run in runs])
        )
    panel = {"title": "probability (power of ten)", "lines": curves}
    return {"title": "failure modes over the runs of the store", "x": [0.5, len(runs) + 0.5], "label": "run",
            "panels": [panel]}  # fmt: skip


def _mode(mode: FailureMode, places: dict[tuple[str, int], int], top: float) -> dict[str, Any]:
    ranks = [rank for rank in mode.counterexamples if (mode.requirement, rank) in places]
    rows = [(anchor(places[mode.requirement, rank]), rank) for rank in ranks]
    return {
        "rank": mode.rank,
        "requirement": mode.requirement,
        "name": mode.name,
        "sentence": mode.sentence,
        "time": time_text(mode),
        "avoided_by": mode.avoided_by,
        "rank_changes": rank_change_text(mode),
        "probability": odds_interval(mode.probability),
        "exact": f"{interval(mode.probability)}, {mode.probability.method}",
        "bar": interval_bar(mode.probability, top) if top > 0 else None,
        "precision": fails(mode),
        "precision_title": _range(mode.precision),
        "share": percent(mode.share.value) if mode.share.samples else "–",
        "share_title": _range(mode.share),
        "rows": rows[:MOST_ROWS],
        "more": max(0, len(rows) - MOST_ROWS),
        "replay": None if rows or mode.typical_file is None else replay_command(mode.typical_file),
    }


def _drawings(result: FalsificationResult, mode: FailureMode) -> dict[str, Any]:
    """The automata of the profile with the way of a typical use; large ones, and those not on it, are left out."""
    from markupsafe import Markup

    coverage = result.profile_coverage
    drawn = []
    for automaton in coverage.automata if coverage is not None and mode.rank <= MOST_DRAWN else ():
        places = {edge.number: place for place, edge in enumerate(automaton.edges)}
        path = [places.get(number, -1) for number in mode.path]  # steps of other automata keep their numbers
        if len(automaton.locations) > MOST_LOCATIONS or not any(place >= 0 for place in path):
            continue
        leaving: dict[str, int] = {}
        for edge in automaton.edges:
            leaving[edge.source] = leaving.get(edge.source, 0) + edge.times
        steps = [
            (e.source, e.target, (e.action, percent(e.times / leaving[e.source]) if leaving[e.source] else "never"))
            for e in automaton.edges
        ]
        name = f"{automaton.name} {mode.requirement} {mode.rank}"
        svg = automaton_svg(name, automaton.locations, automaton.initial, steps, path)
        drawn.append((automaton.name, Markup(svg)))  # made by us from escaped text
    return {"drawings": drawn}


def _range(share: Estimate) -> str:
    return f"{share.confidence:.0%} interval: {percent(share.low)} to {percent(share.high)}"


def _part(part: Estimate, whole: Estimate) -> str:
    return percent(min(1.0, part.value / whole.value)) if whole.value > 0 else "–"
