"""Execution of simulations: where, how many at once, within which limits, and what a failed one means.

    falsify(…, execution=Execution(jobs=4, time_limit=10.0, on_failure="violation"))

One object travels from the command line, a campaign or the Python API through the driver to the workers.
"""

from __future__ import annotations

import sys
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal

from bbfalsify.core.errors import Problem, UserError, unknown_name

OnFailure = Literal["inconclusive", "violation", "abort"]
ON_FAILURE: tuple[str, ...] = ("inconclusive", "violation", "abort")


@dataclass(frozen=True)
class Execution:
    jobs: int = 1
    """Worker processes; their number does not change results."""
    executor: str | Executor | None = None
    """The place where they run: see `workers/executors.py`."""
    time_limit: float | None = 60.0
    """Seconds per simulation; None is no limit."""
    memory_limit: float | None = None
    """Megabytes that a worker may take on top of what it has when it starts (Linux)."""
    votes: int = 1
    """Executions of each simulation; the majority is believed."""
    early_stop: bool = False
    """End a simulation of a stepwise system once every requirement is violated."""
    on_failure: OnFailure = "inconclusive"
    """Meaning of a failed simulation."""

    def __post_init__(self) -> None:
        problems = []
        if self.jobs < 1:
            problems.append(Problem(f"{self.jobs} workers: at least one is needed."))
        if self.time_limit is not None and not self.time_limit > 0:
            problems.append(Problem(f"a time limit of {self.time_limit} s: give more than 0, or none."))
        if self.memory_limit is not None and not self.memory_limit > 0:
            problems.append(Problem(f"a memory limit of {self.memory_limit} MB: give more than 0, or none."))
        if self.memory_limit is not None and not sys.platform.startswith("linux"):
            problems.append(Problem("a memory limit can be set on Linux only."))
        if isinstance(self.votes, bool) or not isinstance(self.votes, int) or self.votes < 1:
            problems.append(Problem(f"{self.votes} votes: give a whole number, at least 1."))
        if self.on_failure not in ON_FAILURE:
            problems.append(unknown_name("value of on_failure", self.on_failure, ON_FAILURE))
        if problems:
            raise UserError(problems)
