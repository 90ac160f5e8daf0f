"""Outcome of executing a finding again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import Judgement

Reproduced = Literal["confirmed", "flaky"]


@dataclass(frozen=True, eq=False)
class Confirmation:
    reproduced: int
    """Repetitions that violated the requirement again."""
    tries: int
    same_moment: bool
    """All of them became violated at the time first seen."""
    trace: Trace | None
    """Trace of the first repetition that reproduced it (or of the first that ended well)."""
    judgement: Judgement | None = None
    """Judgement of the whole trace of the first repetition that reproduced it."""

    @property
    def status(self) -> Reproduced:
        return "confirmed" if self.reproduced == self.tries and self.same_moment else "flaky"


@dataclass(frozen=True, eq=False)
class ConfirmedTrace:
    """Inputs and outputs of the run that confirmed a finding, as arrays."""

    times: np.ndarray
    inputs: Mapping[str, np.ndarray]
    """Entry i holds from times[i] until times[i+1]."""
    outputs: Mapping[str, np.ndarray]
    """Empty if no repetition ended well."""
    events: tuple[tuple[float, str], ...] = ()
    """(time, action) in order."""

    @classmethod
    def of(cls, stimulus: Stimulus, confirmation: Confirmation | None) -> ConfirmedTrace:
        trace = None if confirmation is None else confirmation.trace
        outputs = {} if trace is None else {k: v for k, v in trace.signals.items() if k not in stimulus.inputs}
        return cls(stimulus.times, stimulus.inputs, outputs, stimulus.events)
