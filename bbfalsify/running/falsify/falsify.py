"""One falsification from beginning to end: profile, system and requirements in, a ranked run directory out.

    result = falsify(system, "profile.yaml", "always(T <= 75)", Settings(horizon=20.0), seed=1)
    result.outcome, result.counterexamples[0].probability, result.directory

The engine decides what to try (`engines/falsification`); this file gives it a driver, leads it through its stages
(`stages.py`), has the counterexample files written (`counterexample_list.py`) and draws the conclusion.  All that a
user is shown comes from the recorded results.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bbfalsify.core.budget import Budget
from bbfalsify.core.verdict import Outcome
from bbfalsify.records.accepted import Acceptances, load_acceptances
from bbfalsify.records.recording import Recording, RunRecord
from bbfalsify.records.store import Store
from bbfalsify.results.falsify_acceptance import AcceptanceResult
from bbfalsify.results.falsify_modes import FailureMode
from bbfalsify.results.falsify_result import FalsificationResult, RequirementResult
from bbfalsify.running.execution import Execution
from bbfalsify.running.falsify.conclusions import best_robustness, notes_on_lists
from bbfalsify.running.falsify.counterexample_list import Listing
from bbfalsify.running.falsify.given import ProfileLike, RequirementLike
from bbfalsify.running.falsify.replay_store import Memory, recorded_modes
from bbfalsify.running.falsify.stages import Stages
from bbfalsify.running.falsify.task import Settings, prepare
from bbfalsify.running.terms import Terms
from bbfalsify.running.warm_up import compile_everything
from bbfalsify.systems import System


def falsify(
    system: System,
    profile: ProfileLike,
    requirements: RequirementLike | Sequence[RequirementLike],
    settings: Settings,
    *,
    budget: Budget = Budget(),
    seed: int | None = None,
    store: str | Path | None = None,
    accepted: Acceptances | str | Path | None = None,
    execution: Execution = Execution(),
    recording: Recording = Recording(),
) -> FalsificationResult:
    """Search for counterexamples, confirm them, estimate how probable each is, and store them best first.

    The arguments are explained by `bbfalsify.falsify`.
    """
    if not recording.writes:
        settings = replace(settings, options=replace(settings.options, fan=0))  # fans are drawn from files
    seed = recording.seed(seed)
    task = prepare(system, profile, requirements, settings, Terms(budget, seed, execution, recording.system))
    acceptances = load_acceptances(accepted) if isinstance(accepted, str | Path) else accepted
    memory = None if store is None else Memory(Store.open(store))
    compile_everything(frozenset(requirement.monitor for requirement in task.requirements))
    started = time.monotonic()  # the limits of a run do not count the compiling that only the very first one needs
    with task.driven(recording, task.decided_by(with_store=memory is not None)) as driver:
        stages = Stages(task, driver, memory)
        stages.recall()
        stages.search()
        stages.shrink()
        stages.simulate_plainly()
        stages.weigh_rare_violations()
        stages.name_modes()
        stages.draw()
    record = driver.record
    result = _conclude(stages, record, acceptances, began=started - record.answers.seconds)
    record.write_results(result.as_json())
    return result


def _conclude(
    stages: Stages, record: RunRecord, acceptances: Acceptances | None, *, began: float
) -> FalsificationResult:
    """Draw the conclusion; the files of the counterexamples are written on the way."""
    task, scribe, (checked, met) = stages.task, stages.scribe, stages.self_check()
    notes = [*checked.warnings, *stages.notes()]
    listing, rows = Listing(stages, met), []
    modes: list[FailureMode] = []
    for number, requirement in enumerate(task.requirements):
        total = scribe.total(number)
        baseline = stages.baseline(number, total)
        insights = stages.insights(number, total, baseline)
        listing.add(number, insights)
        named = listing.modes(number)
        modes += named.modes if named is not None else ()
        words, convergence = scribe.convergence(number)
        rows.append(
            RequirementResult(
                id=requirement.id,
                text=requirement.text,
                stl=requirement.formula.text,
                outcome=stages.outcome(number),
                found_probability=total,
                best_robustness=best_robustness(scribe.progress, number),
                baseline=baseline,
                found_probability_with_uncertainty=insights.total,
                time_to_violation=insights.times,
                sensitivity=insights.sensitivity,
                found_words=words,
                convergence=convergence,
                violation=None if named is None else named.violation,
                other=None if named is None else named.other,
                unseen=None if named is None else named.unseen,
            )
        )
    notes += listing.teach_the_store()
    run = "" if record.path is None else record.path.name
    history = () if stages.memory is None else recorded_modes(stages.memory.store, task, run, rows, modes, listing.rows)
    judged, memory = listing.judge(acceptances, modes), stages.memory
    return FalsificationResult(
        name=stages.driver.name,
        outcome=Outcome.overall([row.outcome for row in rows]),
        seed=task.terms.seed,
        simulations=stages.driver.spent.simulations,
        iterations=scribe.progress.search.iterations,
        stop_reason=stages.reason,
        requirements=tuple(rows),
        modes=tuple(modes),
        counterexamples=tuple(listing.rows),
        # Different requirements may be broken by the same use, so their totals do not add up.
        found_probability=rows[0].found_probability if len(rows) == 1 else None,
        seconds=time.monotonic() - began,
        directory=record.path,
        notes=tuple(notes),
        list_notes=(*notes_on_lists(task, scribe.progress), *stages.naming.notes(task.requirements)),
        store=None if memory is None else memory.store.path,
        known=() if memory is None else tuple(known.row() for known in memory.known),
        history=history,
        acceptance=None if judged is None else AcceptanceResult.of(judged),
        columns=task.options.columns,
        profile_coverage=stages.coverage(),
        units=task.units,
        sampling=stages.sampling(),
        self_check=checked,
    )
