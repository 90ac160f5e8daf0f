"""How the kernel's functions are compiled: each once, for types that follow from the names of its arguments.

Left to itself, numba compiles a function anew for every mixture of int32, int64 and literal arguments it meets, and
the interpreter eight times.  `@compiled` fixes one signature; an argument is an int64 unless its name is listed here.
Nothing is compiled (or loaded from the disk cache) before `ready()`, which every public function of the kernel calls.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numba
from numba import types

from bbfalsify.core.jit import jit

_I4, _I8, _F8, _U8, _B1 = types.int32, types.int64, types.float64, types.uint64, types.boolean
_ARGUMENT_TYPES = {
    **{"T": _I4[::1], "F": _F8[::1], "S": _I8[::1], "X": _F8[::1], "R": _U8[::1]},
    **dict.fromkeys(
        ("t", "h", "u", "v", "low", "high", "deadline", "time", "until", "survivor", "bound", "rate", "factor", "largest",
         "ode_step", "share_lower", "share_uniform"), _F8),
    **dict.fromkeys(("first_only", "full", "incremental", "by_weight", "adding", "lists", "with_deadlines"), _B1),
    "seed": _U8,
    "seeds": _U8[::1],
    "shares": _F8[:, ::1],
    "preferred": _B1[::1],
    "states_locations": _I4[:, ::1],
    "states_integers": _I8[:, ::1],
    "states_reals": _F8[:, ::1],
    "states_time": _F8[::1],
    "states_rng": _U8[:, ::1],
    "status": types.int8[::1],
    "steps": _I4[::1],
    "errors": _I8[:, ::1],
    "times": _F8[:, ::1],
    "edges": _I4[:, ::1],
    "locations": _I4[:, :, ::1],
    "integers": _I8[:, :, ::1],
    "reals": _F8[:, :, ::1],
    "numbers": _F8[::1],
    "more_numbers": _F8[::1],
    "chosen_edges": _I4[::1],
    "matrix": _F8[:, ::1],
    "codes": _I8[::1],
    "rows": _I8[::1],
}  # fmt: skip

_waiting: list[tuple[Callable, tuple]] = []
_entry_points: dict[int, tuple[Callable, tuple]] = {}


def compiled(function: Callable) -> Callable:
    """Compile `function` without reference counting for the one signature its argument names give."""
    dispatcher = jit(function, reference_counting=False)
    if not numba.config.DISABLE_JIT:
        _waiting.append((dispatcher, _signature(function)))
    return dispatcher


def entry_point(function: Callable) -> Callable:
    """Like `compiled`, for functions that only Python calls: compiled when first wanted."""
    dispatcher = jit(function, reference_counting=False)
    if not numba.config.DISABLE_JIT:
        _entry_points[id(dispatcher)] = (dispatcher, _signature(function))
    return dispatcher


def _signature(function: Callable) -> tuple:
    return tuple(_ARGUMENT_TYPES.get(name, _I8) for name in inspect.signature(function).parameters)


def inlined(function: Callable) -> Callable:
    """For functions used in one place: part of their caller, so that nothing is optimised twice."""
    return numba.njit(function, inline="always")


def ready(*wanted: Callable) -> None:
    """Compile what is still waiting, callees before callers (the order of the modules' imports), and `wanted`."""
    while _waiting:
        _compile(*_waiting.pop(0))
    for function in wanted:
        waiting = _entry_points.pop(id(function), None)
        if waiting is not None:
            _compile(*waiting)


def _compile(dispatcher: Callable, signature: tuple) -> None:
    dispatcher.compile(signature)
    dispatcher.disable_compile()
