"""The result of a falsification as a terminal shows it, and the files that are made of it; from what was recorded."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bbfalsify.core.odds import probability
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.records.json_files import write_atomically
from bbfalsify.records.run_directory import file_name
from bbfalsify.reporting.formatting import interval, shorten_word
from bbfalsify.reporting.terminal import insight_lines as insights
from bbfalsify.reporting.terminal.counterexamples import (
    LEGEND,
    equations_table,
    equations_title,
    result_table,
    shrunk_lines,
    value_lines,
)
from bbfalsify.reporting.terminal.lines import expectation, note_lines, place_lines
from bbfalsify.reporting.terminal.modes import mode_lines
from bbfalsify.results.falsify_modes import FailureMode
from bbfalsify.results.falsify_result import FalsificationResult, KnownCounterexample, RequirementResult
from bbfalsify.results.mode_words import like
from bbfalsify.results.recorded import result_from_json

if TYPE_CHECKING:
    from rich.table import Table

MOST_KNOWN = 10
"""Lines on single counterexamples of the store; results.json has them all."""


def falsification_lines(data: Mapping[str, Any], width: int, verbose: bool) -> Iterator[str | Table]:
    """The failure modes of each requirement, and the outcome; rows and how they were found only where asked for."""
    result = result_from_json(FalsificationResult, data)
    for row in result.requirements:
        if row.violation is not None:
            yield ""
            yield from mode_lines(row, _marked(result, row.id), width, verbose)
        # Whoever accepts failures needs to see those that are not.
        open_ = result.acceptance is not None and result.accepted(row.id) != len(result.listed(row.id))
        if result.listed(row.id) and (verbose or not result.modes_of(row.id) or open_):
            yield ""
            yield from _found(result, row, width, verbose)
    for row in result.requirements:
        yield from baseline_lines(row)
    if verbose and result.counterexamples:
        yield from textwrap.wrap(LEGEND, width)
    yield ""
    if verbose or not result.modes:
        yield from _coverage(result, width, verbose)
    yield effort_line(result)
    hidden = () if verbose or not result.modes else result.list_notes
    notes = [note for note in result.notes if note not in hidden]
    yield from (*flaky_lines(result), *store_lines(result), *history_lines(result), *unmet_lines(result))
    yield from note_lines(notes)
    yield from closing_lines(result, brief=bool(result.modes) and not verbose)


def _marked(result: FalsificationResult, requirement: str) -> list[FailureMode]:
    """The modes of a requirement; where failures may be accepted, each says whether it is."""
    words = {None: "", True: "(accepted) ", False: "(not accepted) "}  # in front, where no line breaks within
    return [
        replace(mode, sentence=words[result.accepted_mode(mode)] + mode.sentence)
        for mode in result.modes_of(requirement)
    ]


def _coverage(result: FalsificationResult, width: int, verbose: bool) -> Iterator[str | Table]:
    yield from insights.coverage_lines(result.profile_coverage, everything=verbose)
    table = insights.coverage_table(result.profile_coverage) if verbose else None
    if table is not None:
        yield from (table, "")
    if verbose:
        for line in insights.sampling_lines(result.sampling):
            yield from textwrap.wrap(line, width)


def _found(result: FalsificationResult, row: RequirementResult, width: int, verbose: bool) -> Iterator[str | Table]:
    found = result.listed(row.id)
    if len(result.requirements) > 1:
        yield f"{row.id}: {row.text or row.stl}"
    yield result_table(found, width)
    yield from value_lines(found, width, everything=verbose)
    if row.shown is not None:
        yield f"probability that a use meets one of these: {interval(row.shown)}"
    if any(c.probability_with_uncertainty for c in found):
        yield "the intervals include how well the profile's parameters are known"
    yield from (*shrunk_lines(found, width, everything=verbose), *insights.convergence_lines(row))
    if result.columns:
        yield f"\n{equations_title(result.columns)}"
        yield equations_table(found, result.columns, width)
    yield from (*insights.time_lines(row), *insights.swap_lines(row, None if verbose else insights.FEW))
    table = insights.elasticity_table(row) if verbose else None
    if table is not None:
        yield from ("", table)


def flaky_lines(result: FalsificationResult) -> Iterator[str]:
    """How many counterexamples did not fail each time they were executed again."""
    flaky, found = sum(row.status == "flaky" for row in result.counterexamples), len(result.counterexamples)
    if flaky:
        many = f"{flaky} of {found} counterexamples are" if found > 1 else "the counterexample is"
        yield f"{many} flaky: executed again, the system did not fail each time"


def effort_line(result: FalsificationResult) -> str:
    """Cost of the run, and why it ended."""
    settled = any(row.convergence for row in result.requirements)
    completed = "the list did not improve any more" if settled else "all counterexamples asked for were found"
    why = {
        StopReason.COMPLETED: completed,
        StopReason.MODES_SHOWN: "the violations showed the failure modes asked for",
        StopReason.BUDGET_SIMULATIONS: "the search used up its simulations",
        StopReason.BUDGET_TIME: "the search used up its time",
        StopReason.SYSTEM_FAILED: "the system failed",
    }
    reason = "" if result.stop_reason is None else why.get(result.stop_reason, result.stop_reason)
    return f"{result.simulations} simulations in {result.seconds:.1f} s; {reason}"


def baseline_lines(row: RequirementResult) -> Iterator[str]:
    """Plain simulation: the probability of any violation, and how much of it is on the list."""
    if row.baseline is None:
        return
    any_violation, share = row.baseline.probability, row.baseline.explained
    simulations = f"{row.baseline.simulations} plain simulations"
    if (between := bounds_by_list(row)) is not None:
        yield f"{row.id}, any violation (the list, and {simulations}):"
        yield f"  {between}"
    else:
        how = "importance sampling" if row.baseline.by_importance else simulations
        yield f"{row.id}, any violation, by {how}: {interval(any_violation)}"
    if row.baseline.share_unknown:
        yield f"  share that the list explains: unknown ({row.baseline.share_unknown})"
    if share is not None:
        missed = len(row.baseline.never_met)
        text = f"the list explains {share.value:.0%} of it [{share.low:.0%}, {share.high:.0%}]"
        yield text + (f"; {missed} of the list plain simulation never met" if missed else "")


def bounds_by_list(row: RequirementResult) -> str | None:
    """at least 8.10e-9 [7.70e-9, 8.50e-9], at most 1.50e-4; None where plain simulation alone gives the probability"""
    plain, listed = row.baseline, row.found_probability
    if plain is None or listed is None or not plain.share_unknown or plain.probability.low == 0:
        return None
    least = probability(plain.probability.low) if listed.none_seen or listed.low == 0 else interval(listed)
    return f"at least {least}, at most {probability(plain.probability.high)}"


def store_lines(result: FalsificationResult) -> Iterator[str]:
    """Fates of the store's counterexamples, and how many are new; single ones only where something changed."""
    if result.store is None:
        return
    counts = Counter(_fate(row) for row in result.known)
    fates = [fate for fate in ("still there", "back again", "fixed", "changed") if counts[fate]]
    told = ", ".join(f"{counts[fate]} {fate}" for fate in fates)
    new = sum(not c.known for c in result.counterexamples)
    yield f"store {result.store}: {len(result.known)} known{f' ({told})' if told else ''}, {new} new"
    news = [row for row in result.known if _fate(row) not in ("still there", row.before)]
    for row in news[:MOST_KNOWN]:
        why = f": {row.explanation}" if _fate(row) == "changed" else ""
        yield f"  {_fate(row)}: {row.requirement} {shorten_word(row.actions, 40)}{why}"
    if len(news) > MOST_KNOWN:
        yield f"  … and {len(news) - MOST_KNOWN} more"


