"""Believe a finding only after it has happened again.

The stimulus is executed k more times with the seed of the original query.  If every repetition violates the requirement
at the same moment, the finding is confirmed; otherwise it is flaky, which is reported with its rate and never hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from bbfalsify.core.confirmation import Confirmation, ConfirmedTrace
from bbfalsify.core.query import Answer, Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.logic import Requirement
from bbfalsify.records.counterexample import Counterexample, RequirementRecord, Time, signals_as_samples
from bbfalsify.records.manifest import versions

TRIES = 3
TOLERANCE_S = 1e-6
"""Two violations within this time are the same one; reordered floating-point sums move them by far less."""


def confirm(
    rerun: Callable[[Sequence[Query]], Sequence[Answer]],
    query: Query,
    requirement: int,
    seen: Judgement,
    *,
    tries: int = TRIES,
) -> Confirmation:
    """Repeat `query` and compare what happens to requirement number `requirement` with what was `seen`."""
    seed_name = query.seed_name or query.name
    repetitions = [Query(f"{query.name}/again/{i}", query.stimulus, True, seed_name) for i in range(1, tries + 1)]
    return compare(rerun(repetitions), requirement, seen)


def compare(answers: Sequence[Answer], requirement: int, seen: Judgement) -> Confirmation:
    violated = [answer for answer in answers if _violates(answer, requirement)]
    same_moment = all(
        abs(answer.judgements[requirement].first_violation_time - seen.first_violation_time) <= TOLERANCE_S
        for answer in violated
    )
    ended_well = [answer for answer in answers if answer.status is SimulationStatus.OK]
    trace = next((answer.trace for answer in [*violated, *ended_well] if answer.trace is not None), None)
    judgement = violated[0].judgements[requirement] if violated else None
    return Confirmation(len(violated), len(answers), same_moment and bool(violated), trace, judgement)


def _violates(answer: Answer, requirement: int) -> bool:
    return len(answer.judgements) > requirement and answer.judgements[requirement].verdict is Verdict.VIOLATED


def counterexample_file(
    requirement: Requirement, stimulus: Stimulus, confirmation: Confirmation | None, **facts: Any
) -> Counterexample:
    """A counterexample as a file holds it: what was asked and what came of it; the engine adds its own facts."""
    return Counterexample(
        requirement=RequirementRecord(
            requirement.id, requirement.text, requirement.formula.text, cast(Time, requirement.time), requirement.period
        ),
        times=tuple(stimulus.times.tolist()),
        inputs=signals_as_samples(stimulus.inputs),
        parameters=dict(stimulus.parameters),
        outputs=signals_as_samples(ConfirmedTrace.of(stimulus, confirmation).outputs),
        reproduced=0 if confirmation is None else confirmation.reproduced,
        tries=0 if confirmation is None else confirmation.tries,
        versions=versions(),
        **facts,
    )
