"""What names mean while a model is being resolved: types, symbols, scopes, and the network under construction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.modelling.language import syntax
from bbfalsify.modelling.language.syntax_tree import ChannelType, Declaration
from bbfalsify.modelling.network.expressions import Bound, Expression, Function, Kind, Read
from bbfalsify.modelling.network.network import Channel, Network, Variable
from bbfalsify.records.documents import Text

DEFAULT_RANGE = (Variable.low, Variable.high)
UPPAAL_RANGE = (-(2**15), 2**15 - 1)
"""Of `int` without bounds; a value outside is an error, but nobody chose these numbers: they bound no delay."""
MANY = 10_000
"""More values of a select, a quantifier, an array or a parameter than this are surely a mistake."""


@dataclass(frozen=True)
class Type:
    kind: Kind | None
    """None is void, or a struct if there are fields."""
    low: int = DEFAULT_RANGE[0]
    high: int = DEFAULT_RANGE[1]
    dimensions: tuple[int, ...] = ()
    origins: tuple[int, ...] = ()
    """Lowest index in each dimension: `int a[id_t]` counts from the lower bound of id_t."""
    fields: tuple[tuple[str, Type], ...] = ()

    @property
    def size(self) -> int:
        return math.prod(self.dimensions)

    @property
    def ranged(self) -> bool:
        return (self.low, self.high) not in (DEFAULT_RANGE, UPPAAL_RANGE)

    @property
    def values(self) -> range | None:
        """What a select or an instance can run through; None where that is not a small set of integers."""
        if self.dimensions or self.fields:
            return None
        if self.kind is Kind.BOOL:
            return range(2)
        return range(self.low, self.high + 1) if self.kind is Kind.INT and self.ranged else None

    @property
    def default(self) -> int | Fraction:
        """Zero, or the lower bound of a range that leaves zero out."""
        if self.kind is Kind.INT and not self.low <= 0 <= self.high:
            return self.low
        return Fraction(0) if self.kind is not None and self.kind.is_real else 0

    @property
    def element(self) -> Type:
        """Of one element of the array."""
        return replace(self, dimensions=(), origins=())

    @property
    def is_single(self) -> bool:
        return not self.dimensions and not self.fields

    @property
    def shape(self) -> tuple:
        """What two types must share for a value of one to be copied to the other."""
        kind = "real" if self.kind is not None and self.kind.is_real else self.kind
        return kind, self.dimensions, tuple((name, type_.shape) for name, type_ in self.fields)

    def in_array(self, dimensions: tuple[int, ...], origins: tuple[int, ...]) -> Type:
        """Of an array of such values."""
        return replace(self, dimensions=(*dimensions, *self.dimensions), origins=(*origins, *self.origins))

    def __str__(self) -> str:
        name = "struct" if self.fields else "void" if self.kind is None else str(self.kind)
        if self.kind is Kind.INT and self.ranged:
            name = f"int[{self.low},{self.high}]"
        return name + "".join(f"[{d}]" for d in self.dimensions)


@dataclass(eq=False)
class ConstantSymbol:
    name: str
    type: Type
    values: tuple[int | Fraction, ...]
    line: int | None = None


@dataclass(eq=False)
class VariableSymbol:
    name: str
    type: Type
    slot: int
    offset: Expression | None = None
    """Of a part passed by reference: where it begins in the array at `slot`, which has `extent` elements."""
    extent: int = 0
    line: int | None = None


@dataclass(eq=False)
class LocalSymbol:
    """A function's argument or local variable, or a quantified name."""

    name: str
    type: Type
    slot: int
    assignable: bool = True
    line: int | None = None


@dataclass(eq=False)
class ChannelSymbol:
    name: str
    first: int
    type: Type
    """Only its shape means anything."""
    line: int | None = None


@dataclass(eq=False)
class StructSymbol:
    """One symbol per field; those of an array of structs are arrays."""

    name: str
    type: Type
    fields: dict[str, Symbol]
    line: int | None = None


@dataclass(eq=False)
class TypeSymbol:
    name: str
    type: Type
    channel: ChannelType | None = None
    """`typedef broadcast chan signal`; the type then is only its shape."""
    line: int | None = None


@dataclass(frozen=True)
class Reference:
    """What a reference parameter of a function stands for in one call."""

    symbol: Callable[[Expression], Symbol]
    """Given the frame slot that holds the index, the thing itself."""
    index: Expression | None
    """Where it is in its array, if only the run knows."""
    identity: tuple
    """Calls with the same things share one body."""


@dataclass(eq=False)
class FunctionSymbol:
    name: str
    parameters: tuple[Type, ...]
    result: Type
    index: int | None = None
    """None while its own body is being resolved."""
    writes: bool = False
    draws: bool = False
    by_reference: tuple[bool, ...] = ()
    specialise: Callable[[Mapping[int, Reference]], FunctionSymbol] | None = None
    """Makes the function for given things; those with reference parameters are made for each call."""
    special: dict[tuple, FunctionSymbol | None] = field(default_factory=dict)
    """Made already; None while it is being made."""
    line: int | None = None


@dataclass(eq=False)
class BrokenSymbol:
    """Declared, but wrongly: the problem is reported once, uses of the name stay silent."""

    name: str
    line: int | None = None


Symbol = (
    ConstantSymbol | VariableSymbol | LocalSymbol | StructSymbol | ChannelSymbol | TypeSymbol | FunctionSymbol
    | BrokenSymbol
)  # fmt: skip

