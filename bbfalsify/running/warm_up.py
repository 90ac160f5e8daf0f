"""Have the compiled code ready before anything runs: loaded from the cache, or compiled on the very first run.

Compiling takes about 20 s of one core.  Where there are two, a second process compiles the monitor
meanwhile, which shares no function with the kernel, so nothing is compiled twice; both write into the same cache.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
from pathlib import Path
from typing import Any

import numba

from bbfalsify.jit import build_digest, compiling
from bbfalsify.kernel.accelerated_walk import ret_batch
from bbfalsify.kernel.action_law import particle_batch
from bbfalsify.kernel.likelihood_scores import score_batch
from bbfalsify.kernel.races import stochastic_batch
from bbfalsify.kernel.rng import seed_streams
from bbfalsify.kernel.target_walks import reach_batch
from bbfalsify.logic.stl.requirement import MONITORS
from bbfalsify.logic.stl.stl_monitor import warm_up

_KERNEL_S = 20
_TESTS_S = 8
_RUNS_S = 6


def kernel_notice(settings: Any = None) -> str | None:
    """Announce the compilation that falsifying and simulating need; None where all is compiled."""
    return None if is_compiled() else _says("the simulation kernel")


def walks_notice(settings: Any) -> str | None:
    """Announce the compilation of the walks of `reach`, which a falsification does not need."""
    return None if _is_cached(_dispatcher(reach_batch)) else _says("the walks")


def estimate_notice(settings: Any) -> str | None:
    """Announce the compilation of the exploration of chains, of judged runs, or of the walks of a system's users."""
    from bbfalsify.kernel.exploration import explore
    from bbfalsify.kernel.path_walks import path_batch

    if settings.about == "signals":
        return kernel_notice()
    what, needed = ("exploration", explore) if settings.method in ("auto", "chain") else ("runs", path_batch)
    return None if _is_cached(_dispatcher(needed)) else _says(what, _RUNS_S, later="estimates")


def zones_notice(settings: Any) -> str | None:
    """Announce the compilation of zone graphs."""
    from bbfalsify.zones.zone_exploration import explore

    return None if _is_cached(_dispatcher(explore)) else _says("zones")


def tests_notice(settings: Any) -> str | None:
    """Announce the compilation of the conformance tests of `check`."""
    from bbfalsify.engines.checking.conformance.suites import enter_apart

    return None if _is_cached(enter_apart) else _says("the conformance tests", _TESTS_S, later="checks")


def _says(what: str, seconds: int = _KERNEL_S, *, later: str = "runs") -> str:
    return f"compiling {what} once (about {seconds} s); later {later} start at once"


def is_compiled() -> bool:
    """True where everything was compiled before, from these very sources."""
    return _interpreted() or _stamp().exists()


def _interpreted() -> bool:
    return bool(getattr(numba.config, "DISABLE_JIT", False))


def _dispatcher(entry_point: Any) -> Any:
    return entry_point.dispatcher


def _is_cached(dispatcher: Any) -> bool:
    return _interpreted() or Path(dispatcher._cache.cache_path, dispatcher._cache._cache_file._index_name).exists()


@functools.cache  # once in a process; to look again whether all is there costs more than recording ten simulations
def compile_everything(monitors: frozenset[str] = frozenset(MONITORS)) -> None:
    """Compile what a falsification with these monitors needs; quick when `is_compiled`."""
    helper = None
    if not is_compiled() and (os.cpu_count() or 1) > 1 and "fork" in multiprocessing.get_all_start_methods():
        helper = multiprocessing.get_context("fork").Process(target=_monitor, args=[monitors])
        helper.start()
    with compiling():
        for entry_point in (ret_batch, seed_streams, particle_batch, score_batch, stochastic_batch):
            _prepare(entry_point)
    if helper is not None:
        helper.join()  # whatever became of it: what is missing in the cache is compiled below
    _monitor(monitors)
    if not is_compiled():
        with contextlib.suppress(OSError):  # no room: what could be stored is found without it
            _stamp().touch()


def _monitor(monitors: frozenset[str]) -> None:
    with compiling():
        warm_up(monitors)


def _prepare(entry_point: Any) -> None:
    entry_point.prepare()


def _stamp() -> Path:
    """Return an empty file in the cache, named after the sources from which the cache was made."""
    folder = Path(_dispatcher(ret_batch)._cache.cache_path)
    return folder / f"bbfalsify-{build_digest()[:16]}.compiled"
