"""Execute a plan of the engine `estimate`: about a model, or about a system with a profile."""

from __future__ import annotations

from typing import Any, cast

from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile
from bbfalsify.records.recording import Recording
from bbfalsify.running.questions import Question
from bbfalsify.systems import System


def run_estimate(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Estimate probabilities; a run directory that was begun is continued."""
    common: dict[str, Any] = {"budget": plan.budget, "seed": plan.seed, "recording": recording}
    if plan.model is not None:
        from bbfalsify.running.estimate.estimate_run import estimate_all

        about, network = plan.model.about, plan.model.network
        return estimate_all(network, plan.stated(Question), about=about, settings=plan.engine, **common).as_json()
    from bbfalsify.running.estimate.closed_loop import estimate_use

    return estimate_use(
        cast(System, plan.system), cast(Profile, plan.profile), plan.stated(Requirement), plan.engine,
        execution=plan.execution, **common,
    ).as_json()  # fmt: skip
