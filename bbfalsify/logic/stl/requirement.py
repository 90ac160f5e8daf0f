"""A requirement: a formula with a name, its meaning in words, and the kind of time in which it is judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.named_requirement import NamedRequirement
from bbfalsify.logic.stl.formula import Formula, Reach, Window, nodes_of, render_number

if TYPE_CHECKING:
    import numpy as np

    from bbfalsify.core.verdict import Judgement

TIMES = ("dense", "discrete")
PAST_WINDOWS = ("historically", "once")
MONITORS = ("dense", "dense, seldom", "discrete")
"""Compiled monitors: for dense time there is a second one with until, since and windows of the past."""


@dataclass(frozen=True)
class Requirement(NamedRequirement):
    formula: Formula
    time: str = "dense"
    """One of `TIMES`."""
    period: float | None = None
    """Discrete time: the distance of the samples."""

    def __post_init__(self) -> None:
        if not isinstance(self.formula, Formula):
            kind, given = type(self.formula).__name__, f'parse_stl("{self.formula}")'
            hint = f"; write {given}." if kind == "str" else "."
            raise UserError(f"requirement {self.id}: the formula must be a Formula, not {kind}{hint}")
        problems = []
        if self.time not in TIMES:
            problems.append(unknown_name("kind of time", self.time, TIMES, where=f"in requirement {self.id}"))
        elif self.time == "dense":
            problems += dense_problems(self.formula)
        elif self.period is not None:
            problems += period_problems(self.formula, self.period)
        if problems:
            raise UserError(problems)

    @property
    def monitor(self) -> str:
        """The one of `MONITORS` that judges it."""
        nodes = nodes_of(self.formula.root)
        seldom = any(isinstance(n, Reach) or isinstance(n, Window) and n.operator in PAST_WINDOWS for n in nodes)
        return "dense, seldom" if seldom and self.time == "dense" else self.time

    def written(self) -> dict[str, Any]:
        """The keys and values of a specification file."""
        return {"stl": self.formula.text, "time": self.time, "period": self.period}

    def duration(self, horizon: float) -> float:
        """Length of a trace on which everything up to the horizon can be decided."""
        return self.formula.duration(horizon, self.period or 0.0)

    def judge(self, times: np.ndarray, signals: Mapping[str, np.ndarray]) -> Judgement:
        """Judge one trace (imports the compiled monitor)."""
        from bbfalsify.logic.stl.stl_monitor import judge

        return judge(self.formula, times, signals, time=self.time, period=self.period)


def duration_notes(requirements: Sequence[Requirement], horizon: float) -> list[str]:
    """A formula that looks further ahead than uses last is judged all the same, by simulations that go on."""
    if horizon == 0 and not any(r.duration(0.0) for r in requirements):
        return ["the horizon is 0 and no formula looks ahead: only time 0 is judged"]
    return [
        f"{r.id} looks further ahead than the horizon of {horizon:g}: to judge it, simulations go on until "
        f"{r.duration(horizon):g}"
        for r in requirements
        if r.duration(0.0) > horizon
    ]


def dense_problems(formula: Formula) -> list[Problem]:
    """Refuse operators on samples: dense time has no next sample."""
    if not formula.discrete_only:
        return []
    used = ", ".join(formula.discrete_only)
    return [Problem(f"'{formula}' uses {used}: dense time has no next sample, that needs discrete time.")]


def intervals(formula: Formula) -> list[tuple[float, float]]:
    """The ends of every bounded operator's interval, in reading order; the upper one may be infinite."""
    return [(node.lower, node.upper) for node in nodes_of(formula.root) if isinstance(node, Window | Reach)]


def period_problems(formula: Formula, period: float) -> list[Problem]:
    """Refuse bounds that are no whole number of periods."""
    if not (period > 0 and math.isfinite(period)):
        return [Problem(f"the sampling period must be positive, not {period:g}.")]
    return [
        Problem(f"the bound {render_number(bound)} is not a multiple of the sampling period {period:g}.")
        for bound in sorted({bound for ends in intervals(formula) for bound in ends if bound < math.inf})
        if abs(bound / period - round(bound / period)) > 1e-6
    ]
