"""Linear algebra on one thread: matrices of a few hundred rows are too small for more.

Several threads wait for each other longer than they compute, most of all on a busy machine (fifteen times as long for
a Gaussian process of 160 points), and how the work is divided decides about the last bits of a result.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # installed before this was needed: everything works, only slower
        return None
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Let the libraries below numpy and scipy use one thread for a while."""
    controller = _controller()
    return nullcontext() if controller is None else controller.limit(limits=1, user_api="blas")
