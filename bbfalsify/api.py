"""The calls of Python users, with flat keywords: `bbfalsify.falsify`, `check`, `reach`, `verify`, `estimate`, ….

Each turns its keywords into an `Execution` (how simulations are executed) and a `Recording` (where the run is
recorded), and hands over to the room `running`, whose functions take these two.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from bbfalsify.core.budget import Budget
from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.core.events import Listener
from bbfalsify.engines.checking.settings import CheckSettings
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.engines.verification.settings import VerifySettings
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.records.recording import Recording
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.running.execution import Execution, ExecutorLostChoice, OnFailure

if TYPE_CHECKING:
    from bbfalsify.automata.mealy import MealyMachine
    from bbfalsify.campaigns import Campaign
    from bbfalsify.campaigns.plan import Given
    from bbfalsify.engines.falsification.baseline.smc import SmcOptions
    from bbfalsify.engines.falsification.settings import Options
    from bbfalsify.engines.searching.bookkeeping import Progress
    from bbfalsify.engines.searching.transition_system import Predicate, TransitionSystem
    from bbfalsify.modelling import Network, Profile
    from bbfalsify.records.accepted import Acceptances
    from bbfalsify.results.check_result import CheckResult
    from bbfalsify.results.estimate_result import EstimateRow
    from bbfalsify.results.falsify_result import FalsificationResult
    from bbfalsify.results.state_search_result import StateSearchResult
    from bbfalsify.running.check.check_task import RequirementLike
    from bbfalsify.running.check.sampled_check import Symbols
    from bbfalsify.running.falsify.given import RequirementLike as StlLike
    from bbfalsify.running.reach.reach import SearchResult
    from bbfalsify.running.verify.verify import Verification
    from bbfalsify.systems import System
    from bbfalsify.systems.symbols import SymbolSystem


def falsify(
    system: System,
    profile: Profile | str | Path,
    requirements: StlLike | Path | Sequence[StlLike | Path],
    *,
    horizon: float,
    options: Options | None = None,
    period: float | None = None,
    max_time: float | None = None,
    budget: Budget | None = None,
    seed: int | None = None,
    jobs: int = Execution.jobs,
    time_limit_s: float | None = Execution.time_limit,
    on_failure: OnFailure = Execution.on_failure,
    votes: int = Execution.votes,
    memory_limit_mb: float | None = None,
    early_stop: bool = False,
    out: str | Path | None = "runs",
    name: str | None = None,
    system_record: SystemRecord | None = None,
    listeners: Iterable[Listener] = (),
    configuration: Mapping[str, Any] | None = None,
    baseline: SmcOptions | None = None,
    store: str | Path | None = None,
    accepted: Acceptances | str | Path | None = None,
    directory: str | Path | None = None,
    executor: str | Executor | None = None,
    executor_lost: ExecutorLostChoice = "stop",
    **settings: Any,
) -> FalsificationResult:
    """Search for counterexamples, confirm them, estimate how probable each is, and store them best first.

    `profile` may be its file, a requirement its formula (`"always(T <= 75)"`) or a specification file
    (`"specs/heater.yaml"`), whose requirements all count; a formula is called R1, R2, …, by its place.

    Every setting of `Options` may be given by its own name (`simulations=200, passes=0`), as under `engine:` in a
    campaign; so may those of plain simulation (`smc="sequence"`), in the place of a `baseline`.  `max_time` (seconds)
    ends the search; the estimates of what it found are still made, but nothing is shrunk then.  `budget` bounds the
    whole run: what was found but not estimated when it is used up is listed as such.  With `baseline` (`SmcOptions`),
    plain simulation of the profile then estimates how probable any violation is, so that the result can say how much of
    it the list explains.  `out=None` writes nothing; the counterexamples of the result have their `trace` (times,
    inputs, outputs) in memory.

    Without a `period`, signals are sampled as requirements and system need it (`sampling_grid.py`), and more densely
    where that changes verdicts; a given one is kept, and what changes at a tenth of it is said.

    Each simulation is executed `votes` times and the majority believed; a worker gets `memory_limit_mb` (Linux).  With
    `early_stop` a simulation of a stepwise system ends soon after every requirement is violated.

    Counterexamples in the folder `store` are executed again before the search and ranked with its findings; new ones
    are added to it.  `accepted` (a file, or what `load_acceptances` read) says which failures are no news.

    `directory` is exactly the run directory to use.  If the same run was begun there and interrupted, by whatever, it
    is continued and ends as it would have ended; if it is another run, it is refused.

    Simulations run in `jobs` worker processes, or on an `executor`: "in-process", "dask", "dask:ADDRESS", or whatever
    has the interface of `concurrent.futures`.  Where the cluster of the executor is gone, ExecutorLost is raised, and
    the run can be continued; with `executor_lost="local"` it goes on with workers here.
    """
    from bbfalsify.engines.falsification.baseline.smc import SmcOptions
    from bbfalsify.engines.falsification.settings import PLAIN_SIMULATION, FalsifySettings, Options
    from bbfalsify.running.falsify.falsify import falsify as run
    from bbfalsify.running.falsify.task import Settings

    for argument, value, kind in (("options", options, Options), ("baseline", baseline, SmcOptions)):
        if value is not None and not isinstance(value, kind):
            raise UserError(f"{argument} must be {kind.__name__}(…); found {type(value).__name__}.")
    asked = {key: settings.pop(key) for key in [*settings] if key in PLAIN_SIMULATION}
    if asked and baseline is not None:
        raise UserError(f"give either baseline or {', '.join(asked)}, not both.")
    baseline = SmcOptions.of(FalsifySettings(horizon=horizon, **asked)) if asked else baseline
    chosen = Settings(horizon, period, _options(options, settings), baseline, max_time)
    execution = Execution(
        jobs=jobs, executor=executor, executor_lost=executor_lost, time_limit=time_limit_s,
        memory_limit=memory_limit_mb, votes=votes, early_stop=early_stop, on_failure=on_failure,
    )  # fmt: skip
    recording = Recording(out, directory, name, tuple(listeners), configuration, system_record)
    return run(
        system, profile, _with_files_read(system, requirements), chosen, budget=budget or Budget(), seed=seed,
        store=store, accepted=accepted, execution=execution, recording=recording,
    )  # fmt: skip


def _options(given: Options | None, named: Mapping[str, Any]) -> Options:
    """Return the options with the settings that were given by name; a name that nothing has gets the closest one."""
    from bbfalsify.core.settings import settings_of
    from bbfalsify.engines.falsification.settings import PLAIN_SIMULATION, Options

    if not named:
        return given or Options()
    known, own = settings_of(Options), inspect.signature(falsify).parameters
    unknown = [
        unknown_name("argument", name, {*known, *own, *PLAIN_SIMULATION} - {"settings"})
        for name in named
        if name not in known
    ]
    if unknown:
        raise UserError(unknown)
    return replace(given or Options(), **named)


def _with_files_read(system: object, given: Any) -> list[StlLike]:
    """Replace the specification files among requirements by what they hold; a formula never ends with .yaml."""
    from bbfalsify.campaigns.requirements.stl import load_requirements
    from bbfalsify.logic import Formula, Requirement
    from bbfalsify.systems import System

    ports = (*system.inputs, *system.outputs) if isinstance(system, System) else None
    read: list[Any] = []
    alone = isinstance(given, str | Path | Formula | Requirement) or not isinstance(given, Iterable)
    for item in [given] if alone else given:
        if isinstance(item, Path) or (isinstance(item, str) and item.strip().endswith((".yaml", ".yml"))):
            planned = load_requirements(item, signals=None if ports is None else [port.name for port in ports])
            read += [p.requirement for p in planned]
        else:
            read.append(item)
    return read


def check(
    system: SymbolSystem | System | MealyMachine,
    requirements: RequirementLike | Sequence[RequirementLike] = (),
    *,
    max_states: int | None = None,
    alphabet: Sequence[str] | None = None,
    learner: str = CheckSettings.learner,
    tester: str = CheckSettings.tester,
    stop_at_first: bool = False,
    within: float | None = None,
    max_queries: int | None = None,
    max_symbols: int | None = None,
    max_time: float | None = None,
    seed: int | None = None,
    jobs: int = Execution.jobs,
    executor: str | Executor | None = None,
    executor_lost: ExecutorLostChoice = "stop",
    time_limit_s: float | None = Execution.time_limit,
    votes: int = Execution.votes,
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
    begins with them, and the risk of any violation of the same requirement (`within` a time, on average, per time).
    """
    from bbfalsify.running.check.check import check as run
    from bbfalsify.running.check.check_task import Settings

    options = CheckSettings(
        max_states=max_states, learner=learner, tester=tester, stop_at_first=stop_at_first, within=within,
        max_queries=max_queries, max_symbols=max_symbols, max_time=max_time, period=period,
    )  # fmt: skip
    if resume is not None:
        directory = RunDirectory.open(resume).path
    settings = Settings(options, alphabet, observations, older, symbols, period)
    execution = Execution(
        jobs=jobs, executor=executor, executor_lost=executor_lost, time_limit=time_limit_s,
        memory_limit=memory_limit_mb, votes=votes,
    )  # fmt: skip
    return run(
        system, requirements, settings, budget=Budget(max_queries, max_time, max_symbols), seed=seed, profile=profile,
        execution=execution, recording=Recording(out, directory, name, tuple(listeners), configuration, system_record),
    )  # fmt: skip


