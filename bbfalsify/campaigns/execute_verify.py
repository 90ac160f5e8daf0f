"""Execute a plan of the engine `verify`."""

from __future__ import annotations

from typing import Any, cast

from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.campaigns.requirements.queries import PlannedModel
from bbfalsify.records.recording import Recording
from bbfalsify.running.questions import Question
from bbfalsify.running.verify.verify_run import verify_all


def run_verify(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Decide queries about a model by zones; a run directory that was begun is continued."""
    model = cast(PlannedModel, plan.model)
    result = verify_all(
        model.network,
        plan.stated(Question),
        about=model.about,
        settings=plan.engine,
        budget=plan.budget,
        seed=plan.seed,
        execution=plan.execution,
        recording=recording,
    )
    return result.as_json()
