"""Worker processes: black boxes run here, and one that misbehaves costs one query, not the run.

Every simulation runs in a worker process, also when there is only one worker, so a callable that hangs, exits, crashes
or eats memory becomes the status of that one query.  The parent sends queries in chunks; the worker answers one by one
and in order, so the first unanswered query of a worker is always the one it is working on.  If that takes longer than
the time limit, the parent kills the worker and all its children, replaces it, and hands what had not been started to
others.  Answers come out in the order asked, so the number of workers cannot be seen in the result.

A worker that is killed from outside (by an operator, or because the machine has no memory left) does not cost its
simulation: that is executed once more, in a fresh worker.  A simulation whose worker is killed twice is to blame.

A system that can execute many stimuli in one call gets as many as there are, up to a limit, and the time limit of all
of them together.  If a worker dies or hangs in such a call, the culprit is unknown: each is then asked alone.
"""

from __future__ import annotations

import atexit
import itertools
import multiprocessing
import multiprocessing.util  # registers its exit handler, which waits for children, before ours, which ends them
import os
import selectors
import socket
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import BBFalsifyError, InvariantViolated, SystemFailure
from bbfalsify.core.interrupts import uninterrupted
from bbfalsify.core.query import Answer, AnyQuery, Query, UsesQuery
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.running.execution import Execution
from bbfalsify.running.workers.assignment import (
    ANSWER,
    ONE_BY_ONE,
    READY,
    UNUSABLE,
    Assignment,
    Judge,
    Message,
    raise_told,
)
from bbfalsify.running.workers.channel import PollingChannel
from bbfalsify.running.workers.pool_batch import PoolBatch, answer_of, uses_of
from bbfalsify.running.workers.worker import work
from bbfalsify.running.workers.worker_log import LIMIT_BYTES, WorkerLog, WorkerOutput
from bbfalsify.running.workers.worker_process import WorkerProcess
from bbfalsify.systems.interface import BlackBox, usable_jobs

Answers = Generator[Answer, None, None]

_POLL_S = 0.2
"""Seconds between two looks: a worker whose child keeps its socket open dies without a sign."""
_CHUNK_S = 0.005
"""A chunk should hold about this much work: enough to hide the round trip, little enough to share fairly."""
_LARGEST_CHUNK = 64
_GRACE_S = 2.0
"""Seconds that a system may take to close itself."""
_KILLED_AT_START = 2
"""Workers of a run that may be killed from outside before they are ready; then the system cannot be started."""


