"""One decorator for compiled code, so that every room compiles in the same way.

`@jit` compiles with numba and caches on disk.  With NUMBA_DISABLE_JIT=1 the very same functions run as plain Python and
give bit-identical results: no fast-math, no parallel loops.  Importing this module imports numba (about half a second),
so only modules that compute import it, and the commands that do not simulate never do.
"""

from __future__ import annotations

from collections.abc import Callable

import numba


def jit(
    function: Callable | None = None, *, reference_counting: bool = True, called_from_python: bool = True
) -> Callable:
    """Compile `function`; without reference counting (no allocation inside) interpreters run twice as fast.

    A function that only compiled functions call (`called_from_python=False`) needs no wrapper and compiles faster.
    """
    if function is None:
        return lambda f: jit(f, reference_counting=reference_counting, called_from_python=called_from_python)
    options: dict[str, bool] = {} if reference_counting else {"_nrt": False}
    if not called_from_python:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(cache=True, error_model="numpy", **options)(function)
