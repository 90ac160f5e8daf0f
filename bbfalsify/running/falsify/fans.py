"""The fan of a counterexample: the traces that estimated it, violating and not, kept so that they can be drawn.

One file per run, `fans.npz` (numpy's own format, no objects in it): the traces of all counterexamples one after the
other, their samples one after the other, single precision.

    for fan in read_fans("runs/heater-2026-11-16-1/fans.npz"):
        fan.requirement, fan.rank, [(t.violated, t.times, t.signals["T"]) for t in fan.traces]
"""

from __future__ import annotations

import contextlib
import io
import math
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bbfalsify.core.errors import Problem, SystemFailure, UserError
from bbfalsify.core.query import Query
from bbfalsify.core.trace import thinned
from bbfalsify.engines.falsification.estimates.evidence import FanTrace
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.records.json_files import write_atomically
from bbfalsify.records.run_files import FANS
from bbfalsify.running.driver import Driver

_WORTH_COMPRESSING = 1 << 14
"""Bytes; with fewer, a block or two of the disk is no gain for twice the time."""


@dataclass(frozen=True, eq=False)
class DrawnTrace:
    violated: bool
    first_violation_time: float
    times: np.ndarray
    signals: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Fan:
    requirement: str
    rank: int
    traces: tuple[DrawnTrace, ...]


def draw_fans(folder: Path, rankings: Sequence[tuple[str, Sequence[Finding]]], usage: Usage, driver: Driver) -> None:
    """Write the fans of every requirement's list; pictures are worth no failure, so what cannot be had is left out."""
    fans = []
    with contextlib.suppress(SystemFailure, KeyboardInterrupt):
        for name, ranking in rankings:
            for rank, finding in enumerate(ranking, start=1):
                fans.append((name, rank, complete(finding.estimated.evidence.fan, usage, driver)))
    write_fans(folder / FANS, fans)


def complete(fan: Sequence[FanTrace], usage: Usage, driver: Driver) -> list[FanTrace]:
    """Traces whose signals are missing (the answers came from a record) are executed once more, to look at them."""
    missing = [number for number, drawn in enumerate(fan) if drawn.trace is None]
    queries = [
        Query(f"look/{drawn.query}", usage.draft(drawn.walk, stop=float(drawn.walk.times[-1])), True, drawn.query)
        for drawn in (fan[number] for number in missing)
    ]
    whole = list(fan)
    for number, answer in zip(missing, driver.look_again(queries) if queries else (), strict=True):
        if answer.trace is not None:
            whole[number] = replace(fan[number], trace=thinned(answer.trace))
    return [drawn for drawn in whole if drawn.trace is not None]


def write_fans(path: Path, fans: Iterable[tuple[str, int, Sequence[FanTrace]]]) -> None:
    """(requirement, rank, traces) of each counterexample."""
    rows = [(name, rank, drawn, drawn.trace) for name, rank, fan in fans for drawn in fan if drawn.trace is not None]
    if not rows:
        return
    columns = {
        "requirement": np.array([name for name, _, _, _ in rows]),
        "rank": np.array([rank for _, rank, _, _ in rows]),
        "violated": np.array([drawn.violated for _, _, drawn, _ in rows]),
        "first_violation_time": np.array([drawn.first_violation_time for _, _, drawn, _ in rows]),
        "samples": np.array([len(trace.times) for _, _, _, trace in rows]),
        "times": _joined(trace.times for _, _, _, trace in rows),
    }
    for name in rows[0][3].signals:
        columns[f"signal:{name}"] = _joined(trace.signals[name] for _, _, _, trace in rows)
    buffer = io.BytesIO()
    save: Any = np.savez_compressed if sum(c.nbytes for c in columns.values()) > _WORTH_COMPRESSING else np.savez
    save(buffer, **columns)
    write_atomically(path, buffer.getvalue(), durable=False)


def _joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate(list(parts)).astype(np.float32)


def read_fans(path: str | Path) -> list[Fan]:
    try:
        with np.load(path, allow_pickle=False) as file:
            data = {name: file[name] for name in file.files}
        ends = np.cumsum(data["samples"])
        names = [name for name in data if name.startswith("signal:")]
        grouped: dict[tuple[str, int], list[DrawnTrace]] = {}
        for row, end in enumerate(ends.tolist()):
            part = slice(end - int(data["samples"][row]), end)
            drawn = DrawnTrace(
                bool(data["violated"][row]),
                float(data["first_violation_time"][row]) if "first_violation_time" in data else math.inf,
                data["times"][part],
                {name.removeprefix("signal:"): data[name][part] for name in names},
            )
            grouped.setdefault((str(data["requirement"][row]), int(data["rank"][row])), []).append(drawn)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(Problem(f"not the fans of a run ({error}).", file=str(path))) from None
    return [Fan(requirement, rank, tuple(traces)) for (requirement, rank), traces in grouped.items()]
