"""Types and symbols of the modelling language."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language.syntax_tree import ChannelType, FunctionDefinition
from bbfalsify.modelling.network.expressions import Expression, Kind
from bbfalsify.modelling.network.network import Variable

if TYPE_CHECKING:
    from bbfalsify.modelling.language.scopes import Scope

DEFAULT_RANGE = (Variable.low, Variable.high)
UPPAAL_RANGE = (-(2**15), 2**15 - 1)
"""Range of UPPAAL's `int` without bounds; a value outside is an error, but the range bounds no delay."""
MANY = 10_000
"""More values than this of a select, a quantifier, an array or a parameter are surely a mistake."""


@dataclass(frozen=True)
class Type:
    kind: Kind | None
    """None: void, or a struct if there are fields."""
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
        """The values for a select or an instance; None unless the type is a bounded range or bool."""
        if self.dimensions or self.fields:
            return None
        if self.kind is Kind.BOOL:
            return range(2)
        return range(self.low, self.high + 1) if self.kind is Kind.INT and self.ranged else None

    @property
    def default(self) -> int | Fraction:
        """The default value: zero, or the lower bound of a range without zero."""
        if self.kind is Kind.INT and not self.low <= 0 <= self.high:
            return self.low
        return Fraction(0) if self.kind is not None and self.kind.is_real else 0

    @property
    def element(self) -> Type:
        """The type of one element of the array."""
        return replace(self, dimensions=(), origins=())

    @property
    def is_single(self) -> bool:
        return not self.dimensions and not self.fields

    @property
    def shape(self) -> tuple:
        """The structure of the type; values can be copied between types of equal shape."""
        kind = "real" if self.kind is not None and self.kind.is_real else self.kind
        return kind, self.dimensions, tuple((name, type_.shape) for name, type_ in self.fields)

    def first_dimensions(self, count: int) -> Type:
        """An array of ints with the first dimensions of this one, for its indices."""
        return Type(Kind.INT, dimensions=self.dimensions[:count], origins=self.origins[:count])

    def without_dimensions(self, count: int) -> Type:
        """The type of the part that `count` indices select."""
        return replace(self, dimensions=self.dimensions[count:], origins=self.origins[count:])

    def in_array(self, dimensions: tuple[int, ...], origins: tuple[int, ...]) -> Type:
        """The type of an array of such values."""
        return replace(self, dimensions=(*dimensions, *self.dimensions), origins=(*origins, *self.origins))

    def __str__(self) -> str:
        name = "struct" if self.fields else "void" if self.kind is None else str(self.kind)
        if self.kind is Kind.INT and self.ranged:
            name = f"int[{self.low},{self.high}]"
        return name + "".join(f"[{d}]" for d in self.dimensions)


@dataclass(eq=False)
class NamedSymbol:
    name: str
    line: int | None = field(default=None, kw_only=True)
    """Line of its declaration."""


@dataclass(eq=False)
class TypedSymbol(NamedSymbol):
    type: Type


@dataclass(eq=False)
class ConstantSymbol(TypedSymbol):
    values: tuple[int | Fraction, ...]


@dataclass(eq=False)
class SlotSymbol(TypedSymbol):
    slot: int
    offset: Expression | None = None
    """For a part passed by reference: its first index in the array at `slot`, which has `extent` elements."""
    extent: int = 0


@dataclass(eq=False)
class VariableSymbol(SlotSymbol):
    """A variable of the state."""


@dataclass(eq=False)
class LocalSymbol(SlotSymbol):
    """A function's argument or local variable, or a quantified name: a slot of the frame."""

    assignable: bool = True


@dataclass(eq=False)
class ChannelSymbol(TypedSymbol):
    """Channels; only the dimensions of the type are used."""

    first: int


@dataclass(eq=False)
class StructSymbol(TypedSymbol):
    """A struct with one symbol per field; in an array of structs these are arrays."""

    fields: dict[str, Symbol]
    source: tuple[StructSymbol, Type, Expression] | None = None
    """For an element passed by reference: the array, the type of the element, and the index, if it is not constant."""


@dataclass(eq=False)
class TypeSymbol(TypedSymbol):
    channel: ChannelType | None = None
    """For `typedef broadcast chan signal`; only the dimensions of the type are used then."""


@dataclass(frozen=True)
class ReferenceArgument:
    """The argument of a reference parameter in one call."""

    symbol: Callable[[Expression], Symbol]
    """Makes the symbol, given the frame slot of the index."""
    index: Expression | None
    """The index in its array, if it is not constant."""
    identity: tuple
    """Calls with equal identities share one body."""


@dataclass(eq=False)
class FunctionSymbol(NamedSymbol):
    parameters: tuple[Type, ...]
    result: Type
    index: int | None = None
    """None until its body is resolved."""
    writes: bool = False
    draws: bool = False
    by_reference: tuple[bool, ...] = ()
    constant: tuple[bool, ...] = ()
    specialise: Callable[[Mapping[int, ReferenceArgument], bool], FunctionSymbol] | None = None
    """Makes the function for given arguments of its reference parameters, and for the integer or the real values of a
    struct that it returns; None if it has neither."""
    special: dict[tuple, FunctionSymbol | None] = field(default_factory=dict)
    """The functions made so far; None while one is being made."""
    origin: FunctionOrigin | None = None


@dataclass(eq=False)
class FunctionOrigin:
    """The declaration of a function, from which its body is made again inside a caller (`inlined_calls`)."""

    definition: FunctionDefinition
    scope: Scope
    place: Place
    open: bool = False
    """True while the body is being made."""
    has_effects: bool | None = None
    """Whether it assigns anything but its own variables, or draws at random; None until it is looked at."""


@dataclass(eq=False)
class BrokenSymbol(NamedSymbol):
    """A wrong declaration: it was reported, and uses of the name are not."""


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
