"""Updates and the bodies of functions: from the syntax tree to the few statements the engines know.

`for` and `do` become assignments and `while`; `n += 2` becomes `n = n + 2`; a local variable is a slot of the frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.folding import TRUE
from bbfalsify.modelling.language.nested_assignments import contains_assignment, lift, names_in
from bbfalsify.modelling.language.resolve_access import Part, chain, leaves_of, part_type
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN
from bbfalsify.modelling.language.scopes import (
    DEFAULT_RANGE,
    KIND_OF_SYMBOL,
    MANY,
    UPPAAL_RANGE,
    BrokenSymbol,
    ConstantSymbol,
    Frame,
    LocalSymbol,
    Scope,
    Symbol,
    Type,
    VariableSymbol,
)
from bbfalsify.modelling.language.storage import initial_nodes, kinds_in, laid_out
from bbfalsify.modelling.network.expressions import (
    Assign,
    AtLocation,
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
from bbfalsify.modelling.network.visit import subexpressions, substatements


class StatementResolver:
    def __init__(self, expressions: ExpressionResolver, result: Type | None = None) -> None:
        """`result` is the type a function returns; None outside functions."""
        self.expressions = expressions
        self.result = result
        self.loops = 0
        self.returns = False

    @property
    def frame(self) -> Frame:
        frame = self.expressions.context.frame
        assert frame is not None
        return frame

    def fail(self, message: str, line: int) -> None:
        self.expressions.fail(message, line)

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

    # --- assignments ---

    def target(self, node: tree.Expression) -> Part | None:
        """What is to be assigned; None after reporting that it cannot be."""
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
        if node.operator != "=" and self.calls_function_that_assigns(target):
            self.fail(f"'{node.operator}' would evaluate the index twice, and the index has effects.", node.line)
            return []
        return self.assign(target, type_, value_node, node.line)

    def copy(self, target: tree.Expression, source: Part, line: int) -> list[Statement]:
        """The assignment of a whole struct or array, value by value."""
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
        """Indices are evaluated once, before anything is copied."""
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
        """Slots start at 0 on entry; in a loop, and for other values, that has to be said."""
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
