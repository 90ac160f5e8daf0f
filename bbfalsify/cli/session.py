"""Sessions of `run`, `falsify`, `check` and `reach`: execute plans one by one, show each, decide the exit code."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.cli.exits import Exit, exit_of_run
from bbfalsify.cli.options import Session
from bbfalsify.cli.output import print_json, results, say
from bbfalsify.cli.progress import CampaignClock, Progress
from bbfalsify.cli.report import left_out, write_at_the_end
from bbfalsify.core.verdict import FOUND, StopReason
from bbfalsify.core.visible_text import visible
from bbfalsify.registry import ENGINES
from bbfalsify.reporting.terminal.progress_lines import DamageWarning, RunProgress

if TYPE_CHECKING:
    from bbfalsify.campaigns import Campaign, RunPlan
    from bbfalsify.campaigns.execute import Done

_BUDGETS = (StopReason.BUDGET_SIMULATIONS, StopReason.BUDGET_SYMBOLS, StopReason.BUDGET_TIME)
"""Ends after which a run that can be extended goes on, with a larger budget."""
MOST_REPORTS = 100
"""Campaigns of more runs get one summary and tables for all: pictures and a report of each would take longer than short
runs do."""


def run_campaign(
    campaign: Campaign,
    session: Session,
    *,
    directory: Path | None = None,
    extend: bool = False,
    printed: Callable[[dict[str, Any]], dict[str, Any]] = lambda results: results,
) -> int:
    """Run a campaign and return the exit code.

    `printed` makes what --json shows of the results of a single run; `extend` as in `run_all`.
    """
    from bbfalsify.campaigns.run_all import run_all
    from bbfalsify.reporting.exports.table_files import parquet_is_there, write_campaign_tables

    files, as_json = session.files(), session.as_json
    results: list[dict[str, Any]] = []
    codes: list[int] = []
    rows: list[tuple[str | None, str]] = []
    folder: Path | None = None
    goes_on = False
    several, many = len(campaign.runs) > 1, len(campaign.runs) > MOST_REPORTS
    clock = CampaignClock(len(campaign.runs))
    with _resumable(campaign, session.out), Progress(quiet=session.quiet) as progress:
        notices = ((plan.kind.named("compiling"), plan.engine) for plan in campaign.runs)
        for text in dict.fromkeys(notice(settings) for notice, settings in notices if notice is not None):
            if text is not None:
                progress.say(text)
        if directory is not None:
            progress.say(f"continuing {directory}")
        runs = run_all(
            campaign,
            out=session.out or Path("runs"),
            directory=directory,
            extend=extend,
            listeners=lambda plan: [
                DamageWarning(progress),
                *(() if progress.quiet else (_progress_of(plan, campaign, progress, clock),)),
            ],
        )
        for done in runs:
            progress.end_stage()
            clock.finished(done.results.get("seconds") if done.executed else None)
            codes.append(exit_of_run(done.results))
            files.add(done.results, campaign.file)
            folder = Path(done.results["run_directory"])
            goes_on |= done.results["stop_reason"] in (StopReason.INTERRUPTED, *(_BUDGETS if extend else ()))
            if done.executed and done.results["stop_reason"] != StopReason.ERROR and not many:
                with left_out(progress, "no tables or plots"):
                    write_files_of(done.results)
                write_at_the_end(done.results["run_directory"], progress)
            if as_json:
                results.append(done.results)
            elif many and not session.verbose:
                show_in_one_line(done.results, done.plan.varies)
            else:
                show_run(done.results, done.plan.varies, verbose=session.verbose)
            rows.append(_told(done))
        summary = None
        if several and folder is not None:
            whole = folder.parent.parent  # the runs of a campaign lie in runs/ of its directory
            with left_out(progress, "no tables"):
                write_campaign_tables(whole, parquet=parquet_is_there())
            summary = write_at_the_end(whole, progress)
    files.write()
    if several and not as_json:
        show_summary(rows, len(campaign.runs))
        if summary is not None:
            say(f"report: {summary}")
    if goes_on and not as_json:
        say(f"to go on: {_going_on(campaign, session.out, folder)}")
    if as_json:
        print_json({"runs": results} if several else printed(results[0]), allow_nan=False)
    return worst_exit(codes)


def _going_on(campaign: Campaign, out: Path | None, folder: Path | None) -> str:
    """The command that continues an interrupted campaign, or run of the command line."""
    if campaign.file:
        where = f" --out {shlex.quote(str(out))}" if out else ""
        return f"bbfalsify run {shlex.quote(campaign.file)} --resume{where}"
    return f"the same command with --resume {'RUN_DIR' if folder is None else shlex.quote(str(folder))}"


@contextlib.contextmanager
def _resumable(campaign: Campaign, out: Path | None) -> Iterator[None]:
    """Say how to go on where a full disk or a lost cluster ends a campaign; what is recorded stays."""
    from bbfalsify.core.errors import ExecutorLost, Problem, UserError
    from bbfalsify.records.json_files import WritingFailed

    command = _going_on(campaign, out, None)
    try:
        yield
    except ExecutorLost as lost:
        here = "With --executor local or --executor-lost local it goes on without the cluster."
        raise ExecutorLost(f"{lost} What is recorded stays. Go on: {command}. {here}") from None
    except WritingFailed as error:
        raise UserError([*error.problems, Problem(f"What is recorded stays. Make room and go on: {command}")]) from None


def _told(done: Done) -> tuple[str | None, str]:
    """Return the category of a run, and what the summary of a campaign says about it."""
    from bbfalsify.results.run_result import RunResult

    result = RunResult.from_json(done.results)
    name = f"{result.name} ({varied(done.plan.varies)})"
    if result.category not in ("correct", None):
        return result.category, f"{result.category}: {name}: {plain(result.outcome)}"
    news = [f"{r.id} {plain(r.outcome)}" for r in result.requirements if r.expected is None and r.outcome in FOUND]
    return result.category, f"nobody said what to expect: {name}: {', '.join(news)}" if news else ""


def _progress_of(plan: RunPlan, campaign: Campaign, progress: Progress, clock: CampaignClock) -> Any:
    place = ""
    if len(campaign.runs) > 1:
        number = next(number for number, other in enumerate(campaign.runs, start=1) if other is plan)
        place = f"{plan.name}, run {number} of {len(campaign.runs)}"
    return (plan.kind.named("progress") or RunProgress)(progress, place, clock)


def write_files_of(data: dict[str, Any]) -> None:
    """Write tables into the run directory, and the pictures that the engine has."""
    from bbfalsify.reporting.exports.table_files import parquet_is_there, write_tables

    long = data.get("engine", "falsify") == "falsify"  # others have a few rows, not worth 40 MB of pyarrow
    write_tables(data["run_directory"], parquet=long and parquet_is_there())
    write = ENGINES.of(data).named("files")
    if write is not None:
        write(data)


def show_run(data: dict[str, Any], varies: Mapping[str, Any], *, verbose: bool) -> None:
    """Print the results of a run, whatever its engine."""
    from rich.console import Console

    from bbfalsify.reporting.terminal.generic import result_lines

    console = Console(file=results(), highlight=False, markup=False)
    data, varies = visible(data), visible(dict(varies))
    if varies:
        console.print(f"\n{data['name']}: {varied(varies)}", soft_wrap=True)
    # A run that could not be made has nothing to show but why.
    shown = None if data.get("stop_reason") == StopReason.ERROR else ENGINES.of(data).named("shown")
    for line in (shown or result_lines)(data, console.width, verbose):
        # Text is not cut into lines, so that it can be searched and copied; tables fit.
        console.print(line, soft_wrap=isinstance(line, str))


def varied(varies: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in varies.items())


def plain(word: str) -> str:
    return word.replace("_", " ")


def show_in_one_line(data: dict[str, Any], varies: Mapping[str, Any]) -> None:
    """heater (seed 1): R1 falsified; 4 counterexamples, 7032 simulations"""
    from bbfalsify.results.run_result import RunResult

    result = RunResult.from_json(data)
    outcomes = ", ".join(f"{row.id} {plain(row.outcome)}" for row in result.requirements)
    cost = f"{len(result.counterexamples)} counterexamples, {result.simulations} simulations"
    say(f"{result.name} ({varied(varies)}): {outcomes}; {cost}")


def show_summary(runs: list[tuple[str | None, str]], planned: int) -> None:
    """After several runs: how many of those planned went as expected, and which did not."""
    from collections import Counter

    from bbfalsify.campaigns.categories import CATEGORIES

    counts = Counter(category for category, _ in runs)
    told = [f"{counts[word]} {word}" for word in reversed(CATEGORIES) if counts[word]]
    if counts[None]:
        told.append(f"{counts[None]} without an expectation")
    say()
    say(f"{len(runs)}{f' of {planned}' if len(runs) < planned else ''} runs: {', '.join(told)}")
    for _, line in runs:
        if line:
            say(f"  {line}")


def worst_exit(codes: list[int]) -> int:
    """Return the exit code of several runs: interrupted, then news, then a failed system, then inconclusive."""
    order = (Exit.INTERRUPTED, Exit.FOUND, Exit.SYSTEM_FAILED, Exit.INCONCLUSIVE)
    return next((code for code in order if code in codes), Exit.NOTHING_FOUND)
