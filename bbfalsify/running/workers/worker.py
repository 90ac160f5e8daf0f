"""Inside a worker process: take queries, answer them (execute_query.py), send the answers back one by one.

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
import threading
import time
import traceback
from collections.abc import Iterable
from typing import Any

from bbfalsify.core.errors import BBFalsifyError
from bbfalsify.core.redaction import without_secrets
from bbfalsify.running.workers.assignment import OUR_FAULT, READY, UNUSABLE, Assignment, Message
from bbfalsify.running.workers.channel import BlockingChannel
from bbfalsify.running.workers.execute_query import answer_all, describe
from bbfalsify.running.workers.worker_log import NEXT_SIMULATION
from bbfalsify.running.workers.worker_process import WORKER_MARK
from bbfalsify.systems.failures import SessionFailure

_LOOK_EVERY_S = 0.5
"""Seconds between two looks whether the parent is there."""


def work(end: socket.socket, output: Any, inherited: Iterable[Any], assignment: Assignment, with_parent: bool) -> None:
    """The life of a worker process."""
    for foreign in inherited:  # copies made by fork; while we hold them, the end of the parent goes unnoticed
        foreign.close()
    _settle(output, assignment.execution.memory_limit, with_parent)
    channel = BlockingChannel(end, assignment.shared)

    def announce() -> None:
        os.write(output.fileno(), NEXT_SIMULATION)

    try:
        assignment = assignment.arrived()
        if (failure := _prepare(assignment)) is not None:
            channel.send(failure)
            return
        channel.send((READY, assignment.batches, assignment.system.capabilities.real_time))
        while tasks := channel.receive():
            for message in answer_all(assignment, tasks, announce):
                channel.send(message)
        assignment.end_sessions()
        assignment.have_system("close")
    except (BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone
    finally:
        channel.end()


def _prepare(assignment: Assignment) -> Message | None:
    """Do once what would otherwise count against the time limit of the first simulation."""
    try:
        assignment.warm_up()
    except Exception:
        return OUR_FAULT, f"the monitor could not be prepared:\n{traceback.format_exc()}"
    try:
        assignment.have_system("prepare")
    except (SessionFailure, BBFalsifyError) as error:
        return UNUSABLE, without_secrets(str(error))
    except BaseException as error:
        return UNUSABLE, describe(error)
    return None


def _settle(output: Any, memory_limit_mb: float | None, with_parent: bool) -> None:
    """Shut the doors between this process and the terminal, and bound what it may take."""
    if os.name == "posix":
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.environ[WORKER_MARK] = str(os.getpid())
        _die_first()
        _keep_grandchildren()
        if with_parent:
            die_with_parent()
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


def die_with_parent() -> None:
    """Linux: be killed when the parent is, even in the middle of a simulation that hangs."""
    if sys.platform.startswith("linux"):
        _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def end_with_parent(parent: int, by_main_thread: bool) -> None:
    """End this process soon after its parent, the process `parent`, has gone for whatever reason.

    Linux kills at once, but with the *thread* that forked, so only a main thread may ask for that; else we look.
    """
    if by_main_thread:
        die_with_parent()
    threading.Thread(target=_watch, args=(parent,), name="bbfalsify-parent-watch", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:  # also where it had gone before anybody could ask to be killed with it
        time.sleep(_LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGKILL)


def _keep_grandchildren() -> None:
    """Linux: what our children leave behind becomes ours, so that it is found when we are ended."""
    if sys.platform.startswith("linux"):
        _prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
