"""Resolve assignments inside expressions: `list[len++] = x`, `while (n-- > 0)`, `a && (b = c)`.

    node = self.ordered(node, steps)        the expression without assignments; `steps` are executed before it

Expressions are evaluated from left to right.  A value that is read before a later assignment is kept in a slot of the
frame, and an assignment behind `&&`, `||` or `?:` becomes a step of an `if`.  Inside quantifiers there are none.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.assignments import AssignmentResolver
from bbfalsify.modelling.language.folding import make_unary
from bbfalsify.modelling.language.resolve_names import BROKEN, kind_of
from bbfalsify.modelling.language.storage import laid_out
from bbfalsify.modelling.language.tree_search import contains_call, contains_step, written
from bbfalsify.modelling.language.typed_symbols import BrokenSymbol, FunctionSymbol, LocalSymbol, Type
from bbfalsify.modelling.network.expressions import Assign, Bound, Constant, Expression, If, Kind, Statement

Hold = Callable[[tree.Expression, list[Statement]], tree.Expression]


class EffectResolver(AssignmentResolver):
    def stepwise(self, node: object) -> bool:
        """Tell whether the expression contains assignments, or calls that become steps of their own."""
        return contains_step(node, self.is_inlined)

    @abstractmethod
    def is_inlined(self, call: tree.Invocation) -> bool: ...

    @abstractmethod
    def inlined(self, call: tree.Invocation, steps: list[Statement]) -> tree.Expression: ...

    def ordered(self, node: tree.Expression, steps: list[Statement]) -> tree.Expression:
        """The expression without the assignments inside it, which are added to `steps`."""
        if not self.stepwise(node):
            return node
        match node:
            case tree.Assignment():
                return self.nested(node, steps)
            case tree.Index(base=base, index=index):
                base = self.ordered_before(index, base, self.held_place, steps)
                return replace(node, base=base, index=self.ordered(index, steps))
            case tree.Member(base=base):
                return replace(node, base=self.ordered(base, steps))
            case tree.Unary(operand=operand):
                return replace(node, operand=self.ordered(operand, steps))
            case tree.Binary(operator="&&" | "||" | "imply", right=right) if self.stepwise(right):
                return self.logical(node, steps)
            case tree.Binary(left=left, right=right):
                left = self.ordered_before(right, left, self.held, steps)
                return replace(node, left=left, right=self.ordered(right, steps))
            case tree.Conditional(condition=condition, then=then, otherwise=otherwise):
                condition = self.ordered(condition, steps)
                if self.stepwise((then, otherwise)):
                    return self.conditional(replace(node, condition=condition), steps)
                return replace(node, condition=condition)
            case tree.Invocation(arguments=arguments):
                call = replace(node, arguments=tuple(self.arguments(node, arguments, steps)))
                return self.inlined(call, steps) if self.is_inlined(node) else call
        return node

    def ordered_before(
        self, later: tree.Expression, node: tree.Expression, hold: Hold, steps: list[Statement]
    ) -> tree.Expression:
        """The expression without assignments, held where a later part assigns something."""
        node = self.ordered(node, steps)
        return hold(node, steps) if self.stepwise(later) else node

    def arguments(
        self, call: tree.Invocation, arguments: tuple[tree.Expression, ...], steps: list[Statement]
    ) -> list[tree.Expression]:
        symbol = self.expressions.scope.find(call.name)
        by_reference = symbol.by_reference if isinstance(symbol, FunctionSymbol) else ()
        found: list[tree.Expression] = []
        for number, argument in enumerate(arguments):
            argument = self.ordered(argument, steps)
            if self.stepwise(arguments[number + 1 :]):
                hold = self.held_place if number < len(by_reference) and by_reference[number] else self.held
                argument = hold(argument, steps)
            found.append(argument)
        return found

    # --- values that are kept ---

    def slot_for(self, path: tuple[str, ...], name: str, type_: Type) -> LocalSymbol:
        return LocalSymbol(name, type_, self.frame.allocate(type_))

    def held(self, node: tree.Expression, steps: list[Statement]) -> tree.Expression:
        """The value of the expression now, whatever is assigned later."""
        if self.expressions.whole_type(node) is not None:
            return self.held_place(node, steps)
        value = self.expressions.resolve(node)
        return node if value is BROKEN or isinstance(value, Constant) else self.kept(value, node, steps)

    def held_place(self, node: tree.Expression, steps: list[Statement]) -> tree.Expression:
        """The same variable with the indices of now."""
        match node:
            case tree.Index(base=base, index=index):
                return replace(node, base=self.held_place(base, steps), index=self.held(index, steps))
            case tree.Member(base=base):
                return replace(node, base=self.held_place(base, steps))
        return node

    def kept(
        self, value: Expression, node: tree.Expression, steps: list[Statement], kind: Kind | None = None
    ) -> tree.Name:
        """A name for the value; messages show the text of `node`."""
        kind = kind_of(value) if kind is None else kind
        slot = self.frame.allocate(Type(kind))
        steps.append(Assign(Bound(slot, kind), value, line=self.line(node.line)))
        name = f"#{slot}"
        self.expressions.scope.symbols[name] = LocalSymbol(written(node), Type(kind), slot, assignable=False)
        return tree.Name(name, node.line)

    def slot_of(self, name: tree.Name) -> Bound:
        symbol = self.expressions.scope.find(name.name)
        assert isinstance(symbol, LocalSymbol) and symbol.type.kind is not None
        return Bound(symbol.slot, symbol.type.kind)

    # --- assignments as values ---

    def nested(self, node: tree.Assignment, steps: list[Statement]) -> tree.Expression:
        """Execute the assignment as a step; its value is the new one, or for `n++` the old one."""
        target_node = self.ordered(node.target, steps)
        if self.stepwise(node.value) or (node.operator != "=" and contains_call(target_node)):
            target_node = self.held_place(target_node, steps)
        value_node = self.ordered(node.value, steps)
        found = self.single_target(target_node)
        if found is None:
            self.expressions.resolve(value_node)
            self.expressions.scope.symbols["#broken"] = BrokenSymbol("#broken")
            return tree.Name("#broken", node.line)
        target, type_ = found
        if node.later:
            old = self.kept(target, node.target, steps)
            steps += self.assign(target, type_, tree.Binary(node.operator[0], old, value_node, node.line), node.line)
            return old
        if node.operator != "=":
            value_node = tree.Binary(node.operator[:-1], target_node, value_node, node.line)
        stores = self.assign(target, type_, value_node, node.line)
        if not stores or (isinstance(stores[0].value, Constant) and not target.kind.is_real):
            steps += stores
            return value_node
        new = self.kept(stores[0].value, node.target, steps, Kind.DOUBLE if target.kind.is_real else target.kind)
        steps.append(replace(stores[0], value=self.slot_of(new)))
        return new

    def logical(self, node: tree.Binary, steps: list[Statement]) -> tree.Expression:
        condition = self.expressions.condition(self.ordered(node.left, steps))
        more: list[Statement] = []
        if node.operator == "imply":
            condition = make_unary("!", condition, Kind.BOOL)
        result = self.kept(condition, node, steps)
        slot = self.slot_of(result)
        right = self.expressions.condition(self.ordered(node.right, more))
        more.append(Assign(slot, right, line=self.line(node.line)))
        undecided = slot if node.operator == "&&" else make_unary("!", slot, Kind.BOOL)
        steps.append(If(undecided, tuple(more)))
        return result

    def conditional(self, node: tree.Conditional, steps: list[Statement]) -> tree.Expression:
        condition = self.expressions.condition(node.condition)
        ways: tuple[list[Statement], list[Statement]] = ([], [])
        nodes = [self.ordered(part, way) for part, way in zip((node.then, node.otherwise), ways, strict=True)]
        whole = self.expressions.whole_type(nodes[0])
        if whole is not None:
            name = f"#{self.frame.size}"
            self.expressions.scope.symbols[name] = laid_out(name, whole, self.slot_for)
            for part, way in zip(nodes, ways, strict=True):
                way += self.copy(tree.Name(name, node.line), part, node.line)
            steps.append(If(condition, *map(tuple, ways)))
            return tree.Name(name, node.line)
        # The value itself has no effects, and says which kind the slot is of.
        both = self.expressions.conditional(replace(node, then=nodes[0], otherwise=nodes[1]))
        if both is BROKEN or condition is BROKEN:
            return node.condition
        slot = Bound(self.frame.allocate(Type(kind_of(both))), kind_of(both))
        for part, way in zip(nodes, ways, strict=True):
            way.append(Assign(slot, self.expressions.resolve(part), line=self.line(node.line)))
        steps.append(If(condition, *map(tuple, ways)))
        name = f"#{slot.slot}"
        self.expressions.scope.symbols[name] = LocalSymbol(written(node), Type(slot.kind), slot.slot, assignable=False)
        return tree.Name(name, node.line)
