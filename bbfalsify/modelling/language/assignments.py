"""Resolve assignments: of single values, of whole structs and arrays, and inside expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.resolve_access import Part, chain, leaves_of, part_type
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN
from bbfalsify.modelling.language.scopes import Frame
from bbfalsify.modelling.language.tree_search import written
from bbfalsify.modelling.language.typed_symbols import (
    KIND_OF_SYMBOL,
    BrokenSymbol,
    ConstantSymbol,
    LocalSymbol,
    Type,
    VariableSymbol,
)
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.effects import EffectAnalysis


class AssignmentResolver(ABC):
    def __init__(self, expressions: ExpressionResolver) -> None:
        self.expressions = expressions

    @property
    def frame(self) -> Frame:
        frame = self.expressions.context.frame
        assert frame is not None
        return frame

    @abstractmethod
    def held_place(self, node: tree.Expression, steps: list[ex.Statement]) -> tree.Expression: ...

    def fail(self, message: str, line: int) -> None:
        self.expressions.fail(message, line)

    def line(self, line: int) -> int | None:
        return self.expressions.place.line_of(line)

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
        if part is None or isinstance(part, ex.AtLocation):
            return None
        self.expressions.writes |= any(isinstance(leaf, VariableSymbol) for leaf in leaves)
        return part

    def single_target(self, node: tree.Expression) -> tuple[ex.Read | ex.Bound, Type] | None:
        part = self.target(node)
        target = None if part is None else self.expressions.access(node)
        if part is None or target is BROKEN or not isinstance(target, ex.Read | ex.Bound):
            return None
        return target, part[0].type.element

    def assignment(self, node: tree.Assignment) -> list[ex.Statement]:
        if isinstance(node.value, tree.Assignment):  # a = b = 0 assigns b first
            outer = tree.Assignment(node.operator, node.target, node.value.target, node.line)
            return [*self.assignment(node.value), *self.assignment(outer)]
        if node.operator == "=" and self.expressions.whole(node.target) is not None:
            if isinstance(node.value, tree.Conditional):
                condition = self.expressions.condition(node.value.condition)
                ways = [replace(node, value=value) for value in (node.value.then, node.value.otherwise)]
                return [ex.If(condition, *(tuple(self.assignment(way)) for way in ways))]
            if self.expressions.whole_type(node.value) is not None:
                return self.copy(node.target, node.value, node.line)
        found = self.single_target(node.target)
        value_node = node.value
        if node.operator != "=":
            value_node = tree.Binary(node.operator[:-1], node.target, node.value, node.line)
        if found is None:
            self.expressions.resolve(node.value)  # its own problems are worth reporting, too
            return []
        target, type_ = found
        if node.operator != "=" and EffectAnalysis(self.expressions.assembly.functions).expression(target.index).writes:
            steps: list[ex.Statement] = []  # the index is evaluated once
            held = self.held_place(node.target, steps)
            return [*steps, *self.assignment(replace(node, target=held))]
        return [*self.assign(target, type_, value_node, node.line)]

    def copy(self, target: tree.Expression, source: tree.Expression, line: int) -> list[ex.Statement]:
        """Assign a whole struct or array, value by value."""
        to, given = self.target(target), self.expressions.whole_type(source)
        if to is None or given is None:
            return []
        if given.shape != part_type(to).shape:
            self.fail(f"what is assigned is of type {part_type(to)}, found {given}.", line)
            return []
        statements: list[ex.Statement] = []
        to, part = self.with_fixed_indices(to, statements), self.expressions.whole(source)
        if part is not None:
            part = self.with_fixed_indices(part, statements)
            values = [value for value, _ in self.expressions.elements(part, line)]
        else:  # the call of a function, which may read what is assigned
            found = self.expressions.whole_values(source)
            values = [] if found is None else [self.stored(value, statements, line) for value in found[1]]
        for (element, type_), new in zip(self.expressions.elements(to, line), values, strict=False):
            if isinstance(element, ex.Read | ex.Bound) and element is not BROKEN and new is not BROKEN:
                statements.append(self.store(element, type_, new, line))
        return statements

    def stored(self, value: ex.Expression, statements: list[ex.Statement], line: int) -> ex.Expression:
        """A slot of the frame that holds the value."""
        if value is BROKEN or isinstance(value, ex.Constant):
            return value
        slot = ex.Bound(self.frame.allocate(Type(value.kind)), value.kind)
        statements.append(ex.Assign(slot, value, line=self.line(line)))
        return slot

    def with_fixed_indices(self, part: Part, statements: list[ex.Statement]) -> Part:
        """Evaluate the indices once, before anything is copied."""
        symbol, indices = part
        fixed: list[tree.Expression] = []
        for node in indices:
            index = self.expressions.resolve(node)
            if index is BROKEN or isinstance(index, ex.Constant):
                fixed.append(node)
                continue
            slot = self.frame.allocate(Type(ex.Kind.INT))
            statements.append(ex.Assign(ex.Bound(slot, ex.Kind.INT), index, line=self.line(node.line)))
            name = f"#{slot}"
            self.expressions.scope.symbols[name] = LocalSymbol(written(node), Type(ex.Kind.INT), slot, assignable=False)
            fixed.append(tree.Name(name, node.line))
        return symbol, fixed

    def assign(self, target: ex.Read | ex.Bound, type_: Type, node: tree.Expression, line: int) -> list[ex.Assign]:
        value = self.expressions.resolve(node)
        if type_.kind is ex.Kind.CLOCK and value is not BROKEN and value.kind is ex.Kind.BOOL:
            self.fail("a clock is set to a number, found a bool.", line)
            return []
        value = self.expressions.converted(value, type_, "what is assigned", node)
        if value is BROKEN:
            return []
        inner = node.operand if isinstance(node, tree.Unary) else node
        if type_.kind is ex.Kind.INT and isinstance(inner, tree.Number) and isinstance(value, ex.Constant):
            if not type_.low <= value.value <= type_.high and not self.expressions.context.fails_when_met:
                self.fail(f"{value.value} is outside the variable's range {type_.low}…{type_.high}.", line)
                return []
        return [self.store(target, type_, value, line)]

    def store(self, target: ex.Read | ex.Bound, type_: Type, value: ex.Expression, line: int) -> ex.Assign:
        if type_.kind is not ex.Kind.INT:
            return ex.Assign(target, value, line=self.line(line))
        return ex.Assign(target, value, type_.low, type_.high, self.line(line))
