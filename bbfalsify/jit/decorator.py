"""The decorator: options of compiled functions, their names, and compilation that Ctrl-C does not tear."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
from numba.core.compiler import Compiler

from bbfalsify.core.interrupts import uninterrupted
from bbfalsify.jit.code_cache import SourceKeyedCache, build_digest


def _load_array_functions() -> None:
    """Import numba's array functions without `scipy.linalg`, a quarter of a second and 15 MB of every process.

    numba imports that package only to see that it is there; compiled code that calls BLAS imports it when it runs.
    """
    names = ("scipy.linalg", "scipy.linalg.cython_blas")
    if not any(name in sys.modules for name in names) and importlib.util.find_spec("scipy") is not None:
        stands_in = {name: ModuleType(name) for name in names}
        sys.modules.update(stands_in)
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            for name in names:
                del sys.modules[name]


_load_array_functions()


class _StableNames(Compiler):
    """Compiler that names machine code after its source, where numba counts: cached callers find it by that name."""

    def _compile_bytecode(self) -> object:
        identity: Any = self.state.func_id
        place = f"{identity.modname}.{identity.func_qualname}:{identity.firstlineno}:{build_digest()}"
        identity.unique_id = int(hashlib.sha256(place.encode()).hexdigest()[:12], 16)
        identity.unique_name = f"{identity.func_qualname}${identity.unique_id}"
        return super()._compile_bytecode()


def _whole(compile_now: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be compiled, or loaded, whole: Ctrl-C inside LLVM's locks can end in a segmentation fault."""

    def compile_whole(*arguments: Any) -> Any:
        with uninterrupted(second_ends=True):
            return compile_now(*arguments)

    return compile_whole


def call_by_name(dispatcher: Any) -> None:
    """Let callers of a compiled function refer to its machine code, not optimise a copy of it."""
    context = dispatcher.targetctx
    for result in dispatcher.overloads.values():
        context.remove_user_function(result.entry_point)
        context.insert_user_function(result.entry_point, result.fndesc)


def jit(
    function: Callable | None = None,
    *,
    reference_counting: bool = True,
    called_from_python: bool = True,
    always_inline: bool = False,
    stable_name: bool = False,
) -> Callable:
    """Compile `function`; without reference counting (no allocation inside) interpreters run twice as fast.

    A function that only compiled functions call (`called_from_python=False`) needs no wrapper and compiles faster.
    `call_by_name` needs a `stable_name`.
    """
    if function is None:
        return functools.partial(jit, reference_counting=reference_counting, called_from_python=called_from_python)
    options: dict[str, Any] = {"error_model": "numpy"}
    if not reference_counting:
        options["_nrt"] = False
    if not called_from_python:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    if always_inline:
        options["forceinline"] = True
    if stable_name:
        options["pipeline_class"] = _StableNames
    dispatcher: Any = numba.njit(**options)(function)
    config: Any = numba.config  # its attributes are set at run time
    if not config.DISABLE_JIT:
        dispatcher._cache = SourceKeyedCache(function)  # what cache=True does, with our key
        dispatcher.compile = _whole(dispatcher.compile)
    return dispatcher
