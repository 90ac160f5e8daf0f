"""Places where simulations run: worker processes here (the default), this very process, or any executor.

    None, "local"        worker processes of this machine (`pool.py`)
    "in-process"         here, without isolation: for a debugger; nothing contains a system that hangs or crashes
    "dask"               a Dask cluster on this machine, started and ended with the run
    "dask:ADDRESS"       the Dask cluster whose scheduler listens there, "dask:tcp://10.0.0.1:8786"
    an Executor          whatever has the interface of `concurrent.futures` (MPI, Ray, …)

Answers depend on the query alone, so the results are the same everywhere.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.core.query import AnyQuery
from bbfalsify.running.execution import Execution
from bbfalsify.running.workers.assignment import ANSWER, ONE_BY_ONE, Assignment, raise_told
from bbfalsify.running.workers.execute_query import answer_all, how_to_answer
from bbfalsify.running.workers.lost_executor import Connection, version_problem, versions_here, watched
from bbfalsify.running.workers.pool import Answers, WorkerPool
from bbfalsify.running.workers.pool_batch import answer_of
from bbfalsify.running.workers.remote import ExecutorPool

_CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "1s",
}
"""Switch off self-observation of our own clusters: their dashboard is never looked at."""
NAMES = ("local", "in-process", "dask", "dask:ADDRESS")
_TOGETHER = 64
_CONNECT_S = 10.0
"""Seconds in which a scheduler must answer, at the start and after its connection broke."""


class Pool(Protocol):
    def answers(self, queries: Sequence[AnyQuery], *, deadline: float | None = None) -> Answers:
        """One answer per query, in the order asked; fewer when `time.monotonic()` reaches the deadline."""

    def close(self) -> None: ...


def open_pool(assignment: Assignment, log: Path | None = None) -> Pool:
    """Open the pool that the executor of the assignment names."""
    executor = assignment.execution.executor
    if executor in (None, "local"):
        return WorkerPool.of(assignment, log)
    if executor == "in-process":
        return InProcessPool(assignment)
    if isinstance(executor, str):
        raise UserError(unknown_name("executor", executor, NAMES))
    return ExecutorPool(assignment, log)


def check_executor(name: str) -> None:
    """Refuse a name that means nothing, before anything runs."""
    if name not in NAMES[:3] and not name.startswith("dask:"):
        raise UserError(unknown_name("executor", name, NAMES))


@contextlib.contextmanager
def opened(execution: Execution) -> Iterator[Execution]:
    """Start the cluster that an executor's name stands for, as long as it is needed; pass on all others."""
    executor, jobs = execution.executor, execution.jobs
    if isinstance(executor, str):
        check_executor(executor)
    if not isinstance(executor, str) or not executor.startswith("dask"):
        yield execution
        return
    dask, distributed = _dask()
    address = executor.partition(":")[2]
    with contextlib.ExitStack() as stack:
        if address:
            try:
                client = stack.enter_context(distributed.Client(address, timeout=f"{_CONNECT_S}s"))
                _compare_versions(client)
            except (OSError, TimeoutError, ValueError) as error:
                raise UserError(f"there is no Dask scheduler at '{address}' ({error}).") from None
        else:
            stack.enter_context(dask.config.set(_CALM))
            cluster = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address="127.0.0.1:0",  # any port: two clusters on a machine do not quarrel about one
                    scheduler_kwargs={"dashboard": False},
                )
            )
            client = stack.enter_context(distributed.Client(cluster))
        threads = sum(client.nthreads().values())
        pool = client.get_executor(pure=False)
        # How many tasks it can work on at once: an executor of the standard library says so under this name.
        pool._max_workers = max(1, min(threads, jobs))
        name = f"the Dask scheduler at {address}" if address else "the Dask cluster"
        yield replace(execution, executor=watched(pool, Connection(name, lambda: client.status)))


def _compare_versions(client: Any) -> None:
    """Have the workers that are there compare their versions with ours; those that join later do so at their start."""
    for address, found in client.run(version_problem, versions_here(), on_error="return").items():
        if isinstance(found, BaseException):
            text = f"bbfalsify cannot be used there ({type(found).__name__}: {found})"
            raise UserError(f"the Dask worker at {address}: {text}.")
        if found:
            raise UserError(f"{address}: {found}")


def _dask() -> tuple[Any, Any]:
    try:
        import dask
        import distributed
    except ImportError:
        raise UserError("Dask is not installed; 'pip install bbfalsify[dask]' brings it.") from None
    return dask, distributed


class InProcessPool:
    """Everything in this process: a breakpoint in the system works, and a system that hangs hangs the run."""

    def __init__(self, assignment: Assignment) -> None:
        if assignment.execution.memory_limit is not None:
            raise UserError("a memory limit needs worker processes; the executor is in-process.")
        self._assignment = replace(assignment, contained=False)
        self._open = False

    def answers(self, queries: Sequence[AnyQuery], *, deadline: float | None = None) -> Answers:
        self._set_up()
        size = _TOGETHER if self._assignment.batches else 1
        for start in range(0, len(queries), size):
            if deadline is not None and time.monotonic() >= deadline:
                return
            tasks = list(enumerate(queries[start : start + size]))
            with contextlib.redirect_stdout(sys.stderr):  # standard output belongs to the results
                if size > 1:
                    messages = list(answer_all(self._assignment, tasks, lambda: None))
                else:
                    messages = [how_to_answer(queries[start])(self._assignment, 0, queries[start])]
            for message in messages:
                if message[0] == ANSWER:
                    yield answer_of(queries[start + message[1]], *message[2:])
                elif message[0] != ONE_BY_ONE:
                    raise_told(*message)

    def _set_up(self) -> None:
        if not self._open:
            self._assignment.warm_up()
            self._assignment.have_system("set_up", "prepare")
            self._open = True

    def close(self) -> None:
        if self._open:
            self._assignment.end_sessions()
            self._assignment.have_system("close", "tear_down")
            self._open = False
