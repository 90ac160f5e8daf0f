"""bbfalsify run: a whole campaign."""

from __future__ import annotations

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


def run(
    campaign: Annotated[Path | None, typer.Argument(metavar="[CAMPAIGN.yaml]", show_default=False)] = None,
    run_directory: Annotated[
        Path | None, typer.Argument(metavar="[RUN_DIR]", help="With --resume: which one.", show_default=False)
    ] = None,
    example: Annotated[
        str | None, typer.Option("--example", metavar="NAME", help="Run a built-in example instead of a file.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue what was interrupted (default: the newest of this campaign).")
    ] = False,
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
    """Run a campaign: every run it describes, each with its run directory.

    Exit code 0 when every outcome is as the campaign expects (or all that was found is accepted), 1 when one is not.

    A run that was killed is continued with --resume and ends with the list it would have had; finished runs of a
    campaign are not run again.

    \b
    Example:  bbfalsify run experiments/heater/campaign.yaml --jobs 2
    """
    from bbfalsify.campaigns import load_campaign
    from bbfalsify.campaigns.directory import find_begun, origin_in, read_manifest
    from bbfalsify.cli.ci_files import ci_files
    from bbfalsify.cli.session import run_campaign
    from bbfalsify.core.errors import UserError
    from bbfalsify.registry import ENGINES

    if (campaign is None) == (example is None):
        raise UserError("give a campaign file, or --example NAME ('bbfalsify list examples' names them).")
    if run_directory is not None and not resume:
        raise UserError(f"a run directory ({run_directory}) is given without --resume.")
    if example is not None:
        from bbfalsify.examples import example_folder

        campaign = example_folder(example) / "campaign.yaml"
    drawn_seed = None
    if resume:
        run_directory = run_directory or find_begun(out or Path("runs"), campaign)
        if run_directory is not None:
            drawn_seed = origin_in(read_manifest(run_directory)).get("drawn_seed")
    files = ci_files(junit, sarif, annotations, as_json=as_json)
    given = {"seed": seed, "jobs": jobs, "executor": executor, "store": store, "accepted": accept}
    loaded = load_campaign(campaign, ENGINES, **given, drawn_seed=drawn_seed)
    return run_campaign(
        loaded,
        out=out,
        directory=run_directory,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
        files=files,
    )
