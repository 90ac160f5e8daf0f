"""bbfalsify check: black box checking, described on the command line."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

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


class Learner(StrEnum):
    LSHARP = "lsharp"
    LSTAR = "lstar"
    KV = "kv"
    HW = "hw"


class Tester(StrEnum):
    H = "h"
    HSI = "hsi"
    WP = "wp"
    W = "w"
    RANDOM_HSI = "random-hsi"
    RANDOM_WP = "random-wp"
    RANDOM_W = "random-w"


def check(
    system: Annotated[
        str, typer.Option("--system", help="Adapter folder, file.py:object, machine.dot or cmd:program.")
    ],
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="LTL",
            help="A formula, a specification or .hoa file; repeat.",
            show_default="none: only learn",
        ),
    ] = None,
    max_states: Annotated[
        int | None, typer.Option(help="The bound n: the system has at most so many states.", show_default="none")
    ] = None,
    alphabet: Annotated[
        str | None, typer.Option(metavar="SYMBOLS", help="Send only these, as in a,b,c.", show_default="all")
    ] = None,
    learner: Annotated[Learner, typer.Option(help="hw: for systems that cannot be reset.")] = Learner.LSHARP,
    tester: Annotated[Tester, typer.Option(help="Conformance test; random ones prove nothing.")] = Tester.H,
    stop_at_first: Annotated[bool, typer.Option("--stop-at-first", help="End with the first violation.")] = False,
    max_queries: Annotated[int | None, typer.Option(help="Budget of words.", show_default="no limit")] = None,
    max_symbols: Annotated[int | None, typer.Option(help="Budget of symbols.", show_default="no limit")] = None,
    max_time: Annotated[float | None, typer.Option(help="Budget in seconds.", show_default="no limit")] = None,
    observations: Annotated[
        list[Path] | None, typer.Option("--observations", metavar="FILE", help="Words and answers seen before; repeat.")
    ] = None,
    older: Annotated[
        Path | None, typer.Option("--older", metavar="DOT", help="Model of an earlier version, to start from.")
    ] = None,
    symbol: Annotated[
        list[str] | None,
        typer.Option("--symbol", metavar="on:heat=1", help="For systems of signals: what a symbol sets; repeat."),
    ] = None,
    period: Annotated[
        float | None, typer.Option(help="For systems of signals: how long a symbol lasts.", show_default="none")
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(help="Rank violations by use; its actions may be the symbols.", show_default="none")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="RUN_DIR", help="Continue an earlier check of the system.")
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds per word.")] = 60.0,
    votes: Annotated[int, typer.Option(help="Executions of each word; the majority counts.")] = 1,
    memory_limit: Annotated[
        float | None, typer.Option(metavar="MB", help="Memory of a worker (Linux).", show_default="none")
    ] = None,
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
    """Learn a black box that answers symbols, and check requirements about its answers.

    \b
    Example:  bbfalsify check --system adapters/smtp --max-states 7 \\
              --require "precedence(in == rcpt & out == '250', out == '354')"
    """
    from bbfalsify.cli.ci_files import ci_files
    from bbfalsify.cli.inline_campaign import described, listed
    from bbfalsify.cli.session import run_campaign

    texts = enumerate(require or [], start=1)
    campaign = described(
        {
            "system": system,
            "profile": None if profile is None else str(profile),
            "requirements": [_requirement(number, text, sampled=period is not None) for number, text in texts] or None,
            "time_limit": time_limit,
            "votes": votes,
            "memory_limit": memory_limit,
        },
        {
            "kind": "check",
            "max_states": max_states,
            "alphabet": listed(alphabet),
            "learner": learner,
            "tester": tester,
            "stop_at_first": stop_at_first,
            "max_queries": max_queries,
            "max_symbols": max_symbols,
            "max_time": max_time,
            "observations": None if not observations else [str(file) for file in observations],
            "older": None if older is None else str(older),
            "symbols": _symbols(symbol),
            "period": period,
        },
        seed=seed, jobs=jobs, executor=executor, drawn_seed=_begun_with(resume),
    )  # fmt: skip
    return run_campaign(
        campaign, out=out, directory=resume, extend=True, as_json=as_json, quiet=quiet, verbose=verbose,
        files=ci_files(junit, sarif, annotations, as_json=as_json),
    )  # fmt: skip


def _requirement(number: int, text: str, *, sampled: bool) -> str | dict[str, str]:
    from bbfalsify.cli.inline_campaign import requirement

    return requirement(number, text, "stl" if sampled else "hoa" if text.endswith(".hoa") else "ltl")


def _begun_with(directory: Path | None) -> int | None:
    """The seed of the check that is continued."""
    from bbfalsify.records.run_directory import RunDirectory, recorded_seed

    return None if directory is None else recorded_seed(RunDirectory.open(directory).path)


def _symbols(given: list[str] | None) -> dict[str, dict[str, float]] | None:
    from bbfalsify.core.errors import Problem, UserError

    symbols: dict[str, dict[str, float]] = {}
    problems = []
    for text in given or ():
        name, _, settings = text.partition(":")
        try:
            pairs = [pair.split("=") for pair in settings.split(",")]
            symbols[name.strip()] = {port.strip(): float(value) for port, value in pairs}
        except ValueError:
            problems.append(Problem(f"--symbol '{text}': expected name:input=number,input=number."))
    if problems:
        raise UserError(problems)
    return symbols or None
