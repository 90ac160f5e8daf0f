"""Outcomes in a word and a colour."""

from __future__ import annotations

_KINDS = {
    "falsified": "bad", "violated": "bad", "model_error": "bad", "wrong": "bad", "error": "bad", "new": "bad",
    "too probable": "bad", "expired": "bad", "correct": "good", "not_falsified": "good",
    "satisfied_up_to_bound": "good", "accepted": "good", "inconclusive": "warn", "unknown": "warn", "flaky": "warn",
    "sampling artefact": "warn", "observed": "warn", "more_states_than_bound": "warn", "stopped": "warn",
    "vacuous": "warn",
}  # fmt: skip


def badge(word: str, text: str | None = None) -> dict[str, str]:
    return {"kind": _KINDS.get(word, ""), "text": text or word.replace("_", " ")}


_COMPARED = {"correct": "as expected", "wrong": "not as expected", "unknown": "no answer"}
"""Of a whole run, by its category."""


def compared(category: str | None, count: int | None = None) -> list[dict[str, str]]:
    """Whether a run (or so many of them) went as the campaign expects, where it does."""
    if category is None or count is None and category in ("error", "unknown"):
        return []  # of a single run, the outcome beside it says so
    text = _COMPARED.get(category, category)
    return [badge(category, text if count is None else f"{count} {text}")]


def expectation(outcome: str, expected: str | None) -> list[dict[str, str]]:
    """Beside an outcome: whether it is the expected one, where one is."""
    if expected is None:
        return []
    if outcome == expected:
        return [badge("correct", "as expected")]
    return [badge("wrong", f"expected: {expected.replace('_', ' ')}")]
