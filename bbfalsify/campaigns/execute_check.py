"""Execute a plan of the engine `check`."""

from __future__ import annotations

from typing import Any

from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.core.budget import Budget
from bbfalsify.engines.checking.strategy import Options
from bbfalsify.records.recording import Recording
from bbfalsify.running.check.check import check
from bbfalsify.running.check.check_task import Settings
from bbfalsify.running.check.sampled_check import symbols_of


def run_check(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Black box checking; a run directory that was begun is continued."""
    engine = plan.engine
    settings = Settings(
        Options(engine.max_states, engine.learner, engine.tester, engine.stop_at_first),
        alphabet=engine.alphabet or None,
        observations=[plan.base / file for file in engine.observations],
        older=None if engine.older is None else plan.base / engine.older,
        symbols=None if engine.period is None else engine.symbols or symbols_of(plan.profile),
        period=engine.period,
    )
    budget = Budget(
        simulations=_least(engine.max_queries, plan.budget.simulations),
        seconds=_least(engine.max_time, plan.budget.seconds),
        symbols=engine.max_symbols,
    )
    return check(
        plan.system,
        [p.requirement for p in plan.requirements],
        settings,
        budget=budget,
        seed=plan.seed,
        profile=plan.profile,
        execution=plan.execution,
        recording=recording,
    ).as_json()


def _least(*limits: float | None) -> Any:
    return min((limit for limit in limits if limit is not None), default=None)
