"""What goes into a black box and what comes out of it, over time.

A `Stimulus` is one whole input: the sample times (the fixed grid together with every event time, so that events reach
the system at their exact moments), the value of each input from that sample on (zero-order hold), and the events.
A `Trace` adds the outputs at the same times.
"""

from __future__ import annotations

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


def sample_times(duration: float, period: float, event_times: np.ndarray) -> np.ndarray:
    """The grid 0, period, 2·period, … up to the duration, together with the event times inside it."""
    grid = np.arange(int(np.floor(duration / period + 1e-9)) + 1) * period
    grid = grid[grid <= duration]
    between = np.unique(np.append(event_times[(event_times >= 0) & (event_times <= duration)], duration))
    places = np.searchsorted(grid, between)  # the grid is long and sorted: insert into it rather than sort everything
    new = grid[np.minimum(places, len(grid) - 1)] != between
    return np.insert(grid, places[new], between[new])
