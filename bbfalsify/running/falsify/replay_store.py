"""What the store remembers of a system is executed again before the search looks for more.

Every stored counterexample of this system and these requirements is answered SAME (still there), FIXED or CHANGED, as
`replay` does.  Those that still violate their requirement take part in the run like findings of the search: same key,
estimated anew under this run's profile, ranked.  Afterwards the store learns what is new and what became of the old.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.events import KnownReplayed, StageStarted
from bbfalsify.core.query import Answer, Query
from bbfalsify.core.verdict import SimulationStatus, Verdict
from bbfalsify.engines.falsification.accelerator import Finding
from bbfalsify.engines.falsification.conditional import METHOD as CONDITIONAL
from bbfalsify.engines.falsification.exact import METHOD as EXACT
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.logic import Requirement
from bbfalsify.records.counterexample import Counterexample, SystemRecord
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.store import State, Store, StoredCounterexample, name_of, same_system
from bbfalsify.results.falsify_result import KnownCounterexample
from bbfalsify.running.confirm import TOLERANCE_S, Confirmation, compare
from bbfalsify.running.driver import Ended, drive
from bbfalsify.running.falsify.finding_listener import Scribe
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.running.replay import (
    ReplayOutcome,
    ReplayResult,
    check_ports,
    conclude,
    never_seen_to_hold,
    repetitions,
    seeds_of,
)
from bbfalsify.running.workers.executors import open_pool
from bbfalsify.systems import System

_STATES = {ReplayOutcome.SAME: State.OPEN, ReplayOutcome.FIXED: State.FIXED, ReplayOutcome.CHANGED: State.CHANGED}


@dataclass(frozen=True, eq=False)
class Known:
    """A counterexample of the store, executed again."""

    stored: StoredCounterexample
    requirement: int
    result: ReplayResult
    finding: Finding | None = None
    """Where it still violates: what takes part in the ranking."""
    confirmation: Confirmation | None = None
    remark: str = ""
    """Why it violates but is not ranked."""

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

    def recall(
        self,
        system: System,
        reference: str,
        requirements: Sequence[Requirement],
        actions: Sequence[str],
        *,
        recorder: Recorder,
        repeat: Callable[[Sequence[Query], Callable[..., Iterable[Answer]]], Sequence[Answer]],
        jobs: int,
        executor: str | Executor | None = None,
        time_limit_s: float | None,
        memory_limit_mb: float | None = None,
        failing_violates: bool,
        only: Collection[str] | None = None,
    ) -> None:
        """Execute everything known about this system and these requirements again (`repeat` is the driver's).

        `only`: the files that took part before the run was interrupted; what the store has learned since is left out.
        """
        entries, problems = self.store.read()
        entries = [entry for entry in entries if only is None or str(entry.file) in only]
        self.notes += [f"store: {problem} The file is left alone." for problem in problems]
        of_system = [e for e in entries if same_system(e.counterexample, system.name, reference)]
        chosen: list[tuple[int, StoredCounterexample]] = []
        for number, requirement in enumerate(requirements):
            namesakes = [e for e in of_system if e.counterexample.requirement.id == requirement.id]
            mine = [e for e in namesakes if _same_requirement(e.counterexample, requirement)]
            if len(mine) < len(namesakes):
                self.notes.append(
                    f"store: {len(namesakes) - len(mine)} counterexamples of another formula called {requirement.id} "
                    "were not executed"
                )
            chosen += [(number, entry) for entry in mine if self._fits(entry, system)]
        recorder.record(StageStarted("replaying the store", sum(len(repetitions(e.counterexample)) for _, e in chosen)))
        # Simulations are repeated with the seeds of the run that found them, and a pool has one seed.
        chosen.sort(key=lambda item: (item[0], str(seeds_of(item[1].counterexample)), item[1].name))
        groups = itertools.groupby(chosen, key=lambda item: (item[0], seeds_of(item[1].counterexample)))
        for (number, seeds), members in groups:
            requirement = requirements[number]
            judge = RequirementsJudge([requirement])
            limits = {"time_limit_s": time_limit_s, "memory_limit_mb": memory_limit_mb}
            with closing(open_pool(executor, system, judge, jobs=jobs, seeds=seeds, **limits)) as pool:
                for _, entry in members:
                    found = entry.counterexample
                    answers = tuple(repeat(repetitions(found, name=f"known/{entry.name}"), pool.answers))
                    result = conclude(found, answers, unbounded=never_seen_to_hold(requirement))
                    self.known.append(_known(entry, number, result, actions, failing_violates))
                    recorder.record(
                        KnownReplayed(
                            requirement.id, found.actions, str(entry.file), result.outcome.value, result.reproduced,
                            result.tries,
                        )
                    )  # fmt: skip

    def _fits(self, entry: StoredCounterexample, system: System) -> bool:
        try:
            check_ports(entry.counterexample, system)
            return True
        except UserError as error:
            self.notes.append(f"store: {entry.file} was not executed: {error.problems[0].message}")
            return False

    def still_there(self) -> Iterable[Known]:
        """One per requirement and key: two stored inputs may now fail in the same step."""
        seen = set()
        for known in self.known:
            if known.finding is not None and (key := (known.requirement, known.finding.actions)) not in seen:
                seen.add(key)
                yield known

    def of(self, finding: Finding) -> Known | None:
        return next((known for known in self.known if known.finding is finding), None)

    def set_aside(self, finding: Finding, remark: str) -> None:
        """It violates, but this profile does not produce it."""
        self.known = [
            replace(k, finding=None, confirmation=None, remark=remark) if k.finding is finding else k
            for k in self.known
        ]

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


def replay_known(
    memory: Memory,
    scribe: Scribe,
    record: SystemRecord,
    actions: Sequence[str],
    jobs: int,
    time_limit_s: float | None,
    *,
    memory_limit_mb: float | None = None,
    failing_violates: bool,
) -> Ended:
    """Before the search: execute what is known, and put what still violates among the findings."""
    ended = drive(
        lambda ask: memory.recall(
            scribe.driver.system,
            record.reference,
            scribe.requirements,
            actions,
            recorder=scribe.recorder,
            repeat=scribe.driver.repeat,
            only=scribe.driver.tape.known,
            jobs=jobs,
            executor=scribe.driver.executor,
            time_limit_s=time_limit_s,
            memory_limit_mb=memory_limit_mb,
            failing_violates=failing_violates,
        ),
        scribe.driver,
    )
    for known in memory.still_there():
        scribe.remember(known.finding, known.confirmation)
    return ended


def set_aside_impossible(memory: Memory, scribe: Scribe) -> None:
    """Known failures that this profile never produces stay in the report, but not in the ranking."""
    for ranked in list(scribe.progress.ranked):
        # Splitting may lose every particle by chance; conditional steps only where no step is possible.
        conditional = ranked.cylinder.method.startswith((CONDITIONAL, EXACT))
        if memory.of(ranked.finding) is not None and conditional and not any(ranked.passes.cylinders):
            memory.set_aside(ranked.finding, "this profile never does these actions in this order")
            scribe.forget(ranked.finding)


def _known(
    entry: StoredCounterexample, number: int, result: ReplayResult, actions: Sequence[str], failing_violates: bool
) -> Known:
    """What the answers mean for this run: a finding, if the requirement is violated and the key can be told."""
    found = entry.counterexample
    failed = [a for a in result.answers if not a.ok]
    if found.simulation is not SimulationStatus.OK:
        if result.outcome is not ReplayOutcome.SAME or not failing_violates:
            remark = "" if result.outcome is not ReplayOutcome.SAME else "a failing simulation is no violation here"
            return Known(entry, number, result, remark=remark)
        confirmation = Confirmation(result.reproduced, result.tries, True, None)
        finding = Finding(
            number, found.actions, found.word, found.stimulus, found.judgement, failed[0].status, None, entry.name
        )
        return _ranked_if_possible(Known(entry, number, result, finding, confirmation), actions)
    violated = [a for a in result.answers if a.ok and a.judgements[0].verdict is Verdict.VIOLATED]
    if not violated:
        return Known(entry, number, result)
    judgement = violated[0].judgements[0]
    step = violating_step(np.array([time for time, _ in found.word]), judgement.first_violation_time)
    if step > len(found.word):
        return Known(entry, number, result, remark="it fails after the last recorded action, so it has no key")
    key = tuple(action for _, action in found.word[:step])
    finding = Finding(number, key, found.word, found.stimulus, judgement, SimulationStatus.OK, None, entry.name)
    confirmation = compare(result.answers, 0, judgement, TOLERANCE_S)
    return _ranked_if_possible(Known(entry, number, result, finding, confirmation), actions)


def _ranked_if_possible(known: Known, actions: Sequence[str]) -> Known:
    missing = [a for a in dict.fromkeys(known.finding.actions) if a not in actions]
    if not missing:
        return known
    remark = f"this profile has no action {', '.join(missing)}"
    return replace(known, finding=None, confirmation=None, remark=remark)


def _same_requirement(counterexample: Counterexample, requirement: Requirement) -> bool:
    record = counterexample.requirement
    return (record.id, record.stl, record.time, record.period) == (
        requirement.id,
        requirement.formula.text,
        requirement.time,
        requirement.period,
    )
