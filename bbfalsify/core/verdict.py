"""What a monitor says about one trace, and what a run says about one requirement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """VIOLATED and SATISFIED are final: no extension of the trace can change them."""

    VIOLATED = "violated"
    SATISFIED = "satisfied"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Judgement:
    """The Boolean verdict and, beside it, the robustness; robustness guides and ranks but never decides."""

    verdict: Verdict
    robustness: float
    first_violation_time: float = math.inf
    """When the violation became certain; infinite unless VIOLATED."""
    vacuous: bool = False
    """The requirement holds only because its trigger never occurred."""
    outlier_times: tuple[float, ...] = ()
    """Where asked for: moments at which the requirement came unusually close to a violation, deepest first."""


class SimulationStatus(StrEnum):
    """How one use of the black box ended."""

    OK = "ok"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    DIED = "died"
    MALFORMED = "malformed"
    """The answer had the wrong type, length, names or times, or was not finite."""
    NON_DETERMINISTIC = "non_deterministic"
    """Repeated, it was answered in several ways, none of them more often than all others together."""


class Outcome(StrEnum):
    """What a run concludes.  There is deliberately no "verified"."""

    FALSIFIED = "falsified"
    NOT_FALSIFIED = "not_falsified"
    REACHED = "reached"
    """Of a state that was looked for."""
    NOT_REACHED = "not_reached"
    MODEL_ERROR = "model_error"
    """A model fails at run time; how it comes to that is a finding."""
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"


FOUND = frozenset({Outcome.FALSIFIED, Outcome.REACHED, Outcome.MODEL_ERROR})
"""Something was found: news, unless it was expected."""


class StopReason(StrEnum):
    COMPLETED = "completed"
    BUDGET_SIMULATIONS = "budget: simulations"
    BUDGET_SYMBOLS = "budget: symbols"
    BUDGET_TIME = "budget: time"
    INTERRUPTED = "interrupted"
    SYSTEM_FAILED = "system failed"
    ERROR = "error"
    """The run could not be made, or bbfalsify itself failed."""
