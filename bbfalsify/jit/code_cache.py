"""Machine code on disk: found by a digest of all compiled sources, checked when it is read.

numba's own cache notices a change of the file of a function, not of a function that it calls in another file: after an
upgrade old machine code would go on running.  So the compiled code is in a folder of the user's cache named by a digest
of all compiled sources and of what compiles them, which another installation of the same can use, too.  (Two releases
of numba in one folder would remove each other's code, and compile anew at every run.)  With NUMBA_CACHE_DIR, or if the
user's cache cannot be written, numba chooses the place.

numba trusts its files; here each ends with a checksum.  Files that are damaged are removed, and compiled code that
cannot be stored is used without: either is told once, and nothing fails for it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import os
import pickle
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.misc.appdirs import AppDirs

COMPILED_ROOMS = ("kernel", "zones", "logic/stl", "automata", "chains", "engines/checking/conformance")
FORGOTTEN_AFTER_DAYS = 60
"""Compiled code of other sources that was not used for so long is removed when new code is compiled."""
_CHECKSUM = hashlib.sha256().digest_size


@functools.cache
def build_digest() -> str:
    """Digest of the compiled sources and of the interpreter, compiler and processor that their machine code is for."""
    here = Path(__file__).parent
    made_by = f"{sys.implementation.cache_tag} numba {numba.__version__} {llvmlite.binding.get_host_cpu_name()}"
    digest = hashlib.sha256(made_by.encode())
    folders = [here, *(here.parent / room for room in COMPILED_ROOMS)]
    for file in (file for folder in folders for file in sorted(folder.glob("*.py"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()


@functools.cache
def cache_folder() -> Path | None:
    """Folder of the compiled code of these sources; None if the user's cache cannot be written."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return None
    folder = Path(AppDirs("bbfalsify", appauthor=False).user_cache_dir) / f"compiled-{build_digest()[:16]}"
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
        return build_digest()

    def get_disambiguator(self) -> str:
        return self._place

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> _UserCache | None:
        return None if cache_folder() is None else cls(py_func, py_file)


class _CacheInUsersFolder(CompileResultCacheImpl):
    _locator_classes = [_UserCache, *CompileResultCacheImpl._locator_classes]


class _CheckedFiles(IndexDataCacheFile):
    """Index and data files with a checksum at their end, which pickle does not read."""

    def __init__(self, cache_path: str, filename_base: str, source_stamp: object) -> None:
        super().__init__(cache_path=cache_path, filename_base=filename_base, source_stamp=source_stamp)
        self._version += "+checked"  # files without a checksum are those of another version, and not damaged

    def _dump(self, content: object) -> bytes:
        body: bytes = super()._dump(content)
        return body + hashlib.sha256(body).digest()

    def _load_index(self) -> dict:
        with contextlib.suppress(FileNotFoundError):
            file = io.BytesIO(Path(self._index_path).read_bytes())
            if pickle.load(file) == self._version:
                _check(file.read())
        index: dict = super()._load_index()
        return index

    def _load_data(self, name: str) -> object:
        content = Path(self._data_path(name)).read_bytes()
        _check(content)
        return pickle.loads(content)

    def remove(self) -> None:
        """Remove the code of this function, and the stamp that says that all code is there."""
        folder = Path(self._cache_path)
        stem = self._index_name.removesuffix(".nbi")
        files = [f for f in folder.iterdir() if f.suffix == ".compiled" or f.name.startswith(f"{stem}.")]
        for file in files:
            file.unlink(missing_ok=True)


def _check(content: bytes) -> None:
    if hashlib.sha256(content[:-_CHECKSUM]).digest() != content[-_CHECKSUM:]:
        raise ValueError("the checksum is wrong")


@functools.cache
def _say(what: str) -> None:
    """Tell the user, once in a process."""
    sys.stderr.write(f"bbfalsify: {what}\n")
    sys.stderr.flush()


class SourceKeyedCache(FunctionCache):
    _impl_class = _CacheInUsersFolder

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        files = self._cache_file
        self._cache_file = _CheckedFiles(self._cache_path, files._index_name.removesuffix(".nbi"), files._source_stamp)

    def load_overload(self, sig: object, target_context: Any) -> object:
        try:
            _refresh(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # damaged bytes can make pickle raise anything
            try:
                self._cache_file.remove()
            except OSError:
                self.disable()
            _say(f"compiled code in {self._cache_path} is damaged; it is removed and compiled again.")
            return None

    def save_overload(self, sig: object, data: object) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self.disable()
            _say(f"compiled code cannot be stored in {self._cache_path}: {error.strerror}; going on without.")

    def _index_key(self, sig: object, codegen: object) -> tuple:
        return (*super()._index_key(sig, codegen), build_digest())


def _refresh(target_context: Any) -> None:
    """Install what modules registered since the last time; numba looks at every registry for every function."""
    imported = len(sys.modules)
    if getattr(target_context, "refreshed_with", None) != imported:
        target_context.refresh()
        target_context.refreshed_with = len(sys.modules)


def is_cached(dispatcher: Any, types_of_arguments: tuple) -> bool:
    """Tell whether the machine code of a function is on disk."""
    cache = dispatcher._cache
    try:
        key = cache._index_key(types_of_arguments, dispatcher.targetctx.codegen())
        return key in cache._cache_file._load_index()
    except Exception:  # damaged bytes can make pickle raise anything; loading says so
        return False
