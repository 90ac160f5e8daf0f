"""The decorator `jit` for compiled code, and its cache on disk.

`@jit` compiles with numba and caches on disk.  With NUMBA_DISABLE_JIT=1 the very same functions run as plain Python and
give bit-identical results: no fast-math, no parallel loops.  Importing this module imports numba (about half a second),
so only modules that compute import it, and the commands that do not simulate never do.

numba's own cache notices a change of the file of a function, not of a function that it calls in another file: after an
upgrade old machine code would go on running.  So the compiled code is in a folder of the user's cache named by a digest
of all compiled sources, which another installation of the same sources can use, too.  With NUMBA_CACHE_DIR, or if the
user's cache cannot be written, numba chooses the place.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.misc.appdirs import AppDirs

COMPILED_ROOMS = ("kernel", "logic/stl", "automata", "engines/checking/conformance")
FORGOTTEN_AFTER_DAYS = 60
"""Compiled code of other sources that was not used for so long is removed when new code is compiled."""


@functools.cache
def source_digest() -> str:
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for file in [Path(__file__), *sorted(f for room in COMPILED_ROOMS for f in (package / room).glob("*.py"))]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Switch garbage collection off: it costs a seventh of the time of compiling, and finds hardly any garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@functools.cache
def cache_folder() -> Path | None:
    """Folder of the compiled code of these sources; None if the user's cache cannot be written."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return None
    folder = Path(AppDirs("bbfalsify", appauthor=False).user_cache_dir) / f"compiled-{source_digest()[:16]}"
    try:
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        return None
    if new:
        _forget_old(folder.parent)
    return folder if os.access(folder, os.W_OK) else None


def _forget_old(cache: Path) -> None:
    oldest = time.time() - FORGOTTEN_AFTER_DAYS * 86400
    for folder in cache.glob("compiled-*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


class _UserCache(_CacheLocator):
    def __init__(self, function: Callable, file: str) -> None:
        self._place = f"{Path(file).parent.name}-{function.__code__.co_firstlineno}"
        if not function.__module__.startswith("bbfalsify."):
            # An adapter: it is not in the digest, and cached code refers to the module by name.
            source = function.__module__.encode() + b"\0" + Path(file).read_bytes()
            self._place += f"-{hashlib.sha256(source).hexdigest()[:16]}"

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return source_digest()

    def get_disambiguator(self) -> str:
        return self._place

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> _UserCache | None:
        return None if cache_folder() is None else cls(py_func, py_file)


class _CacheInUsersFolder(CompileResultCacheImpl):
    _locator_classes = [_UserCache, *CompileResultCacheImpl._locator_classes]


class _SourceKeyedCache(FunctionCache):
    _impl_class = _CacheInUsersFolder

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
    options: dict[str, Any] = {} if reference_counting else {"_nrt": False}
    if not called_from_python:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    options["error_model"] = "numpy"
    dispatcher: Any = numba.njit(**options)(function)
    config: Any = numba.config  # its attributes are set at run time
    if not config.DISABLE_JIT:
        dispatcher._cache = _SourceKeyedCache(function)  # what cache=True does, with our key
    return dispatcher
