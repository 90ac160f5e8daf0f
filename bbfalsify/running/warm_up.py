"""Have the compiled code ready before anything runs: loaded from the cache, or compiled on the very first run.

Compiling takes most of a minute of one core.  Where there are two, a second process compiles the monitor and the
estimator's part meanwhile; both write into the same cache on disk, and each uses what the other has finished.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
from pathlib import Path
from typing import Any

import numba

from bbfalsify.jit import source_digest, without_garbage_collection
from bbfalsify.kernel.accelerated_walk import ret_batch
from bbfalsify.kernel.action_law import particle_batch
from bbfalsify.kernel.likelihood_scores import score_batch
from bbfalsify.kernel.rng import seed_streams
from bbfalsify.kernel.target_walks import reach_batch
from bbfalsify.kernel.walk_sampling import sample_batch
from bbfalsify.logic.stl.stl_monitor import warm_up


def is_compiled() -> bool:
    """Whether everything was compiled before, from these very sources."""
    return bool(numba.config.DISABLE_JIT) or _stamp().exists()


def reach_is_compiled() -> bool:
    """Whether the walks of `reach` were compiled before; they are not part of what a falsification needs."""
    return bool(numba.config.DISABLE_JIT) or _is_cached(reach_batch.dispatcher)


def check_is_compiled() -> bool:
    """Whether the conformance tests of `check` were compiled before."""
    from bbfalsify.engines.checking.conformance.suites import enter_apart

    return bool(numba.config.DISABLE_JIT) or _is_cached(enter_apart)


def _is_cached(dispatcher: Any) -> bool:
    return (Path(dispatcher._cache.cache_path) / dispatcher._cache._cache_file._index_name).exists()


@functools.cache  # once in a process; to look again whether all is there costs more than recording ten simulations
def compile_everything() -> None:
    """What a falsification needs; quick when `is_compiled`."""
    helper = None
    if not is_compiled() and (os.cpu_count() or 1) > 1 and "fork" in multiprocessing.get_all_start_methods():
        helper = multiprocessing.get_context("fork").Process(target=_second_half)
        helper.start()
    ret_batch.prepare()
    if helper is not None:
        helper.join()  # whatever became of it: what is missing in the cache is compiled below
    _second_half()
    if not is_compiled():
        _stamp().touch()


def _second_half() -> None:
    with without_garbage_collection():
        warm_up()
    for entry_point in (seed_streams, particle_batch, score_batch, sample_batch):
        entry_point.prepare()


def _stamp() -> Path:
    """An empty file in the cache; its name tells from which sources the cache was made."""
    folder = Path(ret_batch.dispatcher._cache.cache_path)
    return folder / f"bbfalsify-{source_digest()[:16]}.compiled"
