"""One check from beginning to end: a black box and requirements about its answers in, verdicts out.

    result = check(system, "G(in == data -> out != ok)", max_states=12)
    result.requirements[0].verdict, result.requirements[0].prefix
    assert result.holds, result

The engine decides what to try (`engines/checking`); this file gives it a driver, keeps what is observed on disk, writes
the counterexample files and says what has been established.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from bbfalsify.automata.mealy import MealyMachine, dot_text, read_dot
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.core.budget import Budget
from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.events import BoundTested, HypothesisMade, Listener, RequirementViolated, StageStarted
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.checking import strategy
from bbfalsify.engines.checking.box import NonDeterministic, observed
from bbfalsify.engines.checking.claims import CheckProgress, Claim, Violation
from bbfalsify.engines.checking.resetless import run_without_reset
from bbfalsify.engines.checking.settings import RANDOM_METHODS, CheckSettings, Options
from bbfalsify.logic import Requirement
from bbfalsify.logic.ltl import Property, ltl
from bbfalsify.modelling import Network, Profile
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.json_files import write_atomically
from bbfalsify.records.run_directory import RunDirectory, recorded_seed
from bbfalsify.results.check_result import CheckResult
from bbfalsify.running.check.check_conclusions import checked, notes_on_check, probabilities_of, write_counterexamples
from bbfalsify.running.check.observations import FILE as OBSERVATIONS
from bbfalsify.running.check.observations import ObservationLog, load_observations
from bbfalsify.running.check.sampled_check import Symbols, sampled
from bbfalsify.running.driver import Driver, Ended, drive
from bbfalsify.running.workers.executors import opened
from bbfalsify.systems.interface import System
from bbfalsify.systems.symbols import MachineSystem, SymbolSystem, check_alphabet

RequirementLike = str | Property | Claim


def check(
    system: SymbolSystem | MealyMachine,
    requirements: RequirementLike | Sequence[RequirementLike] = (),
    *,
    max_states: int | None = None,
    alphabet: Sequence[str] | None = None,
    learner: str = CheckSettings.learner,
    tester: str = CheckSettings.tester,
    stop_at_first: bool = False,
    max_queries: int | None = None,
    max_symbols: int | None = None,
    max_time: float | None = None,
    seed: int | None = None,
    jobs: int = 1,
    executor: str | Executor | None = None,
    time_limit_s: float | None = 60.0,
    votes: int = 1,
    memory_limit_mb: float | None = None,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    directory: str | Path | None = None,
    observations: Sequence[str | Path] = (),
    older: MealyMachine | str | Path | None = None,
    name: str | None = None,
    system_record: SystemRecord | None = None,
    listeners: Iterable[Listener] = (),
    configuration: Mapping[str, Any] | None = None,
    symbols: Symbols | None = None,
    period: float | None = None,
    profile: Profile | Network | None = None,
) -> CheckResult:
    """Learn the system as far as needed, and say for each requirement what is established.

    `alphabet` names the symbols to send; without it all are sent.  Without `max_states` the budget (`max_queries`,
    `max_symbols`, `max_time`) has to end the check.  `observations` are files of words and answers seen before;
    `resume` is the run directory of a check to continue, `directory` exactly the one to use; `older` is the model of
    an earlier version, to start from.  Without requirements the system is learned, and tested up to the bound.

    `executor` is as for `falsify`.  A system of signals is sampled: each of `symbols` sets its inputs for one `period`,
    and requirements are STL.  Where the actions of `profile` are the symbols, violations get the probability that a use
    begins with them.
    """
    box = MachineSystem(system) if isinstance(system, MealyMachine) else system
    notes: list[str] = []
    if symbols is not None or period is not None:
        if symbols is None or period is None or not isinstance(box, System):
            raise UserError("a system of signals is sampled with both symbols and a period; others need neither.")
        box, requirements, notes = sampled(box, _listed(requirements), symbols=symbols, period=period)
    claims, problems = _claims(requirements)
    sent = tuple(box.alphabet if alphabet is None else alphabet) if isinstance(box, SymbolSystem) else ()
    budgets = max_queries, max_symbols, max_time
    options = CheckSettings(
        max_states=max_states, learner=learner, tester=tester, stop_at_first=stop_at_first, max_queries=max_queries,
        max_symbols=max_symbols, max_time=max_time, period=period,
    )  # fmt: skip
    _check_arguments(box, sent, claims, problems, learner, tester, older, max_states, *budgets)
    seed = recorded_seed(resume) if seed is None else seed
    seed = draw_seed() if seed is None else seed
    reference = read_dot(older) if isinstance(older, str | Path) else older
    record = system_record or SystemRecord(box.name, name=box.name)
    place = _directory(out, directory, resume, name or box.name)
    if place is not None:
        _begin_or_continue(place, box, record, seed, configuration or {}, {"symbols": symbols, "period": period})
    record_file = None if place is None else place.path / OBSERVATIONS
    tree = load_observations([Path(f) for f in observations], box.alphabet, sent, continued=record_file)
    started, progress = time.monotonic(), CheckProgress()
    with (
        opened(executor, jobs) as where,
        place.recorder(*listeners) if place is not None else Recorder(None, listeners) as recorder,
        ObservationLog(record_file, observed) as log,
        Driver(
            box,
            None,
            recorder=recorder,
            budget=Budget(max_queries, max_time, max_symbols),
            jobs=jobs,
            executor=where,
            time_limit_s=time_limit_s,
            seeds=SeedTree(seed),
            requirements=[c.id for c in claims],
            memory_limit_mb=memory_limit_mb,
            votes=votes,
            name=name or box.name,
            log=None if place is None else place.log,
        ) as driver,
    ):
        telling = _Telling(recorder, claims, driver)
        recorder.record(StageStarted("checking", max_queries or 0))
        ended, non_deterministic = _run(driver, log, claims, sent, tree, progress, options, telling, seed, reference)
    probabilities, why_not = probabilities_of(profile, box, progress, SeedTree(seed))
    notes += why_not
    files_of = write_counterexamples(place, claims, progress, record, seed, time_limit_s, probabilities)
    model = None
    if place is not None and progress.hypothesis is not None:
        model = str(place.path / "model.dot")
        write_atomically(Path(model), dot_text(replace(progress.hypothesis, name=box.name)))
    result = CheckResult(
        name=name or box.name,
        seed=seed,
        requirements=tuple(
            checked(i, claim, progress, options, files_of.get(i), probabilities.get(i))
            for i, claim in enumerate(claims)
        ),
        machine=progress.hypothesis,
        states=0 if progress.hypothesis is None else len(progress.hypothesis),
        queries=driver.spent.simulations,
        symbols=driver.symbols,
        hypotheses=progress.hypotheses,
        tested_bound=progress.tested_bound,
        stop_reason=StopReason.SYSTEM_FAILED if non_deterministic else ended.reason,
        seconds=time.monotonic() - started,
        directory=None if place is None else place.path,
        model=model,
        max_states=max_states,
        notes=(
            *notes,
            *notes_on_check(box, sent, jobs, driver, progress, claims, tree, reference, ended, non_deterministic),
        ),
    )
    if place is not None:
        place.write_results(result.as_json())
    return result


def _run(
    driver: Driver,
    log: ObservationLog,
    claims: Sequence[Claim],
    alphabet: Sequence[str],
    tree: ObservationTree,
    progress: CheckProgress,
    options: Options,
    telling: _Telling,
    seed: int,
    older: MealyMachine | None,
) -> tuple[Ended, str]:
    """Drive the engine that fits; a box that contradicts itself ends the check, and is told apart."""
    if options.learner == "hw":
        arguments = (run_without_reset, claims, alphabet, progress, options)
        more: dict[str, Any] = {}
    else:
        arguments = (strategy.run, claims, alphabet, tree, progress, options)
        more = {"repeat": driver.rerun, "older": older}

    def engine(ask: Any, *rest: Any, **parameters: Any) -> None:
        arguments[0](log.around(ask), *rest, **parameters)

    try:
        return drive(engine, driver, *arguments[1:], seeds=SeedTree(seed), listener=telling, **more), ""
    except NonDeterministic as found:
        return Ended(None, StopReason.SYSTEM_FAILED), str(found)


class _Telling:
    """The engine's listener: what happens becomes events."""

    def __init__(self, recorder: Recorder, claims: Sequence[Claim], driver: Driver) -> None:
        self._recorder, self._claims, self._driver = recorder, claims, driver

    def hypothesis(self, machine: MealyMachine) -> None:
        self._recorder.record(HypothesisMade(len(machine), self._driver.spent.simulations, self._driver.symbols))

    def tested(self, bound: int) -> None:
        self._recorder.record(BoundTested(bound, self._driver.spent.simulations, self._driver.symbols))

    def violated(self, claim: int, violation: Violation) -> None:
        lasso = violation.lasso
        self._recorder.record(
            RequirementViolated(self._claims[claim].id, lasso.prefix, lasso.loop, violation.reproduced, violation.tries)
        )


