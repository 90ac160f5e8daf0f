"""What `run` and `falsify` share: execute plans one after the other, show each result, decide the exit code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.cli.ci_files import CiFiles
from bbfalsify.cli.compiling import announce_check_compilation, announce_compilation
from bbfalsify.cli.exits import Exit, exit_of_check, exit_of_outcomes
from bbfalsify.cli.progress import CampaignClock, CheckProgress, Progress, RunProgress
from bbfalsify.cli.report import write_at_the_end
from bbfalsify.core.verdict import StopReason

if TYPE_CHECKING:
    from bbfalsify.campaigns import Campaign, RunPlan
    from bbfalsify.reporting.results import RunResult

MOST_REPORTS = 100
"""Of campaigns with more runs, summary and tables are written for all together: pictures, tables and a report of each
would take longer than short runs do, and nobody reads a screenful of each."""


def run_campaign(
    campaign: Campaign, *, out: Path | None, directory: Path | None = None, as_json: bool, quiet: bool, verbose: bool,
    files: CiFiles | None = None,
) -> int:  # fmt: skip
    from bbfalsify.campaigns.run_all import run_all
    from bbfalsify.reporting.table_files import parquet_is_there, write_campaign_tables

    files = files or CiFiles()
    results: list[dict[str, Any]] = []
    codes: list[int] = []
    rows: list[dict[str, Any]] = []
    folder: Path | None = None
    several, many = len(campaign.runs) > 1, len(campaign.runs) > MOST_REPORTS
    clock = CampaignClock(len(campaign.runs))
    with Progress(quiet=quiet) as progress:
        if any(plan.engine.kind == "falsify" for plan in campaign.runs):
            announce_compilation(progress)
        if any(plan.engine.kind == "check" for plan in campaign.runs):
            announce_check_compilation(progress)
        if directory is not None:
            progress.say(f"continuing {directory}")
        for done in run_all(
            campaign,
            out=out or Path("runs"),
            directory=directory,
            listeners=lambda plan: [_progress_of(plan, campaign, progress, clock)],
        ):
            progress.end_stage()
            clock.finished(done.results.get("seconds") if done.executed else None)
            codes.append(exit_of_run(done.results))
            files.add(done.results, campaign.file)
            folder = Path(done.results["run_directory"])
            if done.executed and done.results["stop_reason"] != "error" and not many:
                write_plots(done.results)
                write_tables_of(done.results)
                write_at_the_end(done.results["run_directory"], progress)
            if as_json:
                results.append(done.results)
            elif many and not verbose:
                show_in_one_line(done.results, done.plan.varies)
            else:
                show_run(done.results, done.plan.varies, verbose=verbose)
            told = {key: done.results.get(key) for key in ("name", "category", "outcome")}
            rows.append({**told, "varies": done.plan.varies})
        summary = None
        if several and folder is not None:
            whole = folder.parent.parent  # the runs of a campaign lie in runs/ of its directory
            write_campaign_tables(whole, parquet=parquet_is_there())
            summary = write_at_the_end(whole, progress)
    files.write()
    if several and not as_json:
        show_summary(rows)
        if summary is not None:
            print(f"report: {summary}")
    if as_json:
        print(json.dumps({"runs": results} if several else results[0], allow_nan=False))
    return worst_exit(codes)


def _progress_of(plan: RunPlan, campaign: Campaign, progress: Progress, clock: CampaignClock) -> Any:
    place = ""
    if len(campaign.runs) > 1:
        number = next(number for number, other in enumerate(campaign.runs, start=1) if other is plan)
        place = f"{plan.name}, run {number} of {len(campaign.runs)}"
    return CheckProgress(progress, place) if plan.engine.kind == "check" else RunProgress(progress, place, clock)


def write_tables_of(data: dict[str, Any]) -> None:
    """tables/ in the run directory of a falsification."""
    from bbfalsify.reporting.table_files import parquet_is_there, write_tables

    if data.get("engine") != "check":
        write_tables(data["run_directory"], parquet=parquet_is_there())


def exit_of_run(data: dict[str, Any]) -> int:
    from bbfalsify.reporting.results import result_from_json

    return exit_of_check(data) if data.get("engine") == "check" else exit_code([result_from_json(data)])


def show_run(data: dict[str, Any], varies: Mapping[str, Any], *, verbose: bool) -> None:
    """The results of a run, whatever its engine."""
    from bbfalsify.reporting.checking import check_lines
    from bbfalsify.reporting.results import result_from_json

    if data.get("engine") != "check":
        show_result(result_from_json(data), dict(varies), verbose=verbose)
        return
    if varies:
        print(f"\n{data['name']}: " + ", ".join(f"{key} {value}" for key, value in varies.items()))
    print("\n".join(check_lines(data)))


def show_in_one_line(data: dict[str, Any], varies: Mapping[str, Any]) -> None:
    """heater (seed 1): R1 falsified; 4 counterexamples, 6068 simulations"""
    told = ", ".join(f"{key} {value}" for key, value in varies.items())
    outcomes = ", ".join(f"{row['id']} {row['outcome'].replace('_', ' ')}" for row in data["requirements"])
    cost = f"{len(data['counterexamples'])} counterexamples, {data['simulations']} simulations"
    print(f"{data['name']} ({told}): {outcomes}; {cost}")


def show_summary(rows: list[dict[str, Any]]) -> None:
    """After several runs: how many went as expected, and which did not."""
    from collections import Counter

    from bbfalsify.campaigns.categories import CATEGORIES

    counts = Counter(row["category"] for row in rows)
    told = [f"{counts[word]} {word}" for word in reversed(CATEGORIES) if counts[word]]
    if counts[None]:
        told.append(f"{counts[None]} without an expectation")
    print(f"\n{len(rows)} runs: {', '.join(told)}")
    for row in rows:
        if row["category"] not in ("correct", None):
            varies = ", ".join(f"{key} {value}" for key, value in row["varies"].items())
            print(f"  {row['category']}: {row['name']} ({varies}): {row['outcome'].replace('_', ' ')}")


def worst_exit(codes: list[int]) -> int:
    """Of several runs: interrupted, then news, then a failed system, then inconclusive."""
    order = (Exit.INTERRUPTED, Exit.FOUND, Exit.SYSTEM_FAILED, Exit.INCONCLUSIVE)
    return next((code for code in order if code in codes), Exit.NOTHING_FOUND)


def exit_code(results: list[RunResult]) -> int:
    """Outcomes that were expected or accepted are no news; others are 1, or decide as they are."""
    if any(r.stop_reason == StopReason.INTERRUPTED for r in results):
        return Exit.INTERRUPTED
    rows = [row for result in results for row in result.requirements]
    if any(row.all_accepted is False for row in rows):
        return Exit.FOUND
    # Where everything found is accepted, the outcome is no news, whatever was expected.
    rows = [row for row in rows if not row.all_accepted]
    if any(row.as_expected is False for row in rows):
        return Exit.FOUND
    return exit_of_outcomes(row.outcome for row in rows if row.expected is None)


def write_plots(data: dict[str, Any]) -> None:
    """Pictures in the run directory: of a check what was learned, of a falsification when violations happen."""
    from bbfalsify.reporting.results import result_from_json

    if data.get("engine") == "check":
        _draw_model(data)
    else:
        _plot_times(result_from_json(data))


def _draw_model(data: dict[str, Any]) -> None:
    """model.svg, with the way to the first violation."""
    from bbfalsify.core.json_files import write_atomically
    from bbfalsify.modelling.mealy import read_dot
    from bbfalsify.reporting.graphs import machine_svg

    if data["model"] is not None:
        way = next(((*r["prefix"], *r["loop"]) for r in data["requirements"] if r["outputs"]), ())
        file = Path(data["model"])
        write_atomically(file.with_suffix(".svg"), machine_svg(read_dot(file), way), durable=False)


def _plot_times(result: RunResult) -> None:
    """time_to_violation.svg; where there are several requirements, one for each violated."""
    from bbfalsify.core.json_files import write_atomically
    from bbfalsify.reporting.insights import time_plot
    from bbfalsify.running.rundir import file_name

    for row in result.requirements if result.run_directory is not None else ():
        plot = time_plot(result, row)
        if plot is not None:
            which = f"-{file_name(row.id)}" if len(result.requirements) > 1 else ""
            file = Path(result.run_directory) / f"time_to_violation{which}.svg"
            write_atomically(file, plot, durable=False)


def show_result(result: RunResult, varies: dict[str, Any], *, verbose: bool) -> None:
    from rich.console import Console

    from bbfalsify.reporting.convergence import convergence_lines
    from bbfalsify.reporting.equations import equations_table, equations_title
    from bbfalsify.reporting.insights import (
        FEW,
        coverage_lines,
        coverage_table,
        elasticity_table,
        swap_lines,
        time_lines,
    )
    from bbfalsify.reporting.shrunk import shrunk_lines
    from bbfalsify.reporting.tables import (
        LEGEND,
        baseline_lines,
        closing_lines,
        effort_line,
        result_table,
        store_lines,
        unmet_lines,
    )
    from bbfalsify.reporting.words import interval

    console = Console(highlight=False, markup=False)
    if varies:
        console.print(f"\n{result.name}: " + ", ".join(f"{key} {value}" for key, value in varies.items()))
    for row in result.requirements:
        if not any(c.requirement == row.id for c in result.counterexamples):
            continue
        console.print()
        if len(result.requirements) > 1:
            console.print(f"{row.id}: {row.text or row.stl}", soft_wrap=True)
        console.print(result_table(result, row.id, console.width))
        if row.found_probability is not None:
            total = row.with_uncertainty or row.found_probability
            console.print(f"probability that a use meets one of these: {interval(total)}")
        if any(c.with_uncertainty for c in result.counterexamples if c.requirement == row.id):
            console.print("the intervals include how well the profile's parameters are known", soft_wrap=True)
        for line in (*shrunk_lines(result, row.id, console.width, everything=verbose), *convergence_lines(row)):
            console.print(line, soft_wrap=True)
        if result.columns:
            console.print(f"\n{equations_title(result)}", soft_wrap=True)
            console.print(equations_table(result, row.id, console.width))
        for line in (*time_lines(row), *swap_lines(row, None if verbose else FEW)):
            console.print(line, soft_wrap=True)
        table = elasticity_table(row) if verbose else None
        if table is not None:
            console.print()
            console.print(table)
    for line in (line for row in result.requirements for line in baseline_lines(row)):
        console.print(line, soft_wrap=True)
    if verbose and result.counterexamples:
        console.print(LEGEND)
    console.print()
    for line in coverage_lines(result, everything=verbose):
        console.print(line, soft_wrap=True)
    table = coverage_table(result) if verbose else None
    if table is not None:
        console.print(table)
        console.print()
    console.print(effort_line(result), soft_wrap=True)
    for line in (*store_lines(result), *unmet_lines(result)):
        console.print(line, soft_wrap=True)
    for note in result.notes:
        console.print(f"note: {note}", soft_wrap=True)
    for line in closing_lines(result):
        console.print(line, soft_wrap=True)
