"""One finding step by step, from its file: its row of the results with all that happens, and the same as lines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bbfalsify.records.counterexample import Counterexample
from bbfalsify.records.stored import to_json
from bbfalsify.records.trace_file import read_trace_file
from bbfalsify.records.word_counterexample import WordCounterexample
from bbfalsify.reporting.formatting import changes, interval, number
from bbfalsify.reporting.terminal.lines import replay_line
from bbfalsify.reporting.terminal.reach import end_lines, trace_lines
from bbfalsify.results.falsify_result import EstimatedWord, RankedCounterexample

Row = Mapping[str, Any]


def counterexample_steps(row: Row) -> tuple[dict[str, Any], list[str]]:
    """Actions and times of a falsification's counterexample; of its shrunk form likewise."""
    found = RankedCounterexample.from_json(row)
    data, lines = _timed(row, found, f"{found.requirement} #{found.rank}")
    core = found.shrunk
    if core is not None:
        fewer = len(core.actions) < len(found.actions)
        kept = f"{len(core.actions)} of {len(found.actions)} actions"
        same = "" if core.same_as in (None, found.rank) else f", as #{core.same_as}"
        ordinary = "the same actions with more ordinary delays" if found.acts else "simpler values"
        title = f"shrunk: {kept if fewer else ordinary}{same}"
        data["shrunk"], more = _timed(row["shrunk"], core, title)
        lines += more if core.file != found.file else []
    return data, lines


def _timed(row: Row, found: EstimatedWord, title: str) -> tuple[dict[str, Any], list[str]]:
    file = Path(row["file"])
    stored = Counterexample.read(file)
    # The use goes on after the violation; its key ends with the action that ends the violating delay.
    word = stored.word[: len(stored.actions)]
    violated = found.first_violation_time
    steps = [(time, action) for time, action in word if found.acts]
    fixed = [value for value in stored.values if value.time is None]
    steps += [(v.time, f"{v.name} = {number(v.value, 6)}") for v in changes(stored.values) if v.time is not None]
    if not math.isnan(violated):
        # What happens at the violating moment is part of its cause: the violation comes after it.
        steps = [step for step in steps if found.acts or step[0] <= violated]
        steps.append((violated, f"violated (robustness {number(found.robustness)})"))
    lines = [f"{'':>12}  {value.name} = {number(value.value, 6)}" for value in fixed]
    lines += [f"{number(time, 6):>12}  {what}" for time, what in sorted(steps, key=lambda step: step[0])]
    head = f"{title}, {found.status}, probability {interval(found.shown)}"
    told = {"word": [{"time": time, "action": action} for time, action in word], "values": to_json(stored.values)}
    return {**row, "file": str(file), **told}, [head, *lines, replay_line(file)]


def word_steps(row: Row) -> tuple[dict[str, Any], list[str]]:
    """Symbols and answers of a check's counterexample, and where its loop begins."""
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
    lines.append(replay_line(file))
    return {**row, "file": str(file), "word": word, "loop_begins": len(found.prefix) if found.loop else None}, lines


def trace_steps(row: Row) -> tuple[dict[str, Any], list[str]]:
    """The whole trace of a search for a state."""
    file = Path(row["file"])
    trace = read_trace_file(file)
    lines = [f"{row['requirement']}: {trace['query']}", *trace_lines(trace, everything=True), *end_lines(trace)]
    return {**row, "file": str(file), "trace": trace}, [*lines, replay_line(file)]
