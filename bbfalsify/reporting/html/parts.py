"""Parts that pages share: outcomes in a word and a colour, the log of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.event_log import RecordedEvent, read_events

Badge = dict[str, str]

_KINDS = {
    "falsified": "bad", "violated": "bad", "model_error": "bad", "wrong": "bad", "error": "bad", "new": "bad",
    "too probable": "bad", "expired": "bad", "correct": "good", "not_falsified": "good",
    "satisfied_up_to_bound": "good", "accepted": "good", "inconclusive": "warn", "unknown": "warn", "flaky": "warn",
    "sampling artefact": "warn", "observed": "warn", "more_states_than_bound": "warn", "stopped": "warn",
    "vacuous": "warn",
}  # fmt: skip


def badge(word: str, text: str | None = None) -> Badge:
    return {"kind": _KINDS.get(word, ""), "text": text or word.replace("_", " ")}


def anchor(index: int) -> str:
    """Place of a counterexample on its page."""
    return f"n{index + 1}"


def interval_bar(shown: Estimate, top: float) -> list[str]:
    """Start, width and value of an interval, in per cent of a scale that ends at `top`."""
    low, high, value = (100 * part / top for part in (shown.low, shown.high, shown.value))
    return [f"{low:.2f}", f"{max(high - low, 0):.2f}", f"{value:.2f}"]


_COMPARED = {"correct": "as expected", "wrong": "not as expected", "unknown": "no answer"}
"""Text for a whole run, by its category."""


def compared(category: str | None, count: int | None = None) -> list[Badge]:
    """Badge of a run (or of `count` runs) that went as the campaign expects, or not."""
    if category is None or count is None and category in ("error", "unknown"):
        return []  # the outcome beside it says so of a single run
    text = _COMPARED.get(category, category)
    return [badge(category, text if count is None else f"{count} {text}")]


def outcome_badges(outcome: str, expected: str | None, shown: str | None = None) -> list[Badge]:
    """Badge of an outcome (`shown` as another word), and whether it is the expected one, where one is."""
    if expected is None:
        return [badge(shown or outcome)]
    as_expected = badge("correct", "as expected")
    other = badge("wrong", f"expected: {expected.replace('_', ' ')}")
    return [badge(shown or outcome), as_expected if outcome == expected else other]


def recorded(directory: Path, notes: list[str]) -> Iterator[RecordedEvent]:
    """The events of a run; a log that is gone or cut off costs only plots, and adds a note."""
    file = directory / "events.jsonl"
    last = None
    try:
        for event in read_events(file):
            last = event.kind
            yield event
    except UserError as error:
        notes += [f"{problem} Plots of the search show what was recorded before." for problem in error.problems]
        return
    if last != "RunStopped":
        notes.append(f"{file}: the log is cut off. Plots of the search show what was recorded before.")
