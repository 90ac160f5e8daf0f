"""bbfalsify doctor: is this adapter fit for use?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Quiet, not_positive
from bbfalsify.cli.output import print_json, say
from bbfalsify.cli.progress import Progress


def doctor(
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="As after --system: a folder, file.py:object, …")],
    duration: Annotated[float, typer.Option("--duration", help="Length of a use, for systems with signals.")] = 10.0,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds for one use.")] = 10.0,
    seed: Annotated[int, typer.Option("--seed", help="Of the words that are tried.")] = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Try a system out: does it keep what runs rely on? Exit code 3 if it does not.

    \b
    Example:  bbfalsify doctor adapters/heater
    """
    from bbfalsify.core.errors import UserError
    from bbfalsify.running.doctor.doctor import examine
    from bbfalsify.running.warm_up import kernel_notice
    from bbfalsify.systems import load_system
    from bbfalsify.systems.parameters import unwrapped
    from bbfalsify.systems.simulated import ModelSymbolSystem, ModelSystem

    if wrong := not_positive({"--duration": duration, "--time-limit": time_limit}):
        raise UserError(wrong)
    patient = load_system(system, base=Path())
    with Progress(quiet=quiet) as progress:
        if isinstance(unwrapped(patient), ModelSystem | ModelSymbolSystem) and (notice := kernel_notice()) is not None:
            progress.say(notice)
        report = examine(patient, duration=duration, seed=seed, time_limit_s=time_limit)
    if as_json:
        print_json(report.as_json())
    elif not quiet or not report.healthy:
        declared = ", ".join(k if v is True else f"{k} {v:g}" for k, v in report.capabilities.items())
        say(f"{report.system} takes {report.kind}; declares: {declared or 'nothing special'}")
        for check in report.checks:
            say(f"  yes      {check}")
        for problem in report.problems:
            say(f"  PROBLEM  {problem}")
        for remark in report.remarks:
            say(f"  remark   {remark}")
        if report.reset_s is not None and report.step_s is not None:
            unit = "symbol" if report.kind == "symbols" else "sample"
            say(f"  cost     {_time(report.reset_s)} to reset, {_time(report.step_s)} per {unit}")
        say(f"{'fit for use' if report.healthy else 'not fit for use'}, after {report.uses} uses")
    return Exit.NOTHING_FOUND if report.healthy else Exit.SYSTEM_FAILED


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"
