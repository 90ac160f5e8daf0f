"""Execute a plan of the engine `check`."""

from __future__ import annotations

from typing import Any

from bbfalsify.campaigns.execute import Recording, system_record
from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.running.check.check import check
from bbfalsify.running.check.sampled_check import symbols_of


def run_check(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Black box checking; a run directory that was begun is continued."""
    engine = plan.engine
    result = check(
        plan.system,
        [p.requirement for p in plan.requirements],
        max_states=engine.max_states,
        alphabet=engine.alphabet or None,
        learner=engine.learner,
        tester=engine.tester,
        stop_at_first=engine.stop_at_first,
        max_queries=_least(engine.max_queries, plan.budget.simulations),
        max_symbols=engine.max_symbols,
        max_time=_least(engine.max_time, plan.budget.seconds),
        seed=plan.seed,
        jobs=plan.jobs,
        executor=recording.executor,
        time_limit_s=plan.time_limit,
        votes=plan.votes,
        memory_limit_mb=plan.memory_limit,
        out=recording.out,
        directory=recording.directory,
        observations=[plan.base / file for file in engine.observations],
        older=None if engine.older is None else plan.base / engine.older,
        name=plan.name,
        system_record=system_record(plan),
        listeners=recording.listeners,
        configuration=recording.configuration_of(plan),
        symbols=None if engine.period is None else engine.symbols or symbols_of(plan.profile),
        period=engine.period,
        profile=plan.profile,
    )
    return result.as_json()


def _least(*limits: float | None) -> Any:
    return min((limit for limit in limits if limit is not None), default=None)
