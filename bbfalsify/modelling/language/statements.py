"""Resolve updates and function bodies to the few statements of the engines.

`for` and `do` become assignments and `while`; `n += 2` becomes `n = n + 2`; a local variable is a slot of the frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language import typed_symbols as typed
from bbfalsify.modelling.language.folding import TRUE, make_conditional
from bbfalsify.modelling.language.inlined_calls import InlinedCalls
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN
from bbfalsify.modelling.language.scopes import Frame, Scope
from bbfalsify.modelling.language.storage import initial_nodes, kinds_in, laid_out
from bbfalsify.modelling.network import expressions as ex

if TYPE_CHECKING:
    from bbfalsify.modelling.language.declarations import Declarer


class StatementResolver(InlinedCalls):
    def __init__(self, expressions: ExpressionResolver, result: typed.Type | None = None, real: bool = False) -> None:
        """`result` is the type that a function returns; None outside functions; `real`: which values of a struct."""
        super().__init__(expressions)
        self.result = result
        self.real = real
        self.loops = 0
        self.returns = False

    def function_body(self, definition: tree.FunctionDefinition, parameters: Frame) -> tuple[ex.Statement, ...]:
        checks: list[ex.Statement] = []
        for slot, limits in enumerate(parameters.ranges):
            if limits not in (typed.DEFAULT_RANGE, typed.UPPAAL_RANGE):
                argument = ex.Bound(slot, ex.Kind.INT)
                checks.append(ex.Assign(argument, argument, *limits, self.line(definition.line)))
        body = self.block(definition.body.statements)
        self.needs_return(definition)
        return (*checks, *body)

    def needs_return(self, definition: tree.FunctionDefinition) -> None:
        if definition.result.name != "void" and not self.returns:
            self.fail(f"function '{definition.name}' never returns a value.", definition.line)

    def block(self, statements: Iterable[tree.Statement]) -> tuple[ex.Statement, ...]:
        outer = self.expressions.scope
        self.expressions.scope = Scope(outer)
        try:
            return tuple(part for statement in statements for part in self.statement(statement))
        finally:
            self.expressions.scope = outer

    def statement(self, node: tree.Statement) -> list[ex.Statement]:
        steps: list[ex.Statement] = []
        match node:
            case tree.Assignment(target=target, value=value) if self.stepwise((target, value)):
                target = self.ordered(target, steps)
                chained = isinstance(value, tree.Assignment) and not value.later and isinstance(value.target, tree.Name)
                if self.stepwise(value) and not chained:
                    target = self.held_place(target, steps)
                    value = self.ordered(value, steps)
                node = replace(node, target=target, value=value)
            case tree.Evaluation(expression=expression) if self.stepwise(expression):
                return self.evaluation_with_effects(expression)
            case tree.If(condition=condition) if self.stepwise(condition):
                node = replace(node, condition=self.ordered(condition, steps))
            case tree.Assertion(condition=condition) if self.stepwise(condition):
                node = replace(node, condition=self.ordered(condition, steps))
            case tree.Return(value=value) if value is not None and self.stepwise(value):
                node = replace(node, value=self.ordered(value, steps))
        return [*steps, *self.plain_statement(node)]

    def evaluation_with_effects(self, node: tree.Expression) -> list[ex.Statement]:
        """Execute the assignments inside an expression, such as `c ? x++ : y++`, whose value is not used."""
        match node:
            case tree.Assignment():
                return self.statement(node)
            case tree.Conditional(condition=condition, then=then, otherwise=otherwise):
                steps: list[ex.Statement] = []
                test = self.expressions.condition(self.ordered(condition, steps))
                ways = (self.evaluation_with_effects(then), self.evaluation_with_effects(otherwise))
                return [*steps, ex.If(test, *map(tuple, ways))]
            case tree.Invocation():
                steps = []
                call = self.ordered(node, steps)
                return steps if self.is_inlined(node) else [*steps, *self.evaluation(tree.Evaluation(call, node.line))]
        steps = []
        self.expressions.resolve(self.ordered(node, steps))
        return steps

    def plain_statement(self, node: tree.Statement) -> list[ex.Statement]:
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
                return [ex.If(condition, self.block([node.then]), otherwise)]
            case tree.While():
                return self.while_loop(node)
            case tree.For():
                return self.for_loop(node)
            case tree.Iteration():
                return self.iteration(node)
            case tree.Return():
                return self.return_statement(node)
            case tree.Assertion():
                one, zero = ex.Constant(1, ex.Kind.INT), ex.Constant(0, ex.Kind.INT)
                holds = make_conditional(self.expressions.condition(node.condition), one, zero, ex.Kind.INT)
                slot = ex.Bound(self.frame.allocate(typed.Type(ex.Kind.INT)), ex.Kind.INT)
                return [ex.Assign(slot, holds, 1, 1, self.line(node.line), "the assertion")]
            case tree.VariableDeclaration():
                return self.local_variables(node)
            case tree.TypeDefinition():
                self.declarer().typedef(node)
                return []
        raise AssertionError(node)

    def evaluation(self, node: tree.Evaluation) -> list[ex.Statement]:
        if isinstance(node.expression, tree.Invocation):
            expression = self.expressions.invocation(node.expression, as_statement=True)
        else:
            expression = self.expressions.resolve(node.expression)
        if expression is BROKEN:
            return []
        if not isinstance(expression, ex.Call):
            hint = " Did you mean '='?" if isinstance(expression, ex.Binary) and expression.operator == "==" else ""
            what = self.expressions.context.what
            self.fail(f"{what}: this has no effect; assign, or call a function.{hint}", node.line)
            return []
        return [ex.Evaluate(expression)]

    # --- loops ---

    def looped(self, statements: Iterable[tree.Statement]) -> tuple[ex.Statement, ...]:
        self.loops += 1
        try:
            return self.block(statements)
        finally:
            self.loops -= 1

    def while_loop(self, node: tree.While) -> list[ex.Statement]:
        before, condition = self.loop_condition(node.condition)
        body = (*self.looped([node.body]), *before)
        loop = ex.While(condition, body)
        return [*body, loop] if node.body_first else [*before, loop]

    def loop_condition(self, node: tree.Expression) -> tuple[list[ex.Statement], ex.Expression]:
        """The steps before each evaluation of the condition, and the condition."""
        before: list[ex.Statement] = []
        return before, self.expressions.condition(self.ordered(node, before))

    def for_loop(self, node: tree.For) -> list[ex.Statement]:
        start = [part for statement in node.start for part in self.statement(statement)]
        before, condition = ([], TRUE) if node.condition is None else self.loop_condition(node.condition)
        body = self.looped([node.body])
        step = [part for statement in node.step for part in self.statement(statement)]
        return [*start, *before, ex.While(condition, (*body, *step, *before))]

    def iteration(self, node: tree.Iteration) -> list[ex.Statement]:
        type_ = self.expressions.type_of(node.variable.type)
        if type_ is None:
            return []
        values = type_.values
        if values is None or len(values) > typed.MANY:
            self.fail(f"'for' needs a bounded range such as (i : int[0,3]), found {type_}.", node.line)
            return []
        # One more than the last value is reached at the end; inside the body the range holds.
        slot = self.frame.allocate(typed.Type(ex.Kind.INT, values.start, values.stop - 1))
        outer = self.expressions.scope
        self.expressions.scope = Scope(
            outer, {node.variable.name: typed.LocalSymbol(node.variable.name, type_, slot, assignable=False, line=0)}
        )
        body = self.looped([node.body])
        self.expressions.scope = outer
        counter, line = ex.Bound(slot, ex.Kind.INT), self.line(node.line)
        step = ex.Assign(counter, ex.Binary("+", counter, ex.Constant(1, ex.Kind.INT), ex.Kind.INT), line=line)
        condition = ex.Binary("<=", counter, ex.Constant(values.stop - 1, ex.Kind.INT), ex.Kind.BOOL)
        return [
            ex.Assign(counter, ex.Constant(values.start, ex.Kind.INT), line=line),
            ex.While(condition, (*body, step)),
        ]

    def return_statement(self, node: tree.Return) -> list[ex.Statement]:
        assert self.result is not None  # the grammar has no statements outside functions
        self.returns = True
        if node.value is None:
            if self.result.kind is not None:
                self.fail(f"a value of type {self.result} must be returned.", node.line)
            return [ex.Return()]
        if self.result.fields:
            return self.return_struct(self.result, node.value, node.line)
        value = self.expressions.resolve(node.value)
        if self.result.kind is None:
            self.fail("a void function returns no value.", node.line)
            return []
        value = self.expressions.converted(value, self.result, "what is returned", node.value)
        return [] if value is BROKEN else self.give_back([value])

    def return_struct(self, result: typed.Type, node: tree.Expression, line: int) -> list[ex.Statement]:
        found = self.expressions.whole_values(node)
        if found is None or found[0].shape != result.shape:
            self.fail(f"a value of type {result} must be returned.", line)
            return []
        return self.give_back(found[1])

    def give_back(self, values: Sequence[ex.Expression]) -> list[ex.Statement]:
        """Return the value; of a struct the value whose number is the first argument."""
        assert self.result is not None
        if not self.result.fields:
            return [ex.Return(values[0])]
        values = [value for value in values if value.kind.is_real == self.real]
        number = ex.Bound(0, ex.Kind.INT)
        statements: list[ex.Statement] = [
            ex.If(ex.Binary("==", number, ex.Constant(i, ex.Kind.INT), ex.Kind.BOOL), (ex.Return(value),))
            for i, value in enumerate(values[:-1])
        ]
        return [*statements, ex.Return(values[-1])]

    # --- local variables ---

    def declarer(self) -> Declarer:
        from bbfalsify.modelling.language.declarations import Declarer

        return Declarer(self.expressions.assembly, self.expressions.scope, self.expressions.place)

    def local_variables(self, node: tree.VariableDeclaration) -> list[ex.Statement]:
        from bbfalsify.modelling.language.declarations import define

        if node.constant:
            self.declarer().variables(node)
            return []
        base = self.expressions.type_of(node.type)
        statements: list[ex.Statement] = []
        for declarator in node.declarators:
            type_ = None if base is None else self.expressions.array(base, declarator.dimensions)
            if type_ is not None and not {*kinds_in(type_)} <= {ex.Kind.INT, ex.Kind.BOOL, ex.Kind.DOUBLE}:
                self.fail(
                    f"the local variable '{declarator.name}' cannot be of type {type_}; allowed: int, bool, double.",
                    declarator.line,
                )
                type_ = None
            symbol: typed.Symbol = typed.BrokenSymbol(declarator.name)
            if type_ is not None:
                symbol = laid_out(declarator.name, type_, self.slot_for)
                statements += self.initialisation(symbol, type_, declarator)
            place = self.expressions.place
            define(self.expressions.assembly, self.expressions.scope, declarator.name, symbol, place, declarator.line)
        return statements

    def initialisation(
        self, symbol: typed.Symbol, type_: typed.Type, declarator: tree.Declarator
    ) -> list[ex.Statement]:
        """Initialise a local variable; a zero is only assigned in loops, as slots start at 0."""
        statements: list[ex.Statement] = []
        initial = declarator.initial
        if initial is not None and not isinstance(initial, tree.ArrayInitialiser):
            initial = self.ordered(initial, statements)
        nodes = initial_nodes(self.expressions, type_, initial, declarator.name)
        flat = [] if nodes is None else [node for leaf in nodes.values() for node in leaf]
        for (target, element), node in zip(self.slots(symbol), flat, strict=False):
            if node is not None:
                statements += self.assign(target, element, node, declarator.line)
            elif self.loops or element.default != 0:
                assert element.kind is not None
                default = ex.Constant(element.default, element.kind)
                statements.append(ex.Assign(target, default, line=self.line(declarator.line)))
        return statements
