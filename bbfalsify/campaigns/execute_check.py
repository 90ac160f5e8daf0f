"""Execute a plan of the engine `check`."""

from __future__ import annotations

from typing import Any, cast

from bbfalsify.campaigns.execute import Recording, system_record
from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.engines.checking.claims import Claim
from bbfalsify.engines.checking.settings import CheckSettings
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile
from bbfalsify.running.check.check import check
from bbfalsify.running.check.sampled_check import symbols_of
from bbfalsify.systems import SymbolSystem


def run_check(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Run a black box check; a run directory that was begun is continued."""
    engine: CheckSettings = plan.engine
    execution = plan.execution
    claims: list[Any] = [*plan.stated(Claim), *plan.stated(Requirement)]  # a system of signals is sampled
    result = check(
        cast(SymbolSystem, plan.system),
        claims,
        max_states=engine.max_states,
        alphabet=engine.alphabet or None,
        learner=engine.learner,
        tester=engine.tester,
        stop_at_first=engine.stop_at_first,
        max_queries=_least(engine.max_queries, plan.budget.simulations),
        max_symbols=engine.max_symbols,
        max_time=_least(engine.max_time, plan.budget.seconds),
        seed=plan.seed,
        jobs=execution.jobs,
        executor=recording.executor,
        time_limit_s=execution.time_limit,
        votes=execution.votes,
        memory_limit_mb=execution.memory_limit,
        out=recording.out,
        directory=recording.directory,
        observations=[plan.base / file for file in engine.observations],
        older=None if engine.older is None else plan.base / engine.older,
        name=plan.name,
        system_record=system_record(plan),
        listeners=recording.listeners,
        configuration=recording.configuration_of(plan),
        symbols=None if engine.period is None else engine.symbols or symbols_of(cast(Profile, plan.profile)),
        period=engine.period,
        profile=plan.profile,
    )
    return result.as_json()


def _least(*limits: float | None) -> Any:
    return min((limit for limit in limits if limit is not None), default=None)
