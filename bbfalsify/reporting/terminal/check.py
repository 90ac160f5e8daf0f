"""The result of a check as a terminal shows it, and the files that are made of it; from what was recorded."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bbfalsify.automata.mealy import read_dot
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.json_files import write_atomically
from bbfalsify.reporting.drawing.graphs import machine_svg
from bbfalsify.reporting.formatting import interval, number
from bbfalsify.reporting.terminal.lines import expectation, note_lines, replay_line, report_line
from bbfalsify.results.check_result import CheckedRequirement, CheckResult, UseRisk
from bbfalsify.results.recorded import result_from_json

MOST_CAUSES, MOST_WORDS = 3, 3
"""Causes of a requirement, and words of each, that are shown without -v."""
MOST_DRAWN = 150
"""States of a machine that is drawn; nobody can follow the lines of a larger one, and placing them takes minutes."""


def check_lines(data: Mapping[str, Any], width: int, verbose: bool) -> Iterator[str]:
    """Verdicts as sentences, what they cost, and how to see violations again."""
    result = result_from_json(CheckResult, data)
    for row in result.requirements:
        if row.text:
            yield f"{row.id}: {row.text}"
        yield f"{row}{expectation(row.outcome, row.expected)}"
        if row.outputs:
            yield f"   {row.steps}"
        yield from (f"   {line}" for line in cause_lines(row, width - 3, everything=verbose))
        if row.probability is not None:
            yield f"   {_probability(row.probability)}"
        if row.risk is not None:
            yield f"   {_risk(row.risk)}"
    if not result.requirements and result.too_many_states:
        yield f"the system has more than {result.max_states} states"
    yield ""
    tested = f", tested up to {result.tested_bound}" if result.tested_bound else ""
    states = f"{result.states} state{'s' * (result.states != 1)}"
    yield (
        f"{states} learned{tested}; {result.queries} queries, {result.symbols} symbols, "
        f"{result.seconds:.1f} s; {result.stop_reason}"
    )
    yield from note_lines(result.notes)
    if result.model is not None:
        yield f"model: {result.model}"
    if result.directory is not None:
        yield from report_line(result.directory)
        yield f"run directory: {result.directory}"
    yield f"seed: {result.seed}"
    yield from (replay_line(row.file) for row in result.requirements if row.file is not None)


def cause_lines(row: CheckedRequirement, width: int, *, everything: bool = False) -> Iterator[str]:
    """Steps that break the requirement, where there are several, or several words to one."""
    if len(row.causes) < 2 and not any(cause.others for cause in row.causes):
        return
    shown = row.causes if everything else row.causes[:MOST_CAUSES]
    for place, cause in enumerate(shown, start=1):
        yield from textwrap.wrap(f"cause {place}: {cause.in_words()}", width, subsequent_indent="   ")
        words = [cause.shown(k) for k in range(len(cause.observed))]
        yield from textwrap.wrap(f"   by {'; '.join(words if everything else words[:MOST_WORDS])}", width,
                                 subsequent_indent="      ")  # fmt: skip
    if len(row.causes) > len(shown):
        yield f"… and {len(row.causes) - len(shown)} more cause{'s' * (len(row.causes) - len(shown) != 1)}: -v"
    if not all(all(cause.observed) for cause in shown):
        yield "* the learned machine says so; this word was not executed"


def _probability(estimate: Estimate) -> str:
    shown = number(estimate.value) if estimate.low == estimate.high else interval(estimate)
    return f"a use begins like this with probability {shown} ({estimate.method})"


def _risk(risk: UseRisk) -> str:
    """Any violation in use: within a time, the mean time to the first, and the rate."""
    told = []
    if risk.probability is not None:
        told.append(f"within {risk.within:g} with probability {_shown(risk.probability)}")
    elif risk.ever is not None:
        told.append(f"ever with probability {_shown(risk.ever)}")
    if risk.mean_time is not None:
        told.append(f"first after {_shown(risk.mean_time)} on average")
    if risk.rate is not None:
        told.append(f"{_shown(risk.rate)} per unit of time in the long run")
    return f"a user meets any violation of it {', '.join(told)}"


def _shown(estimate: Estimate) -> str:
    return f"{estimate.value:.6g}" if estimate.confidence == 1.0 else interval(estimate)


def write_files(data: Mapping[str, Any]) -> None:
    """Write model.svg, unless the machine is too large: the learned machine, with the way to the first violation."""
    result = result_from_json(CheckResult, data)
    if result.model is None:
        return
    file = Path(result.model)
    machine = read_dot(file)
    if len(machine) <= MOST_DRAWN:
        way = next((row.word for row in result.requirements if row.outputs), ())
        write_atomically(file.with_suffix(".svg"), machine_svg(machine, way), durable=False)
