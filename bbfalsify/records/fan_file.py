"""Traces that estimated the counterexamples of a run, violating and not, kept so that they can be drawn.

One file per run, `fans.npz` (numpy's own format, no objects in it): the traces of all counterexamples one after the
other, their samples one after the other, single precision.

    for fan in read_fans("runs/heater-2026-11-16-1/fans.npz"):
        fan.requirement, fan.rank, [(t.violated, t.times, t.signals["T"]) for t in fan.traces]
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.json_files import write_atomically

_WORTH_COMPRESSING = 1 << 14
"""Bytes; with fewer, a block or two of the disk is no gain for twice the time."""


@dataclass(frozen=True, eq=False)
class DrawnTrace:
    violated: bool
    first_violation_time: float
    times: np.ndarray
    signals: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Fan:
    requirement: str
    rank: int
    traces: tuple[DrawnTrace, ...]


def write_fans(path: Path, fans: Iterable[Fan]) -> None:
    """Write the fans of a run; without a trace there is no file."""
    rows = [(fan, drawn) for fan in fans for drawn in fan.traces]
    if not rows:
        return
    traces = [drawn for _, drawn in rows]
    columns = {
        "requirement": np.array([fan.requirement for fan, _ in rows]),
        "rank": np.array([fan.rank for fan, _ in rows]),
        "violated": np.array([drawn.violated for drawn in traces]),
        "first_violation_time": np.array([drawn.first_violation_time for drawn in traces]),
        "samples": np.array([len(drawn.times) for drawn in traces]),
        "times": _joined(drawn.times for drawn in traces),
    }
    for name in traces[0].signals:
        columns[f"signal:{name}"] = _joined(drawn.signals[name] for drawn in traces)
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
