"""Replace a variable in an expression by a value."""

from __future__ import annotations

from dataclasses import replace

from bbfalsify.modelling.language.folding import make_binary, make_builtin, make_conditional, make_unary
from bbfalsify.modelling.network.expressions import (
    Binary,
    Bound,
    Builtin,
    Call,
    Conditional,
    Expression,
    Quantifier,
    Read,
    Unary,
)


class NotPlain(Exception):  # noqa: N818  (an answer, not an error)
    """The variable may be read in a function or by an index that is not constant."""


def substituted(expression: Expression, variable: Read, value: Expression) -> Expression:
    """Replace every plain read of `variable` by `value`; raise NotPlain if there may be other reads."""

    def inside(part: Expression) -> Expression:
        match part:
            case Read(index=None):
                return value if part.slot == variable.slot and part.kind.is_real == variable.kind.is_real else part
            case Read(slot=slot, size=size, kind=kind, index=index) if index is not None:
                if kind.is_real == variable.kind.is_real and slot <= variable.slot < slot + size:
                    raise NotPlain
                return replace(part, index=inside(index))
            case Bound(index=index):
                return part if index is None else replace(part, index=inside(index))
            case Unary(operator=operator, operand=operand):
                return make_unary(operator, inside(operand), part.kind)
            case Binary(operator=operator, left=left, right=right):
                return make_binary(operator, inside(left), inside(right), part.kind)
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                return make_conditional(inside(condition), inside(then), inside(otherwise), part.kind)
            case Builtin(name=name, arguments=arguments):
                return make_builtin(name, tuple(inside(argument) for argument in arguments), part.kind)
            case Quantifier(body=body):
                return replace(part, body=inside(body))
            case Call():
                raise NotPlain
        return part

    if variable.index is not None:
        raise NotPlain
    return inside(expression)
