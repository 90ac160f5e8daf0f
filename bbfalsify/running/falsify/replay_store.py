"""Replay of the store: known counterexamples are executed again before the search looks for more.

Every stored counterexample of this system and these requirements is answered SAME (still there), FIXED or CHANGED, as
`replay` does.  Those that still violate their requirement take part in the run like findings of the search: same key,
estimated anew under this run's profile, ranked.  Afterwards the store learns what is new and what became of the old.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np

from bbfalsify.core.choices import ChoiceSequence
from bbfalsify.core.confirmation import Confirmation
from bbfalsify.core.errors import UserError
from bbfalsify.core.events import KnownReplayed, StageStarted
from bbfalsify.core.verdict import ReplayOutcome, SimulationStatus, Verdict
from bbfalsify.engines.falsification.estimates.conditional import METHOD as CONDITIONAL
from bbfalsify.engines.falsification.estimates.exact import METHOD as EXACT
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.space import SAME_MOMENT
from bbfalsify.logic import Requirement
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.records.mode_history import note_run, past_runs
from bbfalsify.records.store import State, Store, StoredCounterexample, name_of, now_text, same_system
from bbfalsify.results.falsify_modes import FailureMode, PastMode, PastRun
from bbfalsify.results.falsify_result import KnownCounterexample, RankedCounterexample, RequirementResult
from bbfalsify.running.confirm import compare
from bbfalsify.running.driver import Driver
from bbfalsify.running.falsify.finding_listener import Scribe
from bbfalsify.running.falsify.task import Task
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.running.replay import (
    ReplayResult,
    check_ports,
    conclude,
    never_seen_to_hold,
    repetitions,
    seeds_of,
)
from bbfalsify.running.workers.assignment import Assignment
from bbfalsify.running.workers.executors import Pool, open_pool
from bbfalsify.systems import System

_STATES = {ReplayOutcome.SAME: State.OPEN, ReplayOutcome.FIXED: State.FIXED, ReplayOutcome.CHANGED: State.CHANGED}


@dataclass(frozen=True, eq=False)
class Known:
    """A counterexample of the store, executed again."""

    stored: StoredCounterexample
    requirement: int
    result: ReplayResult
    finding: Finding | None = None
    """Part of the ranking, where it still violates."""
    remark: str = ""
    """Reason why it violates but is not ranked."""

    @property
    def returned(self) -> bool:
        return self.stored.state is State.FIXED and self.result.outcome is ReplayOutcome.SAME

    def row(self) -> KnownCounterexample:
        found, result = self.stored.counterexample, self.result
        return KnownCounterexample(
            requirement=found.requirement.id,
            actions=found.actions,
            outcome=result.outcome,
            before=self.stored.state,
            explanation=result.explanation + (f"; {self.remark}" if self.remark else ""),
            reproduced=result.reproduced,
            tries=result.tries,
            file=str(self.stored.file),
        )


@dataclass
class Memory:
    """The store of one run: what it knew, what came of it, what it learns; filled in place, so Ctrl-C keeps it."""

    store: Store
    known: list[Known] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def recall(self, task: Task, driver: Driver) -> None:
        """Execute everything known about this system and these requirements again.

        Of a run that was interrupted, only the files that took part before: the store may have learned since.
        """
        entries, problems = self.store.read()
        only = driver.recorded.known
        entries = [entry for entry in entries if only is None or str(entry.file) in only]
        self.notes += [f"store: {problem} The file is left alone." for problem in problems]
        of_system = [e for e in entries if same_system(e.counterexample, task.system.name, task.record.reference)]
        chosen: list[tuple[int, StoredCounterexample]] = []
        for number, requirement in enumerate(task.requirements):
            namesakes = [e for e in of_system if e.counterexample.requirement.id == requirement.id]
            mine = [e for e in namesakes if _same_requirement(e.counterexample, requirement)]
            if len(mine) < len(namesakes):
                self.notes.append(
                    f"store: {len(namesakes) - len(mine)} counterexamples of another formula called {requirement.id} "
                    "were not executed"
                )
            chosen += [(number, entry) for entry in mine if self._fits(entry, task.system)]
        again = sum(len(repetitions(entry.counterexample)) for _, entry in chosen)
        driver.recorder.record(StageStarted("replaying the store", again))
        # Simulations are repeated with the seeds of the run that found them, and a pool has one seed.
        chosen.sort(key=lambda item: (item[0], str(seeds_of(item[1].counterexample)), item[1].file.stem))
        groups = itertools.groupby(chosen, key=lambda item: (item[0], seeds_of(item[1].counterexample)))
        for (number, seeds), members in groups:
            judge = RequirementsJudge([task.requirements[number]])
            # Whole traces are wanted, each execution once: votes and early stops are the search's.
            once = replace(driver.execution, votes=1, early_stop=False)
            with closing(open_pool(Assignment(task.system, judge, once, seeds))) as pool:
                for _, entry in members:
                    self._replay(entry, number, task, driver, pool)

    def _replay(self, entry: StoredCounterexample, number: int, task: Task, driver: Driver, pool: Pool) -> None:
        found, requirement = entry.counterexample, task.requirements[number]
        answers = tuple(driver.repeat(repetitions(found, name=f"known/{entry.file.stem}"), pool.answers))
        result = conclude(found, answers, unbounded=never_seen_to_hold(requirement))
        failing_violates = task.terms.execution.on_failure == "violation"
        known = _known(entry, number, result, task.usage.model.actions, failing_violates)
        if known.finding is not None and found.choices is not None:
            _restore_run(known.finding, found.choices.sequence, task)
        self.known.append(known)
        outcome = result.outcome.value, result.reproduced, result.tries
        driver.recorder.record(KnownReplayed(requirement.id, found.actions, str(entry.file), *outcome))

    def _fits(self, entry: StoredCounterexample, system: System) -> bool:
        try:
            check_ports(entry.counterexample, system)
            return True
        except UserError as error:
            self.notes.append(f"store: {entry.file} was not executed: {error.problems[0].message}")
            return False

    def put_among_the_findings(self, scribe: Scribe) -> None:
        """Add what still violates, one per requirement and key: two stored inputs may now fail in the same step."""
        seen = set()
        for known in self.known:
            if known.finding is None:
                continue
            if (key := (known.requirement, known.finding.actions)) not in seen:
                seen.add(key)
                scribe.progress.search.findings.append(known.finding)

    def of(self, finding: Finding) -> Known | None:
        return next((known for known in self.known if known.finding is finding), None)

    def set_aside_impossible(self, scribe: Scribe) -> None:
        """Keep known failures that this profile never produces in the report, but not in the ranking."""
        for finding in scribe.progress.estimated:
            # Splitting may lose every particle by chance; conditional steps only where no step is possible.
            estimate = finding.estimated
            conditional = estimate.cylinder.method.startswith((CONDITIONAL, EXACT))
            if (known := self.of(finding)) is not None and conditional and not any(estimate.passes.cylinders):
                remark = "this profile never does these actions in this order"
                aside = replace(known, finding=None, remark=remark)
                self.known = [aside if k is known else k for k in self.known]
                scribe.progress.search.findings.remove(finding)

    def learn(self, found: Iterable[tuple[Finding, Counterexample]], run: str) -> int:
        """Write down what was found, and what became of what was known; how many failures are new."""
        before = {known.stored.file: known.stored.state for known in self.known}
        after = {known.stored.file: _STATES[known.result.outcome] for known in self.known}
        for finding, counterexample in found:
            known = self.of(finding)
            if known is not None and known.result.outcome is ReplayOutcome.SAME:
                continue
            file = self.store.path / f"{name_of(counterexample)}.json"
            # Where what was there violates no more, or otherwise, the new input is the one to keep.
            self.store.keep(counterexample, replace=after.get(file, State.OPEN) is not State.OPEN)
            after[file] = State.OPEN
        for file, state in after.items():
            if before.get(file) is not state:
                self.store.mark(file, state, run=run)
        return len(set(after) - set(before))


def recorded_modes(
    store: Store,
    task: Task,
    run: str,
    rows: Sequence[RequirementResult],
    modes: Sequence[FailureMode],
    listed: Sequence[RankedCounterexample],
) -> tuple[PastRun, ...]:
    """Note the failure modes of this run in the store's history, and return those of the runs before."""
    words = {(row.requirement, row.rank): row.actions for row in listed}
    formulas = {row.id: row.stl for row in rows}
    before = past_runs(store.path, task.system.name, formulas)
    now = [
        {
            "system": task.system.name, "stl": row.stl,
            **PastRun(run=run, time=now_text(), requirement=row.id, violation=row.violation, modes=tuple(
                PastMode(name=m.name, sentence=m.sentence, probability=m.probability,
                         typical=words.get((m.requirement, next(iter(m.counterexamples), 0)), ()))
                for m in modes if m.requirement == row.id
            )).as_json(),
        }
        for row in rows if row.violation is not None
    ]  # fmt: skip
    note_run(store.path, now)
    return tuple(PastRun.from_json(entry) for entry in before if entry["run"] != run)


