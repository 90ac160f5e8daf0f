"""The page of a verification: each query with its verdict and effort, and the traces as message sequence charts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bbfalsify.reporting.formatting import number
from bbfalsify.reporting.html.reached import trace_facts, traces_page
from bbfalsify.results.recorded import result_from_json
from bbfalsify.results.verify_result import LimitValue, VerifyResult, VerifyRow


def verified_page(directory: Path, results: Mapping[str, Any]) -> dict[str, Any]:
    result = result_from_json(VerifyResult, results, file=str(directory / "results.json"))
    states = sum(row.states for row in result.requirements)
    effort = f"{states:,} symbolic states in {result.seconds:.1f} s; {result.stop_reason}; seed {result.seed}"
    return traces_page(directory, results, result, effort, _facts)


def _facts(row: VerifyRow) -> list[tuple[str, str]]:
    found = [("found by", str(row.found_by))] if row.length is not None else []
    return [
        ("verdict", row.verdict), ("symbolic states explored", f"{row.states:,}"), ("stored", f"{row.stored:,}"),
        ("depth", str(row.depth)), ("memory", f"{row.memory_mb:.1f} MB"), ("CPU time", f"{row.cpu_seconds:.2f} s"),
        *trace_facts(row), *found, *((f"{e.word} {e.expression}", _value(e)) for e in row.limits),
    ]  # fmt: skip


def _value(limit: LimitValue) -> str:
    """The value of a limit, and how it is met."""
    if limit.unbounded:
        return "without bound"
    if limit.value is None:
        return "not known" if limit.why else "no state satisfies the condition"
    return f"{number(limit.value, 12)}{'' if limit.reached else ', approached'}{', not exact' if limit.why else ''}"