def history_lines(result: FalsificationResult) -> Iterator[str]:
    """Failure modes that are new or gone since the last run of the store."""
    for row in result.requirements:
        before = [past for past in result.history if past.requirement == row.id]
        if not before or row.violation is None:
            continue
        then, now = [m.name for m in before[-1].modes], [m.name for m in result.modes_of(row.id)]
        ever = {mode.name for past in before for mode in past.modes}
        news = [("new", [n for n in now if n not in ever]), ("back", [n for n in now if n in ever and n not in then]),
                ("gone", [n for n in then if n not in now])]  # fmt: skip
        said = [f"{word}: {', '.join(names)}" for word, names in news if names] or ["no failure mode is new or gone"]
        runs = f"{len(before)} earlier run{'s' * (len(before) != 1)}"
        yield f"store, {runs} of {row.id}: {'; '.join(said)}"


def _fate(row: KnownCounterexample) -> str:
    if row.outcome == "same":
        return "back again" if row.before == "fixed" else "still there"
    return row.outcome


def unmet_lines(result: FalsificationResult) -> Iterator[str]:
    """Accepted failures that were not found: perhaps they are fixed, and the entry can go."""
    unmet = () if result.acceptance is None else result.acceptance.unmet
    for entry in unmet[:MOST_KNOWN]:
        where = f" (line {entry.line})" if entry.line else ""
        what = shorten_word(entry.actions, 40) if entry.mode is None else f"mode {entry.mode}"
        renamed = [] if entry.mode is None else like(entry.mode, result.modes_of(entry.requirement))
        said = f"; like it is {' or '.join(renamed)}, accept that by its name" if renamed else ""
        yield f"accepted, but not found: {entry.requirement} {what}{where}{said}"
    if len(unmet) > MOST_KNOWN:
        yield f"… and {len(unmet) - MOST_KNOWN} more"


