"""Names → slots, kinds decided, constants folded: from the syntax tree of an expression to its resolved form.

A wrong part is reported and becomes `BROKEN`; what is built from it is `BROKEN` too, silently, so that one mistake is
one message and two mistakes in one expression are two.

Quantifiers keep their loop where a frame for the bound name exists (functions, updates, guards) and are unrolled where
none does (invariants, rates, weights) or where clocks are involved: engines then see a plain conjunction of clock
constraints.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.builtin_functions import LIBRARY
from bbfalsify.modelling.language.folding import FALSE, TRUE, make_binary, make_builtin, make_conditional, make_unary
from bbfalsify.modelling.language.resolve_access import AccessResolver, Part, leaves_of, part_type
from bbfalsify.modelling.language.resolve_names import BROKEN, is_number, kind_of
from bbfalsify.modelling.language.scopes import (
    KIND_OF_SYMBOL,
    MANY,
    BrokenSymbol,
    ConstantSymbol,
    FunctionSymbol,
    LocalSymbol,
    Reference,
    Scope,
    Symbol,
    Type,
    VariableSymbol,
)
from bbfalsify.modelling.network.expressions import (
    BUILTINS,
    RANDOM_DRAWS,
    AtLocation,
    Call,
    Constant,
    Expression,
    Kind,
    Quantifier,
    Random,
)
from bbfalsify.modelling.network.visit import reads_clock
from bbfalsify.records.documents import Text

_ARITHMETIC = ("+", "-", "*", "/")
_INTEGER_ONLY = ("%", "&", "|", "^", "<<", ">>")
_LOGICAL = ("&&", "||", "imply")
_EXTREMA = {"<?": "min", ">?": "max"}
_SYNONYMS = {"fabs": "abs"}


class ExpressionResolver(AccessResolver):
    # --- entry points ---

    def condition(self, node: tree.Expression) -> Expression:
        return self.as_condition(self.resolve(node), node)

    def number(self, node: tree.Expression) -> Expression:
        value = self.as_number(self.resolve(node), node.line)
        if value is not BROKEN and not is_number(value):
            return self.fail(f"{self.context.what}: a number is needed, found {self.describe(value)}.", node.line)
        return value

    # --- implicit conversions (UPPAAL's, where the model asks for them) ---

    def as_condition(self, value: Expression, node: tree.Expression) -> Expression:
        if value is BROKEN or kind_of(value) is Kind.BOOL:
            return value
        if kind_of(value) is Kind.INT and self.assembly.as_uppaal:
            return make_binary("!=", value, Constant(0, Kind.INT), Kind.BOOL)
        hint = " Compare it, for example with '!= 0'." if kind_of(value) is Kind.INT else ""
        return self.fail(
            f"{self.context.what}: a condition (bool) is needed, found {self.describe(value)}.{hint}", node.line
        )

    def as_number(self, value: Expression, line: int) -> Expression:
        if value is not BROKEN and kind_of(value) is Kind.BOOL and self.assembly.as_uppaal:
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
            case tree.Assignment():
                return self.assigned(node)
            case tree.Prime():
                return self.fail(
                    f"{self.context.what}: a rate such as x' == 2 stands alone in an invariant, joined by && only.",
                    node.line,
                )
        raise AssertionError(node)

    def assigned(self, node: tree.Assignment) -> Expression:
        """`n++` inside an expression; only statements know what to do with it."""
        return self.fail(
            f"{self.context.what}: an assignment inside an expression is only supported in updates and statements, "
            "outside '&&', '||', '?:' and loop conditions; write it as a step of its own.",
            node.line,
        )

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
        if node.operator in ("==", "!="):
            one, other = self.whole(node.left), self.whole(node.right)
            if one is not None and other is not None:
                return self.comparison_of_wholes(node, one, other)
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

    def comparison_of_wholes(self, node: tree.Binary, left: Part, right: Part) -> Expression:
        """Two structs or arrays are equal if all their values are."""
        types = part_type(left), part_type(right)
        if types[0].shape != types[1].shape:
            message = f"'{node.operator}' compares two values of one type; found {types[0]} and {types[1]}."
            return self.fail(message, node.line)
        equal: Expression = TRUE
        for (a, _), (b, _) in zip(self.elements(left, node.line), self.elements(right, node.line), strict=True):
            equal = make_binary("&&", equal, make_binary("==", a, b, Kind.BOOL), Kind.BOOL)
        return equal if node.operator == "==" else make_unary("!", equal, Kind.BOOL)

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
        type_ = Type(Kind.INT, values.start, values.stop - 1)
        parts: list[Expression] = []
        for value in values:
            part = self.inside(node, ConstantSymbol(node.variable.name, type_, (value,), line=0))
            if part is BROKEN:
                return BROKEN
            parts.append(part)
        operator = {"forall": "&&", "exists": "||", "sum": "+"}[node.name]
        while len(parts) > 1:  # a balanced tree: a thousand conjuncts are ten levels deep
            pairs = [_joined(operator, *parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
            parts = pairs if len(parts) % 2 == 0 else [*pairs, parts[-1]]
        return parts[0]

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

    # --- calls ---

    def invocation(self, node: tree.Invocation, *, as_statement: bool = False) -> Expression:
        symbol = self.scope.find(node.name) or self.from_library(node.name)
        if isinstance(symbol, BrokenSymbol):
            return BROKEN
        if symbol is not None and not isinstance(symbol, FunctionSymbol):
            return self.fail(f"'{node.name}' is {KIND_OF_SYMBOL[type(symbol)]} and cannot be called.", node.line)
        if symbol is not None:
            complete = symbol.index is not None or symbol.specialise is not None
            if symbol.result.kind is None and complete and not as_statement:
                return self.fail(f"function '{symbol.name}' returns nothing, so it has no value.", node.line)
            return self.user_call(symbol, node)
        arguments = [self.resolve(argument) for argument in node.arguments]
        name = _SYNONYMS.get(node.name, node.name)
        if name not in BUILTINS and name not in RANDOM_DRAWS:
            known = {*self.scope.names(FunctionSymbol), *BUILTINS, *RANDOM_DRAWS, *LIBRARY}
            return self.unknown("function", name, known, node.line)
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

    def from_library(self, name: str) -> Symbol | None:
        """The library's function of this name, entered beside the names that every model knows."""
        if name not in LIBRARY or self.context.network is not None:
            return None
        from bbfalsify.modelling.language.declarations import Declarer

        outermost = self.scope
        while outermost.parent is not None:
            outermost = outermost.parent
        place = Place(f"the library's {name}")
        declarations, _ = self.assembly.parse_declarations(Text(LIBRARY[name], place))
        Declarer(self.assembly, outermost, place).declare(declarations)
        return outermost.find(name)

    def user_call(self, function: FunctionSymbol, node: tree.Invocation) -> Expression:
        if function.index is None and function.specialise is None:
            return self.fail(f"function '{node.name}' calls itself; recursion is not allowed.", node.line)
        if len(node.arguments) != len(function.parameters):
            return self.fail(
                f"function '{node.name}' takes {_arguments(len(function.parameters))}, found {len(node.arguments)}.",
                node.line,
            )
        passed: list[Expression] = []
        references: dict[int, Reference] = {}
        for number, (type_, argument) in enumerate(zip(function.parameters, node.arguments, strict=True)):
            what = f"an argument of '{node.name}'"
            if function.by_reference and function.by_reference[number]:
                reference = self.referred(argument, type_, what)
                if reference is None:
                    return BROKEN
                references[number] = reference
                passed += [] if reference.index is None else [reference.index]
            elif type_.is_single:
                passed.append(self.converted(self.resolve(argument), type_, what, argument))
            else:
                part = self.whole(argument)
                if part is None or part_type(part).shape != type_.shape:
                    return self.fail(f"{what} is of type {type_}, found something else.", argument.line)
                passed += [value for value, _ in self.elements(part, argument.line)]
        if any(argument is BROKEN for argument in passed):
            return BROKEN
        if function.specialise is not None:
            made = self.specialised(function, references, node)
            if made is None:
                return BROKEN
            function = made
        assert function.index is not None
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

    def referred(self, node: tree.Expression, type_: Type, what: str) -> Reference | None:
        """What the argument names; None after reporting that it names nothing that could be changed."""
        part = self.part(node) if isinstance(node, tree.Name | tree.Index | tree.Member) else None
        if part is None or isinstance(part, AtLocation) or part_type(part).shape != type_.shape:
            if part is not None or not isinstance(node, tree.Name | tree.Index | tree.Member):
                self.fail(f"{what} must be a variable of type {type_}, passed by reference.", node.line)
            return None
        symbol, rest = part[0], part_type(part)
        found = self.reference(part)
        if found is None:
            return None
        thing, index = found
        if any(isinstance(leaf, LocalSymbol) for leaf in leaves_of(thing)):
            self.fail(
                f"{what} is a local variable; only variables of the model and of automata can be passed by reference.",
                node.line,
            )
            return None
        moving = [leaf for leaf in leaves_of(thing) if isinstance(leaf, VariableSymbol) and leaf.offset is not None]
        identity = tuple((leaf.name, getattr(leaf, "slot", None), leaf.type) for leaf in leaves_of(thing))
        if not moving:
            return Reference(lambda _: replace(thing), None, identity)
        if isinstance(thing, VariableSymbol):
            return Reference(lambda slot: replace(thing, offset=slot), thing.offset, (*identity, thing.extent))
        if any(leaf.offset is not None for leaf in leaves_of(symbol) if isinstance(leaf, VariableSymbol)):
            self.fail(f"{what}: a part of a struct that was itself passed by reference cannot be passed on.", node.line)
            return None
        return Reference(lambda slot: self.portion(symbol, rest, None, slot), index, (*identity, "moving"))

    def specialised(
        self, function: FunctionSymbol, references: dict[int, Reference], node: tree.Invocation
    ) -> FunctionSymbol | None:
        """The function with the given things in place of its reference parameters."""
        if self.context.network is not None:
            self.fail(f"'{node.name}' has reference parameters and cannot be called here.", node.line)
            return None
        assert function.specialise is not None
        key = tuple(reference.identity for reference in references.values())
        if key in function.special:
            made = function.special[key]
            if made is None:
                self.fail(f"function '{node.name}' calls itself; recursion is not allowed.", node.line)
            return made
        function.special[key] = None
        function.special[key] = made = function.specialise(references)
        return made

    def converted(self, value: Expression, type_: Type, what: str, node: tree.Expression) -> Expression:
        """The value as it can be stored in something of this type."""
        if value is BROKEN:
            return BROKEN
        kind, found = type_.kind, kind_of(value)
        if kind is Kind.BOOL and found is not Kind.BOOL:
            if found is Kind.INT and self.assembly.as_uppaal:
                return make_binary("!=", value, Constant(0, Kind.INT), Kind.BOOL)
            return self.fail(f"{what} is a bool, found {self.describe(value)}.", node.line)
        if kind is not Kind.BOOL and found is Kind.BOOL:
            if self.assembly.as_uppaal:
                return self.as_number(value, node.line)
            return self.fail(f"{what} is of type {type_}, found a bool. Write (… ? 1 : 0).", node.line)
        if kind is Kind.INT and found is Kind.DOUBLE:
            clock = " A clock is a real number: fint(…) truncates its value."
            hint = clock if value.kind is Kind.CLOCK else " fint(…) truncates a double."
            return self.fail(f"{what} is of type {type_}, found {self.describe(value)}.{hint}", node.line)
        if kind is not None and kind.is_real and isinstance(value, Constant):
            return Constant(Fraction(value.value), Kind.DOUBLE)
        return value


def _joined(operator: str, left: Expression, right: Expression) -> Expression:
    both_int = kind_of(left) is kind_of(right) is Kind.INT
    number = Kind.INT if both_int else Kind.DOUBLE
    return make_binary(operator, left, right, number if operator == "+" else Kind.BOOL)


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"
