"""Resolve updates and function bodies to the few statements of the engines.

`for` and `do` become assignments and `while`; `n += 2` becomes `n = n + 2`; a local variable is a slot of the frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.assignments import AssignmentResolver
from bbfalsify.modelling.language.folding import TRUE
from bbfalsify.modelling.language.resolve_access import leaves_of, part_type
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN
from bbfalsify.modelling.language.scopes import Frame, Scope
from bbfalsify.modelling.language.storage import initial_nodes, kinds_in, laid_out
from bbfalsify.modelling.language.symbols import (
    DEFAULT_RANGE,
    MANY,
    UPPAAL_RANGE,
    BrokenSymbol,
    LocalSymbol,
    Symbol,
    Type,
)
from bbfalsify.modelling.language.tree_walk import contains_assignment
from bbfalsify.modelling.network.expressions import (
    Assign,
    Binary,
    Bound,
    Call,
    Constant,
    Evaluate,
    Expression,
    If,
    Kind,
    Return,
    Statement,
    While,
)


class StatementResolver(AssignmentResolver):
    def __init__(self, expressions: ExpressionResolver, result: Type | None = None) -> None:
        """`result` is the type that a function returns; None outside functions."""
        super().__init__(expressions)
        self.result = result
        self.loops = 0
        self.returns = False

    def function_body(self, definition: tree.FunctionDefinition, parameters: Frame) -> tuple[Statement, ...]:
        checks: list[Statement] = []
        for slot, limits in enumerate(parameters.ranges):
            if limits not in (DEFAULT_RANGE, UPPAAL_RANGE):
                argument = Bound(slot, Kind.INT)
                checks.append(Assign(argument, argument, *limits, self.line(definition.line)))
        body = self.block(definition.body.statements)
        if definition.result.name != "void" and not self.returns:
            self.fail(f"function '{definition.name}' never returns a value.", definition.line)
        return (*checks, *body)

    def block(self, statements: Iterable[tree.Statement]) -> tuple[Statement, ...]:
        outer = self.expressions.scope
        self.expressions.scope = Scope(outer)
        try:
            return tuple(part for statement in statements for part in self.statement(statement))
        finally:
            self.expressions.scope = outer

    def statement(self, node: tree.Statement) -> list[Statement]:
        steps: list[Statement] = []
        match node:
            case tree.Assignment(target=target, value=value) if contains_assignment((target, value)):
                chained = isinstance(value, tree.Assignment)
                target = self.lifted(target, node, steps)
                node = replace(node, target=target, value=value if chained else self.lifted(value, node, steps))
            case tree.Evaluation(expression=expression) if contains_assignment(expression):
                node = replace(node, expression=self.lifted(expression, node, steps))
            case tree.If(condition=condition) if contains_assignment(condition):
                node = replace(node, condition=self.lifted(condition, condition, steps))
            case tree.Return(value=value) if value is not None and contains_assignment(value):
                node = replace(node, value=self.lifted(value, node, steps))
        return [*steps, *self.plain_statement(node)]

    def plain_statement(self, node: tree.Statement) -> list[Statement]:
        match node:
            case tree.Assignment():
                return self.assignment(node)
            case tree.Evaluation():
                return self.evaluation(node)
            case tree.Block():
                return list(self.block(node.statements))
            case tree.If():
                condition = self.expressions.condition(node.condition)
                otherwise = () if node.otherwise is None else self.block([node.otherwise])
                return [If(condition, self.block([node.then]), otherwise)]
            case tree.While():
                return self.while_loop(node)
            case tree.For():
                return self.for_loop(node)
            case tree.Iteration():
                return self.iteration(node)
            case tree.Return():
                return self.return_statement(node)
            case tree.VariableDeclaration():
                return self.local_variables(node)
        raise AssertionError(node)

    def evaluation(self, node: tree.Evaluation) -> list[Statement]:
        if isinstance(node.expression, tree.Invocation):
            expression = self.expressions.invocation(node.expression, as_statement=True)
        else:
            expression = self.expressions.resolve(node.expression)
        if expression is BROKEN:
            return []
        if not isinstance(expression, Call):
            hint = " Did you mean '='?" if isinstance(expression, Binary) and expression.operator == "==" else ""
            what = self.expressions.context.what
            self.fail(f"{what}: this has no effect; assign, or call a function.{hint}", node.line)
            return []
        return [Evaluate(expression)]

    # --- loops ---

    def looped(self, statements: Iterable[tree.Statement]) -> tuple[Statement, ...]:
        self.loops += 1
        try:
            return self.block(statements)
        finally:
            self.loops -= 1

    def while_loop(self, node: tree.While) -> list[Statement]:
        condition = self.expressions.condition(node.condition)
        body = self.looped([node.body])
        loop = While(condition, body)
        return [*body, loop] if node.body_first else [loop]

    def for_loop(self, node: tree.For) -> list[Statement]:
        start = [part for statement in node.start for part in self.statement(statement)]
        condition: Expression = TRUE if node.condition is None else self.expressions.condition(node.condition)
        body = self.looped([node.body])
        step = [part for statement in node.step for part in self.statement(statement)]
        return [*start, While(condition, (*body, *step))]

    def iteration(self, node: tree.Iteration) -> list[Statement]:
        type_ = self.expressions.type_of(node.variable.type)
        if type_ is None:
            return []
        values = type_.values
        if values is None or len(values) > MANY:
            self.fail(f"'for' needs a bounded range such as (i : int[0,3]), found {type_}.", node.line)
            return []
        # One more than the last value is reached at the end; inside the body the range holds.
        slot = self.frame.allocate(Type(Kind.INT, values.start, values.stop - 1))
        outer = self.expressions.scope
        self.expressions.scope = Scope(
            outer, {node.variable.name: LocalSymbol(node.variable.name, type_, slot, assignable=False, line=0)}
        )
        body = self.looped([node.body])
        self.expressions.scope = outer
        counter, line = Bound(slot, Kind.INT), self.line(node.line)
        step = Assign(counter, Binary("+", counter, Constant(1, Kind.INT), Kind.INT), line=line)
        condition = Binary("<=", counter, Constant(values.stop - 1, Kind.INT), Kind.BOOL)
        return [Assign(counter, Constant(values.start, Kind.INT), line=line), While(condition, (*body, step))]

    def return_statement(self, node: tree.Return) -> list[Statement]:
        assert self.result is not None  # the grammar has no statements outside functions
        self.returns = True
        if node.value is None:
            if self.result.kind is not None:
                self.fail(f"a value of type {self.result} must be returned.", node.line)
            return [Return()]
        value = self.expressions.resolve(node.value)
        if self.result.kind is None:
            self.fail("a void function returns no value.", node.line)
            return []
        value = self.expressions.converted(value, self.result, "what is returned", node.value)
        return [] if value is BROKEN else [Return(value)]

    # --- local variables ---

    def local_variables(self, node: tree.VariableDeclaration) -> list[Statement]:
        from bbfalsify.modelling.language.declarations import Declarer, define

        if node.constant:
            Declarer(self.expressions.assembly, self.expressions.scope, self.expressions.place).variables(node)
            return []
        base = self.expressions.type_of(node.type)
        statements: list[Statement] = []
        for declarator in node.declarators:
            type_ = None if base is None else self.expressions.array(base, declarator.dimensions)
            if type_ is not None and not {*kinds_in(type_)} <= {Kind.INT, Kind.BOOL, Kind.DOUBLE}:
                self.fail(
                    f"the local variable '{declarator.name}' cannot be of type {type_}; allowed: int, bool, double.",
                    declarator.line,
                )
                type_ = None
            symbol: Symbol = BrokenSymbol(declarator.name)
            if type_ is not None:
                symbol = laid_out(declarator.name, type_, self.slot_for)
                statements += self.initialisation(symbol, type_, declarator)
            place = self.expressions.place
            define(self.expressions.assembly, self.expressions.scope, declarator.name, symbol, place, declarator.line)
        return statements

    def slot_for(self, path: tuple[str, ...], name: str, type_: Type) -> LocalSymbol:
        return LocalSymbol(name, type_, self.frame.allocate(type_))

    def initialisation(self, symbol: Symbol, type_: Type, declarator: tree.Declarator) -> list[Statement]:
        """Initialise a local variable; a zero is only assigned in loops, as slots start at 0."""
        statements: list[Statement] = []
        source = None if declarator.initial is None else self.expressions.whole(declarator.initial)
        if source is not None and part_type(source).shape == type_.shape:
            elements = [value for value, _ in self.expressions.elements(source, declarator.line)]
            for (target, element), value in zip(self.slots(symbol), elements, strict=True):
                statements.append(self.store(target, element, value, declarator.line))
            return statements
        nodes = initial_nodes(self.expressions, type_, declarator.initial, declarator.name)
        flat = [] if nodes is None else [node for leaf in nodes.values() for node in leaf]
        for (target, element), node in zip(self.slots(symbol), flat, strict=False):
            if node is not None:
                statements += self.assign(target, element, node, declarator.line)
            elif self.loops or element.default != 0:
                assert element.kind is not None
                default = Constant(element.default, element.kind)
                statements.append(Assign(target, default, line=self.line(declarator.line)))
        return statements

    def slots(self, symbol: Symbol) -> Iterator[tuple[Bound, Type]]:
        for leaf in leaves_of(symbol):
            if isinstance(leaf, LocalSymbol) and leaf.type.kind is not None:
                for offset in range(leaf.type.size):
                    yield Bound(leaf.slot + offset, leaf.type.kind), leaf.type.element
