"""Was the outcome the expected one?  Four words, as competitions of verifiers use them.

    correct     the outcome is the expected one
    wrong       the tool says the opposite of what is expected
    unknown     the run ended without an answer
    error       the run failed

Nothing is said (None) about a requirement without `expected`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bbfalsify.core.verdict import Outcome

CATEGORIES = ("error", "wrong", "unknown", "correct")
"""The worst first: a run is as good as its worst requirement."""


def category(outcome: str, expected: str | None) -> str | None:
    if expected is None:
        return None
    if outcome == expected:
        return "correct"
    words = {Outcome.ERROR: "error", Outcome.MODEL_ERROR: "error", Outcome.INCONCLUSIVE: "unknown"}
    return words.get(Outcome(outcome), "wrong")


def worst(categories: Iterable[str | None]) -> str | None:
    seen = set(categories)
    return next((word for word in CATEGORIES if word in seen), None)


def run_category(results: Mapping[str, Any]) -> str | None:
    return worst(category(row["outcome"], row.get("expected")) for row in results["requirements"])