def _listed(requirements: Any) -> list[Any]:
    single = isinstance(requirements, str | Claim | Requirement) or hasattr(requirements, "bad_words")
    return [requirements] if single else list(requirements)


def _claims(requirements: RequirementLike | Sequence[RequirementLike]) -> tuple[list[Claim], list[Problem]]:
    claims, problems = [], []
    for number, item in enumerate(_listed(requirements), start=1):
        if isinstance(item, Claim):
            claims.append(item)
            continue
        try:
            claims.append(Claim(f"R{number}", "", ltl(item) if isinstance(item, str) else item))
        except UserError as error:
            problems += [replace(p, message=f"requirement {number}: {p.message}") for p in error.problems]
    return claims, problems


def _check_arguments(
    box: Any,
    symbols: Sequence[str],
    claims: Sequence[Claim],
    problems: list[Problem],
    learner: str,
    tester: str,
    older: Any,
    max_states: int | None,
    *budgets: float | None,
) -> None:
    """What the command line checks in files, checked again for callers from Python."""
    if not isinstance(box, SymbolSystem):
        what = "it takes signals; give a system with an alphabet" if isinstance(box, System) else "it has no alphabet"
        raise UserError(
            f"'{getattr(box, 'name', type(box).__name__)}' cannot be checked: {what} (see docs/how-to/server.md)."
        )
    check_alphabet(box)
    problems = [*problems, *(unknown_name("input symbol", s, box.alphabet) for s in symbols if s not in box.alphabet)]
    if not symbols or len(set(symbols)) < len(symbols):
        problems.append(Problem("the alphabet to send must name at least one symbol, and each once."))
    problems += [
        replace(problem, message=f"{claim.id}: {problem.message}")
        for claim in claims
        for problem in claim.property.problems(box.alphabet, None)
    ]
    twice = {c.id for c in claims if sum(d.id == c.id for d in claims) > 1}
    problems += [Problem(f"two requirements have the id {name}.") for name in sorted(twice)]
    if learner != "hw" and box.capabilities.single_session:
        problems.append(Problem(f"'{box.name}' cannot be reset: choose the learner hw."))
    if learner == "hw" and not box.capabilities.single_session:
        problems.append(Problem(f"'{box.name}' can be reset, as its capabilities say: choose another learner than hw."))
    if older is not None and learner != "lsharp":
        problems.append(Problem(f"only lsharp can start from an older model, not {learner}."))
    if tester in RANDOM_METHODS and all(b is None for b in budgets):
        problems.append(
            Problem(f"{tester} tests for ever: give a budget of queries, symbols or time that ends the check.")
        )
    elif max_states is None and all(b is None for b in budgets):
        problems.append(
            Problem("give a bound (max_states), or a budget of queries, symbols or time that ends the check.")
        )
    if problems:
        raise UserError(problems)


def _directory(
    out: str | Path | None, exactly: str | Path | None, resume: str | Path | None, name: str
) -> RunDirectory | None:
    if resume is not None:
        return RunDirectory.open(resume)
    if exactly is not None:
        return RunDirectory.at(exactly)
    return None if out is None else RunDirectory.create(out, name)


def _begin_or_continue(
    place: RunDirectory,
    box: SymbolSystem,
    record: SystemRecord,
    seed: int,
    configuration: Mapping[str, Any],
    sampling: Mapping[str, Any],
) -> None:
    """Bound, requirements and budget may be others than before; what was seen has to be of the same system."""
    decided_by = {"system": record.reference, "adapter": record.sha256, "alphabet": box.alphabet, **sampling}
    if place.begun:
        place.check_same_system(decided_by)
    else:
        place.write_manifest(
            seed=seed, configuration=configuration, adapter_sha256=record.sha256, decided_by=decided_by
        )
