"""Results in a notebook: a table as HTML, and data frames.  Everything that users or systems have named is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from bbfalsify.core.errors import UserError

if TYPE_CHECKING:
    import pandas

MOST_ROWS = 50
"""Shown in a notebook; the data frame has all."""


def falsification_html(data: Mapping[str, Any]) -> str:
    """Of the results of a falsification, as results.json has them."""
    effort = f"{data['simulations']} simulations, seed {data['seed']}"
    parts = [f"<b>{escape(data['name'])}</b>: {_plain(data['outcome'])}, {effort}"]
    parts += [_line(row) for row in data["requirements"]]
    rows = [
        (c["requirement"], c["rank"], "·".join(c["actions"]), _interval(c["probability"]), c["first_violation_time"],
         c["robustness"], c["status"])
        for c in data["counterexamples"]
    ]  # fmt: skip
    if rows:
        header = ("requirement", "#", "actions", "probability", "at", "robustness", "status")
        parts.append(_table(header, rows[:MOST_ROWS]))
    if len(rows) > MOST_ROWS:
        parts.append(f"… {len(rows) - MOST_ROWS} more; to_dataframe() has them all")
    return "<div>" + "<br>".join(parts) + "</div>"


def check_html(data: Mapping[str, Any]) -> str:
    """Of the results of a check."""
    rows = [(row["id"], row["text"] or row["formula"], row["in_words"]) for row in data["requirements"]]
    head = f"<b>{escape(data['name'])}</b>: {data['states']} states learned with {data['queries']} queries"
    return f"<div>{head}<br>{_table(('requirement', 'says', 'verdict'), rows)}</div>"


def trace_html(in_words: str, steps: Sequence[Mapping[str, Any]]) -> str:
    """Of a search for a state: what came of it, and the trace."""
    rows = [(s["time"], s["delay"], "; ".join(s["who"]), s["action"], _changes(s)) for s in steps[:MOST_ROWS]]
    parts = [escape(in_words)]
    if rows:
        parts.append(_table(("time", "delay", "who", "action", "changes"), rows))
    if len(steps) > MOST_ROWS:
        parts.append(f"… {len(steps) - MOST_ROWS} more; to_dataframe() has them all")
    return "<div>" + "<br>".join(parts) + "</div>"


def steps_frame(steps: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """One row per step of a trace."""
    rows = [{**s, "who": tuple(s["who"]), "changes": dict(s["changes"])} for s in steps]
    return _frame(rows, ("time", "delay", "action", "who", "changes"))


def _changes(step: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in step["changes"].items())


def counterexamples_frame(data: Mapping[str, Any]) -> pandas.DataFrame:
    """One row per counterexample, the most probable of each requirement first."""
    plain = ("requirement", "rank", "status", "violating", "traces", "first_violation_time", "robustness", "iteration",
             "known", "accepted", "file")  # fmt: skip
    rows = []
    for row in data["counterexamples"]:
        shrunk = row["shrunk"]
        rows.append(
            {
                **{key: row[key] for key in plain},
                "actions": tuple(row["actions"]),
                "length": len(row["actions"]),
                **_estimate(row["probability"]),
                "shrunk": None if shrunk is None else tuple(shrunk["actions"]),
            }
        )
    columns = [*plain[:3], "actions", "length", *_estimate({}), *plain[3:], "shrunk"]
    return _frame(rows, columns)


def requirements_frame(data: Mapping[str, Any]) -> pandas.DataFrame:
    """Of a check: one row per requirement."""
    rows = [
        {**row, "prefix": tuple(row["prefix"]), "loop": tuple(row["loop"]), "outputs": tuple(row["outputs"]),
         "probability": None if row["probability"] is None else row["probability"]["value"]}
        for row in data["requirements"]
    ]  # fmt: skip
    return _frame(rows, list(rows[0]) if rows else [])


def _frame(rows: list[dict[str, Any]], columns: Sequence[str]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise UserError("pandas is not installed; 'pip install bbfalsify[tables]' brings it.") from None
    return pandas.DataFrame(rows, columns=list(columns))


def _estimate(data: Mapping[str, Any]) -> dict[str, Any]:
    names = {"value": "probability", "low": "low", "high": "high", "confidence": "confidence", "method": "method",
             "samples": "samples"}  # fmt: skip
    return {column: data.get(key) for key, column in names.items()}


def _line(row: Mapping[str, Any]) -> str:
    text = f"{row['id']} {_plain(row['outcome'])}" + (f": {row['text']}" if row["text"] else "")
    total = row.get("found_probability")
    more = f"; probability that a use meets one of these: {_interval(total)}" if total else ""
    return escape(text + more)


def _interval(data: Mapping[str, Any]) -> str:
    if not data["samples"]:
        return "not estimated"
    return f"{data['value']:.3g} [{data['low']:.3g}, {data['high']:.3g}]"


def _plain(word: str) -> str:
    return escape(str(word).replace("_", " "))


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(_cell(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