def reach(
    model: str | Path | Network,
    query: str,
    *,
    seed: int | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    executor_lost: ExecutorLostChoice = "stop",
    **settings: Any,
) -> SearchResult:
    """Look for a state that satisfies the query (`E<>`) or violates it (`A[]`).

    `settings` are `heuristic`, `trace`, `traces`, `depth`, `timeout`, `walks` of `ReachSettings`.  `walks` limits the
    walks of each heuristic, `timeout` the seconds; None is no limit.  With `trace` "shortest" or "fastest" the search
    goes on after the first trace, so it needs one of the two.  More `traces` than one are grouped by what differs
    (`result.groups`).

    Walks are made by `jobs` processes (by default one per core), or on an `executor` as for `falsify`.
    """
    from bbfalsify.running.reach.reach import reach as run

    processes = os.cpu_count() or 1 if jobs is None else jobs
    execution = Execution(jobs=processes, executor=executor, executor_lost=executor_lost)
    return run(model, query, ReachSettings(**settings), seed=seed, execution=execution)


def verify(
    model: str | Path | Network,
    query: str,
    *,
    seed: int | None = None,
    jobs: int | None = None,
    **settings: Any,
) -> Verification:
    """Decide a query about all behaviours of a timed model: `result.verdict` is holds, violated or undecided.

    `sup{φ}: e`, `inf{φ}: e` and `bounds{φ}: e` ask for exact largest and smallest values of integers and clocks: the
    verdict is exact or undecided, and each of `result.limits` has a `value` that is `reached` or only approached, or is
    `unbounded`.

    `settings` are `heuristic`, `trace`, `memory`, `fallback`, `timeout`, `walks`, … of `VerifySettings`.  All symbolic
    states (zones) are explored, in at most `memory` MB and `timeout` seconds.  A verdict that a run shows has it as
    `result.answer.trace`, re-checked in exact fractions; one without a run is a proof about the model.
    """
    from bbfalsify.running.verify.verify import verify as run

    execution = Execution(jobs=os.cpu_count() or 1 if jobs is None else jobs)
    return run(model, query, VerifySettings(**settings), seed=seed, execution=execution)


