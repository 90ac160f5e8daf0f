"""Compile each function of the kernel once, for types that follow from the names of its arguments.

By default numba compiles a function again for every mixture of int32, int64 and literal arguments, and the interpreter
eight times.  Here every function has one signature: an argument is an int64 unless its name is listed below.

By default numba also copies all callees, and theirs, into every function and optimises them again: half of the time.
Here a `@compiled` function is called by name, so that its code exists once.  Only `@inlined` functions, which are small
or called in few places, are copied; LLVM does that faster than numba's own inlining (`inline="always"`).

Nothing is compiled, or loaded from the disk cache, before an `@entry_point` is called: Python calls only those, and
each of them compiles what it needs, callees first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba import types

from bbfalsify.jit import call_by_name, compiling, is_cached, jit

_I1, _I4, _I8, _U1, _U8 = types.int8, types.int32, types.int64, types.uint8, types.uint64
_F8, _B1 = types.float64, types.boolean
_NAMES = (
    (_F8, "t h u v low high deadline time until survivor bound rate factor largest ode_step chosen share won "
     "expected wanted whole share_lower share_uniform moment_number choice_number absent rest before after "
     "middle mass"),
    (_B1, "first_only full incremental by_weight counted adding lists with_deadlines sleeping lazily"
     "holds"),
    (_U8, "seed number"),
    (_I4[::1], "T steps chosen_edges chosen_branches Z D found waiting"),
    (_F8[::1], "F X states_time numbers more_numbers moments factors kept_X"),
    (_I8[::1], "S edge_codes branch_codes location_codes codes rows goal avoid affects coverage coverage_before work "
     "progress kept_S fields offsets W ends winners"),
    (_U8[::1], "R seeds given"),
    (_B1[::1], "preferred"),
    (_I1[::1], "status hits"),
    (_F8[:, ::1], "shares states_reals ends_reals times logarithms scores matrix uniforms pool"),
    (_I4[:, ::1], "states_locations ends_locations edges branches nodes discrete stored links"),
    (_I8[:, ::1], "states_integers ends_integers errors"),
    (_U8[:, ::1], "states_rng tilt_bins"),
    (_U1[:, ::1], "packed packed_ends"),
    (_I4[:, :, ::1], "locations"),
    (_I8[:, :, ::1], "integers"),
    (_F8[:, :, ::1], "reals"),
)  # fmt: skip
_ARGUMENT_TYPES = {name: kind for kind, names in _NAMES for name in names.split()}

# numba's dispatchers have attributes that their types do not declare, hence Any.
_waiting: list[Any] = []
_config: Any = numba.config


def inlined(function: Callable) -> Any:
    """Compile a function once; each caller contains a copy of its code."""
    return _waiting_for_use(function, called_from_python=False, always_inline=True)


def compiled(function: Callable) -> Any:
    """Compile a function once, without reference counting; only compiled functions call it, by its name."""
    return _waiting_for_use(function, called_from_python=False)


def _waiting_for_use(function: Callable, **options: bool) -> Any:
    dispatcher = jit(function, reference_counting=False, stable_name=True, **options)
    _waiting.append(dispatcher)
    return dispatcher


def entry_point(function: Any) -> Any:
    """Make a compiled function that Python calls; the first call compiles it and what it needs."""
    if _config.DISABLE_JIT:
        function.prepare = lambda: None
        return function
    dispatcher = _waiting_for_use(function)
    ready = False

    def prepare() -> None:
        nonlocal ready
        if dispatcher in _waiting:
            with compiling():
                _compile(dispatcher)
        ready = True

    def call(*arguments: object) -> object:
        if not ready:
            prepare()
        return dispatcher(*arguments)

    call.__doc__ = function.__doc__
    call.__dict__.update(prepare=prepare, dispatcher=dispatcher)
    return call


def _compile(dispatcher: Any) -> None:
    """Compile a function, or load it from the cache, after everything it calls.

    What is loaded contains its inlined callees already: of those, only the functions that they call are needed.
    """
    _waiting.remove(dispatcher)
    function = dispatcher.py_func
    types_of_arguments = tuple(_ARGUMENT_TYPES.get(name, _I8) for name in inspect.signature(function).parameters)
    callees = list(_called_by(function))
    if is_cached(dispatcher, types_of_arguments):
        callees = _through_inlined(callees)
    for callee in callees:
        if any(callee is d for d in _waiting):
            _compile(callee)
    dispatcher.compile(types_of_arguments)
    dispatcher.disable_compile()
    if not _is_inlined(dispatcher):
        call_by_name(dispatcher)


def _called_by(function: Any) -> Iterator[Any]:
    """Functions that are still waiting and that a function names."""
    for name in function.__code__.co_names:
        callee = function.__globals__.get(name)
        if any(callee is d for d in _waiting):
            yield callee


def _is_inlined(dispatcher: Any) -> bool:
    return bool(dispatcher.targetoptions.get("forceinline"))


def _through_inlined(callees: list[Any]) -> list[Any]:
    """Replace inlined functions by what they call."""
    found: list[Any] = []
    pending, seen = callees, set()
    while pending:
        callee = pending.pop(0)
        if id(callee) in seen:
            continue
        seen.add(id(callee))
        if _is_inlined(callee):
            pending += _called_by(callee.py_func)
        else:
            found.append(callee)
    return found
