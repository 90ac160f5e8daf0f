"""A query becomes an answer, inside a worker process.

One simulation is: open a session, execute the stimulus, check what comes back, judge it.  Three abilities of a system
change how it is executed, and never what is answered:

    batch      several queries that came together are executed in one call; where that call fails, they are executed
               one by one, so that the input that fails is known
    snapshot   queries that begin like others (`Query.continues`) go on from a state that was saved on the way of those
    stepwise   where the run asks for it (`early_stop`), the trace so far is judged now and then, and the simulation
               ends once every requirement is violated: violated is final, so the rest could only cost time
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.query import AnyQuery, Query, UsesQuery, WordQuery
from bbfalsify.core.redaction import without_secrets
from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import SimulationStatus, Verdict
from bbfalsify.running.workers.assignment import ANSWER, ONE_BY_ONE, OUR_FAULT, WRONG_INPUT, Assignment, Message
from bbfalsify.systems.continued import ContinuedUses, can_continue
from bbfalsify.systems.failures import MalformedAnswer, SessionFailure
from bbfalsify.systems.interface import Usage, execute_until
from bbfalsify.systems.output_checks import check_outputs
from bbfalsify.systems.parameters import open_session
from bbfalsify.systems.programs.process_cost import peak_of_ours_mb
from bbfalsify.systems.symbols import check_symbol

_MESSAGE_LIMIT = 500
_LOOKS = 16
"""Looks at a simulation that may stop early: at most one sixteenth of it is executed in vain."""


def answer_all(
    assignment: Assignment, tasks: Sequence[tuple[int, AnyQuery]], announce: Callable[[], None]
) -> Iterator[Message]:
    """Yield the messages that answer these tasks, in their order; call `announce` before each call of the system."""
    together = [(index, query) for index, query in tasks if isinstance(query, Query)]
    if len(together) > 1 and assignment.batches:
        announce()
        failures = (_failure_to_make(query) for _, query in together)
        if (failure := next((f for f in failures if f is not None), None)) is not None:
            yield failure
            return
        asked = [query for _, query in together]
        done = execute_together(assignment, [q.stimulus for q in asked], [_seed(assignment, q) for q in asked])
        if done is not None:
            for (index, query), raw in zip(together, done.outputs, strict=True):
                yield _checked(assignment, index, query, raw, len(query.stimulus.times), done.seconds, done.usage)
            return
        yield (ONE_BY_ONE,)
    for number, task in tasks:
        announce()
        yield how_to_answer(task)(assignment, number, task)


def how_to_answer(query: AnyQuery) -> Callable[[Assignment, int, Any], Message]:
    """Choose the function that answers one query: (assignment, index, query) -> message."""
    if isinstance(query, UsesQuery):
        from bbfalsify.running.workers.execute_uses import answer_uses

        return answer_uses
    return _answer_word if isinstance(query, WordQuery) else _answer


def _answer(assignment: Assignment, index: int, query: Query) -> Message:
    """(ANSWER, index, status, judgements, message, seconds, outputs, usage): plain tuples, because they travel fast."""
    system = assignment.system
    if (failure := _failure_to_make(query)) is not None:
        return failure
    _protect(query.stimulus)
    if query.continues and not query.keep_trace and (told := _answer_continued(assignment, index, query)) is not None:
        return told
    started, cpu_before, session = time.perf_counter(), time.process_time(), None
    try:
        with open_session(system, _seed(assignment, query), query.stimulus.parameters) as session:
            if assignment.execution.early_stop and not query.keep_trace:
                raw, samples = _execute_until_violated(assignment, session, query.stimulus)
            else:
                raw, samples = session.execute(query.stimulus), len(query.stimulus.times)
    except BaseException as error:  # SystemExit too: a simulation may end itself, but not the worker
        _pass_on_interrupts(assignment, error)
        seconds = time.perf_counter() - started
        return ANSWER, index, *_failed(error), seconds, None, _usage(session, cpu_before)
    seconds = time.perf_counter() - started
    return _checked(assignment, index, query, raw, samples, seconds, _usage(session, cpu_before))


def _answer_continued(assignment: Assignment, index: int, query: Query) -> Message | None:
    """Go on from a saved state; None where the system cannot, or where that fails: then it is executed from reset."""
    if assignment.execution.early_stop or not can_continue(assignment.system):
        return None
    if not assignment.continued:
        assignment.continued.append(ContinuedUses(assignment.system))
    started, cpu_before = time.perf_counter(), time.process_time()
    try:
        raw, simulated = assignment.continued[0].execute(query.stimulus)
    except BaseException as error:  # SystemExit too, as below
        _pass_on_interrupts(assignment, error)
        sys.stderr.write(f"a use that went on from a saved state failed and is repeated: {describe(error)}\n")
        broken = assignment.continued.pop()
        with contextlib.suppress(Exception):
            broken.close()
        return None
    seconds, usage = time.perf_counter() - started, _usage(None, cpu_before)
    told = _checked(assignment, index, query, raw, len(query.stimulus.times), seconds, usage)
    return (*told, simulated) if told[0] == ANSWER else told


def _checked(
    assignment: Assignment,
    index: int,
    query: Query,
    raw: Any,
    samples: int,
    seconds: float,
    usage: tuple[float | None, float | None],
) -> Message:
    """Check, then judge the outputs of a simulation that came to its end."""
    try:
        outputs = check_outputs(assignment.outputs, query.stimulus.times[:samples], raw)
    except MalformedAnswer as error:
        return ANSWER, index, *_failed(error), seconds, None, usage
    except BaseException as error:  # an answer that fights back while it is looked at
        return ANSWER, index, SimulationStatus.MALFORMED.value, (), describe(error), seconds, None, usage
    try:
        judgements = assignment.judgements(_trace(query.stimulus, outputs), query)
    except UserError as error:
        return WRONG_INPUT, str(error)
    except Exception:
        return OUR_FAULT, f"the monitor failed while judging {query.name}:\n{traceback.format_exc()}"
    plain = tuple(
        (
            j.verdict.value,
            float(j.robustness),
            float(j.first_violation_time),
            bool(j.vacuous),
            j.outlier_times,
            j.shortfalls,
        )
        for j in judgements
    )
    return ANSWER, index, SimulationStatus.OK.value, plain, "", seconds, outputs if query.keep_trace else None, usage


def _trace(stimulus: Stimulus, outputs: Mapping[str, np.ndarray]) -> Trace:
    """Build the trace of as many samples as there are outputs."""
    samples = len(next(iter(outputs.values())))
    if samples == len(stimulus.times):
        return Trace(stimulus.times, {**stimulus.inputs, **outputs}, stimulus.events)
    times = stimulus.times[:samples]
    inputs = {name: values[:samples] for name, values in stimulus.inputs.items()}
    return Trace(times, {**inputs, **outputs}, tuple(event for event in stimulus.events if event[0] <= times[-1]))


# ---------------------------------------------------------------------- stopping early


def _execute_until_violated(assignment: Assignment, session: Any, stimulus: Stimulus) -> tuple[Any, int]:
    """Return the outputs, and how many samples they must have: all, or as many as there were at the stop."""
    everything = expected = len(stimulus.times)

    def violated(so_far: Mapping[str, Any]) -> bool:
        nonlocal expected
        samples = len(next(iter(so_far.values())))
        outputs = check_outputs(assignment.outputs, stimulus.times[:samples], so_far)
        try:
            judgements = assignment.judgements(_trace(stimulus, outputs))
            stop = all(judgement.verdict is Verdict.VIOLATED for judgement in judgements)
        except Exception:
            stop = True  # the system is not to blame: the same happens again when the answer is judged
        expected = samples if stop else everything
        return stop

    return execute_until(session, stimulus, violated, every=-(-everything // _LOOKS)), expected


# ---------------------------------------------------------------------- several at once


@dataclass(frozen=True)
class _Together:
    outputs: list[Any]
    seconds: float
    usage: tuple[float | None, float | None]


def execute_together(assignment: Assignment, stimuli: list[Stimulus], seeds: list[int]) -> _Together | None:
    """Execute all in one call, costs shared equally; None where it fails."""
    system, count = assignment.system, len(stimuli)
    for stimulus in stimuli:
        _protect(stimulus)
    started, cpu_before, session = time.perf_counter(), time.process_time(), None
    try:
        with system.open(seeds[0] if seeds else 0) as session:
            more = {"seeds": seeds} if system.capabilities.seedable else {}
            outputs = list(session.execute_many(stimuli, **more))
    except BaseException as error:  # SystemExit too, as above
        _pass_on_interrupts(assignment, error)
        sys.stderr.write(f"a batch of {count} failed and is repeated one by one: {describe(error)}\n")
        return None
    if len(outputs) != count:
        sys.stderr.write(f"a batch of {count} had {len(outputs)} answers and is repeated one by one\n")
        return None
    cpu, memory = _usage(session, cpu_before)
    share = (None if cpu is None or not count else cpu / count, memory)
    return _Together(outputs, (time.perf_counter() - started) / max(1, count), share)


# ---------------------------------------------------------------------- words


def _answer_word(assignment: Assignment, index: int, query: WordQuery) -> Message:
    """Answer a word as `_answer` does; the outputs are the symbols answered, as far as they came."""
    symbols: list[str] = []
    status, message = SimulationStatus.OK, ""
    started, cpu_before, session = time.perf_counter(), time.process_time(), None
    try:
        with _use(assignment, query) as session:
            for symbol in query.word:
                symbols.append(check_symbol(without_secrets(session.step(symbol))))
    except SessionFailure as error:
        status, message = error.status, without_secrets(f"answer {len(symbols) + 1}: {error}")[:_MESSAGE_LIMIT]
    except BaseException as error:  # SystemExit too, as above
        _pass_on_interrupts(assignment, error)
        status, message = SimulationStatus.RAISED, describe(error)
    seconds = time.perf_counter() - started
    return ANSWER, index, status.value, (), message, seconds, tuple(symbols), _usage(session, cpu_before)


def _use(assignment: Assignment, query: WordQuery) -> AbstractContextManager[Any]:
    """A session from reset on; where there is no reset, the one session there is, left open."""
    if not assignment.system.capabilities.single_session:
        return assignment.system.open(_seed(assignment, query))
    if not assignment.lasting:
        assignment.lasting.append(assignment.system.open(_seed(assignment, query)))
        assignment.lasting[0].__enter__()
    return nullcontext(assignment.lasting[0])


# ---------------------------------------------------------------------- for all of them


def _pass_on_interrupts(assignment: Assignment, error: BaseException) -> None:
    if isinstance(error, KeyboardInterrupt) and not assignment.contained:
        raise error


def _seed(assignment: Assignment, query: Query | WordQuery) -> int:
    return name_seed(assignment, query.seed_name or query.name)


def name_seed(assignment: Assignment, name: str) -> int:
    """The seed of a simulation with this name; 0 where the system takes none."""
    seedable = assignment.system.capabilities.seedable
    return assignment.seeds.child("query", name, "system").word() if seedable else 0


def _failure_to_make(query: Query) -> Message | None:
    """Make the stimulus of a draft; return the message that says why it cannot be made."""
    try:
        query.stimulus  # noqa: B018 - it is kept when first looked at
    except UserError as error:
        return WRONG_INPUT, str(error)
    except Exception:
        return OUR_FAULT, f"the input of {query.name} could not be made:\n{traceback.format_exc()}"
    return None


def _protect(stimulus: Stimulus) -> None:
    """The judge must see the inputs as they were asked, not as the system left them."""
    for values in (stimulus.times, *stimulus.inputs.values()):
        values.setflags(write=False)


def _failed(error: BaseException) -> tuple[str, tuple[()], str]:
    """(status, no judgements, message) of a simulation that ended in this way."""
    if isinstance(error, SessionFailure):
        return error.status.value, (), without_secrets(str(error))[:_MESSAGE_LIMIT]
    return SimulationStatus.RAISED.value, (), describe(error)


def _usage(session: Any, cpu_before: float) -> tuple[float | None, float | None]:
    """CPU time and peak memory of the session's own process where it says so, else of this one."""
    usage = getattr(session, "usage", None)
    if isinstance(usage, Usage):
        return usage.cpu_seconds, usage.memory_mb
    return time.process_time() - cpu_before, peak_of_ours_mb()


def describe(error: BaseException) -> str:
    """One line for the record; the whole traceback goes to the log."""
    traceback.print_exception(error, file=sys.stderr)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    try:
        text = without_secrets(str(error))
    except Exception:
        text = "(an error that cannot be shown)"
    name = type(error).__name__
    return f"{name}: {text[: _MESSAGE_LIMIT - len(where) - len(name) - 2]}{where}" if text else f"{name}{where}"
