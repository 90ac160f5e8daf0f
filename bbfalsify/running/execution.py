"""How simulations are executed, whatever the engine: where, with which limits, and what a failed one means.

This module imports nothing heavy, because `--help` reads it.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Literal, get_args

from bbfalsify.core.settings import Settings, setting

OnFailure = Literal["violation", "inconclusive", "abort"]
ON_FAILURE: tuple[str, ...] = get_args(OnFailure)
_PANEL = "Execution"


class Execution(Settings):
    """Settings that all engines share; an engine may ignore some of them."""

    jobs: int = setting(
        "Worker processes; does not change results.", default=1, at_least=1, single=True, short="-j", panel=_PANEL
    )
    executor: str | Executor | None = setting(
        "Where simulations run; does not change results. in-process is for debuggers and isolates nothing, dask is a "
        "cluster of worker processes here.",
        default=None,
        choices=("local", "in-process", "dask", "dask:ADDRESS"),
        absent="local",
        single=True,
        metavar="WHERE",
        panel=_PANEL,
    )
    time_limit: float | None = setting(
        "Seconds that one simulation may take; after that it counts as hanging.",
        default=60.0,
        above=0,
        unit="s",
        panel=_PANEL,
    )
    on_failure: OnFailure = setting(
        "The meaning of a simulation that failed: inconclusive counts and reports it, violation takes it as a violated "
        "requirement, abort ends the run.",
        default="inconclusive",
        panel=_PANEL,
    )
    votes: int = setting("Executions of each simulation; the majority counts.", default=1, at_least=1, panel=_PANEL)
    memory_limit: float | None = setting(
        "Megabytes that a worker may take on top of its size at the start (Linux).",
        default=None,
        above=0,
        unit="MB",
        metavar="MB",
        panel=_PANEL,
    )
    early_stop: bool = setting(
        "End a simulation soon after every requirement is violated; the system must be stepwise.",
        default=False,
        panel=_PANEL,
    )
