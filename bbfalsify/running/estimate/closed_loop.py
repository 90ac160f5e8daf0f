"""The probability that a use of a system violates a requirement: profile × black box × STL.

Plain simulation judges all requirements by the same uses; a method for rare events asks for each requirement alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bbfalsify.core.budget import Budget
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.events import StageStarted
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.engines.estimation.answering import Answered
from bbfalsify.engines.estimation.plain_rule import PlainRule
from bbfalsify.engines.estimation.settings import RARE, EstimateSettings
from bbfalsify.engines.estimation.use_answers import answer_use
from bbfalsify.engines.falsification import smc
from bbfalsify.logic import Requirement
from bbfalsify.logic.csl import Bound
from bbfalsify.modelling import Profile
from bbfalsify.records.recording import Recording
from bbfalsify.results.estimate_result import OUTCOMES, EstimateResult, EstimateRow
from bbfalsify.running.estimate.estimate_run import verdict_word
from bbfalsify.running.execution import Execution
from bbfalsify.running.falsify.conclusions import worker_notes
from bbfalsify.running.falsify.task import Settings, prepare
from bbfalsify.running.warm_up import compile_everything
from bbfalsify.systems import System


@dataclass
class _Quiet:
    """Listener that does nothing: the driver records every simulation."""

    def counted(self, progress: smc.Progress) -> None:
        pass


def estimate_use(
    system: System,
    profile: Profile,
    requirements: Sequence[Requirement],
    settings: EstimateSettings,
    *,
    budget: Budget = Budget(),
    seed: int | None = None,
    execution: Execution = Execution(),
    recording: Recording = Recording(),
) -> EstimateResult:
    """Simulate uses of the system until every probability of a violation is known as precisely as asked."""
    seed = recording.seed(seed)
    rule = PlainRule(settings, None if settings.at_most is None else Bound(high=settings.at_most))
    options = smc.SmcOptions(confidence=settings.confidence, simulations=rule.most, growth=0.1)
    task = prepare(
        system, profile, requirements, Settings(settings.horizon or 0.0, settings.period, baseline=options),
        budget=budget, seed=seed, execution=execution, record=recording.system,
    )  # fmt: skip
    compile_everything()
    started, plain = time.monotonic(), smc.Progress()
    answers: list[EstimateRow] = []
    decided_by = {**task.decided_by(with_store=False), "engine": settings.as_json()}
    with task.driven(recording, decided_by, many_uses=True) as driver:
        driver.recorder.record(StageStarted("simulating", settings.runs or 0))
        with driver.until_stopped() as ended:
            if settings.method in RARE:
                for number, requirement in enumerate(task.requirements):
                    began = time.monotonic()
                    seeds = SeedTree(seed).child(settings.method, requirement.id)
                    found = answer_use(driver.ask, task.usage, number, settings, seeds, lambda: True)
                    answers.append(_rare_row(requirement, found, settings, time.monotonic() - began))
            else:
                smc.run(
                    driver.ask, task.usage, plain, options, requirements=len(task.requirements),
                    seeds=SeedTree(seed).child("smc"), listener=_Quiet(),
                    ask_uses=driver.ask_uses if driver.takes_uses else None, stopping=rule,
                )  # fmt: skip
        notes = [*task.sampling_notes, *worker_notes(system, execution.jobs), *driver.poll.notes()]
    record = driver.record
    if settings.method not in RARE:
        spent = round(record.answers.seconds + time.monotonic() - started, 3)
        rows = (_row(number, r, plain, rule) for number, r in enumerate(task.requirements))
        answers = [replace(row, seconds=spent) for row in rows]
    for requirement in task.requirements[len(answers) :]:
        answers.append(EstimateRow(id=requirement.id, text=requirement.text, query=_query(requirement)))
    reason = ended.reason if ended.reason is not StopReason.COMPLETED else plain.stopped or StopReason.COMPLETED
    result = EstimateResult(
        name=driver.name,
        requirements=tuple(answers),
        stop_reason=reason,
        seconds=record.answers.seconds + time.monotonic() - started,
        seed=seed,
        directory=record.path,
        notes=tuple(note for note in (*notes, ended.message) if note),
    )
    record.write_results(result.as_json())
    return result


def _row(number: int, requirement: Requirement, plain: smc.Progress, rule: PlainRule) -> EstimateRow:
    counts, found = plain.counts(number), rule.estimate(plain.counts(number))
    verdict = None if rule.bound is None else verdict_word(rule.verdict(counts))
    warnings = []
    if counts.trials and not counts.hits:
        warnings.append(
            f"no use of {counts.trials} violated it: the value is an upper bound; --method words finds rare violations"
        )
    if counts.failed:
        warnings.append(f"{counts.failed} simulations failed or stood still; they count as either")
    if plain.stopped is not StopReason.COMPLETED:
        warnings.append(f"stopped after {counts.trials} simulations, before the precision was reached")
    judged = counts.trials > counts.failed
    outcome = Outcome.ERROR if counts.trials and not judged else Outcome.NOT_FALSIFIED
    if judged and verdict is not None:
        outcome = OUTCOMES[verdict]
    return EstimateRow(
        id=requirement.id,
        text=requirement.text,
        query=_query(requirement),
        outcome=outcome if counts.trials else Outcome.INCONCLUSIVE,
        verdict=verdict,
        estimate=found,
        runs=counts.trials,
        method=found.method,
        warnings=tuple(warnings),
    )


def _rare_row(requirement: Requirement, found: Answered, settings: EstimateSettings, seconds: float) -> EstimateRow:
    assert found.estimate is not None
    verdict = _verdict(found.estimate, settings)
    outcome = Outcome.NOT_FALSIFIED if verdict is None else OUTCOMES[verdict]
    return EstimateRow(
        id=requirement.id,
        text=requirement.text,
        query=_query(requirement),
        outcome=outcome if found.method != "not estimated" else Outcome.INCONCLUSIVE,
        verdict=verdict,
        estimate=found.estimate,
        runs=found.runs,
        method=found.method,
        warnings=tuple(found.warnings),
        seconds=round(seconds, 3),
        **found.evidence,
    )


def _query(requirement: Requirement) -> str:
    return f"P(violates {requirement.formula.text})"


def _verdict(found: Estimate, settings: EstimateSettings) -> str | None:
    if settings.at_most is None:
        return None
    return verdict_word(Bound(high=settings.at_most).verdict(found.low, found.high))
