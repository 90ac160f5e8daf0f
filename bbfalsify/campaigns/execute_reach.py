"""Execute a plan of the engine `reach`."""

from __future__ import annotations

from typing import Any

from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.records.recording import Recording
from bbfalsify.running.reach.reach import Settings
from bbfalsify.running.reach.reach_run import reach_all


def run_reach(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Random walks to states of a model; a run directory that was begun is continued."""
    engine = plan.engine
    result = reach_all(
        plan.model.network,
        [p.requirement for p in plan.requirements],
        about=plan.model.about,
        settings=Settings(engine.heuristic, engine.trace, engine.depth, engine.timeout, engine.walks),
        budget=plan.budget,
        seed=plan.seed,
        execution=plan.execution,
        recording=recording,
    )
    return result.as_json()
