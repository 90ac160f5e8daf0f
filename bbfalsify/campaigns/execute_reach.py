"""Execute a plan of the engine `reach`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from bbfalsify.campaigns.execute_verify import run_verify
from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.campaigns.requirements.queries import PlannedModel
from bbfalsify.engines.verification.settings import EXHAUSTIVE
from bbfalsify.records.recording import Recording
from bbfalsify.running.questions import Question
from bbfalsify.running.reach.reach_run import reach_all


def run_reach(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Look for states of a model by random walks or a search; a run directory that was begun is continued."""
    if plan.engine.heuristic in EXHAUSTIVE:
        return run_verify(replace(plan, engine=plan.engine.exhaustive()), recording)
    model = cast(PlannedModel, plan.model)
    result = reach_all(
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
