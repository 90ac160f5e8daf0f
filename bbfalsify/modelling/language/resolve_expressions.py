"""Resolve expressions: from the syntax tree to slots, kinds and folded constants.

A wrong part is reported and becomes `BROKEN`; everything built from it is `BROKEN` without further reports, so that
there is one message per mistake.

Quantifiers keep their loop if there is a frame for the bound name (functions, updates, guards).  They are unrolled if
there is none (invariants, rates, weights) or if clocks are involved: engines then get a conjunction of clock
constraints.
"""

from __future__ import annotations

from bbfalsify.modelling.language import folding
from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.resolve_names import BROKEN, is_number, kind_of
from bbfalsify.modelling.language.resolve_wholes import Values, WholeResolver
from bbfalsify.modelling.language.scopes import Scope
from bbfalsify.modelling.language.tree_search import names_process
from bbfalsify.modelling.language.typed_symbols import MANY, ConstantSymbol, LocalSymbol, Symbol, Type
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind, Quantifier
from bbfalsify.modelling.network.visit import reads_clock

_ARITHMETIC = ("+", "-", "*", "/")
_INTEGER_ONLY = ("%", "&", "|", "^", "<<", ">>")
_LOGICAL = ("&&", "||", "imply")
_EXTREMA = {"<?": "min", ">?": "max"}


class ExpressionResolver(WholeResolver):
    # --- entry points ---

    def condition(self, node: tree.Expression) -> Expression:
        return self.as_condition(self.resolve(node), node)

    def number(self, node: tree.Expression) -> Expression:
        value = self.as_number(self.resolve(node), node.line)
        if value is not BROKEN and not is_number(value):
            return self.fail(f"{self.context.what}: a number is needed, found {self.describe(value)}.", node.line)
        return value

    # --- the tree ---

    def resolve(self, node: tree.Expression) -> Expression:
        match node:
            case tree.Number():
                return self.literal(node)
            case tree.Truth():
                return folding.TRUE if node.value else folding.FALSE
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
        """Refuse `n++` inside an expression; statements handle it before."""
        return self.fail(
            f"{self.context.what}: an assignment inside an expression is only supported in updates and statements, "
            "outside quantifiers; write it as a step of its own.",
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
            return BROKEN if operand is BROKEN else folding.make_unary("!", operand, Kind.BOOL)
        operand = self.as_number(operand, node.line)
        kind = kind_of(operand)
        if kind is Kind.BOOL or (node.operator == "~" and kind is not Kind.INT):
            needed = "an int" if node.operator == "~" else "a number"
            return self.fail(f"'{node.operator}' needs {needed}, found {self.describe(operand)}.", node.line)
        return folding.make_unary(node.operator, operand, kind)

    def binary(self, node: tree.Binary) -> Expression:
        if node.operator in ("==", "!="):
            one = self.whole_values(node.left)
            other = None if one is None else self.whole_values(node.right)
            if one is not None and other is not None and not one[0].is_single:
                return self.comparison_of_wholes(node, one, other)
        left, right = self.resolve(node.left), self.resolve(node.right)
        if left is BROKEN or right is BROKEN:
            return BROKEN
        operator = node.operator
        if operator in _LOGICAL:
            left, right = self.as_condition(left, node.left), self.as_condition(right, node.right)
            return (
                BROKEN if left is BROKEN or right is BROKEN else folding.make_binary(operator, left, right, Kind.BOOL)
            )
        if operator == "xor":
            left, right = self.as_condition(left, node.left), self.as_condition(right, node.right)
            return BROKEN if left is BROKEN or right is BROKEN else folding.make_binary("!=", left, right, Kind.BOOL)
        both_bool = kind_of(left) is Kind.BOOL and kind_of(right) is Kind.BOOL
        if operator in ("==", "!=") and both_bool:
            return folding.make_binary(operator, left, right, Kind.BOOL)
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
            return folding.make_builtin(_EXTREMA[operator], (left, right), kind)
        if operator == "**":
            power = folding.make_builtin("pow", (left, right), Kind.DOUBLE)
            return power if kind is Kind.DOUBLE else folding.make_builtin("fint", (power,), Kind.INT)
        if operator in _ARITHMETIC or operator in _INTEGER_ONLY:
            return folding.make_binary(operator, left, right, kind)
        return folding.make_binary(operator, left, right, Kind.BOOL)

    def comparison_of_wholes(self, node: tree.Binary, left: Values, right: Values) -> Expression:
        """Compare two structs or arrays value by value."""
        types = left[0], right[0]
        if types[0].shape != types[1].shape:
            message = f"'{node.operator}' compares two values of one type; found {types[0]} and {types[1]}."
            return self.fail(message, node.line)
        pairs = zip(left[1], right[1], strict=True)
        equal = folding.join_all("&&", [folding.make_binary("==", a, b, Kind.BOOL) for a, b in pairs])
        return equal if node.operator == "==" else folding.make_unary("!", equal, Kind.BOOL)

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
        return folding.make_conditional(condition, then, otherwise, kinds.pop() if len(kinds) == 1 else Kind.DOUBLE)

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
        if frame is None or (self.context.network is not None and names_process(node.body)):
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
        return folding.join_all({"forall": "&&", "exists": "||", "sum": "+"}[node.name], parts)

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
                return folding.make_conditional(body, Constant(1, Kind.INT), Constant(0, Kind.INT), Kind.INT)
            return body
        finally:
            self.scope = outer
