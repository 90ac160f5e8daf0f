"""Scopes of names, frames of local variables, and the network under construction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.modelling.language import syntax
from bbfalsify.modelling.language import typed_symbols as typed
from bbfalsify.modelling.language.syntax_tree import Declaration
from bbfalsify.modelling.network.expressions import Assign, Bound, Function, Kind, Read
from bbfalsify.modelling.network.network import HIDDEN, Channel, Network, Variable
from bbfalsify.records.documents import Text


@dataclass(eq=False)
class Scope:
    parent: Scope | None = None
    symbols: dict[str, typed.Symbol] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    """Words of declarations that could not be parsed."""

    def find(self, name: str) -> typed.Symbol | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.symbols:
                return scope.symbols[name]
            if name in scope.silent:
                return typed.BrokenSymbol(name)
            scope = scope.parent
        return None

    def all(self) -> Iterator[tuple[str, typed.Symbol]]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.symbols.items()
            scope = scope.parent

    def names(self, *kinds: type) -> list[str]:
        return [name for name, symbol in self.all() if isinstance(symbol, kinds)]


@dataclass(eq=False)
class Frame:
    """Slots of a function's arguments and locals, or of the quantified names of one text."""

    ranges: list[tuple[int, int]] = field(default_factory=list)

    def allocate(self, type_: typed.Type) -> int:
        slot = len(self.ranges)
        self.ranges += [(type_.low, type_.high)] * type_.size
        return slot

    @property
    def size(self) -> int:
        return len(self.ranges)


@dataclass(eq=False)
class Assembly:
    """The network under construction, and all problems found so far."""

    as_uppaal: bool = False
    """An integer is a condition (not zero), a Boolean counts as 0 or 1, and `int` alone is int[-32768,32767]."""
    system_outputs: frozenset[str] = frozenset()
    matching: bool = False
    """Large arrays of channels are matched pair by pair (`matched_channels`)."""
    alphabets: dict[int, list[str]] = field(default_factory=dict)
    """Channel → the processes that synchronise on it without ! and ?."""
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    initial_draws: list[Assign] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    integer_ranges: list[tuple[int, int]] = field(default_factory=list)
    real_count: int = 0
    _seen: set[Problem] = field(default_factory=set)
    _parsed: dict[tuple[str, str | Place], Any] = field(default_factory=dict)
    _constant_arrays: dict[int, tuple[typed.ConstantSymbol, int]] = field(default_factory=dict)

    def report(self, problem: Problem) -> None:
        """Add a problem once: each instance of a template finds it again."""
        if problem not in self._seen:
            self._seen.add(problem)
            self.problems.append(problem)

    def fail(self, place: Place, message: str, line: int = 1) -> None:
        self.report(place.problem(message, line))

    def note(self, place: Place, message: str, line: int = 1) -> None:
        """Add a note once."""
        note = place.problem(message, line)
        if note not in self.notes:
            self.notes.append(note)

    def parse(self, text: Text, start: str, what: str) -> Any:
        """Return the syntax tree, or None after reporting a problem.  Each text is parsed once."""
        key = (text.text, start)  # lines of the tree count within the text: equal texts have the same tree
        if key not in self._parsed:
            try:
                self._parsed[key] = syntax.parse(text.text, start, text.place, what=what)
            except UserError as error:
                for problem in error.problems:
                    self.report(problem)
                return None
        return self._parsed[key]

    def parse_declarations(self, text: Text) -> tuple[tuple[Declaration, ...], set[str]]:
        """The declarations that can be parsed, and the words of those that cannot."""
        key = (text.text, text.place)
        if key not in self._parsed:
            declarations, problems, words = syntax.parse_declarations(text.text, text.place)
            for problem in problems:
                self.report(problem)
            self._parsed[key] = (declarations, words)
        return self._parsed[key]

    def add_variable(self, name: str, type_: typed.Type, initial: tuple[int | Fraction, ...]) -> int:
        """Reserve slots and return the first."""
        kind = type_.kind
        assert kind is not None
        slot = self.real_count if kind.is_real else len(self.integer_ranges)
        if kind.is_real:
            self.real_count += type_.size
        else:
            bounds = (0, 1) if kind is Kind.BOOL else (type_.low, type_.high) if type_.ranged else typed.DEFAULT_RANGE
            self.integer_ranges += [bounds] * type_.size
        low, high = (0, 1) if kind is Kind.BOOL else (type_.low, type_.high)
        origins = type_.origins if any(type_.origins) else ()
        self.variables.append(Variable(name, kind, slot, type_.size, type_.dimensions, low, high, initial, origins))
        return slot

    def add_hidden(self, process: str, name: str, type_: typed.Type) -> int:
        """Reserve a slot for a selected name, which no text can mention; it is 0 between transitions."""
        around = replace(type_, low=min(type_.low, 0), high=max(type_.high, 0))
        return self.add_variable(f"{process}.{HIDDEN}{name}", around, (0,))

    def slot_of_constants(self, symbol: typed.ConstantSymbol) -> int:
        """The slot of a constant array, which is part of the state only if some index is not constant."""
        if id(symbol) not in self._constant_arrays:
            type_ = symbol.type
            if type_.kind is Kind.INT:
                type_ = replace(type_, low=int(min(symbol.values)), high=int(max(symbol.values)))
            slot = self.add_variable(symbol.name, type_, symbol.values)
            self._constant_arrays[id(symbol)] = (symbol, slot)
        return self._constant_arrays[id(symbol)][1]

    def constant_places(self) -> set[tuple[str, int]]:
        """The places (`network.effects`) of constant arrays."""
        return {
            ("r" if symbol.type.kind is Kind.DOUBLE else "i", slot + offset)
            for symbol, slot in self._constant_arrays.values()
            for offset in range(symbol.type.size)
        }

    def range_of(self, read: Read | Bound, frame: Frame | None = None) -> tuple[int, int] | None:
        """The declared range of a variable, for estimates of bounds."""
        if read.kind is Kind.BOOL:
            return (0, 1)
        if read.kind is not Kind.INT:
            return None
        if isinstance(read, Bound):
            return None if frame is None else frame.ranges[read.slot]
        return self.integer_ranges[read.slot]


