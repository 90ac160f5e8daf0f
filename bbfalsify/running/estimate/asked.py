"""One question of a Python user: about a model, or about a system in use.

row = estimate_model("queue.yaml", "P=? [ F<=20 waiting == room ]", EstimateSettings(), {"room": 8})
row.estimate, row.verdict, row.warnings
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.errors import UserError
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.modelling import Network, load_network
from bbfalsify.results.estimate_result import EstimateResult, EstimateRow
from bbfalsify.running.estimate.closed_loop import estimate_use
from bbfalsify.running.estimate.estimate_run import EstimateRun, variants
from bbfalsify.running.execution import Execution
from bbfalsify.running.falsify.given import ProfileLike, RequirementLike, checked_arguments
from bbfalsify.running.query_run import Question, answer_all
from bbfalsify.systems import System

Constants = Mapping[str, float | int | str]


def estimate_model(
    model: object, query: object, settings: EstimateSettings, constants: Constants, *,
    budget: Budget = Budget(), seed: int | None = None, execution: Execution = Execution(),
) -> EstimateRow:  # fmt: skip
    if isinstance(model, System):
        raise UserError("profile is missing: a system in use needs one, and a horizon.")
    if not isinstance(model, str | Path | Network):
        raise UserError(f"a model, its file or a system is needed, not {type(model).__name__}.")
    if not isinstance(query, str):
        raise UserError(f"a model is asked a query, as text; found {type(query).__name__}.")
    if settings.horizon is not None:
        raise UserError("horizon is for a system with a profile; a query of a model has its own bounds of time.")
    if isinstance(model, Network) and (constants or settings.vary):
        raise UserError("constants and vary need the file of the model: this network is made already.")
    others: list[tuple[dict[str, float], Network]] = []
    if isinstance(model, Network):
        network = model
    else:
        network = load_network(model, constants)
        others = list(variants(settings.vary, lambda values: load_network(model, {**constants, **values})))

    def begin(**given: Any) -> EstimateRun:
        return EstimateRun(variants=others, **given)

    about = {"model": model.name if isinstance(model, Network) else str(model)}
    result: EstimateResult = answer_all(
        begin, network, [Question("Q1", "", query)], about=about, settings=settings, budget=budget, seed=seed,
        execution=execution,
    )  # fmt: skip
    return result.requirements[0]


def estimate_system(
    system: Any, profile: ProfileLike, requirement: RequirementLike, settings: EstimateSettings, *,
    budget: Budget = Budget(), seed: int | None = None, execution: Execution = Execution(),
) -> EstimateRow:  # fmt: skip
    if settings.horizon is None:
        raise UserError("horizon is missing: how long a use of the system lasts.")
    used, read = checked_arguments(system, profile, requirement, settings.horizon)
    result = estimate_use(system, used, read, settings, budget=budget, seed=seed, execution=execution)
    return result.requirements[0]
