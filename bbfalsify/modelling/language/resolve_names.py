"""Resolve names and types; resolve_access.py adds access to values, resolve_expressions.py operators and calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language import typed_symbols as typed
from bbfalsify.modelling.language.constant_calls import constant_value
from bbfalsify.modelling.language.scopes import Assembly, Frame, Scope, visible_variables
from bbfalsify.modelling.language.syntax import RESERVED
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.network import Network, Process
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError

BROKEN = ex.Constant(0, ex.Kind.INT)
"""Placeholder for an expression that could not be resolved; compared by identity."""


@dataclass(frozen=True)
class Context:
    """The name of a text in messages, and what is allowed in it."""

    what: str
    frame: Frame | None = None
    """None: bound names have no slots, quantifiers are unrolled."""
    random: bool = False
    effects: bool = False
    """True: functions that assign may be called."""
    fails_when_met: bool = False
    """True: numbers outside an array or a range are errors of the model where they are met, as functions of UPPAAL that
    are never to be called have them."""
    unroll_clocks: bool = False
    network: Network | None = None
    """For queries and inputs: the network in which `P.loc` and `P.x` are looked up."""


def kind_of(expression: ex.Expression) -> ex.Kind:
    """INT, BOOL or DOUBLE; a clock reads as a double."""
    return ex.Kind.DOUBLE if expression.kind is ex.Kind.CLOCK else expression.kind


def is_number(expression: ex.Expression) -> bool:
    return kind_of(expression) in (ex.Kind.INT, ex.Kind.DOUBLE)


class NameResolver(ABC):
    def __init__(self, assembly: Assembly, scope: Scope, place: Place, context: Context) -> None:
        self.assembly = assembly
        self.scope = scope
        self.place = place
        self.context = context
        self.writes = False
        self.draws = False

    @abstractmethod
    def resolve(self, node: tree.Expression) -> ex.Expression:
        """Resolve an expression; BROKEN after reporting a problem."""

    def constant(self, node: tree.Expression, what: str) -> int | Fraction | None:
        """Resolve a value that must be constant; None after reporting a problem."""
        value = self.known(self.resolve(node), what, node.line)
        return None if value is BROKEN else self.value_of(value, what, node.line)

    def value_of(self, value: ex.Expression, what: str, line: int) -> int | Fraction | None:
        if not isinstance(value, ex.Constant):
            self.fail(f"{what} must be constant; this is only known when the model runs.", line)
            return None
        return value.value

    def known(self, value: ex.Expression, what: str, line: int) -> ex.Expression:
        """Evaluate calls of functions that depend on constants only."""
        if value is BROKEN:
            return BROKEN
        try:
            return constant_value(value, self.assembly)
        except ModelRuntimeError as error:
            return self.fail(f"{what} cannot be computed: {error}.", line)

    def integer_constant(self, node: tree.Expression, what: str) -> int | None:
        value = self.known(self.resolve(node), what, node.line)
        if value is BROKEN:
            return None
        if kind_of(value) is not ex.Kind.INT:
            self.fail(f"{what} must be an int, found {self.describe(value)}.", node.line)
            return None
        number = self.value_of(value, what, node.line)
        return None if number is None else int(number)

    # --- problems ---

    def fail(self, message: str, line: int) -> ex.Expression:
        self.assembly.fail(self.place, message, line)
        return BROKEN

    def unknown(self, what: str, name: str, known: Iterable[str], line: int, *, where: str = "") -> ex.Expression:
        self.assembly.report(self.place.unknown(what, name, known, line, where=where))
        return BROKEN

    def describe(self, value: ex.Expression) -> str:
        return "a clock" if value.kind is ex.Kind.CLOCK else {"int": "an int"}.get(str(value.kind), f"a {value.kind}")

    # --- names ---

    def lookup(self, name: str, line: int) -> typed.Symbol | None:
        """Find the symbol; None after reporting a problem."""
        symbol = self.scope.find(name)
        if symbol is None:
            if name in self.assembly.system_outputs:
                self.fail(
                    f"{self.context.what}: '{name}' is an output of the system under test, and a profile is open loop: "
                    "it cannot depend on what the system does.",
                    line,
                )
                return None
            if name in RESERVED:
                where = f"in the {self.context.what}"
                self.fail(f"'{name}' {where} has no meaning, as in UPPAAL: {RESERVED[name]}.", line)
                return None
            known = {name for name, symbol in self.scope.all() if symbol.line is not None}
            self.unknown("name", name, known, line, where=f"in the {self.context.what}")
            return None
        return None if isinstance(symbol, typed.BrokenSymbol) else symbol

    # --- P.loc and P.x ---

    def member(self, node: tree.Member) -> typed.Symbol | ex.AtLocation | None:
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
        self.unknown("process", process_name, [p.name for p in network.processes], node.line)
        return None

    def process_name(self, node: tree.Expression) -> str | None:
        if isinstance(node, tree.Name):
            return node.name
        if isinstance(node, tree.Invocation):
            values = [self.constant(argument, "an argument of a process") for argument in node.arguments]
            return None if None in values else f"{node.name}({','.join(str(v) for v in values)})"
        self.fail("only processes have parts: write P.location or P.variable.", node.line)
        return None

    def part_of(
        self, network: Network, number: int, process: Process, node: tree.Member
    ) -> typed.Symbol | ex.AtLocation | None:
        for position, location in enumerate(process.locations):
            if location.name == node.name:
                return ex.AtLocation(number, position)
        own = dict(visible_variables(network, process.name + "."))
        if node.name in own:
            return own[node.name]
        known = [loc.name for loc in process.locations] + list(own)
        self.unknown(f"location or variable of {process.name}", node.name, known, node.line)
        return None

    # --- types ---

    def type_of(self, node: tree.TypeName) -> typed.Type | None:
        """Resolve a type; None after reporting a problem."""
        if node.low is not None or (node.high is not None and node.name == "int"):
            low: int | None
            high: int | None
            low, high = typed.UPPAAL_RANGE if self.assembly.as_uppaal else typed.DEFAULT_RANGE
            if node.low is not None:
                low = self.integer_constant(node.low, "the lower bound of a range")
            if node.high is not None:
                high = self.integer_constant(node.high, "the upper bound of a range")
            if low is None or high is None:
                return None
            if low > high:
                self.fail(f"the range int[{low},{high}] is empty.", node.line)
                return None
            return typed.Type(ex.Kind.INT, low, high)
        if node.name == "void":
            return typed.Type(None)
        if node.name == "scalar" and node.high is not None:
            # A walk never permutes: the members of a scalar set are numbers.
            size = self.integer_constant(node.high, "the size of a scalar set")
            if size is not None and size < 1:
                self.fail(f"a scalar set has at least one member, found {size}.", node.line)
                return None
            return None if size is None else typed.Type(ex.Kind.INT, 0, size - 1)
        if node.fields:
            return self.struct(node)
        if node.name == "int" and self.assembly.as_uppaal:
            return typed.Type(ex.Kind.INT, *typed.UPPAAL_RANGE)
        if node.name in {kind.value for kind in ex.Kind}:
            return typed.Type(ex.Kind(node.name))
        symbol = self.scope.find(node.name)
        if symbol is None:
            known = [k.value for k in ex.Kind] + self.scope.names(typed.TypeSymbol)
            self.unknown("type", node.name, known, node.line)
            return None
        if isinstance(symbol, typed.TypeSymbol):
            if symbol.channel is not None:
                self.fail(f"{self.context.what}: '{node.name}' is a type of channels, not of values.", node.line)
                return None
            return symbol.type
        if not isinstance(symbol, typed.BrokenSymbol):
            self.fail(f"'{node.name}' is {typed.KIND_OF_SYMBOL[type(symbol)]}, not a type.", node.line)
        return None

    def struct(self, node: tree.TypeName) -> typed.Type | None:
        fields: dict[str, typed.Type] = {}
        for declaration in node.fields:
            if not isinstance(declaration, tree.VariableDeclaration):
                self.fail("a field of a struct is an int, bool, double, clock or another struct.", node.line)
                return None
            base = self.type_of(declaration.type)
            for declarator in declaration.declarators:
                type_ = None if base is None else self.array(base, declarator.dimensions)
                if type_ is None:
                    return None
                if declarator.name in fields:
                    self.fail(f"the struct has two fields '{declarator.name}'.", declarator.line)
                    return None
                if declarator.initial is not None:
                    self.fail(f"the field '{declarator.name}' gets its value where the struct is used.", node.line)
                    return None
                fields[declarator.name] = type_
        return typed.Type(None, fields=tuple(fields.items()))

    def array(self, base: typed.Type, dimensions: tuple[tree.Dimension, ...]) -> typed.Type | None:
        """The array type with these dimensions, before those of the base type; None after reporting a problem."""
        ranges = [self.dimension(node) for node in dimensions]
        if any(values is None for values in ranges):
            return None
        type_ = base.in_array(tuple(len(r) for r in ranges if r), tuple(r.start for r in ranges if r))
        if type_.size > typed.MANY * 100:
            self.fail(f"an array has at most {typed.MANY * 100} elements, found {type_.size}.", dimensions[0].line)
            return None
        return type_

    def dimension(self, node: tree.Dimension) -> range | None:
        """The indices of a dimension: 0 to a constant size, or those of a range type."""
        if isinstance(node, tree.Name) and isinstance(self.scope.find(node.name), typed.TypeSymbol):
            node = tree.TypeName(node.name, node.line)
        if isinstance(node, tree.TypeName):
            type_ = self.type_of(node)
            if type_ is None:
                return None
            if type_.values is None:
                self.fail(f"an array is indexed by a range such as int[0,3], found {type_}.", node.line)
                return None
            indices: range | None = type_.values
        else:
            size = self.integer_constant(node, "the size of an array")
            indices = None if size is None else range(size)
            if size is not None and size < 1:
                self.fail(f"an array has between 1 and {typed.MANY * 100} elements, found {size}.", node.line)
                return None
        if indices is not None and len(indices) > typed.MANY * 100:
            self.fail(f"an array has between 1 and {typed.MANY * 100} elements, found {len(indices)}.", node.line)
            return None
        return indices
