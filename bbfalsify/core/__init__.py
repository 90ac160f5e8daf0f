"""Data types, seeds and errors that every room uses; imports no other room."""

from bbfalsify.core.errors import BBFalsifyError, InvariantViolated, Problem, SystemFailure, UserError, unknown_name
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.core.verdict import Judgement, Outcome, SimulationStatus, StopReason, Verdict

__all__ = [
    "BBFalsifyError",
    "Estimate",
    "InvariantViolated",
    "Judgement",
    "Outcome",
    "Problem",
    "SeedTree",
    "SimulationStatus",
    "StopReason",
    "SystemFailure",
    "UserError",
    "Verdict",
    "draw_seed",
    "unknown_name",
]
