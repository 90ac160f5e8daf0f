"""The judge that workers carry: all requirements of a run applied to one trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bbfalsify.core.query import UseVerdicts
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement, Verdict

if TYPE_CHECKING:
    from bbfalsify.logic import Requirement

MOST_OUTLIERS = 4
"""Per trace and requirement; more would only name the same actions again."""


class RequirementsJudge:
    """`judge(trace)` gives one judgement per requirement, in their order."""

    def __init__(self, requirements: Sequence[Requirement]) -> None:
        self.requirements = tuple(requirements)

    def __call__(self, trace: Trace, *, outliers: bool = False, shortfalls: bool = False) -> tuple[Judgement, ...]:
        """If asked, add for requirements that hold when they came close, and what is lacking (see `Query`)."""
        return tuple(_judge(requirement, trace, outliers, shortfalls) for requirement in self.requirements)

    def many(self, times: np.ndarray, offsets: np.ndarray, signals: Mapping[str, np.ndarray]) -> UseVerdicts | None:
        """Judge traces that stand one after the other; None where that cannot be done in one call."""
        from bbfalsify.logic.stl.stl_monitor import judge_many

        if any(requirement.time != "dense" or requirement.period is not None for requirement in self.requirements):
            return None
        columns = [judge_many(requirement.formula, times, offsets, signals) for requirement in self.requirements]
        found = [column for column in columns if column is not None]
        if len(found) < len(columns):
            return None
        return UseVerdicts(*(np.column_stack(parts) for parts in zip(*found, strict=True)))

    def warm_up(self) -> None:
        """Compile before the first trace; done once before workers are forked, so they all inherit the result."""
        from bbfalsify.logic.stl.stl_monitor import warm_up

        warm_up({requirement.monitor for requirement in self.requirements})


def _judge(requirement: Requirement, trace: Trace, outliers: bool, shortfalls: bool) -> Judgement:
    times, signals = (trace.times, trace.signals) if requirement.period is None else on_grid(trace, requirement.period)
    judgement = requirement.judge(times, signals)
    if judgement.verdict is Verdict.VIOLATED:
        return judgement
    if shortfalls:
        from bbfalsify.logic.stl.shortfall import shortfalls as lacking

        judgement = replace(judgement, shortfalls=lacking(requirement.formula, times, signals))
    if outliers and not requirement.formula.discrete_only:
        from bbfalsify.logic.stl.stl_monitor import robustness_over_time

        moments = outlier_times(*robustness_over_time(requirement.formula, times, signals))
        judgement = replace(judgement, outlier_times=moments)
    return judgement


def outlier_times(times: np.ndarray, robustness: np.ndarray) -> tuple[float, ...]:
    """Moments at which a robustness, held from each time to the next, is below its mean by more than its deviation.

    Of each stretch of such moments the lowest point is taken, and of these the deepest few.
    """
    finite = np.isfinite(robustness)
    weights = np.where(finite, np.append(np.diff(times), 0.0), 0.0)
    total = weights.sum()
    if total <= 0:
        return ()
    values = np.where(finite, robustness, 0.0)
    mean = float(weights @ values / total)
    deviation = float(np.sqrt(weights @ (values - mean) ** 2 / total))
    low = finite & (robustness < mean - deviation)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], low, [False]]).astype(np.int8)))
    lowest = [start + int(np.argmin(robustness[start:end])) for start, end in edges.reshape(-1, 2)]
    lowest.sort(key=lambda i: float(robustness[i]))
    return tuple(float(times[i]) for i in lowest[:MOST_OUTLIERS])


def on_grid(trace: Trace, period: float) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
    """The trace at multiples of the period only: discrete time does not see what happens in between."""
    steps = int(np.floor((trace.times[-1] - trace.times[0]) / period + 1e-9))
    grid = trace.times[0] + np.arange(steps + 1) * period
    # The slack finds samples that differ from the grid by rounding; between samples the value is held.
    held = np.searchsorted(trace.times, grid + 1e-9 * period, side="right") - 1
    return grid, {name: values[held] for name, values in trace.signals.items()}
