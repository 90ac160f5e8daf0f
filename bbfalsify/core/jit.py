"""One decorator for compiled code, so that every room compiles in the same way.

`@jit` compiles with numba and caches on disk.  With NUMBA_DISABLE_JIT=1 the very same functions run as plain Python and
give bit-identical results: no fast-math, no parallel loops.  Importing this module imports numba (about half a second),
so only modules that compute import it, and the commands that do not simulate never do.

numba's own cache notices a change of the file a function is in, not of a function that it calls in another file: after
an upgrade old machine code would go on running.  So the key of every entry also holds a digest of all our sources that
are compiled.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
from numba.core.caching import FunctionCache

COMPILED_ROOMS = ("core", "kernel", "logic")


@functools.cache
def source_digest() -> str:
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for file in sorted(f for room in COMPILED_ROOMS for f in (package / room).glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Compiling makes millions of objects and hardly any garbage: looking for it costs a seventh of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class _SourceKeyedCache(FunctionCache):
    def _index_key(self, sig: object, codegen: object) -> tuple:
        return (*super()._index_key(sig, codegen), source_digest())


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
    dispatcher = numba.njit(error_model="numpy", **options)(function)
    if not numba.config.DISABLE_JIT:
        dispatcher._cache = _SourceKeyedCache(function)  # what cache=True does, with our key
    return dispatcher
