"""Inside a worker process: take queries, use the black box, judge the traces, send the answers back one by one.

Foreign code runs here and nowhere else.  Whatever it does to this process (exit, crash, eat memory, write to the
terminal, start children) stays here: standard output and error go to the parent's bounded log, standard input is empty,
the process has its own session, so that Ctrl-C does not reach it and everything it started can be killed with it.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from bbfalsify.core.errors import BBFalsifyError, UserError
from bbfalsify.core.query import AnyQuery, Query, WordQuery
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement, SimulationStatus
from bbfalsify.running.channel import BlockingChannel
from bbfalsify.running.worker_log import NEXT_SIMULATION
from bbfalsify.systems.border import check_outputs
from bbfalsify.systems.failures import MalformedAnswer, SessionFailure
from bbfalsify.systems.interface import System, Usage
from bbfalsify.systems.loading import Origin, origin_of
from bbfalsify.systems.symbols import SymbolSystem, check_symbol

Judge = Callable[[Trace], tuple[Judgement, ...]]

READY, ANSWER, UNUSABLE, NOT_JUDGEABLE, JUDGE_FAILED = range(5)
_MESSAGE_LIMIT = 500


@dataclass(frozen=True)
class Assignment:
    """What a worker needs to know, once."""

    system: System | SymbolSystem | Origin
    judge: Judge | None
    """None where queries are words: their answers are judged by whoever asked."""
    seeds: SeedTree
    memory_limit_mb: float | None

    def for_another_process(self) -> Assignment:
        """Without fork nothing is inherited: a system that was loaded from a file is loaded there again."""
        return replace(self, system=origin_of(self.system) or self.system)

    def arrived(self) -> Assignment:
        return replace(self, system=self.system.load()) if isinstance(self.system, Origin) else self


def simulation_seed(seeds: SeedTree, query: AnyQuery) -> int:
    """The seed of one simulation depends on the run's seed and the query's name alone."""
    return seeds.child("query", query.seed_name or query.name, "system").word()


def work(
    end: socket.socket, output: Any, inherited: Iterable[Any], assignment: Assignment, die_with_parent: bool
) -> None:
    """The life of a worker process."""
    for foreign in inherited:  # copies made by fork; as long as we hold them, nobody notices that the parent is gone
        foreign.close()
    _settle(output, assignment.memory_limit_mb, die_with_parent)
    channel = BlockingChannel(end)
    try:
        assignment = assignment.arrived()
        if (failure := _prepare(assignment)) is not None:
            channel.send(failure)
            return
        channel.send((READY,))
        while tasks := channel.receive():
            for index, query in tasks:
                os.write(output.fileno(), NEXT_SIMULATION)
                answer = _answer_word if isinstance(query, WordQuery) else _answer
                channel.send(answer(assignment, index, query))
        getattr(assignment.system, "close", _nothing)()
    except (BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone, and nobody is left to answer
    finally:
        channel.end()


def _prepare(assignment: Assignment) -> tuple | None:
    """Do once what would otherwise count against the time limit of the first simulation."""
    try:
        getattr(assignment.judge, "warm_up", _nothing)()
    except Exception:
        return JUDGE_FAILED, f"while it was prepared:\n{traceback.format_exc()}"
    try:
        getattr(assignment.system, "prepare", _nothing)()
    except (SessionFailure, BBFalsifyError) as error:
        return UNUSABLE, str(error)
    except BaseException as error:
        return UNUSABLE, _describe(error)
    return None


def _nothing() -> None: ...


def _answer(assignment: Assignment, index: int, query: Query) -> tuple:
    """(ANSWER, index, status, judgements, message, seconds, outputs, usage): plain tuples, because they travel fast."""
    system, stimulus = assignment.system, query.stimulus
    for values in (stimulus.times, *stimulus.inputs.values()):
        values.setflags(write=False)  # the judge must see the inputs as they were asked, not as the system left them
    seed = simulation_seed(assignment.seeds, query) if system.capabilities.seedable else 0
    started, session = time.perf_counter(), None
    try:
        with system.open(seed) as session:
            raw = session.execute(stimulus)
    except BaseException as error:  # SystemExit too: a simulation may end itself, but not the worker
        seconds = time.perf_counter() - started
        return ANSWER, index, *_failed(error), seconds, None, _usage(session)
    seconds, usage = time.perf_counter() - started, _usage(session)
    try:
        outputs = check_outputs(system.outputs, stimulus.times, raw)
    except MalformedAnswer as error:
        return ANSWER, index, *_failed(error), seconds, None, usage
    except BaseException as error:  # an answer that fights back while it is looked at
        return ANSWER, index, SimulationStatus.MALFORMED.value, (), _describe(error), seconds, None, usage
    try:
        wishes = {"outliers": True} if query.outliers else {}
        judgements = assignment.judge(Trace(stimulus.times, {**stimulus.inputs, **outputs}, stimulus.events), **wishes)
    except UserError as error:
        return NOT_JUDGEABLE, str(error)
    except Exception:
        return JUDGE_FAILED, f"while judging {query.name}:\n{traceback.format_exc()}"
    plain = tuple(
        (j.verdict.value, float(j.robustness), float(j.first_violation_time), bool(j.vacuous), j.outlier_times)
        for j in judgements
    )
    return ANSWER, index, SimulationStatus.OK.value, plain, "", seconds, outputs if query.keep_trace else None, usage


def _answer_word(assignment: Assignment, index: int, query: WordQuery) -> tuple:
    """As `_answer`; the outputs are the symbols answered, as far as they came."""
    system, symbols = assignment.system, []
    seed = simulation_seed(assignment.seeds, query) if system.capabilities.seedable else 0
    status, message = SimulationStatus.OK, ""
    started, session = time.perf_counter(), None
    try:
        with system.open(seed) as session:
            for symbol in query.word:
                symbols.append(check_symbol(session.step(symbol)))
    except SessionFailure as error:
        status, message = error.status, f"answer {len(symbols) + 1}: {error}"[:_MESSAGE_LIMIT]
    except BaseException as error:  # SystemExit too, as above
        status, message = SimulationStatus.RAISED, _describe(error)
    seconds = time.perf_counter() - started
    return ANSWER, index, status.value, (), message, seconds, tuple(symbols), _usage(session)


def _failed(error: BaseException) -> tuple[str, tuple, str]:
    """(status, no judgements, message) of a simulation that ended in this way."""
    if isinstance(error, SessionFailure):
        return error.status.value, (), str(error)[:_MESSAGE_LIMIT]
    return SimulationStatus.RAISED.value, (), _describe(error)


def _usage(session: Any) -> tuple[float | None, float | None]:
    usage = getattr(session, "usage", None)
    return (usage.cpu_seconds, usage.memory_mb) if isinstance(usage, Usage) else (None, None)


def _describe(error: BaseException) -> str:
    """One line for the record; the whole traceback goes to the log."""
    traceback.print_exception(error, file=sys.stderr)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    try:
        text = str(error)
    except Exception:
        text = "(an error that cannot be shown)"
    name = type(error).__name__
    return f"{name}: {text[: _MESSAGE_LIMIT - len(where) - len(name) - 2]}{where}" if text else f"{name}{where}"


def _settle(output: Any, memory_limit_mb: float | None, die_with_parent: bool) -> None:
    """Shut the doors between this process and the terminal, and bound what it may take."""
    if os.name == "posix":
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _die_first()
        _keep_grandchildren()
        if die_with_parent:
            _die_with_parent()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    os.close(nothing)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    faulthandler.enable(file=sys.stderr)
    if memory_limit_mb is not None:
        _limit_memory(memory_limit_mb)


def _limit_memory(megabytes: float) -> None:
    """Allow so much more address space than the process has now (libraries alone reserve gigabytes)."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    limit = now + int(megabytes * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _die_first() -> None:
    """When the machine runs out of memory, a worker should go before the driver and its records."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("500")
    except OSError:
        pass


def _die_with_parent() -> None:
    """Linux: be killed when the parent is, even in the middle of a simulation that hangs."""
    if sys.platform.startswith("linux"):
        _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _keep_grandchildren() -> None:
    """Linux: what our children leave behind becomes ours, so that it is found when we are ended."""
    if sys.platform.startswith("linux"):
        _prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
