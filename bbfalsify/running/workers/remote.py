"""Simulations on any executor: a batch is cut into tasks, and each task drives an isolated worker over there.

    ExecutorPool ── submit(answer_there, …) ──► a process of the executor ──► host (`host.py`) ──► worker process

The host is a process of ours, started once in each process of the executor and kept: it forks the worker in which the
system runs, so time limits, crashes and memory are contained there as they are here.  What all tasks of a run need
(the system, the requirements) travels once to each host; a task refers to it by the name of the run.

A task that is lost with the process it ran in is repeated (Dask does that itself, and replaces the process).  Where
the whole cluster is lost, the run ends and can be resumed, or goes on with workers of this machine (`executor_lost`).
"""

from __future__ import annotations

import math
import os
import pickle
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from bbfalsify.core.errors import ExecutorLost, SystemFailure, UserError
from bbfalsify.core.query import Answer, AnyQuery
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.running.workers.assignment import Assignment, raise_told
from bbfalsify.running.workers.channel import packed
from bbfalsify.running.workers.host import ANSWERS, UNKNOWN_RUN, answer_there
from bbfalsify.running.workers.lost_executor import connection, versions_here
from bbfalsify.running.workers.pool import Answers, WorkerPool
from bbfalsify.running.workers.worker_log import WorkerLog

_TASK_S = 1.0
"""A task should hold up to this much work.  Dask takes 7 ms of CPU time for one, and 10 ms for a megabyte in it."""
_FIRST_TASK = 4
"""Queries of a task while the speed is not known."""
_TRIES = 3
"""A task that was lost so often is cut into single queries; a query lost so often is to blame."""


@dataclass
class _Task:
    indices: list[int]
    tries: int = 0
    introduce: bool = False
    """Send what the run is about along."""


