"""bbfalsify reach: a concrete trace to a target state of a model."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Jobs, Out, Quiet, Seed, Verbose
from bbfalsify.cli.progress import Progress
from bbfalsify.cli.report import write_at_the_end

if TYPE_CHECKING:
    from bbfalsify.engines.reachability.search import Found
    from bbfalsify.modelling import Network
    from bbfalsify.running.reach import ReachResult


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
    jobs: Jobs = None,
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
    from bbfalsify.running.reach import reach as look

    network, asked, name, about = _question(model, example, query)
    with Progress(quiet=quiet) as progress:
        announce(progress)
        result = look(
            network, asked, heuristic=heuristic.value, trace=trace.value, depth=depth, timeout=timeout, walks=walks,
            seed=seed, jobs=jobs, report=Improvements(progress, trace).note,
        )  # fmt: skip
        how = {"heuristic": heuristic.value, "trace": trace.value, "depth": depth, "timeout": timeout, "walks": walks}
        folder = _write(result, name, {**about, "asked": how}, out or Path("runs"))
        write_at_the_end(folder, progress)
    if as_json:
        print(json.dumps({**_as_json(result), **_files(folder)}, allow_nan=False))
    else:
        _show(result, folder, everything=verbose)
    return _exit(result)


def _question(model: Path | None, example: str | None, query: str | None) -> tuple[Network, str, str, dict[str, Any]]:
    """The model, the query, a name, and where it all comes from."""
    from bbfalsify.core.errors import UserError

    if (model is None) == (example is None):
        raise UserError("give either a MODEL or --example.")
    if model is None:
        from bbfalsify.examples.models import named_model

        network, family = named_model(example)
        return network, query or family.query, example.partition(":")[0], {"example": example}
    from bbfalsify.modelling.loading import load_model, model_hash

    network, stored = load_model(model)
    asked = _chosen([q.text for q in stored if q.text.strip()], query)
    return network, asked, model.stem, {"model": str(model.resolve()), "model_sha256": model_hash(model)}


def _chosen(stored: list[str], query: str | None) -> str:
    """The query given, or the only one stored in the file, or the one with the given number."""
    from bbfalsify.core.errors import Problem, UserError

    if query is not None and not query.strip().isdigit():
        return query
    if query is None and len(stored) == 1:
        return stored[0]
    if query is not None and 1 <= int(query) <= len(stored):
        return stored[int(query) - 1]
    numbered = tuple(f"{number}: {' '.join(text.split())}" for number, text in enumerate(stored, start=1))
    if not numbered:
        raise UserError('--query is missing: what is looked for, such as "E<> P.error".')
    found = "is missing" if query is None else f"{query} is not there"
    raise UserError(
        Problem(f"--query {found}; the file stores {len(numbered)}, choose one by number.", allowed=numbered)
    )


class Improvements:
    """Says each better trace when it is found."""

    def __init__(self, progress: Progress, wanted: Wanted) -> None:
        self._progress, self._wanted, self._said = progress, wanted, 0

    def note(self, found: Found) -> None:
        while self._wanted is not Wanted.SOME and self._said < len(found.findings):
            finding = found.findings[self._said]
            self._said += 1
            self._progress.say(
                f"{finding.seconds:8.2f} s: {len(finding.trace.steps)} steps, {float(finding.trace.time):g} time units "
                f"({finding.heuristic.value})"
            )


def announce(progress: Progress) -> None:
    from bbfalsify.cli.compiling import ABOUT_S
    from bbfalsify.running.compiled import reach_is_compiled

    if not reach_is_compiled():
        progress.say(f"compiling the walks once (about {ABOUT_S} s); later runs start at once")


def _write(result: ReachResult, name: str, about: dict[str, Any], out: Path) -> Path | None:
    """The run directory with the trace file; nothing is written where nothing was found."""
    if result.finding is None:
        return None
    from bbfalsify.running.rundir import RunDirectory
    from bbfalsify.running.traces import write_trace

    heuristic = result.finding.heuristic.value
    about = {**about, "query": result.query.text, "heuristic": heuristic, "seed": result.seed}
    directory = RunDirectory.create(out, f"reach-{name}")
    directory.write_manifest(seed=result.seed, configuration=about)
    write_trace(directory.path / "counterexamples" / "trace.json", result.network, result.finding, about)
    return directory.path


def _files(folder: Path | None) -> dict[str, str | None]:
    file = None if folder is None else str(folder / "counterexamples" / "trace.json")
    return {"run_directory": None if folder is None else str(folder), "file": file}


def _as_json(result: ReachResult) -> dict[str, Any]:
    from bbfalsify.running.traces import trace_json

    found, finding = result.found, result.finding
    return {
        "reached": result.outcome.value == "reached",
        "outcome": result.outcome.value,
        "query": result.query.text,
        "heuristic": finding.heuristic.value if finding else result.heuristic,
        "walk": finding.walk if finding else None,
        "steps": found.steps,
        "walks": found.walks,
        "seconds": found.seconds,
        "seed": result.seed,
        "stopped": found.stopped,
        "timelocks": found.timelocks,
        "zeno": found.zeno,
        "unconfirmed": found.unconfirmed,
        "error": finding.trace.error if finding else None,
        "improvements": [
            {"seconds": f.seconds, "length": len(f.trace.steps), "time": float(f.trace.time),
             "heuristic": f.heuristic.value}
            for f in found.findings
        ],
        "trace": trace_json(result.network, finding.trace) if finding else None,
    }  # fmt: skip


def _show(result: ReachResult, folder: Path | None, *, everything: bool) -> None:
    from bbfalsify.reporting.tables import report_line
    from bbfalsify.reporting.traces import effort_lines, end_lines, outcome_line, trace_lines

    if result.finding is not None:
        for line in trace_lines(result.network, result.finding.trace, everything=everything):
            print(line)
        for line in end_lines(result.network, result.finding.trace):
            print(line)
        print()
    for line in effort_lines(result):
        print(line)
    print(outcome_line(result))
    if folder is not None:
        for line in report_line(str(folder)):
            print(line)
        print(f"run directory: {folder}")
    print(f"seed: {result.seed}")
    if folder is not None:
        print(f"replay: bbfalsify replay {_files(folder)['file']}")


def _exit(result: ReachResult) -> int:
    if result.finding is not None:
        return Exit.FOUND
    return Exit.INCONCLUSIVE if result.found.stopped == "timeout" else Exit.NOTHING_FOUND