def closing_lines(result: FalsificationResult, *, brief: bool = False) -> Iterator[str]:
    """The last lines of every run: outcome per requirement, report, run directory, seed, replay command.

    `brief`: without directory and seed, if there is a report, whose place says the one and which shows the other.
    """
    for row in result.requirements:
        yield _requirement_line(row, len(result.listed(row.id)), result.accepted(row.id))
    if result.outcome == Outcome.NOT_FALSIFIED:
        yield "not falsified is not verified: another profile, seed or budget may still find a failure"
    lines = list(place_lines(result.directory, result.seed, [c.file for c in result.counterexamples]))
    if brief and lines[0].startswith("report: "):
        lines = [line for line in lines if line.startswith(("report: ", "replay: "))]
    yield from lines


def _requirement_line(row: RequirementResult, found: int, accepted: int | None) -> str:
    """R1 falsified (as expected): never above 75 degrees"""
    text = f"{row.id} {row.outcome.replace('_', ' ')}{expectation(row.outcome, row.expected)}"
    if accepted is not None:
        missing = found - accepted
        text += (
            f", {missing} of {found} not accepted"
            if missing
            else ", accepted"
            if accepted == 1
            else f", all {accepted} accepted"
        )
    text = f"{text}: {row.text}" if row.text else text
    # A search that found nothing says how near it came; an infinite robustness came from no simulation.
    near = row.outcome == Outcome.NOT_FALSIFIED and math.isfinite(row.best_robustness)
    return f"{text}; closest robustness {row.best_robustness:.4g}" if near else text


def write_files(data: Mapping[str, Any]) -> None:
    """Write time_to_violation.svg; where there are several requirements, one for each violated."""
    result = result_from_json(FalsificationResult, data)
    if result.directory is None:
        return
    for row in result.requirements:
        plot = insights.time_plot(f"{result.name} {row.id}", row, result.listed(row.id))
        if plot is not None:
            which = f"-{file_name(row.id)}" if len(result.requirements) > 1 else ""
            write_atomically(result.directory / f"time_to_violation{which}.svg", plot, durable=False)
