"""Updates and the bodies of functions: from the syntax tree to the few statements the engines know.

`for` and `do` become assignments and `while`; `n += 2` becomes `n = n + 2`; a local variable is a slot of the frame.
"""

from __future__ import annotations

from collections.abc import Iterable

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import tree
from bbfalsify.modelling.expressions import (
    Assign,
    Binary,
    Bound,
    Call,
    Constant,
    Evaluate,
    Expression,
    If,
    Kind,
    Read,
    Return,
    Statement,
    While,
)
from bbfalsify.modelling.folding import TRUE
from bbfalsify.modelling.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.resolve_names import BROKEN
from bbfalsify.modelling.scopes import (
    KIND_OF_SYMBOL,
    MANY,
    BrokenSymbol,
    ConstantSymbol,
    LocalSymbol,
    Scope,
    Type,
    VariableSymbol,
)
from bbfalsify.modelling.visit import subexpressions, substatements


class StatementResolver:
    def __init__(self, expressions: ExpressionResolver, result: Type | None = None) -> None:
        """`result` is the type a function returns; None outside functions."""
        self.expressions = expressions
        self.result = result
        self.loops = 0
        self.returns = False

    @property
    def frame(self):
        frame = self.expressions.context.frame
        assert frame is not None
        return frame

    def fail(self, message: str, line: int) -> None:
        self.expressions.fail(message, line)

    def function_body(self, definition: tree.FunctionDefinition, parameters: tuple[Type, ...]) -> tuple[Statement, ...]:
        checks: list[Statement] = []
        for slot, type_ in enumerate(parameters):
            if type_.kind is Kind.INT and type_.ranged:
                argument = Bound(slot, Kind.INT)
                checks.append(Assign(argument, argument, type_.low, type_.high, self.line(definition.line)))
        body = self.block(definition.body.statements)
        if definition.result.name != "void" and not self.returns:
            self.fail(f"function '{definition.name}' never returns a value.", definition.line)
        return (*checks, *body)

    def line(self, line: int) -> int | None:
        return self.expressions.place.line_of(line)

    def block(self, statements: Iterable[tree.Statement]) -> tuple[Statement, ...]:
        outer = self.expressions.scope
        self.expressions.scope = Scope(outer)
        try:
            return tuple(part for statement in statements for part in self.statement(statement))
        finally:
            self.expressions.scope = outer

    def statement(self, node: tree.Statement) -> list[Statement]:
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

    # --- assignments ---

    def target(self, node: tree.Expression) -> tuple[Read | Bound, Type] | None:
        base = node
        while isinstance(base, tree.Index):
            base = base.base
        if not isinstance(base, tree.Name):
            self.fail("only a variable or an element of an array can be assigned.", node.line)
            return None
        symbol = self.expressions.lookup(base.name, base.line)
        if symbol is None or isinstance(symbol, BrokenSymbol):
            return None
        if isinstance(symbol, ConstantSymbol) or (isinstance(symbol, LocalSymbol) and not symbol.assignable):
            self.fail(f"'{base.name}' is constant and cannot be assigned.", node.line)
            return None
        if not isinstance(symbol, VariableSymbol | LocalSymbol):
            self.fail(f"'{base.name}' is {KIND_OF_SYMBOL[type(symbol)]} and cannot be assigned.", node.line)
            return None
        target = self.expressions.access(node)
        if target is BROKEN or not isinstance(target, Read | Bound):
            return None
        if isinstance(target, Read):
            self.expressions.writes = True
        return target, Type(symbol.type.kind, symbol.type.low, symbol.type.high)

    def assignment(self, node: tree.Assignment) -> list[Statement]:
        found = self.target(node.target)
        value_node = node.value
        if node.operator != "=":
            value_node = tree.Binary(node.operator[:-1], node.target, node.value, node.line)
        if found is None:
            self.expressions.resolve(node.value)  # its own problems are worth reporting, too
            return []
        target, type_ = found
        if node.operator != "=" and self.calls_function_that_assigns(target):
            self.fail(f"'{node.operator}' would evaluate the index twice, and the index has effects.", node.line)
            return []
        return self.assign(target, type_, value_node, node.line)

    def calls_function_that_assigns(self, target: Read | Bound) -> bool:
        functions = self.expressions.assembly.functions
        calls = [part for part in subexpressions(target.index) if isinstance(part, Call)]
        return any(
            isinstance(s, Assign) and isinstance(s.target, Read)
            for call in calls
            for s in substatements(functions[call.function].body)
        )

    def assign(self, target: Read | Bound, type_: Type, node: tree.Expression, line: int) -> list[Statement]:
        value = self.expressions.resolve(node)
        if type_.kind is Kind.CLOCK and value is not BROKEN and value.kind is Kind.BOOL:
            self.fail("a clock is set to a number, found a bool.", line)
            return []
        value = self.expressions.converted(value, type_, "what is assigned", node)
        if value is BROKEN:
            return []
        if type_.kind is not Kind.INT:
            return [Assign(target, value, line=self.line(line))]
        literal = isinstance(node, tree.Number) or (
            isinstance(node, tree.Unary) and isinstance(node.operand, tree.Number)
        )
        if literal and isinstance(value, Constant) and not type_.low <= value.value <= type_.high:
            self.fail(f"{value.value} is outside the variable's range {type_.low}…{type_.high}.", line)
            return []
        return [Assign(target, value, type_.low, type_.high, self.line(line))]

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
        from bbfalsify.modelling.declarations import Declarer, array_type, define

        if node.constant:
            Declarer(self.expressions.assembly, self.expressions.scope, self.expressions.place).variables(node)
            return []
        base = self.expressions.type_of(node.type)
        statements: list[Statement] = []
        for declarator in node.declarators:
            type_ = None if base is None else array_type(self.expressions, base, declarator.dimensions)
            if type_ is not None and type_.kind not in (Kind.INT, Kind.BOOL, Kind.DOUBLE):
                self.fail(
                    f"the local variable '{declarator.name}' cannot be of type {type_}; allowed: int, bool, double.",
                    declarator.line,
                )
                type_ = None
            if type_ is None:
                symbol = BrokenSymbol(declarator.name)
            else:
                symbol = LocalSymbol(declarator.name, type_, self.frame.allocate(type_))
                statements += self.initialisation(symbol, declarator)
            place = self.expressions.place
            define(self.expressions.assembly, self.expressions.scope, declarator.name, symbol, place, declarator.line)
        return statements

    def initialisation(self, symbol: LocalSymbol, declarator: tree.Declarator) -> list[Statement]:
        """Slots start at 0 on entry; in a loop, and for other values, that has to be said."""
        type_ = symbol.type
        assert type_.kind is not None
        nodes = [None] * type_.size if declarator.initial is None else self.flattened(symbol, declarator.initial)
        statements: list[Statement] = []
        for offset, node in enumerate(nodes):
            target, element = Bound(symbol.slot + offset, type_.kind), Type(type_.kind, type_.low, type_.high)
            if node is not None:
                statements += self.assign(target, element, node, declarator.line)
            elif self.loops or type_.default != 0:
                kind = Kind.DOUBLE if type_.kind is Kind.DOUBLE else type_.kind
                statements.append(Assign(target, Constant(type_.default, kind), line=self.line(declarator.line)))
        return statements

    def flattened(self, symbol: LocalSymbol, initial: tree.Expression | tree.ArrayInitialiser) -> list:
        def elements(node, dimensions: tuple[int, ...]) -> list:
            if not dimensions:
                if isinstance(node, tree.ArrayInitialiser):
                    raise UserError(self.expressions.place.problem(f"'{symbol.name}' is not an array.", node.line))
                return [node]
            if not isinstance(node, tree.ArrayInitialiser) or len(node.elements) != dimensions[0]:
                message = f"the array '{symbol.name}' needs {dimensions[0]} values in braces."
                raise UserError(self.expressions.place.problem(message, node.line))
            return [leaf for element in node.elements for leaf in elements(element, dimensions[1:])]

        try:
            return elements(initial, symbol.type.dimensions)
        except UserError as error:
            for problem in error.problems:
                self.expressions.assembly.report(problem)
            return []
