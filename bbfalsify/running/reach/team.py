"""The processes that make the walks of `reach`: this one, several on this machine, or any executor's.

Units of walks are answered in their order, and an answer depends on its unit alone, so all of them find the same.  A
worker that dies costs nothing but time: what it had not answered is walked here.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack
from typing import Any, cast

import numpy as np

from bbfalsify.core.errors import ExecutorLost
from bbfalsify.engines.reachability.schedule import Unit
from bbfalsify.engines.reachability.walk_search import Bounds, Coverage, UnitAnswer, Walking, in_this_process
from bbfalsify.kernel.target_search import Target
from bbfalsify.running.execution import Execution
from bbfalsify.running.workers.executors import opened
from bbfalsify.running.workers.lost_executor import Connection, check_versions, connection, versions_here
from bbfalsify.running.workers.worker import end_with_parent

ALONE_S = 0.5
"""A search that ends within this time is not worth starting workers for."""


class Team:
    """Executes units, on several cores once it turns out to be worth it."""

    def __init__(self, target: Target, ends: float | None, execution: Execution) -> None:
        self._target = target
        self._ends = ends
        self._start = time.monotonic()
        self._execution = execution
        self._local = execution.executor in (None, "local")
        can_fork = "fork" in multiprocessing.get_all_start_methods()
        several = (can_fork or not self._local) and execution.executor != "in-process"
        self._workers = execution.jobs if several else 1
        self._alone = in_this_process(target, self.go_on)
        self._submit: Callable[[Unit, Bounds, np.ndarray | None], Future[UnitAnswer]] | None = None
        self._connection = Connection()
        self._open = ExitStack()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def go_on(self) -> bool:
        return self._ends is None or time.monotonic() < self._ends

    def execute(self, units: Sequence[Unit], bounds: Bounds, coverage: Coverage) -> Iterator[UnitAnswer]:
        if self._workers == 1 or len(units) == 1 or time.monotonic() - self._start < ALONE_S:
            yield from self._alone(units, bounds, coverage)
            return
        if self._submit is None:
            self._submit = self._own_processes() if self._local else self._elsewhere()
        waiting: list[Future[UnitAnswer]] = []
        answered = 0
        try:
            self._connection.require()
            waiting += [self._submit(unit, bounds, coverage.get(unit.heuristic)) for unit in units]
            for future in waiting:
                answer = self._connection.result(future)
                answered += 1
                yield answer
        except (BrokenExecutor, ExecutorLost) as lost:
            if isinstance(lost, ExecutorLost) and self._execution.executor_lost == "stop":
                raise
            self._workers = 1
            yield from self._alone(units[answered:], bounds, coverage)
        finally:
            for future in waiting:
                future.cancel()

    def _own_processes(self) -> Callable[..., Future[UnitAnswer]]:
        """Forked, so that they have the model without being sent it."""
        context = multiprocessing.get_context("fork")
        stop = context.Event()
        by_main_thread = threading.current_thread() is threading.main_thread()
        pool = ProcessPoolExecutor(
            self._workers,
            mp_context=context,
            initializer=_prepare,
            initargs=(self._target, self._ends, stop, os.getpid(), by_main_thread),
        )
        self._open.callback(pool.shutdown, wait=True, cancel_futures=True)
        self._open.callback(stop.set)
        return lambda unit, bounds, coverage: pool.submit(_work, unit, bounds, coverage)

    def _elsewhere(self) -> Callable[..., Future[UnitAnswer]]:
        pool = cast(Executor, self._open.enter_context(opened(self._execution)).executor)
        self._connection, versions = connection(pool), versions_here()
        target = pickle.dumps(self._target)
        name = hashlib.sha256(target).hexdigest()

        def submit(unit: Unit, bounds: Bounds, coverage: np.ndarray | None) -> Future[UnitAnswer]:
            left = None if self._ends is None else self._ends - time.monotonic()
            return pool.submit(_work_for, (name, target, versions), left, unit, bounds, coverage)

        return submit


_walking: Walking | None = None
_go_on: Callable[[], bool] = lambda: True  # noqa: E731


def _prepare(target: Target, ends: float | None, stop: Any, parent: int, by_main_thread: bool) -> None:
    global _walking, _go_on
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which tells us to stop
    # Forked workers hold each other's ends of the queue, so none of them would see that the parent has closed it.
    end_with_parent(parent, by_main_thread)
    _walking = Walking(target)
    _go_on = lambda: not stop.is_set() and (ends is None or time.monotonic() < ends)  # noqa: E731


def _work(unit: Unit, bounds: Bounds, coverage: np.ndarray | None) -> UnitAnswer:
    assert _walking is not None
    return _walking.walk(unit, bounds, coverage, _go_on)


_mine = threading.local()
"""An executor's workers may be threads, and two of them must not walk with the same memory."""


def _work_for(
    search: tuple[str, bytes, dict[str, str]],
    left: float | None,
    unit: Unit,
    bounds: Bounds,
    coverage: np.ndarray | None,
) -> UnitAnswer:
    """Walk in a worker that may serve several searches; the last model stays ready."""
    name, target, versions = search
    if getattr(_mine, "name", None) != name:
        check_versions(versions)
        _mine.name, _mine.walking = name, Walking(pickle.loads(target))
    ends = None if left is None else time.monotonic() + left
    walking: Walking = _mine.walking
    return walking.walk(unit, bounds, coverage, lambda: ends is None or time.monotonic() < ends)
