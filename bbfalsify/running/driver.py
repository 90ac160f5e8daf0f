"""THE LOOP: the only place where an engine meets a system.

    engine ── ask(batch of queries) ──► driver ──► worker ──► system, monitor
       ▲                                  │                         │
       └────────── answers ───────────────┴◄────────────────────────┘
                                          └──► events (recorded, then shown)

An engine is a function that is given `ask`.  Everything else about running is written here, once: the budget, the
recording, Ctrl-C, and beside it what a failed simulation means (`failing.py`), processes and time limits (in the pool).

    with Driver(system, judge, recorder=recorder, budget=Budget(simulations=2000)) as driver:
        ended = drive(engine, driver, profile, horizon=20)
        ended.result, ended.reason
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbfalsify.core.budget import Budget, BudgetSpent, Spent
from bbfalsify.core.errors import InvariantViolated, SystemFailure, UserError
from bbfalsify.core.events import BatchAnswered, Listener, Repeated, RunResumed, RunStarted, RunStopped, TimeUp
from bbfalsify.core.query import Answer, AnyQuery, WordQuery
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus, StopReason
from bbfalsify.records.answer_records import answer_record, with_checksums
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.recorded_answers import Tape
from bbfalsify.running.failing import Failures, OnFailure
from bbfalsify.running.voting import Poll, ballots
from bbfalsify.running.workers.execute_query import Judge
from bbfalsify.running.workers.executors import open_pool
from bbfalsify.systems.interface import System, require_capability, usable_jobs
from bbfalsify.systems.symbols import SymbolSystem

_RECORD_AT_LEAST_EVERY_S = 1.0
_RECORD_AT_MOST = 256
"""Answers to one line of the record."""


class Driver:
    """Answers queries within a budget and records every answer.  A context manager: leaving it ends the run."""

    def __init__(
        self,
        system: System | SymbolSystem,
        judge: Judge | None,
        *,
        recorder: Recorder | None = None,
        budget: Budget | None = None,
        jobs: int = 1,
        time_limit_s: float | None = 60.0,
        seeds: SeedTree | None = None,
        requirements: Sequence[str] = ("requirement",),
        on_failure: OnFailure = "inconclusive",
        memory_limit_mb: float | None = None,
        listeners: Iterable[Listener] = (),
        name: str = "run",
        log: Path | None = None,
        votes: int = 1,
        early_stop: bool = False,
        shared: Sequence[object] = (),
        tape: Tape | None = None,
        executor: str | Executor | None = None,
    ) -> None:
        """`votes`: execute each query so often and believe the majority.  `early_stop`: end a simulation once every
        requirement is violated (of a stepwise system).
        `shared`: objects that queries refer to; workers get them once.  `tape`: answers recorded before the run was
        interrupted; they count as if they had been executed now.  `executor`: see `executors.py`.
        """
        if isinstance(votes, bool) or not isinstance(votes, int) or votes < 1:
            raise UserError(f"{votes} votes: give a whole number, at least 1.")
        if early_stop:
            require_capability(system, "stepwise", "stopping a simulation early")
        self.system = system
        self.requirements = tuple(requirements)
        self.recorder = recorder if recorder is not None else Recorder()
        for listener in listeners:
            self.recorder.add_listener(listener)
        self.budget = budget if budget is not None else Budget()
        self.seeds = seeds if seeds is not None else SeedTree(0)
        self.stop_reason: StopReason | None = None
        """Why the run had to stop before the engine was done; None while it need not."""
        self.poll = Poll(votes)
        self.tape = tape if tape is not None else Tape()
        self.symbols = 0
        """Given to the system, resets not counted."""
        self._simulations = 0
        self._started: float | None = None
        self._deadline: float | None = None
        self._failure_message = ""
        self._failures = Failures(on_failure, system.name, self.requirements)
        self._name, self._jobs = name, usable_jobs(system, jobs)
        self.executor = executor
        self._pool = open_pool(
            executor,
            system,
            judge,
            jobs=jobs,
            time_limit_s=time_limit_s,
            seeds=self.seeds,
            memory_limit_mb=memory_limit_mb,
            log=log,
            early_stop=early_stop,
            shared=shared,
        )

    # ------------------------------------------------------------------ the loop

    def ask(self, queries: Sequence[AnyQuery]) -> list[Answer]:
        """Answer a batch, in the order asked; raises BudgetSpent (with what was answered) when the run has to stop."""
        if not queries:
            return []
        if len({query.name for query in queries}) < len(queries):
            raise InvariantViolated("two queries of one batch have the same name: their records would be the same")
        if self.stop_reason is None:
            self.stop_reason = self.budget.used_up(self.spent)
        if self.stop_reason is not None:
            raise BudgetSpent(self.stop_reason)
        answers = self._run(queries[: self._allowed(queries)])
        if len(answers) < len(queries):
            if self.stop_reason is None:
                self.stop_reason = self.budget.used_up(self.spent) or StopReason.BUDGET_TIME
            if self.stop_reason is StopReason.BUDGET_TIME:
                self._note_time_up("run")
            raise BudgetSpent(self.stop_reason, tuple(answers))
        return answers

    def _allowed(self, queries: Sequence[AnyQuery]) -> int:
        """How many queries the budget has room for; a run that is resumed stops where its time was up then.

        Of symbols, the word that reaches the end of the budget is still executed.
        """
        left, votes = self.budget.simulations_left(self.spent), self.poll.votes
        if "run" in self.tape.time_up:
            until_then = self.tape.time_up["run"] - self._simulations
            left = until_then if left is None else min(left, until_then)
        count = len(queries) if left is None else min(len(queries), left // votes)
        if self.budget.symbols is not None:
            totals = itertools.accumulate((votes * len(q.word) for q in queries), initial=self.symbols)
            count = min(count, sum(total < self.budget.symbols for total in totals))
        return count

    def out_of_time(self, seconds: float | None) -> bool:
        """Whether so many seconds of the run are over; recorded, so that a resumed run decides as it did before."""
        if seconds is None:
            return False
        if "search" in self.tape.time_up:
            return self._simulations >= self.tape.time_up["search"]
        if self.tape.playing or self.spent.seconds < seconds:
            return False
        self._note_time_up("search")
        return True

    def _note_time_up(self, what: str) -> None:
        if what not in self.tape.time_up:
            self.tape.time_up[what] = self._simulations
            self.recorder.record(TimeUp(what, self._simulations))

    def _run(self, queries: Sequence[AnyQuery]) -> list[Answer]:
        answers: list[Answer] = []
        told = self._taped(queries)
        recorded, recorded_at = 0, time.monotonic()
        try:
            with closing(self._answers(queries, told)) as arriving:
                for query, answer in zip(queries, arriving, strict=False):
                    answers.append(self._failures.meaning(query, answer))
                    self._failures.count(answer)
                    waited_s = time.monotonic() - recorded_at
                    if len(answers) - recorded >= _RECORD_AT_MOST or waited_s >= _RECORD_AT_LEAST_EVERY_S:
                        self._record(queries, answers, recorded, told)
                        recorded, recorded_at = len(answers), time.monotonic()
        except KeyboardInterrupt:
            self.stop_reason = StopReason.INTERRUPTED
        finally:
            self._record(queries, answers, recorded, told)
        return answers

    def _taped(self, queries: Sequence[AnyQuery]) -> dict[str, Answer]:
        """What the record answers, by the names of the queries."""
        if not self.tape.playing:
            return {}
        return {q.name: answer for q in queries if (answer := self.tape.answer(q)) is not None}

    def _answers(self, queries: Sequence[AnyQuery], told: Mapping[str, Answer]) -> Iterator[Answer]:
        """From the record, else from the system: count and vote, in this order."""
        unknown = [q for q in queries if q.name not in told]
        executed = ballots(unknown, self.poll.votes)
        with closing(self._pool.answers(executed, deadline=self._deadline)) as arriving:
            elected = self.poll.results(unknown, self._counted(executed, arriving))
            for query in queries:
                answer = told.get(query.name)
                if answer is not None:
                    self._count(query, self.poll.votes)
                else:
                    answer = next(elected, None)
                if answer is None:
                    return
                self.poll.count(query, answer)
                yield answer

    def _counted(self, queries: Sequence[AnyQuery], arriving: Iterable[Answer]) -> Iterator[Answer]:
        for query, answer in zip(queries, arriving, strict=False):
            self._count(query)
            yield answer

    def _count(self, query: AnyQuery, times: int = 1) -> None:
        self._simulations += times
        self.symbols += times * len(query.word) if isinstance(query, WordQuery) else 0

    def rerun(self, queries: Sequence[AnyQuery]) -> list[Answer]:
        """Answer again what was asked before, to confirm it: outside the budget, and recorded with whole traces."""
        if self.stop_reason is StopReason.INTERRUPTED:
            raise BudgetSpent(StopReason.INTERRUPTED)
        try:
            return [
                self._failures.meaning(query, answer)
                for query, answer in zip(queries, self.repeat(queries, self._pool.answers), strict=True)
            ]
        except KeyboardInterrupt:
            self.stop_reason = StopReason.INTERRUPTED
            raise BudgetSpent(StopReason.INTERRUPTED) from None

    def look_again(self, queries: Sequence[AnyQuery]) -> list[Answer]:
        """Execute what was asked before once more, only to see its signals: nothing is counted or recorded."""
        return list(self._pool.answers(queries))

    def repeat(
        self,
        queries: Sequence[AnyQuery],
        execute: Callable[[Sequence[AnyQuery]], Iterable[Answer]],
    ) -> list[Answer]:
        """As recorded, where the run is resumed; else executed now, and recorded."""
        told = self._taped(queries)
        rest = [query for query in queries if query.name not in told]
        fresh = dict(zip((q.name for q in rest), execute(rest), strict=True)) if rest else {}
        if fresh and self.recorder.path is not None:
            self.recorder.record(Repeated(with_checksums(((q, fresh[q.name]) for q in rest), traces=True)))
        return [told.get(query.name) or fresh[query.name] for query in queries]

    @property
    def failures(self) -> dict[SimulationStatus, int]:
        """How many simulations failed, of each kind."""
        return self._failures.counts

    @property
    def spent(self) -> Spent:
        """All sessions of the run together."""
        now = time.monotonic() - self._started if self._started is not None else 0.0
        return Spent(self._simulations, self.tape.seconds + now, self.symbols)

    def _record(
        self, queries: Sequence[AnyQuery], answers: Sequence[Answer], start: int, told: Mapping[str, Answer]
    ) -> None:
        """What was executed is recorded; what was on record already is only shown."""
        batch = list(zip(queries[start:], answers[start:], strict=False))
        again = [pair for pair in batch if pair[0].name in told]
        new = [pair for pair in batch if pair[0].name not in told]
        if again:
            self.recorder.tell(BatchAnswered(tuple(answer_record(q.name, a) for q, a in again)))
        if new and self.recorder.path is None:
            self.recorder.record(BatchAnswered(tuple(answer_record(q.name, a) for q, a in new)))
        elif new:
            self.recorder.record(BatchAnswered(with_checksums(new)))

    # ------------------------------------------------------------------ beginning and end

    def __enter__(self) -> Driver:
        self._started = time.monotonic()
        if self.budget.seconds is not None:
            self._deadline = self._started + self.budget.seconds - self.tape.seconds
        limits = self.budget.simulations, self.budget.seconds
        self.recorder.record(
            RunResumed(self.tape.answers, self._jobs)
            if self.tape.started
            else RunStarted(self._name, self.system.name, self.requirements, self.seeds.root, *limits, self._jobs)
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        """The last event always comes, however the run ended; then the workers go."""
        reason, message = self._how_it_ended(kind, error)
        try:
            self.recorder.record(RunStopped(reason, self._simulations, round(self.spent.seconds, 3), message))
        finally:
            self._pool.close()

    def _how_it_ended(self, kind: type[BaseException] | None, error: BaseException | None) -> tuple[str, str]:
        if kind is None or isinstance(error, BudgetSpent):
            return (self.stop_reason or StopReason.COMPLETED).value, self._failure_message
        if issubclass(kind, KeyboardInterrupt):
            return StopReason.INTERRUPTED.value, ""
        if issubclass(kind, SystemFailure):
            return StopReason.SYSTEM_FAILED.value, str(error)
        return StopReason.ERROR.value, f"{kind.__name__}: {error}"

    def system_failed(self, failure: SystemFailure) -> None:
        self.stop_reason = StopReason.SYSTEM_FAILED
        self._failure_message = str(failure)


@dataclass(frozen=True)
class Ended:
    """How an engine ended: what it returned (None if it was stopped before it could) and why it ended."""

    result: Any
    reason: StopReason
    message: str = ""


def drive(engine: Callable[..., Any], driver: Driver, *arguments: Any, **parameters: Any) -> Ended:
    """Call `engine(ask, …)`; being stopped by the budget, by Ctrl-C or by the system is an end like any other."""
    result, message = None, ""
    try:
        result = engine(driver.ask, *arguments, **parameters)
    except BudgetSpent:
        pass
    except KeyboardInterrupt:
        driver.stop_reason = StopReason.INTERRUPTED
    except SystemFailure as failure:
        driver.system_failed(failure)
        message = str(failure)
    return Ended(result, driver.stop_reason or StopReason.COMPLETED, message)
