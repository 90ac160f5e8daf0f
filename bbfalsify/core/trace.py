"""Inputs and outputs of a black box over time.

A `Stimulus` holds the sample times (a fixed grid and every event time, so that events are exact), the value of each
input from each sample on (zero-order hold), and the events.  A `Trace` adds the outputs at the same times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Stimulus:
    times: np.ndarray
    """float64, strictly increasing, starting at 0 and ending at the duration."""
    inputs: Mapping[str, np.ndarray]
    """One float64 array per input; entry i holds from times[i] until times[i+1]."""
    events: tuple[tuple[float, str], ...] = ()
    """(time, action) in order; several may share one time."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Values of the system's parameters in this simulation; the others have their defaults."""

    @property
    def duration(self) -> float:
        return float(self.times[-1])


@dataclass(frozen=True, eq=False)
class Trace:
    times: np.ndarray
    signals: Mapping[str, np.ndarray]
    """Inputs and outputs by name, each as long as `times`."""
    events: tuple[tuple[float, str], ...] = field(default=())

    @property
    def duration(self) -> float:
        return float(self.times[-1]) if len(self.times) else 0.0


MOST_POINTS = 200
"""Default for traces that are only displayed."""


def thinned(trace: Trace, most: int = MOST_POINTS) -> Trace:
    """Return about `most` samples, including the minimum and maximum of every signal in each part of the trace."""
    count = len(trace.times)
    if count <= most:
        return trace
    parts = max(1, most // (2 * max(1, len(trace.signals))))
    size = -(-count // parts)
    starts = np.arange(0, count, size)
    kept = [np.array([0, count - 1])]
    for values in trace.signals.values():
        # The last part is padded with its last value; argmin and argmax return the first of equals, never the padding.
        table = np.append(values, np.full(len(starts) * size - count, values[-1])).reshape(len(starts), size)
        kept += [starts + table.argmin(axis=1), starts + table.argmax(axis=1)]
    rows = np.unique(np.concatenate(kept))
    return Trace(trace.times[rows], {name: values[rows] for name, values in trace.signals.items()}, trace.events)


def grid_times(duration: float, period: float) -> np.ndarray:
    """Return the grid 0, period, 2·period, … up to the duration."""
    grid = np.arange(math.floor(duration / period + 1e-9) + 1) * period
    return grid[:-1] if grid[-1] > duration else grid


def sample_times(duration: float, period: float, event_times: np.ndarray) -> np.ndarray:
    """Return the grid 0, period, 2·period, … up to the duration, merged with the event times inside it."""
    grid = grid_times(duration, period)
    inside = (event_times >= 0) & (event_times <= duration)
    between = np.concatenate((event_times[inside], (duration,)))
    between.sort()
    places = grid.searchsorted(between)  # the grid is long and sorted: insert into it rather than sort everything
    new = grid[np.minimum(places, len(grid) - 1)] != between
    new[1:] &= between[1:] != between[:-1]
    places = places[new]
    places += np.arange(len(places))
    times = np.empty(len(grid) + len(places))
    from_grid = np.ones(len(times), bool)
    from_grid[places] = False
    times[places], times[from_grid] = between[new], grid
    return times
