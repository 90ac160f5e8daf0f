"""Many uses become one answer, inside a worker process: executed in one call, checked and judged in one call.

Whatever goes wrong (the call fails, an output has the wrong length or is no number, a comparison is undefined) makes
the whole answer a failure.  The uses are then asked for one by one, so that the one that fails is known.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.query import NOT_EXECUTED, UsesQuery, UseVerdicts
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.running.workers.assignment import ANSWER, OUR_FAULT, WRONG_INPUT, Assignment, Message
from bbfalsify.running.workers.execute_query import execute_together, name_seed


def answer_uses(assignment: Assignment, index: int, query: UsesQuery) -> Message:
    """A message as `execute_query` makes them; instead of outputs it has the verdicts."""
    try:
        stimuli = query.source.stimuli()
    except UserError as error:
        return WRONG_INPUT, str(error)
    except Exception:
        return OUR_FAULT, f"the inputs of {query.name} could not be made:\n{traceback.format_exc()}"
    made = [(i, stimulus) for i, stimulus in enumerate(stimuli) if stimulus is not None]
    failed = (ANSWER, index, SimulationStatus.RAISED.value, (), "asked for one by one", 0.0, None, (None, None))
    seeds = [name_seed(assignment, query.name_of(i)) for i, _ in made]
    started = time.perf_counter()
    done = execute_together(assignment, [stimulus for _, stimulus in made], seeds)
    if done is None:
        return failed
    signals = _signals(assignment, [stimulus for _, stimulus in made], done.outputs)
    found = None if signals is None else _judged(assignment, signals)
    if found is None:
        return failed
    whole = _spread(found, [i for i, _ in made], len(stimuli))
    seconds = time.perf_counter() - started
    return ANSWER, index, SimulationStatus.OK.value, (), "", seconds, whole, done.usage


def _judged(assignment: Assignment, traces: tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]) -> UseVerdicts | None:
    many = getattr(assignment.judge, "many", None)
    return None if many is None else many(*traces)


def _signals(
    assignment: Assignment, stimuli: Sequence[Stimulus], outputs: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]] | None:
    """Times, where each trace begins, and signals of all traces one after the other; None where an output is odd."""
    lengths = [len(stimulus.times) for stimulus in stimuli]
    signals = {}
    for port in assignment.outputs:
        values: list[Any] = [answer.get(port.name) if isinstance(answer, Mapping) else None for answer in outputs]
        if not all(_plain(value, length) for value, length in zip(values, lengths, strict=True)):
            return None
        signals[port.name] = np.concatenate(values) if values else np.zeros(0)
        if not np.isfinite(signals[port.name]).all():
            return None
    if any(len(answer) != len(signals) for answer in outputs):
        return None
    for name in stimuli[0].inputs if stimuli else ():
        signals[name] = np.concatenate([stimulus.inputs[name] for stimulus in stimuli])
    times = np.concatenate([stimulus.times for stimulus in stimuli]) if stimuli else np.zeros(0)
    return times, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), signals


def _plain(values: Any, length: int) -> bool:
    return type(values) is np.ndarray and values.dtype == np.float64 and values.shape == (length,)


def _spread(found: UseVerdicts, rows: Sequence[int], count: int) -> UseVerdicts:
    """The verdicts with rows for uses that were not executed."""
    if len(rows) == count:
        return found
    width = found.verdicts.shape[1]
    verdicts = np.full((count, width), NOT_EXECUTED, np.int8)
    robustness, moments = np.zeros((count, width)), np.full((count, width), np.inf)
    verdicts[rows], robustness[rows], moments[rows] = found.verdicts, found.robustness, found.moments
    return UseVerdicts(verdicts, robustness, moments)
