"""Names → slots, kinds decided, constants folded: from the syntax tree of an expression to its resolved form.

A wrong part is reported and becomes `BROKEN`; what is built from it is `BROKEN` too, silently, so that one mistake is
one message and two mistakes in one expression are two.

Quantifiers keep their loop where a frame for the bound name exists (functions, updates, guards) and are unrolled where
none does (invariants, rates, weights) or where clocks are involved: engines then see a plain conjunction of clock
constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.core.errors import unknown_name
from bbfalsify.modelling import tree
from bbfalsify.modelling.expressions import (
    BUILTINS,
    RANDOM_DRAWS,
    AtLocation,
    Bound,
    Call,
    Constant,
    Expression,
    Kind,
    Quantifier,
    Random,
    Read,
)
from bbfalsify.modelling.folding import FALSE, TRUE, make_binary, make_builtin, make_conditional, make_unary
from bbfalsify.modelling.network import Network, Process
from bbfalsify.modelling.scopes import (
    KIND_OF_SYMBOL,
    MANY,
    Assembly,
    BrokenSymbol,
    ChannelSymbol,
    ConstantSymbol,
    Frame,
    FunctionSymbol,
    LocalSymbol,
    Scope,
    Symbol,
    Type,
    TypeSymbol,
    VariableSymbol,
)
from bbfalsify.modelling.tree import Place
from bbfalsify.modelling.visit import bounds, reads_clock

BROKEN = Constant(0, Kind.INT)
"""Stands for what could not be resolved; compared by identity."""

_ARITHMETIC = ("+", "-", "*", "/")
_INTEGER_ONLY = ("%", "&", "|", "^", "<<", ">>")
_LOGICAL = ("&&", "||", "imply")
_ORDER = ("<", "<=", ">", ">=")
_EXTREMA = {"<?": "min", ">?": "max"}
_SYNONYMS = {"fabs": "abs"}


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


class ExpressionResolver:
    def __init__(self, assembly: Assembly, scope: Scope, place: Place, context: Context) -> None:
        self.assembly = assembly
        self.scope = scope
        self.place = place
        self.context = context
        self.writes = False
        self.draws = False

    # --- entry points ---

    def condition(self, node: tree.Expression) -> Expression:
        return self.as_condition(self.resolve(node), node)

    def number(self, node: tree.Expression) -> Expression:
        value = self.as_number(self.resolve(node), node.line)
        if value is not BROKEN and not is_number(value):
            return self.fail(f"{self.context.what}: a number is needed, found {self.describe(value)}.", node.line)
        return value

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

    # --- implicit conversions (UPPAAL's, where the model asks for them) ---

    def as_condition(self, value: Expression, node: tree.Expression) -> Expression:
        if value is BROKEN or kind_of(value) is Kind.BOOL:
            return value
        if kind_of(value) is Kind.INT and self.assembly.implicit_booleans:
            return make_binary("!=", value, Constant(0, Kind.INT), Kind.BOOL)
        hint = " Compare it, for example with '!= 0'." if kind_of(value) is Kind.INT else ""
        return self.fail(
            f"{self.context.what}: a condition (bool) is needed, found {self.describe(value)}.{hint}", node.line
        )

    def as_number(self, value: Expression, line: int) -> Expression:
        if value is not BROKEN and kind_of(value) is Kind.BOOL and self.assembly.implicit_booleans:
            one, zero = Constant(1, Kind.INT), Constant(0, Kind.INT)
            return make_conditional(value, one, zero, Kind.INT)
        return value

    # --- the tree ---

    def resolve(self, node: tree.Expression) -> Expression:
        match node:
            case tree.Number():
                return self.literal(node)
            case tree.Truth():
                return TRUE if node.value else FALSE
            case tree.Name() | tree.Index() | tree.Member():
                return self.access(node)
            case tree.Invocation():
                return self.invocation(node)
            case tree.Unary():
                return self.unary(node)
            case tree.Binary():
                return self.binary(node)
            case tree.Conditional():
                return self.conditional(node)
            case tree.Quantified():
                return self.quantified(node)
            case tree.Prime():
                return self.fail(
                    f"{self.context.what}: a rate such as x' == 2 stands alone in an invariant, joined by && only.",
                    node.line,
                )
        raise AssertionError(node)

    def literal(self, node: tree.Number) -> Expression:
        if not node.is_decimal and node.value > 2**63 - 1:
            return self.fail(f"the number {node.value} does not fit into 64 bits.", node.line)
        return Constant(node.value, Kind.DOUBLE if node.is_decimal else Kind.INT)

    def unary(self, node: tree.Unary) -> Expression:
        operand = self.resolve(node.operand)
        if operand is BROKEN:
            return BROKEN
        if node.operator == "!":
            operand = self.as_condition(operand, node.operand)
            return BROKEN if operand is BROKEN else make_unary("!", operand, Kind.BOOL)
        operand = self.as_number(operand, node.line)
        kind = kind_of(operand)
        if kind is Kind.BOOL or (node.operator == "~" and kind is not Kind.INT):
            needed = "an int" if node.operator == "~" else "a number"
            return self.fail(f"'{node.operator}' needs {needed}, found {self.describe(operand)}.", node.line)
        return make_unary(node.operator, operand, kind)

    def binary(self, node: tree.Binary) -> Expression:
        left, right = self.resolve(node.left), self.resolve(node.right)
        if left is BROKEN or right is BROKEN:
            return BROKEN
        operator = node.operator
        if operator in _LOGICAL:
            left, right = self.as_condition(left, node.left), self.as_condition(right, node.right)
            return BROKEN if left is BROKEN or right is BROKEN else make_binary(operator, left, right, Kind.BOOL)
        both_bool = kind_of(left) is Kind.BOOL and kind_of(right) is Kind.BOOL
        if operator in ("==", "!=") and both_bool:
            return make_binary(operator, left, right, Kind.BOOL)
        left, right = self.as_number(left, node.line), self.as_number(right, node.line)
        kinds = (kind_of(left), kind_of(right))
        found = f"found {self.describe(left)} and {self.describe(right)}"
        if Kind.BOOL in kinds:
            if operator in ("==", "!="):
                return self.fail(f"'{operator}' compares two numbers or two bools; {found}.", node.line)
            return self.fail(f"'{operator}' needs two numbers; {found}.", node.line)
        if operator in _INTEGER_ONLY and kinds != (Kind.INT, Kind.INT):
            hint = " For reals there is fmod(a, b)." if operator == "%" else ""
            return self.fail(f"'{operator}' needs two ints; {found}.{hint}", node.line)
        if operator in ("/", "%") and isinstance(node.right, tree.Number) and node.right.value == 0:
            return self.fail("division by zero.", node.line)
        kind = Kind.INT if kinds == (Kind.INT, Kind.INT) else Kind.DOUBLE
        if operator in _EXTREMA:
            return make_builtin(_EXTREMA[operator], (left, right), kind)
        if operator in _ARITHMETIC or operator in _INTEGER_ONLY:
            return make_binary(operator, left, right, kind)
        return make_binary(operator, left, right, Kind.BOOL)

    def conditional(self, node: tree.Conditional) -> Expression:
        condition = self.condition(node.condition)
        then, otherwise = self.resolve(node.then), self.resolve(node.otherwise)
        if condition is BROKEN or then is BROKEN or otherwise is BROKEN:
            return BROKEN
        kinds = {kind_of(then), kind_of(otherwise)}
        if len(kinds) > 1 and Kind.BOOL in kinds:
            return self.fail(
                f"both sides of '?:' must be of one kind; found {self.describe(then)} and {self.describe(otherwise)}.",
                node.line,
            )
        return make_conditional(condition, then, otherwise, kinds.pop() if len(kinds) == 1 else Kind.DOUBLE)

    # --- quantifiers ---

    def quantified(self, node: tree.Quantified) -> Expression:
        type_ = self.type_of(node.variable.type)
        if type_ is None:
            return BROKEN
        values = type_.values
        if values is None or len(values) > MANY:
            return self.fail(
                f"'{node.name}' needs a bounded range such as (i : int[0,3]), found {type_}.", node.variable.line
            )
        frame = self.context.frame
        if frame is None:
            return self.unrolled(node, values)
        slot = frame.allocate(Type(Kind.INT, values.start, values.stop - 1))
        body = self.inside(node, LocalSymbol(node.variable.name, type_, slot, assignable=False, line=0))
        if body is BROKEN:
            return BROKEN
        if self.context.unroll_clocks and reads_clock(body, self.assembly.functions):
            return self.unrolled(node, values)
        kind = Kind.BOOL if node.name != "sum" else kind_of(body)
        return Quantifier(node.name, slot, values.start, values.stop - 1, body, kind)

    def unrolled(self, node: tree.Quantified, values: range) -> Expression:
        kind = {"forall": TRUE, "exists": FALSE, "sum": None}[node.name]
        operator = {"forall": "&&", "exists": "||", "sum": "+"}[node.name]
        result: Expression | None = kind
        for value in values:
            type_ = Type(Kind.INT, values.start, values.stop - 1)
            part = self.inside(node, ConstantSymbol(node.variable.name, type_, (value,), line=0))
            if part is BROKEN:
                return BROKEN
            if result is None:
                result = part
                continue
            both_int = kind_of(result) is kind_of(part) is Kind.INT
            number = Kind.INT if both_int else Kind.DOUBLE
            result = make_binary(operator, result, part, number if operator == "+" else Kind.BOOL)
        return result if result is not None else Constant(0, Kind.INT)

    def inside(self, node: tree.Quantified, symbol: Symbol) -> Expression:
        outer = self.scope
        self.scope = Scope(outer, {symbol.name: symbol})
        try:
            body = self.resolve(node.body)
            if body is BROKEN:
                return BROKEN
            if node.name != "sum":
                return self.as_condition(body, node.body)
            if kind_of(body) is Kind.BOOL:  # counting is what a sum of Booleans is for
                return make_conditional(body, Constant(1, Kind.INT), Constant(0, Kind.INT), Kind.INT)
            return body
        finally:
            self.scope = outer

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

    # --- calls ---

    def invocation(self, node: tree.Invocation) -> Expression:
        symbol = self.scope.find(node.name)
        if isinstance(symbol, BrokenSymbol):
            return BROKEN
        if symbol is not None and not isinstance(symbol, FunctionSymbol):
            return self.fail(f"'{node.name}' is {KIND_OF_SYMBOL[type(symbol)]} and cannot be called.", node.line)
        arguments = [self.resolve(argument) for argument in node.arguments]
        name = _SYNONYMS.get(node.name, node.name)
        if symbol is None and name not in BUILTINS and name not in RANDOM_DRAWS:
            known = {*self.scope.names(FunctionSymbol), *BUILTINS, *RANDOM_DRAWS}
            problem = unknown_name("function", name, known, file=self.place.file, line=self.place.line_of(node.line))
            self.assembly.report(problem)
            return BROKEN
        if symbol is not None:
            return self.user_call(symbol, node, arguments)
        needed = BUILTINS[name][0] if name in BUILTINS else RANDOM_DRAWS[name]
        if len(arguments) != needed:
            return self.fail(f"{name} takes {_arguments(needed)}, found {len(arguments)}.", node.line)
        if any(argument is BROKEN for argument in arguments):
            return BROKEN
        arguments = [self.as_number(argument, node.line) for argument in arguments]
        for argument in arguments:
            if not is_number(argument):
                return self.fail(f"{name} needs numbers, found {self.describe(argument)}.", node.line)
        if name in RANDOM_DRAWS:
            self.draws = True
            if not self.context.random:
                return self.fail(
                    f"{self.context.what}: '{name}' draws at random, which is only allowed in updates.", node.line
                )
            return Random(name, tuple(arguments))
        result = BUILTINS[name][1]
        if result is None:
            result = Kind.INT if all(kind_of(a) is Kind.INT for a in arguments) else Kind.DOUBLE
        return make_builtin(name, tuple(arguments), result)

    def user_call(self, function: FunctionSymbol, node: tree.Invocation, arguments: list[Expression]) -> Expression:
        if function.index is None:
            return self.fail(f"function '{node.name}' calls itself; recursion is not allowed.", node.line)
        if len(arguments) != len(function.parameters):
            return self.fail(
                f"function '{node.name}' takes {_arguments(len(function.parameters))}, found {len(arguments)}.",
                node.line,
            )
        passed = []
        for type_, argument, argument_node in zip(function.parameters, arguments, node.arguments, strict=True):
            passed.append(self.converted(argument, type_, f"an argument of '{node.name}'", argument_node))
        if any(argument is BROKEN for argument in passed):
            return BROKEN
        self.draws |= function.draws
        self.writes |= function.writes
        if function.draws and not self.context.random:
            return self.fail(
                f"{self.context.what}: '{node.name}' draws at random, which is only allowed in updates.", node.line
            )
        if function.writes and not self.context.effects:
            return self.fail(
                f"{self.context.what}: '{node.name}' assigns variables, which is only allowed in updates.", node.line
            )
        return Call(function.index, tuple(passed), function.result.kind or Kind.INT)

    def converted(self, value: Expression, type_: Type, what: str, node: tree.Expression) -> Expression:
        """The value as it can be stored in something of this type."""
        if value is BROKEN:
            return BROKEN
        kind, found = type_.kind, kind_of(value)
        if kind is Kind.BOOL and found is not Kind.BOOL:
            if found is Kind.INT and self.assembly.implicit_booleans:
                return make_binary("!=", value, Constant(0, Kind.INT), Kind.BOOL)
            return self.fail(f"{what} is a bool, found {self.describe(value)}.", node.line)
        if kind is not Kind.BOOL and found is Kind.BOOL:
            if self.assembly.implicit_booleans:
                return self.as_number(value, node.line)
            return self.fail(f"{what} is of type {type_}, found a bool. Write (… ? 1 : 0).", node.line)
        if kind is Kind.INT and found is Kind.DOUBLE:
            hint = "" if value.kind is Kind.CLOCK else " fint(…) truncates a double."
            if value.kind is Kind.CLOCK:
                hint = " A clock is a real number: fint(…) truncates its value."
            return self.fail(f"{what} is of type {type_}, found {self.describe(value)}.{hint}", node.line)
        if kind is not None and kind.is_real and isinstance(value, Constant):
            return Constant(Fraction(value.value), Kind.DOUBLE)
        return value

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


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _index_message(name: str, dimensions: tuple[int, ...], found: int) -> str:
    if not dimensions:
        return f"'{name}' is not an array."
    shape = "".join(f"[{d}]" for d in dimensions)
    return f"'{name}{shape}' needs {len(dimensions)} indices, found {found}."
