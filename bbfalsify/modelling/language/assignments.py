"""Resolve assignments: of single values, of whole structs and arrays, and inside expressions."""

from __future__ import annotations

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.nested_assignments import lift
from bbfalsify.modelling.language.resolve_access import Part, chain, leaves_of, part_type
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN
from bbfalsify.modelling.language.scopes import Frame
from bbfalsify.modelling.language.symbols import (
    KIND_OF_SYMBOL,
    BrokenSymbol,
    ConstantSymbol,
    LocalSymbol,
    Type,
    VariableSymbol,
)
from bbfalsify.modelling.language.tree_walk import names_in
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.expressions import (
    Assign,
    AtLocation,
    Bound,
    Constant,
    Expression,
    Kind,
    Read,
    Statement,
)


class AssignmentResolver:
    def __init__(self, expressions: ExpressionResolver) -> None:
        self.expressions = expressions

    @property
    def frame(self) -> Frame:
        frame = self.expressions.context.frame
        assert frame is not None
        return frame

    def fail(self, message: str, line: int) -> None:
        self.expressions.fail(message, line)

    def line(self, line: int) -> int | None:
        return self.expressions.place.line_of(line)

    def lifted(
        self, node: tree.Expression, whole: tree.Statement | tree.Expression, steps: list[Statement]
    ) -> tree.Expression:
        """The expression without the steps inside it (`len++`), which are added to `steps`."""
        result, found = lift(node, self.frame.size)
        for name, step in found:
            base, _ = chain(step.target)
            if isinstance(base, tree.Name) and names_in(whole).count(base.name) > 1:
                message = f"'{base.name}' is changed and used in one statement; which comes first is not defined."
                self.fail(message, step.line)
                continue
            target = self.single_target(step.target)
            if target is None:
                continue
            slot = self.frame.allocate(target[1])
            assert target[1].kind is not None
            keep = Assign(Bound(slot, target[1].kind), target[0], line=self.line(step.line))
            change = self.assignment(step)
            steps += [keep, *change] if step.later else [*change, keep]
            self.expressions.scope.symbols[name] = LocalSymbol(name, target[1], slot, line=0)
        return result

    def target(self, node: tree.Expression) -> Part | None:
        """The target of an assignment; None after reporting that it cannot be assigned."""
        base, _ = chain(node)
        if not isinstance(base, tree.Name):
            self.fail("only a variable or an element of an array can be assigned.", node.line)
            return None
        symbol = self.expressions.lookup(base.name, base.line)
        if symbol is None or isinstance(symbol, BrokenSymbol):
            return None
        leaves = list(leaves_of(symbol))
        if not leaves:
            self.fail(f"'{base.name}' is {KIND_OF_SYMBOL[type(symbol)]} and cannot be assigned.", node.line)
            return None
        if any(isinstance(s, ConstantSymbol) or (isinstance(s, LocalSymbol) and not s.assignable) for s in leaves):
            self.fail(f"'{base.name}' is constant and cannot be assigned.", node.line)
            return None
        part = self.expressions.part(node)
        if part is None or isinstance(part, AtLocation):
            return None
        self.expressions.writes |= any(isinstance(leaf, VariableSymbol) for leaf in leaves)
        return part

    def single_target(self, node: tree.Expression) -> tuple[Read | Bound, Type] | None:
        part = self.target(node)
        target = None if part is None else self.expressions.access(node)
        if part is None or target is BROKEN or not isinstance(target, Read | Bound):
            return None
        return target, part[0].type.element

    def assignment(self, node: tree.Assignment) -> list[Statement]:
        if isinstance(node.value, tree.Assignment):
            # a = b = 0 and a = ++b assign b first, a = b++ assigns it afterwards.
            inner = node.value
            outer = tree.Assignment(node.operator, node.target, inner.target, node.line)
            first, second = (outer, inner) if inner.later else (inner, outer)
            return [*self.assignment(first), *self.assignment(second)]
        if node.operator == "=" and self.expressions.whole(node.target) is not None:
            source = self.expressions.whole(node.value)
            if source is not None:
                return self.copy(node.target, source, node.line)
        found = self.single_target(node.target)
        value_node = node.value
        if node.operator != "=":
            value_node = tree.Binary(node.operator[:-1], node.target, node.value, node.line)
        if found is None:
            self.expressions.resolve(node.value)  # its own problems are worth reporting, too
            return []
        target, type_ = found
        if node.operator != "=" and EffectAnalysis(self.expressions.assembly.functions).expression(target.index).writes:
            self.fail(f"'{node.operator}' would evaluate the index twice, and the index has effects.", node.line)
            return []
        return self.assign(target, type_, value_node, node.line)

    def copy(self, target: tree.Expression, source: Part, line: int) -> list[Statement]:
        """Assign a whole struct or array, value by value."""
        to = self.target(target)
        if to is None:
            return []
        if part_type(source).shape != part_type(to).shape:
            self.fail(f"what is assigned is of type {part_type(to)}, found {part_type(source)}.", line)
            return []
        statements: list[Statement] = []
        to, source = self.with_fixed_indices(to, statements), self.with_fixed_indices(source, statements)
        pairs = zip(self.expressions.elements(to, line), self.expressions.elements(source, line), strict=True)
        for (element, type_), (new, _) in pairs:
            if isinstance(element, Read | Bound) and element is not BROKEN and new is not BROKEN:
                statements.append(self.store(element, type_, new, line))
        return statements

    def with_fixed_indices(self, part: Part, statements: list[Statement]) -> Part:
        """Evaluate the indices once, before anything is copied."""
        symbol, indices = part
        fixed: list[tree.Expression] = []
        for node in indices:
            index = self.expressions.resolve(node)
            if index is BROKEN or isinstance(index, Constant):
                fixed.append(node)
                continue
            slot = self.frame.allocate(Type(Kind.INT))
            statements.append(Assign(Bound(slot, Kind.INT), index, line=self.line(node.line)))
            name = f"#{slot}"
            self.expressions.scope.symbols[name] = LocalSymbol(name, Type(Kind.INT), slot, line=0)
            fixed.append(tree.Name(name, node.line))
        return symbol, fixed

    def assign(self, target: Read | Bound, type_: Type, node: tree.Expression, line: int) -> list[Statement]:
        value = self.expressions.resolve(node)
        if type_.kind is Kind.CLOCK and value is not BROKEN and value.kind is Kind.BOOL:
            self.fail("a clock is set to a number, found a bool.", line)
            return []
        value = self.expressions.converted(value, type_, "what is assigned", node)
        if value is BROKEN:
            return []
        inner = node.operand if isinstance(node, tree.Unary) else node
        if type_.kind is Kind.INT and isinstance(inner, tree.Number) and isinstance(value, Constant):
            if not type_.low <= value.value <= type_.high:
                self.fail(f"{value.value} is outside the variable's range {type_.low}…{type_.high}.", line)
                return []
        return [self.store(target, type_, value, line)]

    def store(self, target: Read | Bound, type_: Type, value: Expression, line: int) -> Assign:
        if type_.kind is not Kind.INT:
            return Assign(target, value, line=self.line(line))
        return Assign(target, value, type_.low, type_.high, self.line(line))
