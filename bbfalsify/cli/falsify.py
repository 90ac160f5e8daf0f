"""bbfalsify falsify: one run, described on the command line."""

from __future__ import annotations

from enum import StrEnum
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
    period: Annotated[float | None, typer.Option(help="Sampling grid.", show_default="chosen and refined")] = None,
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
    from bbfalsify.cli.ci_files import ci_files
    from bbfalsify.cli.inline_campaign import described, listed, requirement
    from bbfalsify.cli.session import run_campaign

    campaign = described(
        {
            "name": "falsify",
            "system": system,
            "profile": profile,
            "requirements": [requirement(number, text, "stl") for number, text in enumerate(require, start=1)],
            "time_limit": time_limit,
            "on_failure": on_failure,
            "votes": votes,
            "memory_limit": memory_limit,
            "early_stop": early_stop,
        },
        {
            "kind": "falsify",
            "horizon": horizon,
            "counterexamples": counterexamples,
            "simulations": simulations,
            "max_time": max_time,
            "passes": passes,
            "traces": traces,
            "estimator": estimator,
            "columns": listed(columns),
            "quasi_random": quasi_random,
            "search": search,
            "patience": patience,
            "plain_walks": plain_walks,
            "delays": delays,
            "guiding": guiding,
            "adaptive_duration": adaptive_duration,
            "smc": smc,
            "smc_epsilon": smc_epsilon,
            "smc_simulations": smc_simulations,
            "sensitivity": sensitivity,
            "shrink": shrink,
            "period": period,
        },
        seed=seed, jobs=jobs, executor=executor, store=store, accepted=accept,
    )  # fmt: skip
    files = ci_files(junit, sarif, annotations, as_json=as_json)
    return run_campaign(campaign, out=out, as_json=as_json, quiet=quiet, verbose=verbose, files=files)
