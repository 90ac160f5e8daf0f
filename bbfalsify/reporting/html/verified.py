"""The page of a verification: each query with its verdict and effort, and the traces as message sequence charts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bbfalsify.reporting.formatting import number
from bbfalsify.reporting.html.parts import outcome_badges
from bbfalsify.reporting.html.reached import traces_page
from bbfalsify.results.recorded import result_from_json
from bbfalsify.results.verify_result import VerifyResult, VerifyRow


def verified_page(directory: Path, results: Mapping[str, Any]) -> dict[str, Any]:
    result = result_from_json(VerifyResult, results, file=str(directory / "results.json"))
    states = sum(row.states for row in result.requirements)
    effort = f"{states:,} symbolic states in {result.seconds:.1f} s; {result.stop_reason}; seed {result.seed}"
    return traces_page(directory, results, result, effort, [_query(row) for row in result.requirements])


def _query(row: VerifyRow) -> dict[str, Any]:
    facts = [
        ("verdict", row.verdict), ("symbolic states explored", f"{row.states:,}"), ("stored", f"{row.stored:,}"),
        ("depth", str(row.depth)), ("memory", f"{row.memory_mb:.1f} MB"), ("CPU time", f"{row.cpu_seconds:.2f} s"),
    ]  # fmt: skip
    if row.length is not None:
        facts += [("trace", f"{row.length} steps, {number(row.time, 8)} time units"), ("found by", str(row.found_by))]
    return {
        "id": row.id,
        "text": row.text,
        "query": row.query,
        "badges": outcome_badges(row.outcome, row.expected),
        "verdict": row.in_words.removeprefix(f"{row.query}: "),
        "facts": facts,
        "notes": [],
    }