def estimate(
    asked: System | Network | str | Path,
    query: str | StlLike,
    *,
    profile: Profile | str | Path | None = None,
    constants: Mapping[str, float | int | str] | None = None,
    seed: int | None = None,
    jobs: int = 1,
    max_time: float | None = None,
    **settings: Any,
) -> EstimateRow:
    """Estimate a probability: `result.estimate` has value and interval, `result.verdict` decides a bound.

    A model (or its file) is asked a query of CSL or UPPAAL, such as "P=? [ F<=10 crash ]"; Markov chains are solved,
    other models simulated.  Of a system with a `profile`, `query` is an STL requirement whose violation is estimated:

        estimate("queue.yaml", "P=? [ F<=20 waiting == room ]", constants={"room": 8})
        estimate(heater, "always[0:20](T <= 75)", profile="heater_user.yaml", horizon=20, precision="relative 0.1")

    `settings` are `method`, `precision`, `confidence`, `runs`, `horizon`, `at_most`, `score`, … of `EstimateSettings`;
    `max_time` limits the seconds.
    """
    from bbfalsify.engines.estimation.settings import EstimateSettings
    from bbfalsify.running.estimate.asked import estimate_model, estimate_system

    chosen, budget, execution = EstimateSettings(**settings), Budget(seconds=max_time), Execution(jobs=jobs)
    if profile is None:
        return estimate_model(asked, query, chosen, constants or {}, budget=budget, seed=seed, execution=execution)
    if constants:
        raise UserError("constants are those of a model; set them in the file of the profile.")
    formulas = _with_files_read(asked, query)
    if len(formulas) != 1:
        raise UserError(f"one requirement is estimated at a time; these are {len(formulas)}.")
    return estimate_system(asked, profile, formulas[0], chosen, budget=budget, seed=seed, execution=execution)


def search(
    system: TransitionSystem | Network | MealyMachine | str | Path,
    target: Predicate | str | None = None,
    *,
    deadlock: bool = False,
    seed: int | None = None,
    listener: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> StateSearchResult:
    """Search states one by one: breadth first, depth first, deep and random, or along a highway.

    `system` is a transition system and `target` a predicate over its states; or a model without time (or its file) and
    a query; or a learned machine (or its DOT file) and a requirement that no word may violate.  With `deadlock` a state
    without successors is looked for.  `settings` are `method`, `width`, `depth`, `states`, `memory`, … of
    `SearchSettings`.
    """
    from bbfalsify.engines.searching.given_systems import system_of
    from bbfalsify.engines.searching.state_search import search as run

    given = system_of(system, target if isinstance(target, str) else None)
    predicate = None if isinstance(target, str) else target
    return run(given, predicate, deadlock=deadlock, seed=seed, listener=listener, **settings)


def load_campaign(path: str | Path, **given: Unpack[Given]) -> Campaign:
    """Read and check a campaign file; what is given overrules the file."""
    from bbfalsify.campaigns.plan import load_campaign as load
    from bbfalsify.registry import ENGINES

    return load(path, ENGINES, **given)
