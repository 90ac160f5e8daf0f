"""The probability that a use of a system violates a requirement: profile × black box × STL.

Plain simulation judges all requirements by the same uses; a method for rare events asks for each requirement alone.
`auto` begins with the first, and goes on with the second where too few uses violate (`estimation/going_on.py`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from bbfalsify.core.budget import Budget
from bbfalsify.core.estimate import NOT_ESTIMATED
from bbfalsify.core.events import StageStarted
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.engines.estimation.answered import Answered
from bbfalsify.engines.estimation.going_on import combined, second_settings
from bbfalsify.engines.estimation.plain_rule import PlainRule
from bbfalsify.engines.estimation.settings import RARE, EstimateSettings
from bbfalsify.engines.estimation.use_answers import answer_use, check_method
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.logic import Requirement
from bbfalsify.logic.csl import Bound
from bbfalsify.modelling import Profile
from bbfalsify.records.recording import Recording
from bbfalsify.results.estimate_result import OUTCOMES, EstimateResult, EstimateRow
from bbfalsify.running.estimate.estimate_run import verdict_word
from bbfalsify.running.execution import Execution
from bbfalsify.running.falsify.conclusions import worker_notes
from bbfalsify.running.falsify.task import Settings, prepare
from bbfalsify.running.terms import Terms
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
        system,
        profile,
        requirements,
        Settings(settings.horizon or 0.0, settings.period, baseline=options),
        Terms(budget, seed, execution, recording.system),
    )
    compile_everything()
    started, plain = time.monotonic(), smc.Progress()
    answers: list[EstimateRow] = []
    decided_by = {**task.decided_by(with_store=False), "engine": settings.as_json()}
    with task.driven(recording, decided_by, many_uses=True) as driver:
        ask_uses = driver.ask_uses if driver.takes_uses else None

        def rarely(number: int, chosen: EstimateSettings) -> Answered:
            requirement = task.requirements[number]
            driver.recorder.record(StageStarted(f"{chosen.method} {requirement.id}", chosen.runs or 0))
            seeds = SeedTree(seed).child(chosen.method, requirement.id)
            return answer_use(driver.ask, task.usage, number, chosen, seeds, lambda: True, ask_uses)

        with driver.until_stopped() as ended:
            if settings.method in RARE:
                check_method(task.usage, settings.method)
                for number, requirement in enumerate(task.requirements):
                    began = time.monotonic()
                    answers.append(_row(requirement, rarely(number, settings), rule.bound, time.monotonic() - began))
            else:
                driver.recorder.record(StageStarted("simulating", settings.runs or 0))
                smc.run(
                    driver.ask, task.usage, plain, options, requirements=len(task.requirements),
                    seeds=SeedTree(seed).child("smc"), listener=_Quiet(),
                    ask_uses=ask_uses, stopping=rule,
                )  # fmt: skip
        for number, requirement in enumerate(task.requirements if settings.method not in RARE else ()):
            found, counts = _plainly(number, plain, rule), plain.counts(number)
            second = second_settings(rule, counts, profile.has_actions)
            if second is not None and driver.stop_reason is None:
                with driver.until_stopped() as ended:
                    found = combined(found, counts, second, partial(rarely, number))
            spent = driver.record.answers.seconds + time.monotonic() - started
            row = _row(requirement, found, rule.bound, spent)
            answers.append(replace(row, outcome=Outcome.ERROR) if 0 < counts.trials == counts.failed else row)
        notes = [*task.sampling_notes, *worker_notes(system, execution.jobs), *driver.poll.notes()]
    record = driver.record
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


def _plainly(number: int, plain: smc.Progress, rule: PlainRule) -> Answered:
    """The answer of plain simulation to one requirement."""
    counts, found = plain.counts(number), rule.estimate(plain.counts(number))
    verdict = None if rule.bound is None else rule.verdict(counts)
    warnings = []
    if counts.trials and not counts.hits:
        hint = "" if rule.settings.method == "auto" else "; --method words finds rare violations"
        warnings.append(f"no use of {counts.trials} violated it: only the upper limit is known{hint}")
    if counts.failed:
        warnings.append(f"{counts.failed} simulations failed or stood still; they count as either")
    if plain.stopped is not StopReason.COMPLETED:
        warnings.append(f"stopped after {counts.trials} simulations, before the precision was reached")
    return Answered(found, verdict, rule.bound is not None, counts.trials, found.method, warnings)


def _row(requirement: Requirement, found: Answered, bound: Bound | None, seconds: float) -> EstimateRow:
    estimate, verdict = found.estimate, found.verdict
    assert estimate is not None
    if bound is not None and verdict is None and not found.asks_verdict:
        verdict = bound.verdict(estimate.low, estimate.at_most)
    word = None if bound is None else verdict_word(verdict)
    outcome = Outcome.NOT_FALSIFIED if word is None else OUTCOMES[word]
    return EstimateRow(
        id=requirement.id,
        text=requirement.text,
        query=_query(requirement),
        outcome=outcome if found.runs and found.method != NOT_ESTIMATED else Outcome.INCONCLUSIVE,
        verdict=word,
        estimate=estimate,
        runs=found.runs,
        method=found.method,
        warnings=tuple(found.warnings),
        seconds=round(seconds, 3),
        **found.evidence,
    )


def _query(requirement: Requirement) -> str:
    return f"P(violates {requirement.formula.text})"
