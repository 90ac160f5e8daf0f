"""Draw the fan of a counterexample: the traces that estimated it (`records/fan_file.py`)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from bbfalsify.core.errors import SystemFailure
from bbfalsify.core.query import Query
from bbfalsify.core.trace import thinned
from bbfalsify.engines.falsification.estimates.evidence import FanTrace
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.records.fan_file import DrawnTrace, Fan, write_fans
from bbfalsify.records.run_files import FANS
from bbfalsify.running.driver import Driver


def draw_fans(folder: Path, rankings: Sequence[tuple[str, Sequence[Finding]]], usage: Usage, driver: Driver) -> None:
    """Write the fans of every requirement's list; pictures are worth no failure, so what cannot be had is left out."""
    fans = []
    with contextlib.suppress(SystemFailure, KeyboardInterrupt):
        for name, ranking in rankings:
            for rank, finding in enumerate(ranking, start=1):
                fans.append(Fan(name, rank, complete(finding.estimated.evidence.fan, usage, driver)))
    write_fans(folder / FANS, fans)


def complete(fan: Sequence[FanTrace], usage: Usage, driver: Driver) -> tuple[DrawnTrace, ...]:
    """Traces whose signals are missing (the answers came from a record) are executed once more, to look at them."""
    missing = [number for number, drawn in enumerate(fan) if drawn.trace is None]
    queries = [
        Query(f"look/{drawn.query}", usage.draft(drawn.walk, stop=float(drawn.walk.times[-1])), True, drawn.query)
        for drawn in (fan[number] for number in missing)
    ]
    traces = [drawn.trace for drawn in fan]
    for number, answer in zip(missing, driver.look_again(queries) if queries else (), strict=True):
        traces[number] = None if answer.trace is None else thinned(answer.trace)
    return tuple(
        DrawnTrace(drawn.violated, drawn.first_violation_time, trace.times, trace.signals)
        for drawn, trace in zip(fan, traces, strict=True)
        if trace is not None
    )
