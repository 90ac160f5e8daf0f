"""bbfalsify reach: a concrete trace to a target state of a model."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bbfalsify.cli.options import (
    Annotations,
    AsJson,
    ExecutorOption,
    Jobs,
    JunitFile,
    Out,
    Quiet,
    SarifFile,
    Seed,
    Verbose,
)


class Heuristic(StrEnum):
    PORTFOLIO = "portfolio"
    RET = "ret"
    SEM = "sem"
    RLC = "rlc"
    RLC_A = "rlc-a"
    RCF = "rcf"


class Wanted(StrEnum):
    SOME = "some"
    SHORTEST = "shortest"
    FASTEST = "fastest"


def reach(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="A model.", show_default=False)] = None,
    query: Annotated[
        str | None,
        typer.Option(
            "--query",
            help="'E<> …' or 'A[] …', or the number of one stored in the file.",
            show_default="the only one stored",
        ),
    ] = None,
    example: Annotated[
        str | None, typer.Option("--example", metavar="NAME:SIZE", help="A model of 'bbfalsify list models'.")
    ] = None,
    heuristic: Annotated[
        Heuristic, typer.Option(help="How walks choose; portfolio: all of them side by side.")
    ] = Heuristic.PORTFOLIO,
    trace: Annotated[Wanted, typer.Option(help="The first trace, or go on for shorter or faster ones.")] = Wanted.SOME,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Steps of each walk.", show_default="16, doubled per cycle, to 262144")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.0, help="Seconds.")] = 300.0,
    walks: Annotated[int | None, typer.Option(min=1, help="Walks of each heuristic.", show_default="no limit")] = None,
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
    """Look for a state of a model by random walks; a found trace is exact and can be replayed.

    \b
    Exit codes: 1 found, 0 not found in the walks asked for, 4 the time was up.
    Example:  bbfalsify reach fischer.yaml --query "A[] not (P(1).cs && P(2).cs)"
    """
    from bbfalsify.campaigns.requirements.queries import EXAMPLE, STORED
    from bbfalsify.cli.ci_files import ci_files
    from bbfalsify.cli.inline_campaign import described
    from bbfalsify.cli.session import run_campaign
    from bbfalsify.core.errors import UserError

    if (model is None) == (example is None):
        raise UserError("give either a MODEL or --example.")
    campaign = described(
        {
            "model": f"{EXAMPLE}{example}" if model is None else str(model),
            "requirements": [{"id": "Q1", "query": STORED if query is None else query}],
        },
        {"kind": "reach", "heuristic": heuristic, "trace": trace, "depth": depth, "timeout": timeout, "walks": walks},
        seed=seed, jobs=jobs or os.cpu_count() or 1, executor=executor,
    )  # fmt: skip
    files = ci_files(junit, sarif, annotations, as_json=as_json)
    return run_campaign(
        campaign, out=out, as_json=as_json, quiet=quiet, verbose=verbose, files=files, printed=_contract
    )


def _contract(results: dict[str, Any]) -> dict[str, Any]:
    """What --json says of one query, the trace included."""
    from bbfalsify.core.verdict import FOUND, Outcome
    from bbfalsify.records.json_files import read_json

    [row] = results["requirements"]
    found = row["outcome"] in FOUND
    failed = row["outcome"] == Outcome.MODEL_ERROR
    return {
        **row,
        "reached": found and not failed,
        "outcome": Outcome.MODEL_ERROR.value if failed else "reached" if found else "not_reached",
        "trace": None if row["file"] is None else read_json(row["file"]),
        "seed": results["seed"],
        "run_directory": results["run_directory"],
    }
