"""Execution of simulations: where, how many at once, within which limits, and what a failed one means.

    falsify(…, execution=Execution(jobs=4, time_limit=10.0, on_failure="violation"))

One object travels from the command line, a campaign or the Python API through the driver to the workers.  This module
imports nothing heavy, because `--help` reads it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from functools import partial
from typing import Literal

from bbfalsify.core.settings import Settings, setting

OnFailure = Literal["violation", "inconclusive", "abort"]
ExecutorLostChoice = Literal["stop", "local"]
_LINUX = sys.platform.startswith("linux")
_execution = partial(setting, panel="Execution")


class Execution(Settings):
    """Settings that all engines share; an engine may ignore some of them."""

    jobs: int = _execution(
        "Worker processes; does not change results.", default=1, at_least=1, single=True, short="-j"
    )  # fmt: skip
    executor: str | Executor | None = _execution(
        "Where simulations run; does not change results. in-process is for debuggers and isolates nothing, dask is a "
        "cluster of worker processes here.",
        default=None, choices=("local", "in-process", "dask", "dask:ADDRESS"), absent="local", single=True,
        metavar="WHERE",
    )  # fmt: skip
    executor_lost: ExecutorLostChoice = _execution(
        "What happens when the cluster of the executor is gone: stop ends the run, which can be resumed (exit code 4), "
        "local goes on with workers here; does not change results.", default="stop", single=True,
    )  # fmt: skip
    time_limit: float | None = _execution(
        "Seconds that one simulation may take; after that it counts as hanging.",
        default=60.0, above=0, unit="s", absent="no limit",
    )  # fmt: skip
    on_failure: OnFailure = _execution(
        "The meaning of a simulation that failed: inconclusive counts and reports it, violation takes it as a violated "
        "requirement, abort ends the run.", default="inconclusive",
    )  # fmt: skip
    votes: int = _execution("Executions of each simulation; the majority counts.", default=1, at_least=1)
    memory_limit: float | None = _execution(
        "Megabytes that a worker may take on top of its size at the start (Linux).",
        default=None, above=0, unit="MB", metavar="MB",
    )  # fmt: skip
    early_stop: bool = _execution(
        "End a simulation soon after every requirement is violated; the system must be stepwise.", default=False
    )

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if self.memory_limit is not None and not _LINUX:
            yield "memory_limit", "can be set on Linux only."
