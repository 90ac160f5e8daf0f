"""Names → slots: variables and array elements, processes, types, channels.

This is the half of the expression resolver that looks things up; resolve_expressions.py adds operators and calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.core.errors import unknown_name
from bbfalsify.modelling import tree
from bbfalsify.modelling.expressions import (
    AtLocation,
    Bound,
    Constant,
    Expression,
    Kind,
    Read,
)
from bbfalsify.modelling.folding import make_binary, make_conditional
from bbfalsify.modelling.network import Network, Process
from bbfalsify.modelling.scopes import (
    KIND_OF_SYMBOL,
    MANY,
    Assembly,
    BrokenSymbol,
    ChannelSymbol,
    ConstantSymbol,
    Frame,
    LocalSymbol,
    Scope,
    Symbol,
    Type,
    TypeSymbol,
    VariableSymbol,
)
from bbfalsify.modelling.tree import Place
from bbfalsify.modelling.visit import bounds

BROKEN = Constant(0, Kind.INT)
"""Stands for what could not be resolved; compared by identity."""


@dataclass(frozen=True)
class Context:
    """What may stand in a text, and how complaints call it."""

    what: str
    frame: Frame | None = None
    """None: bound names have no slots, quantifiers are unrolled."""
    random: bool = False
    effects: bool = False
    """Calls of functions that assign."""
    unroll_clocks: bool = False
    network: Network | None = None
    """Given in queries and inputs: `P.loc` and `P.x` are looked up there."""


def kind_of(expression: Expression) -> Kind:
    """INT, BOOL or DOUBLE: reading a clock gives a double."""
    return Kind.DOUBLE if expression.kind is Kind.CLOCK else expression.kind


def is_number(expression: Expression) -> bool:
    return kind_of(expression) in (Kind.INT, Kind.DOUBLE)


class NameResolver(ABC):
    def __init__(self, assembly: Assembly, scope: Scope, place: Place, context: Context) -> None:
        self.assembly = assembly
        self.scope = scope
        self.place = place
        self.context = context
        self.writes = False
        self.draws = False

    @abstractmethod
    def resolve(self, node: tree.Expression) -> Expression:
        """The resolved expression, or BROKEN after reporting why there is none."""

    def constant(self, node: tree.Expression, what: str) -> int | Fraction | None:
        """The value of something that must be known now; None after reporting that it is not."""
        value = self.resolve(node)
        if value is BROKEN:
            return None
        if not isinstance(value, Constant):
            self.fail(f"{what} must be constant; this is only known when the model runs.", node.line)
            return None
        return value.value

    def integer_constant(self, node: tree.Expression, what: str) -> int | None:
        value = self.resolve(node)
        if value is BROKEN:
            return None
        if kind_of(value) is not Kind.INT:
            self.fail(f"{what} must be an int, found {self.describe(value)}.", node.line)
            return None
        if not isinstance(value, Constant):
            self.fail(f"{what} must be constant; this is only known when the model runs.", node.line)
            return None
        return int(value.value)

    # --- problems ---

    def fail(self, message: str, line: int, **facts) -> Expression:
        self.assembly.report(self.place.problem(message, line, **facts))
        return BROKEN

    def describe(self, value: Expression) -> str:
        return "a clock" if value.kind is Kind.CLOCK else {"int": "an int"}.get(str(value.kind), f"a {value.kind}")

    # --- names ---

    def lookup(self, name: str, line: int, *, what: str = "name") -> Symbol | None:
        """The symbol, or None after reporting that there is none."""
        symbol = self.scope.find(name)
        if symbol is None:
            if name in self.assembly.system_outputs:
                self.fail(
                    f"{self.context.what}: '{name}' is an output of the system under test, and a profile is open loop: "
                    "it cannot depend on what the system does.",
                    line,
                )
                return None
            known = {name for name, symbol in self.scope.all() if symbol.line is not None}
            place = self.place
            problem = unknown_name(
                what, name, known, file=place.file, line=place.line_of(line), where=f"in the {self.context.what}"
            )
            self.assembly.report(problem)
            return None
        return None if isinstance(symbol, BrokenSymbol) else symbol

    def access(self, node: tree.Expression) -> Expression:
        """A name with its indices: x, a[i], m[i][j], P.x, P.loc."""
        indices: list[tree.Expression] = []
        base = node
        while isinstance(base, tree.Index):
            indices.insert(0, base.index)
            base = base.base
        if isinstance(base, tree.Member):
            symbol = self.member(base)
            if isinstance(symbol, AtLocation):
                if indices:
                    return self.fail("a location has no index.", node.line)
                return symbol
        elif isinstance(base, tree.Name):
            symbol = self.lookup(base.name, base.line)
        else:
            return self.fail("only arrays can be indexed.", node.line)
        if symbol is None:
            return BROKEN
        if not isinstance(symbol, ConstantSymbol | VariableSymbol | LocalSymbol):
            return self.fail(
                f"{self.context.what}: '{symbol.name}' is {KIND_OF_SYMBOL[type(symbol)]}, not a value.", node.line
            )
        return self.element(symbol, indices, node.line)

    def element(
        self, symbol: ConstantSymbol | VariableSymbol | LocalSymbol, indices: list[tree.Expression], line: int
    ) -> Expression:
        type_ = symbol.type
        assert type_.kind is not None
        if len(indices) != len(type_.dimensions):
            return self.fail(_index_message(symbol.name, type_.dimensions, len(indices)), line)
        index = self.flat_index(symbol.name, type_.dimensions, indices)
        if index is BROKEN:
            return BROKEN
        if isinstance(symbol, ConstantSymbol):
            position = 0 if index is None else index.value if isinstance(index, Constant) else -1
            if 0 <= position < len(symbol.values):
                return Constant(symbol.values[position], type_.kind)
            slot = self.slot_of_constants(symbol)
            if slot is None:
                return self.fail(f"here, an index into the constant array '{symbol.name}' must be constant.", line)
            return Read(slot, type_.kind, index, type_.size)
        node_class = Bound if isinstance(symbol, LocalSymbol) else Read
        if index is None:
            return node_class(symbol.slot, type_.kind)
        if isinstance(index, Constant) and 0 <= index.value < type_.size:
            return node_class(symbol.slot + int(index.value), type_.kind)
        return node_class(symbol.slot, type_.kind, index, type_.size)

    def slot_of_constants(self, symbol: ConstantSymbol) -> int | None:
        """Where a constant array lives; a finished network has only those it needed itself."""
        if self.context.network is None:
            return self.assembly.slot_of_constants(symbol)
        return next((v.slot for v in self.context.network.variables if v.name == symbol.name), None)

    def flat_index(self, name: str, dimensions: tuple[int, ...], indices: list[tree.Expression]) -> Expression | None:
        """i*columns + j; an inner index that may leave its own dimension sends the whole out of bounds."""
        flat: Expression | None = None
        broken = False
        for position, (dimension, node) in enumerate(zip(dimensions, indices, strict=True)):
            index = self.resolve(node)
            if index is BROKEN:
                broken = True
                continue
            if kind_of(index) is not Kind.INT:
                self.fail(f"the index of '{name}' must be an int, found {self.describe(index)}.", node.line)
                broken = True
                continue
            if isinstance(node, tree.Number) and not 0 <= node.value < dimension:
                self.fail(f"index {node.value} is outside '{name}', whose indices are 0…{dimension - 1}.", node.line)
                broken = True
                continue
            if position > 0:
                index = self.kept_inside(index, dimension)
            if flat is None:
                flat = index
            else:
                rows = make_binary("*", flat, Constant(dimension, Kind.INT), Kind.INT)
                flat = make_binary("+", rows, index, Kind.INT)
        return BROKEN if broken else flat

    def kept_inside(self, index: Expression, dimension: int) -> Expression:
        known = bounds(index, lambda read: self.assembly.range_of(read, self.context.frame))
        if known is not None and known[0] >= 0 and known[1] < dimension:
            return index
        not_below = make_binary(">=", index, Constant(0, Kind.INT), Kind.BOOL)
        not_above = make_binary("<", index, Constant(dimension, Kind.INT), Kind.BOOL)
        far_outside = Constant(-(2**31), Kind.INT)
        return make_conditional(make_binary("&&", not_below, not_above, Kind.BOOL), index, far_outside, Kind.INT)

    # --- P.loc and P.x ---

    def member(self, node: tree.Member) -> Symbol | AtLocation | None:
        network = self.context.network
        if network is None:
            self.fail(f"{self.context.what}: '.{node.name}' is only allowed in queries and inputs.", node.line)
            return None
        process_name = self.process_name(node.base)
        if process_name is None:
            return None
        for number, process in enumerate(network.processes):
            if process.name == process_name:
                return self.part_of(network, number, process, node)
        names = [p.name for p in network.processes]
        self.assembly.report(
            unknown_name("process", process_name, names, file=self.place.file, line=self.place.line_of(node.line))
        )
        return None

    def process_name(self, node: tree.Expression) -> str | None:
        if isinstance(node, tree.Name):
            return node.name
        if isinstance(node, tree.Invocation):
            values = [self.constant(argument, "an argument of a process") for argument in node.arguments]
            return None if None in values else f"{node.name}({','.join(str(v) for v in values)})"
        self.fail("only processes have parts: write P.location or P.variable.", node.line)
        return None

    def part_of(self, network: Network, number: int, process: Process, node: tree.Member) -> Symbol | AtLocation | None:
        for position, location in enumerate(process.locations):
            if location.name == node.name:
                return AtLocation(number, position)
        full_name = f"{process.name}.{node.name}"
        for variable in network.variables:
            if variable.name == full_name:
                type_ = Type(variable.kind, variable.low, variable.high, variable.dimensions)
                return VariableSymbol(full_name, type_, variable.slot)
        prefix = process.name + "."
        known = [loc.name for loc in process.locations]
        known += [v.name.removeprefix(prefix) for v in network.variables if v.name.startswith(prefix)]
        self.assembly.report(
            unknown_name(
                f"location or variable of {process.name}",
                node.name,
                known,
                file=self.place.file,
                line=self.place.line_of(node.line),
            )
        )
        return None

    # --- types ---

    def type_of(self, node: tree.TypeName) -> Type | None:
        """The meaning of a type's name; None after reporting a problem."""
        if node.low is not None and node.high is not None:
            low = self.integer_constant(node.low, "the lower bound of a range")
            high = self.integer_constant(node.high, "the upper bound of a range")
            if low is None or high is None:
                return None
            if low > high:
                self.fail(f"the range int[{low},{high}] is empty.", node.line)
                return None
            return Type(Kind.INT, low, high)
        if node.name == "void":
            return Type(None)
        if node.name in {kind.value for kind in Kind}:
            return Type(Kind(node.name))
        symbol = self.scope.find(node.name)
        if symbol is None:
            known = [k.value for k in Kind] + self.scope.names(TypeSymbol)
            self.assembly.report(
                unknown_name("type", node.name, known, file=self.place.file, line=self.place.line_of(node.line))
            )
            return None
        if isinstance(symbol, TypeSymbol):
            return symbol.type
        if not isinstance(symbol, BrokenSymbol):
            self.fail(f"'{node.name}' is {KIND_OF_SYMBOL[type(symbol)]}, not a type.", node.line)
        return None

    def dimension(self, node: tree.Dimension) -> int | None:
        """The number of elements: a constant, or a range type that starts at 0."""
        if isinstance(node, tree.Name) and isinstance(self.scope.find(node.name), TypeSymbol):
            node = tree.TypeName(node.name, node.line)
        if isinstance(node, tree.TypeName):
            type_ = self.type_of(node)
            if type_ is None:
                return None
            if type_.values is None or type_.values.start != 0:
                self.fail(f"an array is indexed by a range that starts at 0, found {type_}.", node.line)
                return None
            size: int | None = len(type_.values)
        else:
            size = self.integer_constant(node, "the size of an array")
        if size is not None and not 1 <= size <= MANY * 100:
            self.fail(f"an array has between 1 and {MANY * 100} elements, found {size}.", node.line)
            return None
        return size

    def channel(self, node: tree.Expression) -> tuple[ChannelSymbol, Expression | None] | None:
        """The channel of a synchronisation and its index; None after reporting a problem."""
        indices: list[tree.Expression] = []
        base = node
        while isinstance(base, tree.Index):
            indices.insert(0, base.index)
            base = base.base
        if not isinstance(base, tree.Name):
            self.fail("a synchronisation is a channel followed by ! or ?.", node.line)
            return None
        symbol = self.scope.find(base.name)
        if symbol is None:
            known = self.scope.names(ChannelSymbol)
            self.assembly.report(
                unknown_name("channel", base.name, known, file=self.place.file, line=self.place.line_of(base.line))
            )
            return None
        if not isinstance(symbol, ChannelSymbol):
            if not isinstance(symbol, BrokenSymbol):
                self.fail(f"'{base.name}' is {KIND_OF_SYMBOL[type(symbol)]}, not a channel.", node.line)
            return None
        if len(indices) != len(symbol.dimensions):
            self.fail(_index_message(base.name, symbol.dimensions, len(indices)), node.line)
            return None
        index = self.flat_index(base.name, symbol.dimensions, indices)
        return None if index is BROKEN else (symbol, index)


def _index_message(name: str, dimensions: tuple[int, ...], found: int) -> str:
    if not dimensions:
        return f"'{name}' is not an array."
    shape = "".join(f"[{d}]" for d in dimensions)
    needed = "1 index" if len(dimensions) == 1 else f"{len(dimensions)} indices"
    return f"'{name}{shape}' needs {needed}, found {found}."
