"""Runs of a pool of workers on systems that misbehave."""

from __future__ import annotations

from bbfalsify.running import Execution, WorkerPool
from tests.hostile.hostile_systems import judge, queries
from tests.hostile.processes import nothing_stays


def run(system, bad=(0, 1, 0, 1), log=None, log_limit_bytes=1_000_000, **execution):
    """Answers of a pool, having checked that no process outlives it."""
    execution.setdefault("time_limit", 20.0)
    answers = []
    with (
        nothing_stays() as look,
        WorkerPool(system, judge, Execution(**execution), log=log, log_limit_bytes=log_limit_bytes) as pool,
    ):
        for answer in pool.answers(queries(bad)):
            answers.append(answer)
            look()
        look()
    return answers
