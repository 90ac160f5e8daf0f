"""Execute a plan of the engine `falsify`."""

from __future__ import annotations

from typing import Any, cast

from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.settings import FalsifySettings
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile
from bbfalsify.records.recording import Recording
from bbfalsify.running.falsify.falsify import falsify
from bbfalsify.running.falsify.task import Settings
from bbfalsify.systems import System


def run_falsify(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Run a usage-aware falsification; a run directory that was begun is continued."""
    engine: FalsifySettings = plan.engine
    baseline = None
    if engine.smc != "none":
        epsilon = engine.smc_epsilon if engine.smc_relative is None else None
        baseline = smc.SmcOptions(
            rule=engine.smc, epsilon=epsilon, relative=engine.smc_relative, simulations=engine.smc_simulations
        )
    return falsify(
        cast(System, plan.system),
        cast(Profile, plan.profile),
        plan.stated(Requirement),
        Settings(engine.horizon, engine.period, engine, baseline, engine.max_time),
        budget=plan.budget,
        seed=plan.seed,
        store=plan.store,
        accepted=plan.accepted,
        execution=plan.execution,
        recording=recording,
    ).as_json()
