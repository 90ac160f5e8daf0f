"""Execute a plan of the engine `falsify`."""

from __future__ import annotations

from typing import Any, cast

from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.engines.falsification.baseline.smc import SmcOptions
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
    return falsify(
        cast(System, plan.system),
        cast(Profile, plan.profile),
        plan.stated(Requirement),
        Settings(engine.horizon, engine.period, engine, SmcOptions.of(engine), engine.max_time),
        budget=plan.budget,
        seed=plan.seed,
        store=plan.store,
        accepted=plan.accepted,
        execution=plan.execution,
        recording=recording,
    ).as_json()