class WorkerPool:
    """`answers(queries)` yields one answer per query, in order.  A context manager; closing leaves no process."""

    def __init__(
        self,
        system: BlackBox,
        judge: Judge | None,
        execution: Execution = Execution(),
        *,
        seeds: SeedTree = SeedTree(0),
        shared: Sequence[object] = (),
        log: Path | None = None,
        log_limit_bytes: int = LIMIT_BYTES,
        start_limit_s: float = 120.0,
        start_method: str | None = None,
    ) -> None:
        self._jobs = usable_jobs(system, execution.jobs)
        self._time_limit_s = execution.time_limit
        self._start_limit_s = start_limit_s
        self._assignment = Assignment(system, judge, execution, seeds, tuple(shared))
        # Forked workers inherit notebook functions and compiled code; elsewhere fork is unsafe or missing.
        method = start_method or ("fork" if sys.platform.startswith("linux") else "spawn")
        self._context: Any = multiprocessing.get_context(method)
        self._log = WorkerLog(log, log_limit_bytes)
        self._selector = selectors.DefaultSelector()
        self._workers: list[WorkerProcess] = []
        self._seconds_per_query: float | None = None
        self._batches = False
        """Queries that a worker is given together it executes in one call; known when the first worker is ready."""
        self._real_time = False
        """Simulations take as long as what they simulate; known at the same time."""
        self._looked_at = 0.0
        self._warm = False
        self._set_up = False
        self._killed_at_start = 0
        self._owner = os.getpid()
        atexit.register(self.close)

    @classmethod
    def of(cls, assignment: Assignment, log: Path | None) -> WorkerPool:
        work = assignment
        return cls(work.system, work.judge, work.execution, seeds=work.seeds, shared=work.shared, log=log)

    # ------------------------------------------------------------------ asking

    def answers(self, queries: Sequence[AnyQuery], *, deadline: float | None = None) -> Answers:
        """Answer in the order asked; stops early when `time.monotonic()` reaches the deadline."""
        batch = PoolBatch(queries, deque(range(len(queries))))
        following = 0
        for worker in [w for w in self._workers if w.channel.closed or w.exited()]:
            self._remove(worker)  # died while idle: no query of this batch is to blame
        try:
            while following < len(queries):
                if following in batch.finished:
                    yield batch.finished.pop(following)
                    following += 1
                    continue
                if deadline is not None and time.monotonic() >= deadline:
                    return
                self._hand_out(batch)
                for worker in self._wait(deadline):
                    self._collect(worker, batch)
                self._enforce_limits(batch)
        finally:
            for worker in [w for w in self._workers if w.assigned]:
                self._remove(worker)

    def _hand_out(self, batch: PoolBatch) -> None:
        waiting = batch.waiting
        busy = sum(bool(worker.assigned) for worker in self._workers)
        while waiting and len(self._workers) < min(self._jobs, busy + len(waiting)):
            self._start_worker()
        for worker in self._workers:
            chunk = self._chunk_size(len(waiting))
            if waiting and len(worker.assigned) <= (0 if self._batches else chunk // 2):
                indices = batch.take(chunk)
                idle = not worker.assigned
                worker.together = sum(uses_of(batch.queries[index]) for index in indices) if self._batches else 1
                worker.assigned.extend(indices)
                if idle:
                    self._start_clock(worker, batch)
                worker.channel.push([(index, batch.queries[index]) for index in indices])
                self._watch_for_writing(worker)

    def _chunk_size(self, waiting: int) -> int:
        """One at a time until the speed is known; then about `_CHUNK_S`, with something left for every worker."""
        if self._seconds_per_query is None:
            return 1
        fair = -(-waiting // self._jobs)
        # What one call costs says little about what a larger one would: batches are as large as they can be.
        fitting = fair if self._batches else int(_CHUNK_S / max(self._seconds_per_query, 1e-9))
        return max(1, min(fitting, _LARGEST_CHUNK, fair))

    def _wait(self, deadline: float | None) -> list[WorkerProcess]:
        """Sleep until something happens; returns the workers that have something to say."""
        now = time.monotonic()
        moments = [now + _POLL_S, *(self._latest_end(w) for w in self._workers if w.assigned)]
        if deadline is not None:
            moments.append(deadline)
        speaking = []
        for key, events in self._selector.select(max(0.0, min(moments) - now)):
            worker: WorkerProcess = key.data
            if key.fileobj is worker.output:
                worker.output.drain()
                if worker.output.closed:
                    self._selector.unregister(worker.output)
                    worker.output_watched = False
                continue
            if events & selectors.EVENT_WRITE:
                worker.channel.flush()
                self._watch_for_writing(worker)
            if events & selectors.EVENT_READ:
                speaking.append(worker)
        return speaking

    def _collect(self, worker: WorkerProcess, batch: PoolBatch) -> None:
        """Take in what a worker says; if it has gone, say so and give its queries back."""
        try:
            for message in worker.channel.messages():
                self._take(worker, message, batch)
        except BBFalsifyError:
            raise
        except Exception as error:  # not from our own code in the worker: something wrote into the socket
            self._fail(worker, SimulationStatus.DIED, f"the worker sent rubbish ({error})", batch)
            return
        if worker.channel.closed:
            self._fail(worker, SimulationStatus.DIED, None, batch)

    def _take(self, worker: WorkerProcess, message: Message, batch: PoolBatch) -> None:
        kind = message[0]
        if kind == ANSWER:
            _, index, *parts = message
            if index != worker.assigned.popleft():
                raise InvariantViolated(f"a worker answered query {index} out of turn")
            taken = (time.monotonic() - worker.clock_started) / uses_of(batch.queries[index])
            self._start_clock(worker, batch)
            known = self._seconds_per_query
            self._seconds_per_query = taken if known is None else 0.8 * known + 0.2 * taken
            worker.together = 1
            batch.finished[index] = answer_of(batch.queries[index], *parts)
        elif kind == READY:
            worker.ready, (self._batches, self._real_time) = True, message[1:]
            self._start_clock(worker, batch)
        elif kind == ONE_BY_ONE:
            worker.together = 1
            self._start_clock(worker, batch)
        elif kind == UNUSABLE:
            raise SystemFailure(f"the system '{self._assignment.system.name}' could not be started: {message[1]}")
        else:  # a requirement that does not fit the system's traces, an input that has no value
            raise_told(kind, message[1])

    # ------------------------------------------------------------------ limits and failures

    def _start_clock(self, worker: WorkerProcess, batch: PoolBatch) -> None:
        """It begins with the next query; in real time, the time that passes inside is not held against it."""
        worker.clock_started = time.monotonic()
        if self._real_time and worker.assigned:
            query = batch.queries[worker.assigned[0]]
            worker.passing_s = query.stimulus.duration if isinstance(query, Query) else 0.0

    def _limit_s(self, worker: WorkerProcess) -> float:
        if not worker.ready:
            return self._start_limit_s
        return float("inf") if self._time_limit_s is None else self._time_limit_s + worker.passing_s

    def _latest_end(self, worker: WorkerProcess) -> float:
        return worker.clock_started + self._limit_s(worker) * worker.together

    def _enforce_limits(self, batch: PoolBatch) -> None:
        now = time.monotonic()
        look = now >= self._looked_at + _POLL_S  # a system call for each worker, so not at every turn
        if look:
            self._looked_at = now
        for worker in list(self._workers):
            if look and worker.exited():
                self._collect(worker, batch)  # its last words first
                if worker in self._workers:
                    self._fail(worker, SimulationStatus.DIED, None, batch)
            elif worker.assigned and now >= self._latest_end(worker):
                self._collect(worker, batch)  # the answer may have come while we were busy
                if worker in self._workers and worker.assigned and now >= self._latest_end(worker):
                    text = f"no answer within {self._limit_s(worker):g} s"
                    self._fail(worker, SimulationStatus.TIMED_OUT, text, batch)

    def _fail(self, worker: WorkerProcess, status: SimulationStatus, text: str | None, batch: PoolBatch) -> None:
        """Blame the query the worker was at, give the others back, and let go of the worker."""
        how_it_ended = self._remove(worker)
        if worker.killed_from_outside and self._once_more(worker, batch):
            self._log.write(f"{how_it_ended}: a fresh worker executes once more what it was at\n".encode())
            return
        if not worker.ready:
            raise SystemFailure(
                f"the system '{self._assignment.system.name}' could not be started: {text or how_it_ended}"
            )
        together = worker.assigned and isinstance(batch.queries[worker.assigned[0]], UsesQuery)
        if worker.together > 1 and not together:
            batch.alone.update(worker.assigned)
        elif worker.assigned:
            batch.finished[worker.assigned.popleft()] = Answer(status, (), text or how_it_ended)
        batch.give_back(worker.assigned)

    def _once_more(self, worker: WorkerProcess, batch: PoolBatch) -> bool:
        """Give back the queries of a killed worker, once each; a session that cannot be repeated is lost with it."""
        if self._assignment.system.capabilities.single_session:
            return False
        if not worker.ready:
            self._killed_at_start += 1
            again = self._killed_at_start <= _KILLED_AT_START
        else:
            current = set(list(worker.assigned)[: worker.together])
            again = not current & batch.killed
            batch.killed |= current
            batch.alone |= current
        if again:
            batch.give_back(worker.assigned)
        return again

    # ------------------------------------------------------------------ processes

    def _start_worker(self) -> None:
        if not self._set_up:
            self._assignment.have_system("set_up")
            self._set_up = True
        ours, theirs = socket.socketpair()
        output_ours, output_theirs = self._context.Pipe(duplex=False)
        inherited: tuple[Any, ...] = ()
        if self._context.get_start_method() == "fork":
            self._warm_up()
            others = itertools.chain.from_iterable((w.channel, w.output) for w in self._workers)
            inherited = (ours, output_ours, self._selector, *others)
        assignment = self._assignment if inherited else self._assignment.for_another_process()
        # A worker would be killed with the *thread* that started it, so only the main thread may ask for that.
        die_with_parent = threading.current_thread() is threading.main_thread()
        arguments = (theirs, output_theirs, inherited, assignment, die_with_parent)
        process = self._context.Process(target=work, args=arguments)
        with warnings.catch_warnings():
            # Python warns when a process with threads forks; the child uses none of the locks they could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                process.start()
            except OSError as error:
                raise SystemFailure(f"a worker process could not be started: {error}") from None
        theirs.close()
        output_theirs.close()
        worker = WorkerProcess(process, PollingChannel(ours, assignment.shared), WorkerOutput(output_ours, self._log))
        self._workers.append(worker)
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)
        self._selector.register(worker.output, selectors.EVENT_READ, worker)

    def _warm_up(self) -> None:
        """Compile here, once, what every forked worker then inherits."""
        if not self._warm:
            self._assignment.warm_up()
            self._warm = True

    def _watch_for_writing(self, worker: WorkerProcess) -> None:
        wants = worker.channel.wants_to_write
        if wants != worker.watched_for_writing:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if wants else 0)
            self._selector.modify(worker.channel, events, worker)
            worker.watched_for_writing = wants

    def _remove(self, worker: WorkerProcess) -> str:
        """Kill the process with everything it started; returns how it had ended, if it had."""
        self._workers.remove(worker)
        self._selector.unregister(worker.channel)
        if worker.output_watched:
            self._selector.unregister(worker.output)
        return worker.destroy()

    def close(self) -> None:
        """End all workers; those that are idle may close their system first."""
        if os.getpid() != self._owner:  # a copy in a child that somebody forked: these are not its workers
            return
        try:
            idle = [worker for worker in self._workers if worker.ready and not worker.assigned]
            for worker in idle:
                worker.ask_to_end()
            until = time.monotonic() + _GRACE_S
            for worker in idle:
                worker.channel.wait_until_closed(max(0.01, until - time.monotonic()))
        finally:  # also when Ctrl-C is pressed again
            with uninterrupted():  # a worker that is stopped and not killed would be waited for, for ever
                for worker in list(self._workers):
                    self._remove(worker)
            if self._set_up:
                self._assignment.have_system("tear_down")
                self._set_up = False
            self._selector.close()
            self._log.close()
            atexit.unregister(self.close)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
