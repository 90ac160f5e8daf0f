"""bbfalsify monitor: judge a recorded trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson
from bbfalsify.cli.output import print_json, say
from bbfalsify.core.verdict import Judgement, Verdict

if TYPE_CHECKING:
    import numpy as np

    from bbfalsify.logic import Requirement

_MONITORS = ("bbfalsify", "rtamt")


def monitor(
    specification: Annotated[
        str, typer.Argument(metavar="SPEC", help="A specification file, or a formula such as 'always(T <= 75)'.")
    ],
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE.csv", help="Columns: time, one per signal; a column walk first if several.")
    ],
    judged_by: Annotated[
        str,
        typer.Option("--monitor", metavar="NAME", help="bbfalsify; or rtamt: the sign of RTAMT's robustness."),
    ] = "bbfalsify",
    as_json: AsJson = False,
) -> int:
    """Judge a recorded trace against requirements.  Exit code 1 if one is violated, 4 if one is undecided.

    \b
    Example:  bbfalsify monitor "always(T <= 75)" trace.csv
    """
    from bbfalsify.campaigns.requirements.stl import load_requirements
    from bbfalsify.core.errors import Problem, UserError, unknown_name
    from bbfalsify.core.trace import Trace
    from bbfalsify.logic import Requirement, parse_stl
    from bbfalsify.reporting.exports.recordings import read_csv

    recordings, problems = None, list[Problem]()
    if judged_by not in _MONITORS:
        problems.append(unknown_name("monitor", judged_by, _MONITORS))
    try:
        recordings = read_csv(trace)
    except UserError as error:
        problems += error.problems
    signals = None if recordings is None else tuple(next(iter(recordings.values())).signals)
    requirements: list[Requirement] = []
    try:
        if _is_file(specification):
            planned = [p.requirement for p in load_requirements(specification, signals=signals)]
            requirements = [one for one in planned if isinstance(one, Requirement)]
        else:
            requirements = [Requirement("formula", "", parse_stl(specification, signals=signals))]
    except UserError as error:
        problems += error.problems
    if problems or recordings is None:
        raise UserError(problems)

    judge: Callable[..., Judgement] = _judge
    if judged_by == "rtamt":
        from bbfalsify.logic.stl import rtamt_monitor

        judge = rtamt_monitor.judge
    wanted = {name for requirement in requirements for name in requirement.formula.signals}
    recordings = {
        walk: Trace(one.times, {name: values for name, values in one.signals.items() if name in wanted})
        for walk, one in recordings.items()
    }
    judged = [(w, r.id, judge(r, t.times, t.signals)) for w, t in recordings.items() for r in requirements]
    if as_json:
        print_json({"requirements": [_as_json(*row) for row in judged]})
    else:
        for row in judged:
            say(_sentence(*row))
    verdicts = {j.verdict for _, _, j in judged}
    if Verdict.VIOLATED in verdicts:
        return Exit.FOUND
    return Exit.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts else Exit.NOTHING_FOUND


def _judge(requirement: Requirement, times: np.ndarray, signals: Mapping[str, np.ndarray]) -> Judgement:
    """Judge a trace without compiled code, which takes longer to load than most traces to judge."""
    from bbfalsify.logic.stl.array_monitor import judge_once

    return judge_once(requirement.formula, times, signals, time=requirement.time, period=requirement.period)


def _is_file(text: str) -> bool:
    from bbfalsify.core.foreign_files import is_file

    return text.endswith((".yaml", ".yml")) or is_file(text)


def _as_json(walk: str, name: str, judgement: Judgement) -> dict[str, Any]:
    from bbfalsify.records.json_files import finite_or_null

    return {
        **({"walk": walk} if walk else {}),
        "requirement": name,
        "verdict": judgement.verdict.value,
        "robustness": finite_or_null(judgement.robustness),
        "first_violation_time": finite_or_null(judgement.first_violation_time),
        "vacuous": judgement.vacuous,
    }


def _sentence(walk: str, name: str, judgement: Judgement) -> str:
    text = f"walk {walk}, " if walk else ""
    text += f"{name}: {judgement.verdict.value}, robustness {judgement.robustness:.6g}"
    if judgement.first_violation_time < math.inf:
        text += f", certain at time {judgement.first_violation_time:.6g}"
    if judgement.vacuous:
        text += " (vacuously: the trigger never occurred)"
    return text