def visible_variables(network: Network, prefix: str) -> Iterator[tuple[str, typed.Symbol]]:
    """The variables of a finished network with this prefix, by their names without it; "s.f" is a field of s."""
    structs: dict[str, Any] = {}
    processes = {process.name for process in network.processes}
    for variable in network.variables:
        path = variable.name.removeprefix(prefix).split(".")
        if not variable.name.startswith(prefix) or (not prefix and path[0] in processes):
            continue
        origins = variable.origins or (0,) * len(variable.dimensions)
        type_ = typed.Type(variable.kind, variable.low, variable.high, variable.dimensions, origins)
        symbol = typed.VariableSymbol(variable.name, type_, variable.slot, line=0)
        if len(path) == 1:
            yield path[0], symbol
        else:
            inner = structs
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            inner[path[-1]] = symbol
    for name, fields in structs.items():
        yield name, _struct(prefix + name, fields)


def _struct(name: str, parts: dict[str, Any]) -> typed.StructSymbol:
    fields = {key: _struct(f"{name}.{key}", part) if isinstance(part, dict) else part for key, part in parts.items()}
    # Which indices belong to the struct and which to its fields is unknown: it takes as many as any field.
    types = [field.type for field in fields.values()]
    shape = max(types, key=lambda type_: len(type_.dimensions))
    known = tuple(zip(fields, types, strict=True))
    return typed.StructSymbol(
        name, typed.Type(None, dimensions=shape.dimensions, origins=shape.origins, fields=known), fields, line=0
    )
