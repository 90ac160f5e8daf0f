"""bbfalsify falsify: one run, described on the command line."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.options import (
    AcceptFile,
    Annotations,
    AsJson,
    ExecutorOption,
    Jobs,
    JunitFile,
    Out,
    Quiet,
    SarifFile,
    Seed,
    StoreFolder,
    Verbose,
)


class Estimator(StrEnum):
    AUTO = "auto"
    CONDITIONAL = "conditional"
    SPLITTING = "splitting"


class Search(StrEnum):
    PROBABLE = "probable"
    FIRST = "first"


class Delays(StrEnum):
    CYCLE = "cycle"
    TWO_POINTS = "two_points"


class Baseline(StrEnum):
    NONE = "none"
    SEQUENCE = "sequence"
    CLOPPER_PEARSON = "clopper_pearson"
    FIXED = "fixed"


class OnFailure(StrEnum):
    INCONCLUSIVE = "inconclusive"
    VIOLATION = "violation"
    ABORT = "abort"


def falsify(
    system: Annotated[str, typer.Option("--system", help="Adapter folder, file.py:object, x.fmu or cmd:program.")],
    profile: Annotated[str, typer.Option("--profile", help="The usage profile.")],
    require: Annotated[
        list[str], typer.Option("--require", metavar="STL", help="A formula, or a specification file; repeat.")
    ],
    horizon: Annotated[float, typer.Option("--horizon", help="How long a use lasts.")],
    counterexamples: Annotated[int | None, typer.Option(help="How many to look for.", show_default="10")] = None,
    simulations: Annotated[int | None, typer.Option(help="Budget of the search.", show_default="2000")] = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds of the search.", show_default="no limit")] = None,
    passes: Annotated[int | None, typer.Option(help="Passes of the estimation.", show_default="10")] = None,
    traces: Annotated[int | None, typer.Option(help="Traces per pass.", show_default="100")] = None,
    estimator: Annotated[Estimator | None, typer.Option(help="How to estimate.", show_default="auto")] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="d6,d8,d9", help="Show the paper's equations, too.", show_default="none")
    ] = None,
    quasi_random: Annotated[
        bool | None, typer.Option(help="Estimate with evenly spread delays.", show_default="no")
    ] = None,
    search: Annotated[
        Search | None, typer.Option(help="The most probable ones, or the first found.", show_default="probable")
    ] = None,
    patience: Annotated[
        int | None, typer.Option(help="Simulations without improvement that end it.", show_default="200")
    ] = None,
    plain_walks: Annotated[
        float | None, typer.Option(help="Share of walks as users really walk.", show_default="0.5")
    ] = None,
    delays: Annotated[Delays | None, typer.Option(help="Delays of the search.", show_default="cycle")] = None,
    guiding: Annotated[
        bool | None, typer.Option(help="Prefer actions that brought earlier walks close.", show_default="no")
    ] = None,
    adaptive_duration: Annotated[
        bool | None, typer.Option(help="Shorten walks to the last violation found.", show_default="no")
    ] = None,
    smc: Annotated[
        Baseline | None, typer.Option(help="Also estimate any violation by plain simulation.", show_default="none")
    ] = None,
    smc_epsilon: Annotated[
        float | None, typer.Option(help="Half width at which --smc stops.", show_default="0.005")
    ] = None,
    smc_simulations: Annotated[int | None, typer.Option(help="Budget of --smc.", show_default="20000")] = None,
    sensitivity: Annotated[
        bool | None, typer.Option(help="Say how the ranking depends on the profile.", show_default="yes")
    ] = None,
    shrink: Annotated[
        int | None,
        typer.Option(metavar="N", help="Simulations to find which actions matter; 0: off.", show_default="200"),
    ] = None,
    period: Annotated[float | None, typer.Option(help="Sampling grid.", show_default="horizon/100")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds per simulation.", show_default="60")] = None,
    on_failure: Annotated[
        OnFailure | None, typer.Option(help="What a failed simulation means.", show_default="inconclusive")
    ] = None,
    votes: Annotated[
        int | None, typer.Option(help="Executions of each simulation; the majority counts.", show_default="1")
    ] = None,
    memory_limit: Annotated[
        float | None, typer.Option(metavar="MB", help="Memory of a worker (Linux).", show_default="none")
    ] = None,
    early_stop: Annotated[
        bool | None, typer.Option(help="End simulations at their violation (stepwise systems).", show_default="no")
    ] = None,
    store: StoreFolder = None,
    accept: AcceptFile = None,
    junit: JunitFile = None,
    sarif: SarifFile = None,
    annotations: Annotations = None,
    jobs: Jobs = None,
    executor: ExecutorOption = None,
    out: Out = None,
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Find counterexamples and rank them by how probable they are in use.

    \b
    Example:  bbfalsify falsify --system adapters/heater --profile profiles/heater_user.yaml \\
              --require "always[0:20](T <= 75)" --horizon 20
    """
    from bbfalsify.campaigns import plan_document
    from bbfalsify.cli.ci_files import ci_files
    from bbfalsify.cli.session import run_campaign
    from bbfalsify.core.documents import Document

    engine = {
        "kind": "falsify",
        "horizon": horizon,
        "counterexamples": counterexamples,
        "simulations": simulations,
        "max_time": max_time,
        "passes": passes,
        "traces": traces,
        "estimator": estimator and estimator.value,
        "columns": columns and [name.strip() for name in columns.split(",")],
        "quasi_random": quasi_random,
        "search": search and search.value,
        "patience": patience,
        "plain_walks": plain_walks,
        "delays": delays and delays.value,
        "guiding": guiding,
        "adaptive_duration": adaptive_duration,
        "smc": smc and smc.value,
        "smc_epsilon": smc_epsilon,
        "smc_simulations": smc_simulations,
        "sensitivity": sensitivity,
        "shrink": shrink,
        "period": period,
    }
    data = {
        "format_version": 1,
        "name": "falsify",
        "system": system,
        "profile": profile,
        "requirements": [_requirement(i, text) for i, text in enumerate(require, start=1)],
        "engine": {key: value for key, value in engine.items() if value is not None},
        "time_limit": time_limit,
        "on_failure": on_failure and on_failure.value,
        "votes": votes,
        "memory_limit": memory_limit,
        "early_stop": early_stop,
    }
    document = Document("", {key: value for key, value in data.items() if value is not None}, {})
    given = {"seed": seed, "jobs": jobs, "executor": executor, "store": store, "accepted": accept}
    campaign = plan_document(document, base=Path(), **given, label=_option)
    files = ci_files(junit, sarif, annotations, as_json=as_json)
    return run_campaign(campaign, out=out, as_json=as_json, quiet=quiet, verbose=verbose, files=files)


def _requirement(number: int, text: str) -> str | dict[str, str]:
    return text if text.endswith((".yaml", ".yml")) else {"id": f"R{number}", "stl": text}


def _option(path: tuple[str | int, ...]) -> str:
    """The option that gave the value: --horizon for engine.horizon, --require 2 for requirements[1].stl."""
    if path[:1] == ("requirements",):
        return f"--require {path[1] + 1}" if len(path) > 1 else "--require"
    names = [str(key) for key in path if isinstance(key, str) and key != "engine"]
    if names == ["accepted"]:
        return "--accept"
    return f"--{names[-1].replace('_', '-')}" if names else "--options"
