"""bbfalsify check: black box checking, described on the command line."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bbfalsify.cli.exits import exit_of_check
from bbfalsify.cli.options import Annotations, AsJson, Jobs, JunitFile, Out, Quiet, SarifFile, Seed, Verbose


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
    from bbfalsify.campaigns.temporal import claims_from, load_usage
    from bbfalsify.cli.ci_files import ci_files
    from bbfalsify.cli.compiling import announce_check_compilation
    from bbfalsify.cli.progress import CheckProgress, Progress
    from bbfalsify.cli.report import left_out, write_at_the_end
    from bbfalsify.cli.session import write_plots
    from bbfalsify.core.counterexample import SystemRecord
    from bbfalsify.reporting.checking import check_lines
    from bbfalsify.running.check import check as run_check
    from bbfalsify.systems import load_system
    from bbfalsify.systems.loading import resolve_reference

    files = ci_files(junit, sarif, annotations, as_json=as_json)
    base = Path()
    loaded = load_system(system, base=base)
    usage = None if profile is None else load_usage(profile)
    symbols = _symbols(symbol, usage) if period is not None else None
    claims = (require or []) if period is not None else claims_from(require or [], base=base)
    sent = None if alphabet is None else [s.strip() for s in alphabet.split(",")]
    record = SystemRecord(
        system, str(base.resolve()), resolve_reference(system, base.resolve()).file_hash(), loaded.name
    )
    configuration = {
        "system": system,
        "base": str(base.resolve()),
        "requirements": list(require or []),
        "engine": {
            "kind": "check", "max_states": max_states, "alphabet": sent, "learner": learner.value,
            "tester": tester.value, "stop_at_first": stop_at_first, "max_queries": max_queries,
            "max_symbols": max_symbols, "max_time": max_time,
        },
        "symbols": symbols, "period": period, "profile": None if profile is None else str(profile),
    }  # fmt: skip
    with Progress(quiet=quiet) as progress:
        announce_check_compilation(progress)
        result = run_check(
            loaded,
            claims,
            max_states=max_states,
            alphabet=sent,
            learner=learner.value,
            tester=tester.value,
            stop_at_first=stop_at_first,
            max_queries=max_queries,
            max_symbols=max_symbols,
            max_time=max_time,
            seed=seed,
            jobs=jobs or 1,
            time_limit_s=time_limit,
            votes=votes,
            memory_limit_mb=memory_limit,
            out=out or Path("runs"),
            resume=resume,
            observations=observations or (),
            older=older,
            system_record=record,
            listeners=[CheckProgress(progress)],
            configuration=configuration,
            symbols=symbols,
            period=period,
            profile=usage,
        )
        data = result.as_json()
        with left_out(progress, "no plots"):
            write_plots(data)
        write_at_the_end(data["run_directory"], progress)
    files.add(data)
    files.write()
    if as_json:
        print(json.dumps(data))
    else:
        print("\n".join(check_lines(data)))
    return exit_of_check(data)


def _symbols(given: list[str] | None, usage: Any) -> dict[str, dict[str, float]]:
    from bbfalsify.core.errors import Problem, UserError
    from bbfalsify.running.sampling import symbols_of

    if not given:
        return symbols_of(usage)
    symbols: dict[str, dict[str, float]] = {}
    problems = []
    for text in given:
        name, _, settings = text.partition(":")
        try:
            pairs = [pair.split("=") for pair in settings.split(",")]
            symbols[name.strip()] = {port.strip(): float(value) for port, value in pairs}
        except ValueError:
            problems.append(Problem(f"--symbol '{text}': expected name:input=number,input=number."))
    if problems:
        raise UserError(problems)
    return symbols
