"""Verdicts of monitors about traces, and outcomes of runs."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Result of a monitor; VIOLATED and SATISFIED hold for every extension of the trace."""

    VIOLATED = "violated"
    SATISFIED = "satisfied"
    INCONCLUSIVE = "inconclusive"


VERDICTS = tuple(Verdict)
"""Verdicts by their places, for arrays of them."""


@dataclass(frozen=True)
class Judgement:
    """Verdict and robustness; the robustness guides and ranks but never decides."""

    verdict: Verdict
    robustness: float
    first_violation_time: float = math.inf
    """Time at which the violation became certain; infinite unless VIOLATED."""
    vacuous: bool = False
    """The requirement holds only because its trigger never occurred."""
    outlier_times: tuple[float, ...] = ()
    """If requested: times at which the requirement came unusually close to a violation, closest first."""
    shortfalls: tuple[tuple[float, float, float], ...] = ()
    """If requested, and not violated: what is lacking for a violation, per comparison, with the lowest and highest
    margin in the trace (`logic/stl/shortfall.py`)."""


class SimulationStatus(StrEnum):
    """Status of one use of the black box."""

    OK = "ok"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    DIED = "died"
    MALFORMED = "malformed"
    """The answer had the wrong type, length, names or times, or was not finite."""
    NON_DETERMINISTIC = "non_deterministic"
    """Repetitions gave different answers, none of them a majority."""


class Outcome(StrEnum):
    """Conclusion of a run; there is deliberately no "verified"."""

    FALSIFIED = "falsified"
    NOT_FALSIFIED = "not_falsified"
    REACHED = "reached"
    """A wanted state of a model was reached."""
    NOT_REACHED = "not_reached"
    MODEL_ERROR = "model_error"
    """The model fails at run time; the trace to the failure is a finding."""
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"

    @classmethod
    def overall(cls, outcomes: Collection[Outcome]) -> Outcome:
        """Outcome of a run with several requirements: its most telling one."""
        return next((o for o in (cls.FALSIFIED, cls.ERROR, cls.INCONCLUSIVE) if o in outcomes), cls.NOT_FALSIFIED)


FOUND = frozenset({Outcome.FALSIFIED, Outcome.REACHED, Outcome.MODEL_ERROR})
"""Outcomes that report a finding."""


class StopReason(StrEnum):
    COMPLETED = "completed"
    MODES_SHOWN = "failure modes shown"
    BUDGET_SIMULATIONS = "budget: simulations"
    BUDGET_SYMBOLS = "budget: symbols"
    BUDGET_TIME = "budget: time"
    INTERRUPTED = "interrupted"
    SYSTEM_FAILED = "system failed"
    ERROR = "error"
    """The run could not start, or bbfalsify failed."""


class ReplayOutcome(StrEnum):
    """Outcome of executing a counterexample again."""

    SAME = "same"
    """It still violates the requirement, at the same moment (a flaky one: it still happens now and then)."""
    FIXED = "fixed"
    """The requirement holds, every time (one without a bound in time: nothing violates it any more; a simulation that
    failed, whose input ends there: it does not fail any more, and nothing violates the requirement)."""
    CHANGED = "changed"
    """Anything else: it violates at another moment, only sometimes, or the simulation fails."""
