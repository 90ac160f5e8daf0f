"""Traces to be judged: their mistakes, and the judgement that follows from the quantities of a formula."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from bbfalsify.core.errors import Problem, unknown_name
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.logic.stl.formula import Formula, Signal, nodes_of, render
from bbfalsify.logic.stl.program import Program, atom_values

Signals = Mapping[str, np.ndarray]


def judgement(robustness: float, true_at: float, false_at: float, violated: float, occurred: float) -> Judgement:
    """Make the judgement of a formula from its quantities, the moment of false_at, and true_at of its trigger."""
    verdict = Verdict.INCONCLUSIVE
    if false_at < math.inf:
        verdict = Verdict.VIOLATED
    elif true_at < math.inf:
        verdict = Verdict.SATISFIED
    vacuous = bool(occurred == math.inf) and verdict is not Verdict.VIOLATED
    return Judgement(verdict, float(robustness), violated, vacuous)


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
