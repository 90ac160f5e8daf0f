"""Execute a plan of the engines that answer queries about a model: `reach`, `verify` and `estimate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.campaigns.requirements.queries import EXAMPLE, PlannedModel, load_planned_model
from bbfalsify.engines.verification.settings import EXHAUSTIVE
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Network, Profile
from bbfalsify.records.recording import Recording
from bbfalsify.running.query_run import Question, QuestionRun, answer_all
from bbfalsify.systems import System


def run_reach(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Look for states of a model by random walks or a search; a run directory that was begun is continued."""
    if plan.engine.heuristic in EXHAUSTIVE:
        return run_verify(replace(plan, engine=plan.engine.exhaustive()), recording)
    from bbfalsify.running.reach.reach_run import ReachRun

    return _answered(ReachRun, plan, recording)


def run_verify(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Decide queries about a model by zones; a run directory that was begun is continued."""
    from bbfalsify.running.verify.verify_run import VerifyRun

    return _answered(VerifyRun, plan, recording)


def run_estimate(plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Estimate probabilities of a model, or of a system in use; a run directory that was begun is continued."""
    if plan.model is None:
        from bbfalsify.running.estimate.closed_loop import estimate_use

        return estimate_use(
            cast(System, plan.system), cast(Profile, plan.profile), plan.stated(Requirement), plan.engine,
            budget=plan.budget, seed=plan.seed, execution=plan.execution, recording=recording,
        ).as_json()  # fmt: skip
    from bbfalsify.running.estimate.estimate_run import EstimateRun, variants

    about = plan.model.about
    reference = f"{EXAMPLE}{about['example']}" if "example" in about else about["model"]

    def load(constants: Mapping[str, float]) -> Network:
        written = {name: repr(value) for name, value in constants.items()}
        return load_planned_model(reference, Path(), {**about.get("constants", {}), **written}).network

    others = list(variants(plan.engine.vary, load))
    return _answered(partial(EstimateRun, variants=others), plan, recording)


def _answered(run: Callable[..., QuestionRun[Any, Any]], plan: RunPlan, recording: Recording) -> dict[str, Any]:
    model = cast(PlannedModel, plan.model)
    result = answer_all(
        run, model.network, plan.stated(Question), about=model.about, settings=plan.engine, budget=plan.budget,
        seed=plan.seed, execution=plan.execution, recording=recording,
    )  # fmt: skip
    return cast(dict[str, Any], result.as_json())
