"""One finding step by step, from its file: its row of the results with all that happens, and the same as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bbfalsify.core.estimate import Estimate
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.records.json_files import read_json
from bbfalsify.records.word_counterexample import WordCounterexample
from bbfalsify.reporting.formatting import interval, number
from bbfalsify.reporting.terminal.reach import end_lines, trace_lines

Row = Mapping[str, Any]


def counterexample_steps(row: Row) -> tuple[dict[str, Any], list[str]]:
    """Of a falsification: the actions and their times; what is left of it when shrunk likewise."""
    found = _with_word(row)
    lines = [*_word_lines(f"{found['requirement']} #{found['rank']}", found)]
    shrunk = found.get("shrunk")
    if shrunk is not None and shrunk["file"] != found["file"]:
        kept, all_, listed = shrunk["transitions"], found["transitions"], shrunk["same_as"]
        what = f"{kept} of {all_} actions" if kept < all_ else "the same actions with more ordinary delays"
        same = "" if listed in (None, found["rank"]) else f", as #{listed}"
        lines += _word_lines(f"shrunk: {what}{same}", shrunk)
    return found, lines


def _with_word(row: Row) -> dict[str, Any]:
    file = Path(row["file"])
    found = Counterexample.read(file)
    # The use goes on after the violation; its key ends with the action that ends the violating delay.
    word = [{"time": time, "action": action} for time, action in found.word[: len(found.actions)]]
    shrunk = {} if row.get("shrunk") is None else {"shrunk": _with_word(row["shrunk"])}
    return {**row, **shrunk, "file": str(file), "word": word}


def _word_lines(title: str, row: Row) -> Iterator[str]:
    estimate = Estimate.from_json(row["probability_with_uncertainty"] or row["probability"])
    yield f"{title}, {row['status']}, probability {interval(estimate)}"
    violated, told = row["first_violation_time"], False
    for step in row["word"]:
        if violated is not None and not told and violated < step["time"]:
            yield _violated(row)
            told = True
        yield f"{number(step['time'], 6):>12}  {step['action']}"
    if violated is not None and not told:
        yield _violated(row)
    yield f"replay: bbfalsify replay {row['file']}"


def _violated(row: Row) -> str:
    return f"{number(row['first_violation_time'], 6):>12}  violated (robustness {number(row['robustness'])})"


def word_steps(row: Row) -> tuple[dict[str, Any], list[str]]:
    """Of a check: each symbol with its answer, and what goes on for ever."""
    file = Path(row["file"])
    found = WordCounterexample.read(file)
    symbols = (*found.prefix, *found.loop)
    word = [{"input": i, "output": o} for i, o in zip(symbols, found.outputs, strict=False)]
    told = "" if found.probability is None else f", a use begins so with probability {interval(found.probability)}"
    lines = [f"{row['requirement']}, {found.status}{told}: {found.requirement.text}"]
    width = max((len(symbol) for symbol in symbols), default=0)
    for place, step in enumerate(word, start=1):
        if found.loop and place == len(found.prefix) + 1:
            lines.append("        for ever:")
        lines.append(f"{place:6}  {step['input']:{width}}  {step['output']}")
    lines.append(f"replay: bbfalsify replay {file}")
    return {**row, "file": str(file), "word": word, "loop_begins": len(found.prefix) if found.loop else None}, lines


def trace_steps(row: Row) -> tuple[dict[str, Any], list[str]]:
    """Of a search for a state: the whole trace."""
    file = Path(row["file"])
    trace = read_json(file)
    lines = [f"{row['requirement']}: {trace['query']}", *trace_lines(trace, everything=True), *end_lines(trace)]
    return {**row, "file": str(file), "trace": trace}, [*lines, f"replay: bbfalsify replay {file}"]
