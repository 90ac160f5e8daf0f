"""One check from beginning to end: a black box and requirements about its answers in, verdicts out.

    result = check(system, "G(in == data -> out != ok)", Settings(Options(max_states=12)))
    result.requirements[0].verdict, result.requirements[0].prefix
    assert result.holds, result

The engine decides what to try (`engines/checking`); this file gives it a driver, keeps what is observed on disk, writes
the counterexample files and says what has been established.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bbfalsify.automata.mealy import MealyMachine, dot_text
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.core.budget import Budget
from bbfalsify.core.events import BoundTested, HypothesisMade, RequirementViolated, StageStarted
from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.checking import strategy
from bbfalsify.engines.checking.box import NonDeterministic, observed
from bbfalsify.engines.checking.causes import causes_of
from bbfalsify.engines.checking.claims import CheckProgress, Claim, Violation
from bbfalsify.engines.checking.resetless import run_without_reset
from bbfalsify.modelling import Network, Profile
from bbfalsify.records.json_files import write_atomically
from bbfalsify.records.observations import ObservationLog, load_observations
from bbfalsify.records.recording import Recording
from bbfalsify.records.run_files import MODEL
from bbfalsify.results.check_result import CheckResult
from bbfalsify.running.check.check_conclusions import (
    checked,
    notes_on_check,
    probabilities_of,
    risks_of,
    write_counterexamples,
)
from bbfalsify.running.check.check_task import RequirementLike, Settings, Task, prepare
from bbfalsify.running.driver import Driver, Ended
from bbfalsify.running.execution import Execution
from bbfalsify.running.terms import Terms
from bbfalsify.running.workers.executors import opened
from bbfalsify.systems import System
from bbfalsify.systems.symbols import SymbolSystem


def check(
    system: SymbolSystem | System | MealyMachine,
    requirements: RequirementLike | Sequence[RequirementLike] = (),
    settings: Settings = Settings(),
    *,
    budget: Budget = Budget(),
    seed: int | None = None,
    profile: Profile | Network | None = None,
    execution: Execution = Execution(),
    recording: Recording = Recording(),
) -> CheckResult:
    """Learn the system as far as needed, and say for each requirement what is established.

    The arguments are explained by `bbfalsify.check`.
    """
    seed = recording.seed(seed)
    task = prepare(system, requirements, settings, Terms(budget, seed, execution, recording.system))
    box, name = task.box, recording.name or task.box.name
    started, progress = time.monotonic(), CheckProgress()
    with (
        opened(execution) as where,
        recording.begin(
            name, seed, task.decided_by(), adapter_sha256=task.record.sha256, settings=task.settings_facts()
        ) as record,
        ObservationLog(record, observed) as log,
    ):
        tree = load_observations([Path(f) for f in settings.observations], box.alphabet, task.sent, continued=log.path)
        claims = [claim.id for claim in task.claims]
        with Driver(
            box, None, where, record, name=name, requirements=claims, budget=budget, seeds=SeedTree(seed)
        ) as driver:
            record.recorder.record(StageStarted("checking", budget.simulations or 0))
            ended, non_deterministic = _run(task, driver, log.around(driver.ask), tree, progress)
    probabilities, why_not = probabilities_of(profile, box, progress, SeedTree(seed))
    risks, about_risks = risks_of(profile, task, progress, SeedTree(seed))
    causes = causes_of(progress.hypothesis, task.claims, progress.violations, tree)
    files_of = write_counterexamples(record.path, task, progress, probabilities)
    model = None
    if record.path is not None and progress.hypothesis is not None:
        model = str(record.path / MODEL)
        write_atomically(Path(model), dot_text(replace(progress.hypothesis, name=box.name)))
    result = CheckResult(
        name=name,
        seed=seed,
        requirements=tuple(
            checked(
                i, claim, progress, task.options, files_of.get(i), probabilities.get(i), risks.get(i), causes.get(i, ())
            )
            for i, claim in enumerate(task.claims)
        ),
        machine=progress.hypothesis,
        states=0 if progress.hypothesis is None else len(progress.hypothesis),
        queries=driver.spent.simulations,
        symbols=driver.symbols,
        hypotheses=progress.hypotheses,
        tested_bound=progress.tested_bound,
        stop_reason=StopReason.SYSTEM_FAILED if non_deterministic else ended.reason,
        seconds=record.answers.seconds + time.monotonic() - started,
        directory=record.path,
        model=model,
        max_states=task.options.max_states,
        notes=(
            *task.notes,
            *why_not,
            *about_risks,
            *notes_on_check(task, driver, progress, tree, non_deterministic, ended.message),
        ),
    )
    record.write_results(result.as_json())
    return result


def _run(task: Task, driver: Driver, ask: Ask, tree: ObservationTree, progress: CheckProgress) -> tuple[Ended, str]:
    """Call the engine that fits; a box that contradicts itself ends the check, and is told apart."""
    listener, seeds = _Telling(driver, task.claims), SeedTree(task.terms.seed)
    try:
        with driver.until_stopped() as ended:
            if task.options.learner == "hw":
                run_without_reset(ask, task.claims, task.sent, progress, task.options, seeds=seeds, listener=listener)
            else:
                strategy.run(
                    ask, task.claims, task.sent, tree, progress, task.options, seeds=seeds, listener=listener,
                    repeat=driver.rerun, older=task.older,
                )  # fmt: skip
        return ended, ""
    except NonDeterministic as found:
        return Ended(StopReason.SYSTEM_FAILED), str(found)


class _Telling:
    """The engine's listener: turns what happens into events."""

    def __init__(self, driver: Driver, claims: Sequence[Claim]) -> None:
        self._driver, self._claims = driver, claims

    def hypothesis(self, machine: MealyMachine) -> None:
        spent = self._driver.spent
        self._driver.recorder.record(HypothesisMade(len(machine), spent.simulations, spent.symbols))

    def tested(self, bound: int) -> None:
        spent = self._driver.spent
        self._driver.recorder.record(BoundTested(bound, spent.simulations, spent.symbols))

    def violated(self, claim: int, violation: Violation) -> None:
        lasso, again = violation.lasso, (violation.reproduced, violation.tries)
        self._driver.recorder.record(RequirementViolated(self._claims[claim].id, lasso.prefix, lasso.loop, *again))
