"""Counterexamples as pictures, in notebooks and as SVG files; no plotting library is needed.

result.modes[0].typical.plot()                    a cell of a notebook shows it
result.plot().save("failures.svg")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bbfalsify.core.confirmation import ConfirmedTrace
from bbfalsify.core.errors import UserError
from bbfalsify.results.svg import Line, plot

MOST_LINES = 6


@dataclass(frozen=True)
class Picture:
    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, file: str | Path) -> Path:
        """Write the picture as an SVG file."""
        path = Path(file)
        path.write_text(self.svg, encoding="utf-8")
        return path


def trace_picture(
    title: str, traces: Sequence[tuple[str, ConfirmedTrace | None]], units: Mapping[str, str] | None = None
) -> Picture:
    """Draw uses with their labels over time: outputs above inputs, which are held, and actions."""
    known = [(label, trace) for label, trace in traces if trace is not None][:MOST_LINES]
    if not known:
        raise UserError(
            "no signals to draw: a result that was read from a file has none; 'bbfalsify report' draws them."
        )
    first = known[0][1]
    names = [*first.outputs, *first.inputs]
    lines = [Line(label, *_steps(trace, names), trace.events) for label, trace in known]
    said = [f"{name} [{unit}]" if (unit := (units or {}).get(name, "1")) != "1" else name for name in names]
    return Picture(plot(title, said, lines))


def _steps(trace: ConfirmedTrace, names: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Times and values such that straight lines between them show inputs as steps."""
    times = np.repeat(trace.times, 2)[1:]
    nothing = np.full(len(trace.times), np.nan)
    values = []
    for name in names:
        if name in trace.inputs:
            values.append(np.repeat(np.asarray(trace.inputs[name], float), 2)[:-1])
        else:
            values.append(np.repeat(np.asarray(trace.outputs.get(name, nothing), float), 2)[1:])
    return times, values
