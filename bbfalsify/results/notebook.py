"""Results in a notebook: a table as HTML, and data frames.  Everything that users or systems have named is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.odds import odds_interval
from bbfalsify.records.stored import to_json
from bbfalsify.results.falsify_modes import FailureMode
from bbfalsify.results.mode_words import explanation, fails, violation_sentence

if TYPE_CHECKING:
    import pandas

    from bbfalsify.results.check_result import CheckedRequirement, CheckResult
    from bbfalsify.results.falsify_result import FalsificationResult, RankedCounterexample, RequirementResult

MOST_ROWS = 50
"""Rows shown in a notebook; the data frame has all."""

Step = Mapping[str, Any]
"""A step of a trace, as trace files have it."""


def falsification_html(result: FalsificationResult) -> str:
    effort = f"{result.simulations} simulations, seed {result.seed}"
    parts = [f"<b>{escape(result.name)}</b>: {escape(_plain(result.outcome))}, {effort}"]
    for row in result.requirements:
        parts += [escape(line) for line in _lines(row, result.modes_of(row.id))]
    if result.modes:
        parts.append(_modes_table(result.modes))
    header = ("requirement", "#", "actions", "probability", "at", "robustness", "status")
    rows = [
        (c.requirement, c.rank, "·".join(c.actions), _interval(c.probability), c.first_violation_time, c.robustness,
         c.status)
        for c in result.counterexamples
    ]  # fmt: skip
    return _page(parts, header, rows)


def check_html(result: CheckResult) -> str:
    rows = [(row.id, row.text or row.formula, row.in_words()) for row in result.requirements]
    head = f"<b>{escape(result.name)}</b>: {result.states} states learned with {result.queries} queries"
    return f"<div>{head}<br>{_table(('requirement', 'says', 'verdict'), rows)}</div>"


def trace_html(in_words: str, steps: Sequence[Step]) -> str:
    """The search for a state: its outcome, and the trace."""
    rows = [(s["time"], s["delay"], "; ".join(s["who"]), s["action"], _changes(s)) for s in steps]
    return _page([escape(in_words)], ("time", "delay", "who", "action", "changes"), rows)


def _page(parts: list[str], header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if rows:
        parts.append(_table(header, rows[:MOST_ROWS]))
    if len(rows) > MOST_ROWS:
        parts.append(f"… {len(rows) - MOST_ROWS} more; to_dataframe() has them all")
    return "<div>" + "<br>".join(parts) + "</div>"


def steps_frame(steps: Sequence[Step]) -> pandas.DataFrame:
    """One row per step of a trace."""
    rows = [{**s, "who": tuple(s["who"]), "changes": dict(s["changes"])} for s in steps]
    return _frame(rows, ("time", "delay", "action", "who", "changes"))


def _changes(step: Step) -> str:
    return ", ".join(f"{name} = {value}" for name, value in step["changes"].items())


_ESTIMATE = {"probability": "value", "low": "low", "high": "high", "confidence": "confidence", "method": "method",
             "samples": "samples"}  # fmt: skip
"""Columns of an estimate."""


def counterexamples_frame(counterexamples: Iterable[RankedCounterexample]) -> pandas.DataFrame:
    """One row per counterexample, the most probable of each requirement first."""
    plain = ("violating", "traces", "first_violation_time", "robustness", "iteration", "known", "accepted", "file")
    rows = [
        {
            **{key: to_json(getattr(c, key)) for key in ("requirement", "rank", "status", *plain)},
            "actions": c.actions,
            "length": len(c.actions),
            **{column: getattr(c.probability, part) for column, part in _ESTIMATE.items()},
            "shrunk": None if c.shrunk is None else c.shrunk.actions,
        }
        for c in counterexamples
    ]
    return _frame(rows, ("requirement", "rank", "status", "actions", "length", *_ESTIMATE, *plain, "shrunk"))


def requirements_frame(requirements: Iterable[CheckedRequirement]) -> pandas.DataFrame:
    """One row per requirement of a check."""
    words = ("prefix", "loop", "outputs")
    rows = [
        {**row.as_json(), **{name: getattr(row, name) for name in words},
         "probability": None if row.probability is None else row.probability.value}
        for row in requirements
    ]  # fmt: skip
    return _frame(rows, list(rows[0]) if rows else [])


def _frame(rows: list[dict[str, Any]], columns: Sequence[str]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise UserError("pandas is not installed; 'pip install bbfalsify[tables]' brings it.") from None
    return pandas.DataFrame(rows, columns=list(columns))


def _lines(row: RequirementResult, modes: Sequence[FailureMode]) -> list[str]:
    if row.violation is not None:
        return [violation_sentence(row), explanation(row, modes)]
    text = f"{row.id} {_plain(row.outcome)}" + (f": {row.text}" if row.text else "")
    total = row.found_probability
    return [text + (f"; probability that a use meets one of these: {_interval(total)}" if total else "")]


def _modes_table(modes: Sequence[FailureMode]) -> str:
    header = ("requirement", "#", "failure mode", "how often", "fails", "examples")
    rows = [
        (m.requirement, m.rank, m.sentence, odds_interval(m.probability), fails(m),
         ", ".join(map(str, m.counterexamples)))
        for m in modes
    ]  # fmt: skip
    return _table(header, rows)


def _interval(estimate: Estimate) -> str:
    return str(estimate) if estimate.samples else "not estimated"


def _plain(word: str) -> str:
    return word.replace("_", " ")


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(_cell(to_json(cell)))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
