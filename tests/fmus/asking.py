"""Using an FMU from a test: always in a worker process, as everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bbfalsify.core.query import Answer, Query
from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.running import Execution, WorkerPool
from bbfalsify.systems import FmuSystem


def stimulus(times: Sequence[float], **inputs: float | Sequence[float]) -> Stimulus:
    """Numbers are held for the whole time."""
    moments = np.asarray(times, dtype=float)
    return Stimulus(moments, {name: np.zeros(len(moments)) + values for name, values in inputs.items()})


def satisfied(trace: Trace) -> tuple[Judgement, ...]:
    return (Judgement(Verdict.SATISFIED, 1.0),)


def ask(system: Any, *stimuli: Stimulus, **options: Any) -> list[Answer]:
    """One worker, so that every simulation after the first is one after a reset."""
    queries = [Query(f"q/{i}", s, keep_trace=True) for i, s in enumerate(stimuli)]
    with WorkerPool(system, satisfied, Execution(time_limit=20.0), **options) as pool:
        return list(pool.answers(queries))


def signals(answer: Answer) -> Mapping[str, np.ndarray]:
    assert answer.ok, answer.message
    return answer.trace.signals


class Driven:
    """An FMU whose sessions a test drives itself, inside the worker: `deed(session)` returns rows of outputs."""

    def __init__(self, system: FmuSystem, deed: Callable[[Any], list[Mapping[str, float]]]) -> None:
        self._system, self._deed = system, deed
        self.name, self.inputs, self.outputs = system.name, system.inputs, system.outputs
        self.capabilities, self.set_up, self.tear_down = system.capabilities, system.set_up, system.tear_down
        self.prepare, self.close = system.prepare, system.close

    def open(self, seed: int) -> Driven:
        self._session = self._system.open(seed)
        return self

    def execute(self, stimulus: Stimulus) -> Mapping[str, np.ndarray]:
        rows = self._deed(self._session)
        return {port.name: np.array([row[port.name] for row in rows]) for port in self.outputs}

    def __enter__(self) -> Driven:
        self._session.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._session.__exit__(*exception)


def driven(system: FmuSystem, deed: Callable[[Any], list[Mapping[str, float]]], rows: int) -> Mapping[str, np.ndarray]:
    """What `deed` saw, as signals."""
    [answer] = ask(Driven(system, deed), stimulus(np.arange(float(rows)), **{p.name: 0.0 for p in system.inputs}))
    return signals(answer)
