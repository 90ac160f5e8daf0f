"""Executors whose cluster goes away, or whose workers are not like this process.

A run waits for futures no longer than its cluster is there: `connection(executor)` says whether it is.  Where it is
lost, the run ends (`ExecutorLost`) and can be resumed, or goes on with workers of this machine.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, TimeoutError, wait
from typing import Any, TypeVar

from bbfalsify.core.errors import ExecutorLost, UserError
from bbfalsify.records.manifest import versions

LOOK_EVERY_S = 1.0
PATIENCE_S = 30.0
"""Seconds without a connection after which a cluster is lost; Dask itself gives up after ten."""
_ATTRIBUTE = "_bbfalsify_connection"

T = TypeVar("T")


class Connection:
    """Watches over the connection to a cluster; without a state to look at, it is always there."""

    def __init__(self, name: str = "the executor", status: Callable[[], str] = lambda: "running") -> None:
        """`status` gives "running" while the cluster is there, and "closed" when it will not come back."""
        self.name, self._status = name, status
        self._missing_since: float | None = None

    @property
    def is_there(self) -> bool:
        """Tell whether tasks can be sent now; raise ExecutorLost where they cannot be sent any more."""
        status = self._status()
        if status == "running":
            self._missing_since = None
            return True
        now = time.monotonic()
        self._missing_since = self._missing_since or now
        if status in ("closing", "closed") or now - self._missing_since > PATIENCE_S:
            raise ExecutorLost(f"{self.name} is gone; answers that were on their way are lost.")
        return False

    def look(self) -> None:
        """Raise ExecutorLost where the cluster is gone for good."""
        if not self.is_there:
            time.sleep(0.01)  # futures may be cancelled already, and then waiting for them takes no time

    def require(self) -> None:
        """Raise ExecutorLost where the cluster is not there now."""
        if not self.is_there:
            raise ExecutorLost(f"{self.name} does not answer; answers that were on their way are lost.")

    def result(self, future: Future[T]) -> T:
        """Wait for a task as long as the cluster is there."""
        while True:
            try:
                return future.result(LOOK_EVERY_S)
            except TimeoutError:
                if future.done():
                    raise
            except Exception:
                self.require()  # a future that was cancelled with its cluster is no result
                raise
            self.look()

    def wait_for_any(self, futures: Mapping[Future[Any], Any], timeout: float | None, how: str) -> set[Future[Any]]:
        """Wait for tasks, at most until it is time to look at the cluster again."""
        longest = LOOK_EVERY_S if timeout is None else min(timeout, LOOK_EVERY_S)
        done = wait(futures, longest, how).done
        if not done:
            self.look()
        return done


def watched(executor: Any, connection: Connection) -> Any:
    """Attach the connection to the executor that needs it."""
    setattr(executor, _ATTRIBUTE, connection)
    return executor


def connection(executor: Any) -> Connection:
    found: Connection | None = getattr(executor, _ATTRIBUTE, None)
    return Connection() if found is None else found


# ---------------------------------------------------------------------- versions


def versions_here() -> dict[str, str]:
    """Versions that must be the same wherever a run computes: of Python the first two numbers."""
    return {**versions(), "python": ".".join(platform.python_version_tuple()[:2])}


def version_problem(wanted: Mapping[str, str]) -> str:
    """Called at a worker: say how its versions differ from those of the run; empty where they do not."""
    here = versions_here()
    names = [name for name in wanted if here.get(name) != wanted[name]]
    if not names:
        return ""
    different = ", ".join(f"{name} {here.get(name, 'missing')} (here {wanted[name]})" for name in names)
    return (
        f"the worker on {platform.node()} has {different}: results would differ. Use the same versions of Python, "
        "bbfalsify and its packages everywhere."
    )


def check_versions(wanted: Mapping[str, str]) -> None:
    """Called at a worker: refuse to work for a run of other versions, which computes something else."""
    if problem := version_problem(wanted):
        raise UserError(problem)