KIND_OF_SYMBOL = {
    ConstantSymbol: "a constant",
    VariableSymbol: "a variable",
    LocalSymbol: "a local variable",
    StructSymbol: "a struct",
    ChannelSymbol: "a channel",
    TypeSymbol: "a type",
    FunctionSymbol: "a function",
}


@dataclass(eq=False)
class Scope:
    parent: Scope | None = None
    symbols: dict[str, Symbol] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    """Words of declarations that could not be read."""

    def find(self, name: str) -> Symbol | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.symbols:
                return scope.symbols[name]
            if name in scope.silent:
                return BrokenSymbol(name)
            scope = scope.parent
        return None

    def all(self) -> Iterator[tuple[str, Symbol]]:
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

    def allocate(self, type_: Type) -> int:
        slot = len(self.ranges)
        self.ranges += [(type_.low, type_.high)] * type_.size
        return slot

    @property
    def size(self) -> int:
        return len(self.ranges)


@dataclass(eq=False)
class Assembly:
    """The network under construction, and every problem found on the way."""

    as_uppaal: bool = False
    """An integer is a condition (not zero), a Boolean counts as 0 or 1, and `int` alone is int[-32768,32767]."""
    system_outputs: frozenset[str] = frozenset()
    alphabets: dict[int, list[str]] = field(default_factory=dict)
    """Channel → the processes that take part in each of its synchronisations, if they have no ! and ?."""
    problems: list[Problem] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    integer_ranges: list[tuple[int, int]] = field(default_factory=list)
    real_count: int = 0
    _seen: set[Problem] = field(default_factory=set)
    _parsed: dict[tuple[str, str | Place], Any] = field(default_factory=dict)
    _constant_arrays: dict[int, tuple[ConstantSymbol, int]] = field(default_factory=dict)

    def report(self, problem: Problem) -> None:
        """Each problem once: a template's is found again in each of its instances."""
        if problem not in self._seen:
            self._seen.add(problem)
            self.problems.append(problem)

    def fail(self, place: Place, message: str, line: int = 1) -> None:
        self.report(place.problem(message, line))

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

    def add_variable(self, name: str, type_: Type, initial: tuple[int | Fraction, ...]) -> int:
        """Reserves the slots; the first of them."""
        kind = type_.kind
        assert kind is not None
        slot = self.real_count if kind.is_real else len(self.integer_ranges)
        if kind.is_real:
            self.real_count += type_.size
        else:
            bounds = (0, 1) if kind is Kind.BOOL else (type_.low, type_.high) if type_.ranged else DEFAULT_RANGE
            self.integer_ranges += [bounds] * type_.size
        low, high = (0, 1) if kind is Kind.BOOL else (type_.low, type_.high)
        origins = type_.origins if any(type_.origins) else ()
        self.variables.append(Variable(name, kind, slot, type_.size, type_.dimensions, low, high, initial, origins))
        return slot

    def slot_of_constants(self, symbol: ConstantSymbol) -> int:
        """Constant arrays live in the state only when some index into them is not constant."""
        if id(symbol) not in self._constant_arrays:
            slot = self.add_variable(symbol.name, symbol.type, symbol.values)
            self._constant_arrays[id(symbol)] = (symbol, slot)
            if symbol.type.kind in (Kind.INT, Kind.BOOL):
                known = (int(min(symbol.values)), int(max(symbol.values)))
                self.integer_ranges[slot : slot + symbol.type.size] = [known] * symbol.type.size
        return self._constant_arrays[id(symbol)][1]

    def is_constant_array(self, read: Read) -> bool:
        places = ((symbol.type, slot) for symbol, slot in self._constant_arrays.values())
        return any(
            type_.kind is not None and type_.kind.is_real == read.kind.is_real and slot <= read.slot < slot + type_.size
            for type_, slot in places
        )

    def range_of(self, read: Read | Bound, frame: Frame | None = None) -> tuple[int, int] | None:
        """The declared range of what is read, for estimates of bounds."""
        if read.kind is Kind.BOOL:
            return (0, 1)
        if read.kind is not Kind.INT:
            return None
        if isinstance(read, Bound):
            return None if frame is None else frame.ranges[read.slot]
        return self.integer_ranges[read.slot]


def visible_variables(network: Network, prefix: str) -> Iterator[tuple[str, Symbol]]:
    """The variables of a finished network whose names begin with the prefix, without it; "s.f" is a field of s."""
    structs: dict[str, Any] = {}
    processes = {process.name for process in network.processes}
    for variable in network.variables:
        path = variable.name.removeprefix(prefix).split(".")
        if not variable.name.startswith(prefix) or (not prefix and path[0] in processes):
            continue
        origins = variable.origins or (0,) * len(variable.dimensions)
        type_ = Type(variable.kind, variable.low, variable.high, variable.dimensions, origins)
        symbol = VariableSymbol(variable.name, type_, variable.slot, line=0)
        if len(path) == 1:
            yield path[0], symbol
        else:
            inner = structs
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            inner[path[-1]] = symbol
    for name, fields in structs.items():
        yield name, _struct(prefix + name, fields)


def _struct(name: str, parts: dict[str, Any]) -> StructSymbol:
    fields = {key: _struct(f"{name}.{key}", part) if isinstance(part, dict) else part for key, part in parts.items()}
    # How many of the indices belong to the struct and not to its fields is forgotten: it takes as many as any field.
    types = [field.type for field in fields.values()]
    shape = max(types, key=lambda type_: len(type_.dimensions))
    known = tuple(zip(fields, types, strict=True))
    return StructSymbol(name, Type(None, dimensions=shape.dimensions, origins=shape.origins, fields=known), fields, 0)
