"""The driver answers: the only place where an engine meets a system.

    engine ── ask(batch of queries) ──► driver ──► worker ──► system, monitor
       ▲                                  │                         │
       └────────── answers ───────────────┴◄────────────────────────┘
                                          └──► events (recorded, then shown)

The loop is the engine's: it decides what to ask next, calls `ask` and waits.  The driver holds the rest, once for all
engines: the budget, the recorded answers of a resumed run, the record, Ctrl-C, votes (`voting.py`) and the meaning of
failed simulations (`failing.py`).  Processes and time limits are the pool's (`workers/`).

    with Driver(system, judge, Execution(jobs=4), budget=Budget(simulations=2000)) as driver:
        with driver.until_stopped() as ended:
            engine(driver.ask, profile, horizon=20)
        ended.reason
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from bbfalsify.core.budget import Budget, BudgetSpent, Spent
from bbfalsify.core.errors import ExecutorLost, InvariantViolated, SystemFailure
from bbfalsify.core.events import AnswersReplayed, BatchAnswered, Repeated, RunStopped, TimeUp
from bbfalsify.core.query import Answer, AnyQuery, UsesQuery, UseVerdicts, WordQuery
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus, StopReason
from bbfalsify.records.answer_records import answer_record, with_checksums
from bbfalsify.records.recording import RunRecord
from bbfalsify.running.execution import Execution
from bbfalsify.running.failing import Failures
from bbfalsify.running.voting import Poll, ballots, elect
from bbfalsify.running.workers.assignment import Assignment, Judge
from bbfalsify.running.workers.executors import open_pool
from bbfalsify.systems.interface import BlackBox, require_capability, usable_jobs

_RECORD_AT_LEAST_EVERY_S = 1.0
_RECORD_AT_MOST = 256
"""Answers to one line of the record."""
_PARTS, _SMALLEST_PART, _LARGEST_PART = 8, 100, 2000
"""Parts into which many uses are divided, whatever the number of workers, and the sizes of a part."""


@dataclass
class Ended:
    """The end of an engine, or of a stage of it."""

    reason: StopReason = StopReason.COMPLETED
    message: str = ""
    """The failure of the system, where that was the reason."""


class Driver:
    """Answers queries within a budget and records every answer.  A context manager: leaving it ends the run."""

    def __init__(
        self,
        system: BlackBox,
        judge: Judge | None,
        execution: Execution = Execution(),
        record: RunRecord | None = None,
        *,
        name: str = "run",
        requirements: Sequence[str] = ("requirement",),
        budget: Budget = Budget(),
        seeds: SeedTree = SeedTree(0),
        shared: Sequence[object] = (),
    ) -> None:
        """`record`: recorded answers count as if they had been executed now.  `shared`: objects that queries refer to;
        workers get them once.
        """
        if execution.early_stop:
            require_capability(system, "stepwise", "stopping a simulation early")
        self.system, self.execution, self.name = system, execution, name
        self.requirements = tuple(requirements)
        self.record = RunRecord() if record is None else record
        self.recorder, self.recorded = self.record.recorder, self.record.answers
        self.budget, self.seeds = budget, seeds
        self.stop_reason: StopReason | None = None
        """Reason to stop the run before the engine is done; None while there is none."""
        self.poll = Poll(execution.votes)
        self.symbols = 0
        """Symbols given to the system, resets not counted."""
        self._simulations = 0
        self._replaying = False
        """A resumed run is given its recorded answers: that takes none of its time."""
        self._started: float | None = None
        self._deadline: float | None = None
        self._failure_message = ""
        self._alone = False
        """A use failed among many: from now on they are asked for one by one."""
        self._failures = Failures(execution.on_failure, system.name, self.requirements)
        self._pool = open_pool(Assignment(system, judge, execution, seeds, tuple(shared)), self.record.log)

    # ------------------------------------------------------------------ answering

    def ask(self, queries: Sequence[AnyQuery]) -> list[Answer]:
        """Answer a batch, in the order asked; raises BudgetSpent (with what was answered) when the run has to stop."""
        if not queries:
            return []
        if len({query.name for query in queries}) < len(queries):
            raise InvariantViolated("two queries of one batch have the same name: their records would be the same")
        if self._replaying and not self.recorded.has(queries[0].name):
            self._end_of_replay()
        if self.stop_reason is None:
            self.stop_reason = self.budget.used_up(self.spent)
        if self.stop_reason is not None:
            raise BudgetSpent(self.stop_reason)
        allowed = queries[: self._allowed(queries)]
        told = self._told(allowed)
        if self._replaying and len(told) < len(allowed):
            self._end_of_replay()
        ballot = ballots([query for query in allowed if query.name not in told], self.poll.votes)
        answers: list[Answer] = []
        written, written_at = 0, time.monotonic()
        try:
            with closing(self._pool.answers(ballot, deadline=self._deadline)) as arriving:
                for query in allowed:
                    answer = told.get(query.name)
                    if answer is None:
                        votes = list(itertools.islice(arriving, self.poll.votes))
                        self._count(query, len(votes))
                        if len(votes) < self.poll.votes:
                            break  # the time is up
                        answer = elect(votes)
                    else:
                        self._count(query, self.poll.votes)
                    self.poll.count(query, answer)
                    answers.append(self._failures.meaning(query, answer))
                    self._failures.count(answer)
                    waited_s = time.monotonic() - written_at
                    if len(answers) - written >= _RECORD_AT_MOST or waited_s >= _RECORD_AT_LEAST_EVERY_S:
                        self._write(allowed, answers, written, told)
                        written, written_at = len(answers), time.monotonic()
        except KeyboardInterrupt:
            self.stop_reason = StopReason.INTERRUPTED
        finally:
            self._write(allowed, answers, written, told)
        if len(answers) < len(queries):
            raise BudgetSpent(self._why_stopped(), tuple(answers))
        return answers

    # ------------------------------------------------------------------ many uses at once

    @property
    def takes_uses(self) -> bool:
        """Many uses can be asked for in one call: the system takes batches, and nothing looks at single answers."""
        return self.poll.votes == 1 and not self.execution.early_stop and self.system.capabilities.batch

    def ask_uses(self, query: UsesQuery) -> UseVerdicts | None:
        """Answer many uses; None where they have to be asked for one by one, because one of them fails, the budget of
        simulations has no room for all, or that is how they are recorded.  Raises BudgetSpent as `ask` does.
        """
        size = -(-len(query.source) // _PARTS)
        parts = query.divided(min(max(size, _SMALLEST_PART), _LARGEST_PART))
        left = self.budget.simulations_left(self.spent)
        if self._alone or (left is not None and left < len(query.source)):
            return None
        if self._replaying and not self.recorded.has(parts[0].name):
            if self.recorded.has(query.name_of(0)):
                return None
            self._end_of_replay()
        if self.stop_reason is None:
            self.stop_reason = self.budget.used_up(self.spent)
        if self.stop_reason is not None:
            raise BudgetSpent(self.stop_reason)
        answers = self._answered_parts(parts)
        if not all(answer.ok for answer in answers):
            self._alone = True
            return None
        for answer in answers:
            assert answer.uses is not None
            self._simulations += answer.uses.executed
            self._failures.count(answer)
        if len(answers) < len(parts):
            raise BudgetSpent(self._why_stopped(), tuple(answers))
        return UseVerdicts.joined([answer.uses for answer in answers if answer.uses is not None])

    def _answered_parts(self, parts: Sequence[UsesQuery]) -> list[Answer]:
        """Answers to the first parts; to all of them, unless the time is up.  Nothing is recorded where one failed."""
        told = self._told(parts)
        rest = [part for part in parts if part.name not in told]
        if rest and "run" in self.recorded.time_up:
            rest = []
        fresh: list[Answer] = []
        try:
            with closing(self._pool.answers(rest, deadline=self._deadline)) as arriving:
                fresh += arriving
        except KeyboardInterrupt:
            self.stop_reason = StopReason.INTERRUPTED
        if told and rest:
            self._end_of_replay()
        answers = [*(told[part.name] for part in parts if part.name in told), *fresh]
        if all(answer.ok for answer in fresh):
            self._write(parts, answers, 0, told)
        return answers

    # ------------------------------------------------------------------ limits

    def _allowed(self, queries: Sequence[AnyQuery]) -> int:
        """Count the queries that the budget has room for; a resumed run stops where its time was up before.

        The word that reaches the end of a budget of symbols is still executed.
        """
        left, votes = self.budget.simulations_left(self.spent), self.poll.votes
        if "run" in self.recorded.time_up:
            until_then = self.recorded.time_up["run"] - self._simulations
            left = until_then if left is None else min(left, until_then)
        count = len(queries) if left is None else min(len(queries), left // votes)
        if self.budget.symbols is not None:
            totals = itertools.accumulate((votes * _symbols(query) for query in queries), initial=self.symbols)
            count = min(count, sum(total < self.budget.symbols for total in totals))
        return count

    def _why_stopped(self) -> StopReason:
        if self.stop_reason is None:
            self.stop_reason = self.budget.used_up(self.spent) or StopReason.BUDGET_TIME
        if self.stop_reason is StopReason.BUDGET_TIME:
            self._note_time_up("run")
        return self.stop_reason

    def out_of_time(self, seconds: float | None) -> bool:
        """True once so many seconds of the run are over; recorded, so that a resumed run decides as it did before."""
        if seconds is None:
            return False
        if "search" in self.recorded.time_up:
            return self._simulations >= self.recorded.time_up["search"]
        if self._replaying and not self.recorded.playing:
            self._end_of_replay()
        if self._replaying or self.spent.seconds < seconds:
            return False
        self._note_time_up("search")
        return True

    def _note_time_up(self, what: str) -> None:
        if what not in self.recorded.time_up:
            self.recorded.time_up[what] = self._simulations
            self.recorder.record(TimeUp(what, self._simulations))

    def _end_of_replay(self) -> None:
        """Let the time of the run count from here, after what was spent before it was interrupted."""
        self._replaying = False
        self._start_clock()
        self.recorder.record(AnswersReplayed(self.recorded.answers))

    def _start_clock(self) -> None:
        self._started = time.monotonic()
        if self.budget.seconds is not None:
            self._deadline = self._started + self.budget.seconds - self.recorded.seconds

    def _told(self, queries: Sequence[AnyQuery]) -> dict[str, Answer]:
        """Return the recorded answers by the names of the queries."""
        if not self.recorded.playing:
            return {}
        return {q.name: answer for q in queries if (answer := self.recorded.answer(q)) is not None}

    def _count(self, query: AnyQuery, times: int) -> None:
        self._simulations += times
        self.symbols += times * _symbols(query)

    def rerun(self, queries: Sequence[AnyQuery], *, counted: bool = False) -> list[Answer]:
        """Answer again what was asked before, to confirm it: never refused, and recorded with whole traces."""
        if self.stop_reason is StopReason.INTERRUPTED:
            raise BudgetSpent(StopReason.INTERRUPTED)
        for query in queries if counted else ():
            self._count(query, 1)
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
        self, queries: Sequence[AnyQuery], execute: Callable[[Sequence[AnyQuery]], Iterable[Answer]]
    ) -> list[Answer]:
        """Answer as recorded, where the run is resumed; else execute now, and record."""
        told = self._told(queries)
        rest = [query for query in queries if query.name not in told]
        fresh = dict(zip((q.name for q in rest), execute(rest), strict=True)) if rest else {}
        if fresh and self.recorder.path is not None:
            self.recorder.record(Repeated(with_checksums(((q, fresh[q.name]) for q in rest), traces=True)))
        return [told.get(query.name) or fresh[query.name] for query in queries]

    @property
    def failures(self) -> dict[SimulationStatus, int]:
        """Failed simulations, of each kind."""
        return self._failures.counts

    @property
    def spent(self) -> Spent:
        """All sessions of the run together."""
        if self._replaying:  # the recorded time may be all there is, and what was done in it still counts
            return Spent(self._simulations, 0.0, self.symbols)
        now = time.monotonic() - self._started if self._started is not None else 0.0
        return Spent(self._simulations, self.recorded.seconds + now, self.symbols)

    def _write(
        self, queries: Sequence[AnyQuery], answers: Sequence[Answer], start: int, told: Mapping[str, Answer]
    ) -> None:
        """Record what was executed; only show what was on record already."""
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

    @contextmanager
    def until_stopped(self) -> Iterator[Ended]:
        """Surround an engine: being stopped by the budget, by Ctrl-C or by the system is an end like any other."""
        ended = Ended()
        try:
            yield ended
        except BudgetSpent:
            pass
        except KeyboardInterrupt:
            self.stop_reason = StopReason.INTERRUPTED
        except SystemFailure as failure:
            self.stop_reason = StopReason.SYSTEM_FAILED
            self._failure_message = ended.message = str(failure)
        ended.reason = self.stop_reason or StopReason.COMPLETED

    def __enter__(self) -> Driver:
        self._replaying = self.recorded.playing
        self._start_clock()
        jobs = usable_jobs(self.system, self.execution.jobs)
        limits = self.budget.simulations, self.budget.seconds
        self.record.record_start(self.name, self.system.name, self.requirements, self.seeds.root, limits, jobs)
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
        if issubclass(kind, KeyboardInterrupt | ExecutorLost):
            return StopReason.INTERRUPTED.value, str(error)
        if issubclass(kind, SystemFailure):
            return StopReason.SYSTEM_FAILED.value, str(error)
        return StopReason.ERROR.value, f"{kind.__name__}: {error}"


def _symbols(query: AnyQuery) -> int:
    return len(query.word) if isinstance(query, WordQuery) else 0