def _known(
    entry: StoredCounterexample, number: int, result: ReplayResult, actions: Sequence[str], failing_violates: bool
) -> Known:
    """Interpret the answers for this run: a finding, if the requirement is violated and the key can be told."""
    found = entry.counterexample
    failed = [a for a in result.answers if not a.ok]
    if found.simulation is not SimulationStatus.OK:
        if result.outcome is not ReplayOutcome.SAME or not failing_violates:
            remark = "" if result.outcome is not ReplayOutcome.SAME else "a failing simulation is no violation here"
            return Known(entry, number, result, remark=remark)
        finding = Finding(
            number, found.actions, found.word, found.stimulus, found.judgement, failed[0].status, None, entry.file.stem
        )
        finding.confirmation = Confirmation(result.reproduced, result.tries, True, None)
        return _ranked_if_possible(Known(entry, number, result, finding), actions)
    violated = [a for a in result.answers if a.ok and a.judgements[0].verdict is Verdict.VIOLATED]
    if not violated:
        return Known(entry, number, result)
    judgement = violated[0].judgements[0]
    step = violating_step(np.array([time for time, _ in found.word]), judgement.first_violation_time)
    if step > len(found.word):
        return Known(entry, number, result, remark="it fails after the last recorded action, so it has no key")
    key = tuple(action for _, action in found.word[:step])
    finding = Finding(number, key, found.word, found.stimulus, judgement, SimulationStatus.OK, None, entry.file.stem)
    finding.confirmation = compare(result.answers, 0, judgement)
    return _ranked_if_possible(Known(entry, number, result, finding), actions)


def _restore_run(finding: Finding, choices: ChoiceSequence, task: Task) -> None:
    """Give a finding its walk, if the profile is still the one that made these choices."""
    played = task.space.repeated(choices)
    if played is None:
        return
    walk = played.walk.prefix(len(finding.word))
    word = finding.word[: walk.steps]
    same = walk.actions(task.usage.model) == tuple(action for _, action in word)
    if same and np.allclose(walk.times, [time for time, _ in word], rtol=SAME_MOMENT, atol=SAME_MOMENT):
        finding.walk, finding.choices = walk, played.choices


def _ranked_if_possible(known: Known, actions: Sequence[str]) -> Known:
    wanted = () if known.finding is None else known.finding.actions
    missing = [a for a in dict.fromkeys(wanted) if a not in actions]
    if not missing:
        return known
    remark = f"this profile has no action {', '.join(missing)}"
    return replace(known, finding=None, remark=remark)


def _same_requirement(counterexample: Counterexample, requirement: Requirement) -> bool:
    record = counterexample.requirement
    return (record.id, record.stl, record.time, record.period) == (
        requirement.id,
        requirement.formula.text,
        requirement.time,
        requirement.period,
    )
