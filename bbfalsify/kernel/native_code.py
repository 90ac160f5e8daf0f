"""Compile the guards, updates, rates and functions of one model to machine code, and let a walker use it.

    plan = NativePlan.of(model)              the source, and the model with its tables prepared
    plan.compile()                           seconds of CPU; leaves the code on disk, named by the source's digest
    plan.install(walker)                     milliseconds, once it is there

The kernel itself stays as it is: a code in T begins with ENTER, which calls the machine code where there is some, and
is followed by the same code as bytecode.  Walks are bit-identical either way.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np

from bbfalsify.jit import build_digest, cache_folder
from bbfalsify.kernel import layout as at
from bbfalsify.kernel.code_builder import Code
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.loop_turns import turns
from bbfalsify.kernel.native_functions import FunctionTexts, Writer
from bbfalsify.kernel.native_source import Body, Unwritten
from bbfalsify.kernel.walker import Walker
from bbfalsify.modelling.network.expressions import Constant, Read

LARGEST_SOURCE = 400_000
"""Characters of source beyond which compiling takes longer than it is worth."""
_GAP = re.compile("⟦(\\d+)⟧")
_HEAD = """
import numba
from numba import types

_pointers = [types.CPointer(t) for t in (types.int32, types.float64, types.int64, types.float64, types.uint64)]

"""
_BASES = f"    ints = S[{at.S_INTEGER_BASE}]\n    locs = S[{at.S_LOCATION_BASE}]\n    clocks = S[{at.S_CLOCK_BASE}]\n"


@dataclass(frozen=True, eq=False)
class NativePlan:
    model: CompiledModel
    """The model whose codes name their machine code."""
    source: str

    @classmethod
    def of(cls, model: CompiledModel) -> NativePlan | None:
        """Write the source; None if there is nothing worth compiling, or no place for the result."""
        if cache_folder() is None or numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return None
        functions = FunctionTexts(
            model.network.functions, model.compiler.function_sites, list(model.compiler.first_location),
            {float(value): place for place, value in enumerate(model.F)},
        )  # fmt: skip
        functions.counted = not _bounded(model.codes, functions)
        written = [(code, body) for code in model.codes if (body := _written(code, functions)) is not None]
        if not written:
            return None
        source, words = _joined(written, functions, len(model.T))
        if len(source) > LARGEST_SOURCE:
            return None
        names = {text: number for number, text in enumerate(dict.fromkeys(body.text for _, body in written))}
        table = np.concatenate([model.T, np.array(words.words, np.int32)])
        for code, body in written:
            table[code.start + 1 : code.start + 4] = (
                names[body.text], words.places[id(body)], int(not body.frozen_only),
            )  # fmt: skip
        return cls(replace(model, T=table), source)

    @property
    def file(self) -> Path:
        folder = cache_folder()
        assert folder is not None
        text = f"{build_digest()}\n{self.source}"
        return folder / f"model_{hashlib.sha256(text.encode()).hexdigest()[:24]}.py"

    @property
    def is_compiled(self) -> bool:
        return self.file.with_suffix(".done").exists()

    def write(self) -> None:
        """Write the source, from which another process may compile it."""
        partly = self.file.with_suffix(f".{os.getpid()}")
        partly.write_text(self.source, encoding="utf-8")
        os.replace(partly, self.file)

    def compile(self) -> None:
        self.write()
        compile_file(self.file)

    def install(self, walker: Walker) -> None:
        """Let a walker of this model use the machine code."""
        module = _load(self.file)
        walker.model = self.model
        walker.code = module
        walker.S[at.S_NATIVE] = module.native.address


def compile_file(file: Path) -> None:
    """Compile a source, and leave the machine code in numba's cache beside it."""
    _load(file)
    file.with_suffix(".done").touch()


def _load(file: Path) -> Any:
    """Import the source; numba loads its machine code, or compiles it."""
    specification = importlib.util.spec_from_file_location(file.stem, file)
    assert specification is not None and specification.loader is not None
    module = sys.modules[file.stem] = importlib.util.module_from_spec(specification)  # numba looks it up by name
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))  # numba walks long functions recursively
    try:
        specification.loader.exec_module(module)
    finally:
        sys.setrecursionlimit(limit)
    return module


def _bounded(codes: tuple[Code, ...], functions: FunctionTexts) -> bool:
    """Tell whether no code can exceed the limit of turns of loops."""
    try:
        return all(turns(code.content, functions.all) <= at.LOOP_LIMIT for code in codes)
    except RecursionError:  # a function that calls itself
        return False


