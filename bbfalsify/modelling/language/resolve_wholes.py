"""Resolve whole structs and arrays as values: variables, the results of functions, and `c ? a : b`.

There are no such values at run time: each is a list of single values, field by field.  A function that returns a struct
is called once per single value, with the number of the value as an additional argument.
"""

from __future__ import annotations

from collections.abc import Iterator

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.folding import make_conditional
from bbfalsify.modelling.language.resolve_access import chain, part_type
from bbfalsify.modelling.language.resolve_calls import CallResolver
from bbfalsify.modelling.language.resolve_names import BROKEN, kind_of
from bbfalsify.modelling.language.typed_symbols import FunctionSymbol, Type
from bbfalsify.modelling.network.expressions import Call, Constant, Expression, Kind

Values = tuple[Type, list[Expression]]


class WholeResolver(CallResolver):
    def whole_type(self, node: tree.Expression) -> Type | None:
        """The type of a struct or array; None, without a report, for a single value."""
        part = self.whole(node)
        if part is not None:
            return part_type(part)
        found = self.whole_values(node)
        return None if found is None or found[0].is_single else found[0]

    def whole_values(self, node: tree.Expression) -> Values | None:
        """The type and the values, field by field, of a struct, an array, or a part of a struct that is computed."""
        part = self.whole(node)
        if part is not None:
            return part_type(part), [value for value, _ in self.elements(part, node.line)]
        base, steps = chain(node)
        found = self.computed(base)
        for step in steps:
            found = None if found is None else self.portion_of(found, step)
        return found

    def computed(self, node: tree.Expression) -> Values | None:
        match node:
            case tree.Conditional(condition=condition, then=then, otherwise=otherwise):
                one, other = self.whole_values(then), self.whole_values(otherwise)
                if one is None or other is None:
                    return None
                if one[0].shape != other[0].shape:
                    self.fail(f"both sides of '?:' must be of one type; found {one[0]} and {other[0]}.", node.line)
                    return None
                test, pairs = self.condition(condition), zip(one[1], other[1], strict=True)
                return one[0], [make_conditional(test, a, b, kind_of(a)) for a, b in pairs]
            case tree.Invocation(name=name):
                function = self.scope.find(name)
                if isinstance(function, FunctionSymbol) and function.result.fields:
                    return function.result, self.struct_call(function, node)
        return None

    def portion_of(self, found: Values, step: tree.Index | tree.Member) -> Values | None:
        type_, values = found
        if isinstance(step, tree.Member):
            fields = dict(type_.fields)
            if type_.dimensions or step.name not in fields:
                self.unknown("field of the struct", step.name, fields, step.line)
                return None
            names = list(fields)
            begin = sum(len(list(single_types(fields[name]))) for name in names[: names.index(step.name)])
            count = len(list(single_types(fields[step.name])))
            return fields[step.name], values[begin : begin + count]
        index = self.integer_constant(step.index, "here, an index")
        if index is None or not type_.dimensions or type_.fields:
            return None
        count, position = type_.size // type_.dimensions[0], index - type_.origins[0]
        if not 0 <= position < type_.dimensions[0]:
            self.fail(f"index {index} is outside the array.", step.line)
            return None
        rest = type_.element.in_array(type_.dimensions[1:], type_.origins[1:])
        return rest, values[position * count : (position + 1) * count]

    def access(self, node: tree.Expression) -> Expression:
        base, steps = chain(node)
        function = self.scope.find(base.name) if isinstance(base, tree.Invocation) else None
        if not steps or not isinstance(function, FunctionSymbol) and not isinstance(base, tree.Conditional):
            return super().access(node)
        found = self.whole_values(node)
        if found is None or not found[0].is_single:
            return self.fail(f"{self.context.what}: this part of a struct is no single value.", node.line)
        return found[1][0]

    def struct_call(self, function: FunctionSymbol, node: tree.Invocation) -> list[Expression]:
        """One call per single value of the result."""
        kinds = [type_.kind for type_ in single_types(function.result) if type_.kind is not None]
        broken: list[Expression] = [BROKEN] * len(kinds)
        effects = self.writes, self.draws
        self.writes = self.draws = False
        prepared = self.passed(function, node)
        made = {
            real: None if prepared is None else self.specialised(function, prepared[1], node, real)
            for real in dict.fromkeys(kind.is_real for kind in kinds)
        }
        if self.writes or self.draws or any(f is not None and (f.writes or f.draws) for f in made.values()):
            self.fail(f"'{node.name}' returns a struct, so neither it nor its arguments may assign variables or draw "
                      "at random; pass the struct by reference, with '&'.", node.line)  # fmt: skip
            return broken
        self.writes, self.draws = effects
        calls: list[Expression] = []
        for kind in kinds:
            special, number = made[kind.is_real], sum(call.kind.is_real == kind.is_real for call in calls)
            if prepared is None or special is None or special.index is None:
                return broken
            calls.append(Call(special.index, (Constant(number, Kind.INT), *prepared[0]), kind))
        return calls


def single_types(type_: Type) -> Iterator[Type]:
    """The types of the single values, in the order in which they are stored."""
    if type_.fields:
        for _, field in type_.fields:
            yield from single_types(field.in_array(type_.dimensions, type_.origins))
    else:
        for _ in range(type_.size):
            yield type_.element
