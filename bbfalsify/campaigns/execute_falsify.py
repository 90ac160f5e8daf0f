"""Execute a plan of the engine `falsify`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from bbfalsify.campaigns.execute import Recording, annotated, system_record
from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.engines.falsification import smc
from bbfalsify.engines.falsification.engine import Options
from bbfalsify.running.falsify.falsify import falsify


def run_falsify(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Usage-aware falsification; a run directory that was begun is continued."""
    engine = plan.engine
    settings = {option.name: getattr(engine, option.name) for option in fields(Options) if hasattr(engine, option.name)}
    told: dict[str, Any] = {}

    def annotate(data: dict[str, Any]) -> dict[str, Any]:
        told.update(annotated(plan, data))
        return told

    result = falsify(
        plan.system,
        plan.profile,
        [p.requirement for p in plan.requirements],
        horizon=engine.horizon,
        options=Options(**settings),
        period=engine.period,
        max_time=engine.max_time,
        seed=plan.seed,
        budget=plan.budget,
        jobs=plan.jobs,
        executor=recording.executor,
        time_limit_s=plan.time_limit,
        on_failure=plan.on_failure,
        votes=plan.votes,
        memory_limit_mb=plan.memory_limit,
        early_stop=plan.early_stop,
        store=plan.store,
        accepted=plan.accepted,
        out=recording.out,
        directory=recording.directory,
        name=plan.name,
        system_record=system_record(plan),
        listeners=recording.listeners,
        annotate=annotate,
        configuration=recording.configuration_of(plan),
        baseline=None
        if engine.smc == "none"
        else smc.Options(rule=engine.smc, epsilon=engine.smc_epsilon, simulations=engine.smc_simulations),
    )
    return told or annotate(result.as_json())  # where nothing is stored, nobody has asked for it yet
