"""Resolve the body of a function that becomes part of its caller."""

from __future__ import annotations

from collections.abc import Sequence

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.folding import make_binary, make_unary
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.statements import StatementResolver
from bbfalsify.modelling.language.typed_symbols import Type
from bbfalsify.modelling.network import expressions as ex


class InlinedBody(StatementResolver):
    def __init__(self, expressions: ExpressionResolver, result: Type, into: Sequence[tuple[ex.Bound, Type]]) -> None:
        """`into`: the slots that take the values of what is returned."""
        super().__init__(expressions, result)
        self.into = into
        self.loops = 1  # the slots hold what an earlier call has left

    def statements_of(self, definition: tree.FunctionDefinition) -> list[ex.Statement]:
        defaults = [ex.Assign(slot, ex.Constant(0, slot.kind)) for slot, _ in self.into]
        body = self.block(definition.body.statements)
        self.needs_return(definition)
        return [*defaults, *body]

    def give_back(self, values: Sequence[ex.Expression]) -> list[ex.Statement]:
        stores = [ex.Assign(slot, value) for (slot, _), value in zip(self.into, values, strict=True)]
        return [*stores, ex.Return()]


def without_returns(statements: Sequence[ex.Statement], done: ex.Bound) -> list[ex.Statement]:
    """The same statements without `return`: `done` says that the function has returned, and skips what is left."""
    lowering = _Lowering(done)
    found, _ = lowering.sequence(statements)
    if lowering.read:
        return [ex.Assign(done, ex.Constant(0, ex.Kind.BOOL)), *found]
    lowering.marks = False
    return lowering.sequence(statements)[0]


class _Lowering:
    def __init__(self, done: ex.Bound) -> None:
        self.done = done
        self.read = False
        self.marks = True

    @property
    def goes_on(self) -> ex.Expression:
        self.read = True
        return make_unary("!", self.done, ex.Kind.BOOL)

    def sequence(self, statements: Sequence[ex.Statement]) -> tuple[list[ex.Statement], bool]:
        """The statements, and whether they may return."""
        found: list[ex.Statement] = []
        for number, statement in enumerate(statements):
            if isinstance(statement, ex.Return):
                return [*found, *self.mark()], True
            new, leaves = self.statement(statement)
            found.append(new)
            if leaves:
                rest, _ = self.sequence(statements[number + 1 :])
                return [*found, *([ex.If(self.goes_on, tuple(rest))] if rest else [])], True
        return found, False

    def mark(self) -> list[ex.Statement]:
        return [ex.Assign(self.done, ex.Constant(1, ex.Kind.BOOL))] if self.marks else []

    def statement(self, statement: ex.Statement) -> tuple[ex.Statement, bool]:
        if isinstance(statement, ex.If):
            (then, one), (otherwise, other) = self.sequence(statement.then), self.sequence(statement.otherwise)
            return ex.If(statement.condition, tuple(then), tuple(otherwise)), one or other
        if isinstance(statement, ex.While):
            body, leaves = self.sequence(statement.body)
            condition = statement.condition
            if leaves:
                condition = make_binary("&&", self.goes_on, condition, ex.Kind.BOOL)
            return ex.While(condition, tuple(body)), leaves
        return statement, False
