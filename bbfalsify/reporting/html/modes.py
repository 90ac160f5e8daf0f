"""The failure modes on the page of a falsification."""

from __future__ import annotations

from typing import Any

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.odds import odds_interval, percent
from bbfalsify.reporting.formatting import interval
from bbfalsify.reporting.html.parts import anchor, interval_bar
from bbfalsify.results.falsify_modes import FailureMode
from bbfalsify.results.falsify_result import FalsificationResult

MOST_ROWS = 12
"""Rows that a mode links to."""


def modes_section(result: FalsificationResult) -> dict[str, Any]:
    places = {(row.requirement, row.rank): index for index, row in enumerate(result.counterexamples)}
    top = max((mode.probability.high for mode in result.modes), default=0.0)
    others = [
        {"requirement": row.id, "probability": odds_interval(row.other), "share": _part(row.other, row.violation)}
        for row in result.requirements
        if row.other is not None and row.violation is not None
    ]
    return {"modes": [_mode(mode, places, top) for mode in result.modes], "others": others}


def _mode(mode: FailureMode, places: dict[tuple[str, int], int], top: float) -> dict[str, Any]:
    ranks = [rank for rank in mode.counterexamples if (mode.requirement, rank) in places]
    rows = [(anchor(places[mode.requirement, rank]), rank) for rank in ranks]
    return {
        "rank": mode.rank,
        "requirement": mode.requirement,
        "name": mode.name,
        "sentence": mode.sentence,
        "avoided_by": mode.avoided_by,
        "probability": odds_interval(mode.probability),
        "exact": f"{interval(mode.probability)}, {mode.probability.method}",
        "bar": interval_bar(mode.probability, top) if top > 0 else None,
        "precision": percent(mode.precision.value),
        "precision_title": _range(mode.precision),
        "share": percent(mode.share.value),
        "share_title": _range(mode.share),
        "rows": rows[:MOST_ROWS],
        "more": max(0, len(rows) - MOST_ROWS),
    }


def _range(share: Estimate) -> str:
    return f"{share.confidence:.0%} interval: {percent(share.low)} to {percent(share.high)}"


def _part(part: Estimate, whole: Estimate) -> str:
    return percent(min(1.0, part.value / whole.value)) if whole.value > 0 else "–"