class ExecutorPool:
    """`answers(queries)` as of a `WorkerPool`, by tasks of an executor; the executor stays its owner's."""

    def __init__(self, assignment: Assignment, log: Path | None = None) -> None:
        system, execution, self._shared = assignment.system, assignment.execution, assignment.shared
        if system.capabilities.exclusive:
            raise UserError(
                f"there is only one '{system.name}' (exclusive), and an executor may use it from several places: "
                "use the local executor."
            )
        self._executor = cast(Executor, execution.executor)
        self._parallel = max(1, getattr(execution.executor, "_max_workers", None) or execution.jobs)
        self._name = f"{os.getpid()}-{uuid.uuid4().hex}"
        self._introduction = pickle.dumps((versions_here(), _portable(assignment.for_another_process())))
        self._connection = connection(execution.executor)
        self._start_local = partial(
            WorkerPool.of, replace(assignment, execution=replace(execution, executor=None)), log
        )
        self._stops_when_lost = execution.executor_lost == "stop"
        self._local: WorkerPool | None = None
        self._log = WorkerLog(log)
        self._seconds_per_query: float | None = None
        self._introduced = 0

    def answers(self, queries: Sequence[AnyQuery], *, deadline: float | None = None) -> Answers:
        given = 0
        if self._local is None:
            try:
                for answer in self._remote_answers(queries, deadline):
                    given += 1
                    yield answer
                return
            except ExecutorLost as lost:
                if self._stops_when_lost:
                    raise
                self._log.write(f"{lost} The run goes on with workers of this machine.\n".encode())
                self._local = self._start_local()
        yield from self._local.answers(queries[given:], deadline=deadline)

    def _remote_answers(self, queries: Sequence[AnyQuery], deadline: float | None) -> Answers:
        waiting, size = deque(range(len(queries))), self._size(len(queries))
        lost: deque[_Task] = deque()
        finished: dict[int, Answer] = {}
        running: dict[Future[bytes], tuple[_Task, float]] = {}
        try:
            for following in range(len(queries)):
                while following not in finished:
                    if deadline is not None and time.monotonic() >= deadline:
                        return
                    while len(running) < self._parallel and (lost or waiting) and self._connection.is_there:
                        task = lost.popleft() if lost else self._next_task(waiting, size)
                        running[self._submit(task, queries)] = task, time.monotonic()
                    timeout = None if deadline is None else max(0.0, deadline - time.monotonic())
                    learning = self._seconds_per_query is None
                    for future in self._connection.wait_for_any(running, timeout, FIRST_COMPLETED):
                        task, began = running.pop(future)
                        lost.extend(self._collect(future, task, began, finished))
                    size = self._size(len(waiting)) if learning else size
                yield finished.pop(following)
        finally:
            for future in running:
                future.cancel()

    def _size(self, queries: int) -> int:
        return task_size(queries, self._parallel, self._seconds_per_query)

    def _next_task(self, waiting: deque[int], size: int) -> _Task:
        introduce = self._introduced < self._parallel
        self._introduced += introduce
        return _Task([waiting.popleft() for _ in range(min(size, len(waiting)))], introduce=introduce)

    def _submit(self, task: _Task, queries: Sequence[AnyQuery]) -> Future[bytes]:
        payload = packed([queries[index] for index in task.indices], self._shared)
        introduction = self._introduction if task.introduce else None
        try:
            return self._executor.submit(answer_there, self._name, payload, introduction)
        except RuntimeError as error:  # broken or shut down
            self._connection.require()
            raise SystemFailure(f"the executor takes no more tasks: {type(error).__name__}: {error}") from None

    def _collect(self, future: Future[bytes], task: _Task, began: float, finished: dict[int, Answer]) -> list[_Task]:
        """Take in what a task brought; the tasks that are to be done again."""
        try:
            kind, *content = pickle.loads(future.result())
        except Exception as error:  # whatever an executor raises when it loses a task, or the process it ran in
            if not self._connection.is_there:  # the cluster may come back, and the task is not to blame
                return [_Task(task.indices, task.tries, introduce=True)]
            return self._lost(task, error, finished)
        if kind == UNKNOWN_RUN:
            return [_Task(task.indices, task.tries, introduce=True)]
        if kind != ANSWERS:
            raise_told(kind, content[0])
        answers, printed = content
        self._log.write(printed)
        taken = (time.monotonic() - began) / len(task.indices)
        known = self._seconds_per_query
        self._seconds_per_query = taken if known is None else 0.8 * known + 0.2 * taken
        finished.update(zip(task.indices, answers, strict=True))
        return []

    def _lost(self, task: _Task, error: Exception, finished: dict[int, Answer]) -> list[_Task]:
        if task.tries + 1 < _TRIES:
            return [_Task(task.indices, task.tries + 1, introduce=True)]
        if len(task.indices) > 1:
            return [_Task([index], introduce=True) for index in task.indices]
        text = f"the executor lost it {_TRIES} times: {type(error).__name__}: {error}"
        finished[task.indices[0]] = Answer(SimulationStatus.DIED, (), text[:500])
        return []

    def close(self) -> None:
        if self._local is not None:
            self._local.close()
        self._log.close()

    def __enter__(self) -> ExecutorPool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def task_size(queries: int, parallel: int, seconds_per_query: float | None) -> int:
    """Split evenly over as few rounds as possible: each task has a fixed cost, equal sizes avoid stragglers."""
    if seconds_per_query is None:
        return min(_FIRST_TASK, -(-queries // parallel))
    rounds = max(1, math.ceil(queries * seconds_per_query / (parallel * _TASK_S)))
    return -(-queries // (parallel * rounds))


def _portable(thing: Any) -> bytes:
    """Pickle by value where that is needed and possible: functions of a notebook are known nowhere else."""
    try:
        dumps: Callable[[Any], bytes] = import_module("cloudpickle").dumps
    except ImportError:
        dumps = pickle.dumps
    try:
        return dumps(thing)
    except Exception as error:
        raise UserError(f"the system cannot be sent to another process ({error}); put it into a file.") from None