def _written(code: Code, functions: FunctionTexts) -> Body | None:
    if isinstance(code.content, Constant | Read):
        return None  # a call costs as much as the bytecode
    writer = Writer(functions, functions.first_location, code.first_site, code.first_site)
    site = writer.gap(code.first_site)
    writer.put(f"site = {site}")
    writer.put(f"frame = 0; inner = {at.TOP_FRAME}")
    try:
        if isinstance(code.content, tuple):
            writer.statements(code.content)
            writer.put("return 0")
        elif code.is_number:
            value = writer.real(code.content)
            writer.put(f"X[T[{at.H_X_STACK}]] = {value}")
            writer.put(f"X[T[{at.H_X_STACK}] + 1] = 0.0")
            writer.put(f"X[T[{at.H_X_STACK}] + 2] = 0.0")
            writer.put("return 0")
        else:
            writer.put(f"return {writer.truth(code.content)}")
            if writer.body.frozen_only:
                return None  # conditions on clocks are decided for a stretch of time
    except Unwritten:
        return None
    return writer.body


@dataclass(eq=False)
class _Operands:
    """Words behind T, and the place of each body's among them."""

    words: list[int]
    places: dict[int, int]


def _joined(written: list[tuple[Code, Body]], functions: FunctionTexts, first: int) -> tuple[str, _Operands]:
    """Put functions and codes into one source; return it with the operands of all of them."""
    bodies = {number: functions.bodies[number] for number in functions.bodies}
    counts = Counter(body.text for body in bodies.values())
    counts.update(body.text for _, body in written)
    operands = _Operands([], {})
    for body in [*bodies.values(), *(body for _, body in written)]:
        operands.places[id(body)] = first + len(operands.words)
        if counts[body.text] > 1:
            operands.words += [0] * len(body.operands)
    values: dict[int, list[int]] = {}
    for body in [*bodies.values(), *(body for _, body in written)]:
        values[id(body)] = [
            word if isinstance(word, int) else operands.places[id(bodies[word[1]])] for word in body.operands
        ]
        if counts[body.text] > 1:
            place = operands.places[id(body)] - first
            operands.words[place : place + len(body.operands)] = values[id(body)]
    parts, seen = [_HEAD], set()
    for body in bodies.values():  # callees come first
        if body.text not in seen:
            seen.add(body.text)
            parts.append(_function_source(functions.names[body.text], _filled(body, values, counts)))
    number = 0
    for _, body in written:
        if body.text not in seen:
            seen.add(body.text)
            text = _filled(body, values, counts)
            head = f"@numba.njit(error_model='numpy')\ndef c{number}(T, F, S, X, R, o, mode):"
            parts.append(f"{head}\n{_BASES}{text}\n\n")
            number += 1
    parts.append(_dispatch(number))
    return "".join(parts), operands


def _filled(body: Body, values: dict[int, list[int]], counts: Counter[str]) -> str:
    if counts[body.text] > 1:
        return _GAP.sub(lambda gap: f"T[o + {gap[1]}]", body.text)
    return _GAP.sub(lambda gap: f"({values[id(body)][int(gap[1])]})", body.text)


def _function_source(name: str, text: str) -> str:
    head, _, rest = text.partition("\n")
    parameters = "".join(f", {parameter}" for parameter in head.strip().split("|") if parameter)
    return (
        f"@numba.njit(error_model='numpy')\ndef {name}(T, F, S, X, R, o, site, mode, frame{parameters}):\n"
        f"{_BASES}{rest}\n\n"
    )


def _dispatch(count: int) -> str:
    """Make the one function that the kernel calls: it chooses by halves."""
    lines = [
        "@numba.cfunc(types.int64(*_pointers, types.int64, types.int64), cache=True, error_model='numpy')",
        "def native(T, F, S, X, R, start, mode):",
        "    k = T[start + 1]",
        "    o = T[start + 2]",
    ]

    def choose(low: int, high: int, indent: int) -> None:
        space = "    " * indent
        if high - low == 1:
            lines.append(f"{space}return c{low}(T, F, S, X, R, o, mode)")
            return
        middle = (low + high) // 2
        lines.append(f"{space}if k < {middle}:")
        choose(low, middle, indent + 1)
        lines.append(f"{space}else:")
        choose(middle, high, indent + 1)

    choose(0, count, 1)
    return "\n".join(lines) + "\n"
