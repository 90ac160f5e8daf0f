"""Conclusions of a falsification: outcomes, and the notes that a reader needs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bbfalsify.core.verdict import Outcome, SimulationStatus, StopReason
from bbfalsify.engines.falsification.engine import Progress
from bbfalsify.engines.falsification.estimates.ranking import close_rows
from bbfalsify.engines.falsification.search.judging_again import Sampling
from bbfalsify.engines.falsification.search.search import Search
from bbfalsify.engines.falsification.search.word_pool import MATTERS
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.usage import MAX_STEPS
from bbfalsify.logic import Requirement
from bbfalsify.running.falsify.task import Task
from bbfalsify.systems import System
from bbfalsify.systems.interface import BlackBox, usable_jobs

SEARCHED = StopReason.COMPLETED, StopReason.MODES_SHOWN
"""Reasons for which a search ends that has what it looked for."""


def outcome_of(progress: Progress, requirement: int, reason: StopReason | None) -> Outcome:
    """Falsified where anything was found; "not falsified" needs a search that ran and could judge.

    An unbounded `always` can never be called satisfied by a trace that ends; that it was not violated up to the horizon
    is all that "not falsified" says.
    """
    if any(f.requirement == requirement for f in progress.search.findings):
        return Outcome.FALSIFIED
    if reason is StopReason.SYSTEM_FAILED:
        return Outcome.ERROR
    finished = reason in (*SEARCHED, StopReason.BUDGET_SIMULATIONS, StopReason.BUDGET_TIME)
    judged = progress.search.judged and progress.search.judged[requirement] > 0
    # A simulation that failed might have been the violating one.
    finished = finished and not any(status is not SimulationStatus.OK for status in progress.search.statuses)
    return Outcome.NOT_FALSIFIED if finished and judged else Outcome.INCONCLUSIVE


def best_robustness(progress: Progress, requirement: int) -> float:
    return progress.search.best_robustness[requirement] if progress.search.best_robustness else math.inf


def grid_notes(system: System) -> list[str]:
    """A system that samples its inputs may miss events and see them late; a reader must know."""
    period = system.capabilities.grid_period_s
    if period is None:
        return []
    return [
        f"the system runs on a grid of {period:g}: an input that changes between two grid points acts from the next "
        "one on (or never, if it changes back before), and outputs hold from one to the next"
    ]


def sampling_notes(progress: Progress, sampling: Sampling) -> list[str]:
    """Changes of verdicts at a shorter sampling period, and what was done about them."""
    found = any(finding.iteration is not None for finding in progress.search.findings)
    if sampling.finer and found and not any(again.check.findings for again in progress.judged_again):
        return ["the run ended before its findings could be judged again at a shorter sampling period"]
    notes = []
    for number, again in enumerate(progress.judged_again):
        check = again.check
        if not check.matters:
            continue
        if number < sampling.refinements:
            notes.append(
                f"{check.text}; so samples were taken every {check.finer:g}, in a new search and all estimates"
            )
        elif sampling.given:
            notes.append(
                f"{check.text}: THE PERIOD IS TOO LONG to trust these numbers; without one, a shorter is chosen"
            )
        else:
            dropped = "; what is not confirmed is not listed" if check.not_confirmed else ""
            notes.append(f"{check.text}: STILL TOO FEW SAMPLES to trust these numbers; give a shorter period{dropped}")
    return notes


def worker_notes(system: BlackBox, jobs: int) -> list[str]:
    """Say why fewer workers were used than asked for."""
    if usable_jobs(system, jobs) == jobs:
        return []
    return [f"{jobs} workers were asked for; there is only one '{system.name}' (exclusive), so one worker was used"]


def notes_on(task: Task, progress: Progress, failures: dict[SimulationStatus, int]) -> list[str]:
    """Notes that a reader needs to read the numbers rightly."""
    notes = []
    if failures:
        what = ", ".join(f"{count} {status.value.replace('_', ' ')}" for status, count in sorted(failures.items()))
        meaning = (
            "failing counts as violating"
            if task.terms.execution.on_failure == "violation"
            else "probabilities leave them out (on_failure: violation counts them as violating)"
        )
        first = f"; the first said: {progress.search.first_failure}" if progress.search.first_failure else ""
        notes.append(f"simulations that failed: {what}{first}; {meaning}; 'bbfalsify doctor' looks for the cause")
    notes += dict.fromkeys(progress.search.notes)
    if not task.options.passes and progress.search.findings:
        notes.append("passes is 0: nothing was estimated or shrunk")
    notes += few_words_note(progress.search, task)
    notes += notes_on_lists(task, progress)
    if progress.search.zeno_walks:
        notes.append(
            f"{progress.search.zeno_walks} walks would not have reached the horizon within {MAX_STEPS} transitions "
            "and were not simulated"
        )
    for number, requirement in enumerate(task.requirements):
        seen = progress.search.judged[number] if progress.search.judged else 0
        if seen and progress.search.vacuous[number] == seen:
            notes.append(f"{requirement.id} held only vacuously: its trigger never occurred in {seen} simulations")
    return notes


def few_words_note(search: Search, task: Task) -> list[str]:
    """Say why a list is shorter than wanted: the profile cannot do more."""
    possible, wanted = search.possible, task.options.counterexamples
    if possible is None or not task.profile.has_actions or search.stopped is not StopReason.COMPLETED:
        return []
    return [
        f"uses up to the horizon have only {possible} different words, fewer than the {wanted} counterexamples wanted: "
        "the search ended when no other was found"
    ]


def notes_on_lists(task: Task, progress: Progress) -> list[str]:
    """Notes about the rows alone."""
    # A use without actions has one key: no other could be on the list.
    lists = what_the_lists_are(progress.search, task.requirements, task.options) if task.profile.has_actions else []
    order = what_the_order_is(progress, task.requirements)
    return [*lists, *order, *what_has_probability_zero(progress, task.requirements)]


def what_the_order_is(progress: Progress, requirements: Sequence[Requirement]) -> list[str]:
    """Numbers of similar rows need not descend; say why."""
    notes = []
    for number, requirement in enumerate(requirements):
        first = 1
        for group in close_rows(progress.of(number)):
            last = first + len(group) - 1
            if last > first and all(row.ordering is not None for row in group):
                rows = f"#{first} {'and' if last == first + 1 else 'to'} #{last}"
                notes.append(f"{requirement.id}: {rows} have intervals that overlap; further simulations ordered them")
            first = last + 1
    return notes


def what_has_probability_zero(progress: Progress, requirements: Sequence[Requirement]) -> list[str]:
    """Name the rows that exist, but that no user meets."""
    notes = []
    for number, requirement in enumerate(requirements):
        ranked = progress.ranking(number)
        exact = [rank for rank, row in enumerate(ranked, start=1) if row.exact_moments]
        if exact:
            between = "and" if len(exact) == 2 else "to"
            rows = f"#{exact[0]} is" if len(exact) == 1 else f"#{exact[0]} {between} #{exact[-1]} are"
            total = "" if len(exact) == len(ranked) else "; left out of the total"
            notes.append(
                f"{requirement.id}: {rows} possible only at exact moments (delays at the ends of their windows): "
                f"no trace of the estimate and no run a little inside the windows violates there{total}"
            )
    return notes


def what_the_lists_are(search: Search, requirements: Sequence[Requirement], options: Options) -> list[str]:
    """A list is never all there is; say what it is."""
    if options.search == "first":
        if search.stopped not in SEARCHED or not search.findings:
            return []
        return [
            "these are the first counterexamples that the search found, ranked; more probable ones may be missing "
            "(search: probable looks for them, smc says how much is missing)"
        ]
    notes = []
    for number, requirement in enumerate(requirements):
        listed = sum(f.requirement == number and f.iteration is not None for f in search.findings)
        if listed < options.counterexamples:
            continue
        found = len(search.known[number])
        what = f"the {listed} listed are the most probable" if listed > 1 else "the one listed is the most probable"
        end = (
            f"the last {options.patience} simulations of the search brought none that adds {MATTERS:.0%} to the list"
            if search.stopped is StopReason.COMPLETED
            else "the search ended before the list settled, more simulations may find more probable ones"
        )
        notes.append(
            f"{requirement.id}: {what} of {found} counterexamples found, by rough estimates; {end} "
            "(smc says how much of all violations it explains)"
        )
    return notes
