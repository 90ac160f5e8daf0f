"""bbfalsify run: a whole campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.engine_options import with_settings
from bbfalsify.cli.options import AcceptFile, Session, StoreFolder
from bbfalsify.core.settings import keys_of
from bbfalsify.running.execution import Execution

_EXECUTION = keys_of(Execution)


@with_settings(_EXECUTION["jobs"], _EXECUTION["executor"], _EXECUTION["executor_lost"])
def run(
    campaign: Annotated[Path | None, typer.Argument(metavar="[CAMPAIGN.yaml]", show_default=False)] = None,
    run_directory: Annotated[
        Path | None, typer.Argument(metavar="[RUN_DIR]", help="With --resume: which one.", show_default=False)
    ] = None,
    *,
    example: Annotated[
        str | None, typer.Option("--example", metavar="NAME", help="Run a built-in example instead of a file.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue what was interrupted (default: the newest of this campaign).")
    ] = False,
    store: StoreFolder = None,
    accept: AcceptFile = None,
    session: Session,
) -> int:
    """Run a campaign: every run that it describes.

    Exit code 0 when every outcome is as the campaign expects (or all that was found is accepted), 1 when one is not.

    A run that was killed is continued with --resume and ends with the list it would have had; finished runs of a
    campaign are not run again.

    \b
    Example:  bbfalsify run experiments/heater/campaign.yaml --jobs 2
    """
    from bbfalsify.campaigns import load_campaign
    from bbfalsify.campaigns.directory import find_begun, origin_in, read_manifest
    from bbfalsify.cli.session import run_campaign
    from bbfalsify.core.errors import UserError
    from bbfalsify.examples import example_folder
    from bbfalsify.registry import ENGINES

    if run_directory is not None and not resume:
        raise UserError(f"a run directory ({run_directory}) is given without --resume.")
    if campaign is not None and example is None:
        file = campaign
    elif example is not None and campaign is None:
        file = example_folder(example) / "campaign.yaml"
    else:
        raise UserError("give a campaign file, or --example NAME ('bbfalsify list examples' names them).")
    drawn_seed = None
    if resume:
        run_directory = run_directory or find_begun(session.out or Path("runs"), file)
        if run_directory is not None:
            drawn_seed = origin_in(read_manifest(run_directory)).get("drawn_seed")
    session.files()  # refuses what cannot be written before anything is loaded
    given = dict(seed=session.seed, store=store, accepted=accept, drawn_seed=drawn_seed, **session.given)
    loaded = load_campaign(file, ENGINES, **given)
    return run_campaign(loaded, session, directory=run_directory)
