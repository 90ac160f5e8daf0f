"""Execute a plan of the engine `falsify`."""

from __future__ import annotations

from typing import Any, cast

from bbfalsify.campaigns.execute import Recording, annotated, system_record
from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.engines.falsification import smc
from bbfalsify.engines.falsification.settings import FalsifySettings
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile
from bbfalsify.running.falsify.falsify import falsify
from bbfalsify.systems import System


def run_falsify(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Run a usage-aware falsification; a run directory that was begun is continued."""
    engine: FalsifySettings = plan.engine
    execution = plan.execution
    told: dict[str, Any] = {}

    def annotate(data: dict[str, Any]) -> dict[str, Any]:
        told.update(annotated(plan, data))
        return told

    baseline = None
    if engine.smc != "none":
        baseline = smc.Options(rule=engine.smc, epsilon=engine.smc_epsilon, simulations=engine.smc_simulations)
    result = falsify(
        cast(System, plan.system),
        cast(Profile, plan.profile),
        plan.stated(Requirement),
        horizon=engine.horizon,
        options=engine,
        period=engine.period,
        max_time=engine.max_time,
        seed=plan.seed,
        budget=plan.budget,
        jobs=execution.jobs,
        executor=recording.executor,
        time_limit_s=execution.time_limit,
        on_failure=execution.on_failure,
        votes=execution.votes,
        memory_limit_mb=execution.memory_limit,
        early_stop=execution.early_stop,
        store=plan.store,
        accepted=plan.accepted,
        out=recording.out,
        directory=recording.directory,
        name=plan.name,
        system_record=system_record(plan),
        listeners=recording.listeners,
        annotate=annotate,
        configuration=recording.configuration_of(plan),
        baseline=baseline,
    )
    return told or annotate(result.as_json())  # without a run directory it has not been asked for yet
