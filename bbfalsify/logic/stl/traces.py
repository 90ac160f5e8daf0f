"""Traces to be judged: their mistakes, and the judgement that follows from the quantities of a formula."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.logic.stl.formula import Formula, Signal, nodes_of, render
from bbfalsify.logic.stl.program import Program, atom_values
from bbfalsify.logic.stl.requirement import period_problems

Signals = Mapping[str, np.ndarray]


def judgement(robustness: float, true_at: float, false_at: float, violated: float, occurred: float) -> Judgement:
    """Make the judgement of a formula from its quantities, the moment of false_at, and true_at of its trigger."""
    verdict = Verdict.INCONCLUSIVE
    if false_at < math.inf:
        verdict = Verdict.VIOLATED
    elif true_at < math.inf:
        verdict = Verdict.SATISFIED
    vacuous = bool(occurred == math.inf) and verdict is not Verdict.VIOLATED
    return Judgement(verdict, float(robustness) + 0.0, violated, vacuous)  # + 0.0: never -0


def trace_problems(formula: Formula, program: Program, times: np.ndarray, signals: Signals) -> list[Problem]:
    """List all mistakes of a trace that cannot be judged."""
    n = len(times)
    problems: list[Problem] = []
    if n == 0:
        problems.append(Problem("the trace has no samples; a requirement is judged at its first sample."))
    elif not np.isfinite(times).all():
        problems.append(Problem("the times of the trace must be finite."))
    elif not (np.diff(times) > 0).all():
        i = int(np.flatnonzero(np.diff(times) <= 0)[0]) + 1
        problems.append(
            Problem(f"the times must increase, but sample {i} at {times[i]:g} follows one at {times[i - 1]:g}.")
        )
    values: dict[str, np.ndarray] = {}
    for name in formula.signals:
        if name not in signals:
            problems.append(unknown_name("signal", name, signals, where=f"in '{formula}'"))
            continue
        values[name] = value = np.asarray(signals[name], np.float64)
        if value.shape != times.shape:
            problems.append(Problem(f"signal '{name}' has {value.size} samples, the trace has {n}."))
        elif np.isnan(value).any():
            moment = times[int(np.flatnonzero(np.isnan(value))[0])]
            problems.append(Problem(f"signal '{name}' is not a number at time {moment:g}."))
    if problems:
        return problems
    margins, _ = atom_values(program.atoms, values, n)
    for atom, margin in zip(program.atoms, margins, strict=True):
        bad = np.flatnonzero(np.isnan(margin))
        if len(bad):
            names = sorted({node.name for node in nodes_of(atom) if isinstance(node, Signal)})
            problems.append(
                Problem(
                    f"'{render(atom)}' is undefined at time {times[bad[0]]:g} (division by zero, root of a negative "
                    f"number or infinite values of {', '.join(names)})."
                )
            )
    return problems


def sample_bounds(
    formula: Formula, program: Program, times: np.ndarray, period: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Convert the bounds to numbers of samples; -1 where there is none."""
    n = len(times)
    starts, ends = program.table[3], program.table[4]
    farthest = n + 100_000  # longer bounds reach far past every sample, and need memory
    if period is None and n == 1:
        # A single sample does not show the period; every positive bound lies beyond it.
        period = max([1.0, *ends[np.isfinite(ends)]])
        step, problems = period, []
    else:
        step = float(times[-1] - times[0]) / (n - 1) if period is None else period
        problems = period_problems(formula, step)
    i = -1 if problems else _first_off_grid(times, step)
    if i >= 0:
        problems.append(
            Problem(
                f"discrete time needs one sample every {step:g}, but sample {i} is at {times[i]:g}; use dense time."
            )
        )
    if problems:
        raise UserError(problems)
    lower, upper = (np.minimum(np.ceil(bound / step - 1e-6), farthest) for bound in (starts, ends))
    return lower.astype(np.int64), np.where(np.isinf(ends), -1, upper).astype(np.int64)


def _first_off_grid(times: np.ndarray, step: float) -> int:
    """First sample that is off the grid by more than a thousandth of a period, or -1."""
    off = np.abs(times - times[0] - step * np.arange(len(times))) > 1e-3 * step
    return int(np.argmax(off)) if off.any() else -1
