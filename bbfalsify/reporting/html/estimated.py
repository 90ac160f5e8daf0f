"""The page of `estimate`: each query with its answer, interval, method and warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bbfalsify.reporting.html.generic import plain_page
from bbfalsify.results.estimate_result import EstimateResult, EstimateRow
from bbfalsify.results.recorded import result_from_json


def estimated_page(directory: Path, results: dict[str, Any]) -> dict[str, Any]:
    page = plain_page(directory, results)
    result = result_from_json(EstimateResult, results)
    for card, row in zip(page["requirements"], result.requirements, strict=True):
        card["text"] = _told(row)
        if row.verdict is None:
            card["badges"] = []
    return page


def _told(row: EstimateRow) -> str:
    asked = f"{row.text}: {row.query}" if row.text else row.query
    effort = f"{row.method}, {row.runs} runs" if row.runs else row.method
    return ". ".join([f"{asked}: {row.in_words}", effort, *row.warnings])
