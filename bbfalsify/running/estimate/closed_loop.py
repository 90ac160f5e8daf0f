"""The probability that a use of a system violates a requirement: profile × black box × STL, by plain simulation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import StageStarted
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.engines.estimation.settings import EstimateSettings
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

_RULES = {"auto": "sequence", "sequence": "sequence", "okamoto": "fixed", "clopper_pearson": "clopper_pearson"}


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
    options = smc.SmcOptions(
        rule=_RULES[settings.method],
        epsilon=settings.epsilon,
        relative=settings.relative,
        confidence=settings.confidence,
        simulations=settings.runs,
    )
    task = prepare(
        system, profile, requirements, Settings(settings.horizon or 0.0, settings.period, baseline=options),
        budget=budget, seed=seed, execution=execution, record=recording.system,
    )  # fmt: skip
    compile_everything()
    started, plain = time.monotonic(), smc.Progress()
    decided_by = {**task.decided_by(with_store=False), "engine": settings.as_json()}
    with task.driven(recording, decided_by) as driver:
        driver.recorder.record(StageStarted("simulating", options.simulations or 0))
        with driver.until_stopped() as ended:
            smc.run(
                driver.ask, task.usage, plain, options, requirements=len(task.requirements),
                seeds=SeedTree(seed).child("smc"), listener=_Quiet(),
            )  # fmt: skip
        notes = [*task.sampling_notes, *worker_notes(system, execution.jobs), *driver.poll.notes()]
    reason = ended.reason if ended.reason is not StopReason.COMPLETED else plain.stopped or StopReason.COMPLETED
    record = driver.record
    result = EstimateResult(
        name=driver.name,
        requirements=tuple(_row(number, r, plain, options, settings) for number, r in enumerate(task.requirements)),
        stop_reason=reason,
        seconds=record.answers.seconds + time.monotonic() - started,
        seed=seed,
        directory=record.path,
        notes=tuple(note for note in (*notes, ended.message) if note),
    )
    record.write_results(result.as_json())
    return result


def _row(
    number: int, requirement: Requirement, plain: smc.Progress, options: smc.SmcOptions, settings: EstimateSettings
) -> EstimateRow:
    counts, found = plain.counts(number), options.stopping.estimate(plain.counts(number))
    verdict = None
    if settings.at_most is not None:
        verdict = verdict_word(Bound(high=settings.at_most).verdict(found.low, found.high))
    warnings = []
    if counts.trials and not counts.hits:
        warnings.append(f"no use of {counts.trials} violated it: the value is an upper bound")
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
        query=f"P(violates {requirement.formula.text})",
        outcome=outcome if counts.trials else Outcome.INCONCLUSIVE,
        verdict=verdict,
        estimate=found,
        runs=counts.trials,
        method=found.method,
        warnings=tuple(warnings),
    )
