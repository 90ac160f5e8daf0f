"""The judge that workers carry: all requirements of a run applied to one trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement

if TYPE_CHECKING:
    from bbfalsify.logic import Requirement


class RequirementsJudge:
    """`judge(trace)` gives one judgement per requirement, in their order."""

    def __init__(self, requirements: Sequence[Requirement]) -> None:
        self.requirements = tuple(requirements)

    def __call__(self, trace: Trace) -> tuple[Judgement, ...]:
        return tuple(
            requirement.judge(trace.times, trace.signals)
            if requirement.period is None
            else requirement.judge(*on_grid(trace, requirement.period))
            for requirement in self.requirements
        )

    def warm_up(self) -> None:
        """Compile before the first trace; done once before workers are forked, so they all inherit the result."""
        names = {name for requirement in self.requirements for name in requirement.formula.signals}
        last = max((requirement.period or 1.0 for requirement in self.requirements), default=1.0)
        self(Trace(np.array([0.0, last]), {name: np.zeros(2) for name in names}))


def on_grid(trace: Trace, period: float) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
    """The trace at multiples of the period only: discrete time does not see what happens in between."""
    steps = int(np.floor((trace.times[-1] - trace.times[0]) / period + 1e-9))
    grid = trace.times[0] + np.arange(steps + 1) * period
    # The slack finds samples that differ from the grid by rounding; between samples the value is held.
    held = np.searchsorted(trace.times, grid + 1e-9 * period, side="right") - 1
    return grid, {name: values[held] for name, values in trace.signals.items()}
