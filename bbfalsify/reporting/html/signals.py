"""Signals small enough for a page: thinned out without losing extremes, and packed into text.

A page holds at most a few megabytes of signals whatever the number of counterexamples: more of them get fewer points
each, never fewer extremes per part.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bbfalsify.core.trace import Trace, thinned
from bbfalsify.records.fan_file import Fan

PAGE_POINTS = 400_000
"""Numbers of all counterexamples' own traces together: 2.1 MB of text."""
FAN_POINTS = 2_400_000
"""Numbers of all fans together: 6.4 MB of text."""
HELD = 0.2
"""Share of the samples at which an output changes that is drawn as steps."""
MOST_POINTS, FEWEST_POINTS = 1600, 60
"""Samples of one trace."""


def exact(values: Sequence[float] | np.ndarray) -> dict[str, Any]:
    """As 32-bit floats."""
    return {"f": _text(np.asarray(values, "<f4"))}


def coarse(values: np.ndarray) -> dict[str, Any]:
    """As 16-bit parts of the way from the smallest to the largest: finer than any screen."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    parts = np.zeros(len(values)) if high <= low else (values.astype(float) - low) / (high - low)
    return {"u": _text(np.rint(65535 * parts).astype("<u2")), "lo": low, "hi": high}


def _text(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def is_held(values: np.ndarray) -> bool:
    """Tell whether an output looks like a gear: whole numbers that change now and then."""
    return bool(np.all(values == np.rint(values)) and np.count_nonzero(np.diff(values)) <= HELD * (len(values) - 1))


def points_for(traces: int, signals: int) -> int:
    """Number of samples that each of so many traces may keep."""
    return int(np.clip(PAGE_POINTS // max(1, traces * (signals + 1)), FEWEST_POINTS, MOST_POINTS))


def thin_line(times: np.ndarray, values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    trace = thinned(Trace(times, {"": values}), most)
    return trace.times, trace.signals[""]


def fan_points(fans: Iterable[Fan]) -> int:
    """Number of samples that each trace of these fans may keep."""
    numbers = sum(len(fan.traces) * (1 + len(fan.traces[0].signals)) for fan in fans if fan.traces)
    return int(np.clip(FAN_POINTS // max(1, numbers), FEWEST_POINTS, MOST_POINTS))


def packed_fan(fan: Fan, most: int) -> dict[str, Any] | None:
    """The traces of one counterexample, one after the other."""
    thin = [(drawn, thinned(Trace(drawn.times, drawn.signals), most)) for drawn in fan.traces]
    thin = [(drawn, trace) for drawn, trace in thin if len(trace.times)]
    if not thin:
        return None
    return {
        "violated": [int(drawn.violated) for drawn, _ in thin],
        "samples": [len(trace.times) for _, trace in thin],
        "times": coarse(np.concatenate([trace.times for _, trace in thin])),
        "signals": {
            name: coarse(np.concatenate([trace.signals[name] for _, trace in thin])) for name in thin[0][1].signals
        },
    }
