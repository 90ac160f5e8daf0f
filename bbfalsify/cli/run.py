"""bbfalsify run: a whole campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.options import AcceptFile, AsJson, Jobs, Out, Quiet, Seed, StoreFolder, Verbose


def run(
    campaign: Annotated[Path | None, typer.Argument(metavar="[CAMPAIGN.yaml]", show_default=False)] = None,
    example: Annotated[
        str | None, typer.Option("--example", metavar="NAME", help="Run a built-in example instead of a file.")
    ] = None,
    store: StoreFolder = None,
    accept: AcceptFile = None,
    jobs: Jobs = None,
    out: Out = None,
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Run a campaign: every run it describes, each with its run directory.

    Exit code 0 when every outcome is as the campaign expects (or all that was found is accepted), 1 when one is not.

    \b
    Example:  bbfalsify run experiments/heater/campaign.yaml --jobs 2
    """
    from bbfalsify.campaigns import load_campaign
    from bbfalsify.cli.session import run_campaign
    from bbfalsify.core.errors import UserError

    if (campaign is None) == (example is None):
        raise UserError("give a campaign file, or --example NAME ('bbfalsify list examples' names them).")
    if example is not None:
        from bbfalsify.examples import example_folder

        campaign = example_folder(example) / "campaign.yaml"
    loaded = load_campaign(campaign, seed=seed, jobs=jobs, store=store, accepted=accept)
    return run_campaign(loaded, out=out, as_json=as_json, quiet=quiet, verbose=verbose)
