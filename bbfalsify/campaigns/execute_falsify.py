"""Execute a plan of the engine `falsify`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.engines.falsification import smc
from bbfalsify.engines.falsification.engine import Options
from bbfalsify.records.recording import Recording
from bbfalsify.running.falsify.falsify import falsify
from bbfalsify.running.falsify.task import Settings


def run_falsify(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Usage-aware falsification; a run directory that was begun is continued."""
    engine, baseline = plan.engine, None
    options = {option.name: getattr(engine, option.name) for option in fields(Options) if hasattr(engine, option.name)}
    if engine.smc != "none":
        baseline = smc.Options(rule=engine.smc, epsilon=engine.smc_epsilon, simulations=engine.smc_simulations)
    return falsify(
        plan.system,
        plan.profile,
        [p.requirement for p in plan.requirements],
        Settings(engine.horizon, engine.period, Options(**options), baseline, engine.max_time),
        budget=plan.budget,
        seed=plan.seed,
        store=plan.store,
        accepted=plan.accepted,
        execution=plan.execution,
        recording=recording,
    ).as_json()
