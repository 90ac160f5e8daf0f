"""Execute a plan of the engine `check`."""

from __future__ import annotations

from typing import Any, cast

from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.core.budget import Budget
from bbfalsify.engines.checking.claims import Claim
from bbfalsify.engines.checking.settings import CheckSettings
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile
from bbfalsify.records.recording import Recording
from bbfalsify.running.check.check import check
from bbfalsify.running.check.check_task import Settings
from bbfalsify.running.check.sampled_check import symbols_of
from bbfalsify.systems import SymbolSystem


def run_check(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Run a black box check; a run directory that was begun is continued."""
    engine: CheckSettings = plan.engine
    claims: list[Any] = [*plan.stated(Claim), *plan.stated(Requirement)]  # a system of signals is sampled
    settings = Settings(
        engine,
        alphabet=engine.alphabet or None,
        observations=[plan.base / file for file in engine.observations],
        older=None if engine.older is None else plan.base / engine.older,
        symbols=None if engine.period is None else engine.symbols or symbols_of(cast(Profile, plan.profile)),
        period=engine.period,
    )
    budget = Budget(
        simulations=_least(engine.max_queries, plan.budget.simulations),
        seconds=_least(engine.max_time, plan.budget.seconds),
        symbols=engine.max_symbols,
    )
    return check(
        cast(SymbolSystem, plan.system),
        claims,
        settings,
        budget=budget,
        seed=plan.seed,
        profile=plan.profile,
        execution=plan.execution,
        recording=recording,
    ).as_json()


def _least(*limits: float | None) -> Any:
    return min((limit for limit in limits if limit is not None), default=None)
