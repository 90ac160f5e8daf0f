"""Bound the turns of loops, so that code whose loops all end need not count them."""

from __future__ import annotations

import math

from bbfalsify.modelling.network.expressions import (
    Assign,
    Binary,
    Bound,
    Call,
    Constant,
    Expression,
    Function,
    If,
    Quantifier,
    Statement,
    While,
)
from bbfalsify.modelling.network.visit import children, expressions_of, substatements


def turns(content: Expression | tuple[Statement, ...] | None, functions: tuple[Function, ...]) -> float:
    """Most turns of loops in an expression or in statements, calls included; infinite if a loop may not end."""
    if content is None:
        return 0
    if not isinstance(content, tuple):
        inner = sum(turns(child, functions) for child in children(content))
        if isinstance(content, Quantifier):
            return (content.high - content.low + 1) * (1 + inner)
        if isinstance(content, Call):
            return inner + turns(functions[content.function].body, functions)
        return inner
    total = 0.0
    for place, s in enumerate(content):
        match s:
            case While(condition=condition, body=body):
                before = content[place - 1] if place else None
                each = 1 + turns(condition, functions) + turns(body, functions)
                total += _range_size(before, s) * each
            case If(condition=condition, then=then, otherwise=otherwise):
                total += turns(condition, functions) + turns(then, functions) + turns(otherwise, functions)
            case _:
                total += sum(turns(e, functions) for e in expressions_of((s,)))
    return total


def _range_size(before: Statement | None, loop: While) -> float:
    """Number of turns of `for (i : int[low, high])`; infinite for other loops."""
    match before, loop:
        case (
            Assign(target=Bound(slot=slot, index=None), value=Constant(value=low)),
            While(condition=Binary(operator="<=", left=Bound(slot=same), right=Constant(value=high)), body=body),
        ) if slot == same and body:
            match body[-1]:
                case Assign(
                    target=Bound(slot=stepped, index=None),
                    value=Binary(operator="+", left=Bound(slot=old), right=Constant(value=1)),
                ) if stepped == old == slot:
                    targets = [s.target for s in substatements(body[:-1]) if isinstance(s, Assign)]
                    written = [t for t in targets if isinstance(t, Bound) and not t.kind.is_real]
                    if all(not t.slot <= slot < t.slot + t.size for t in written):
                        return max(0, int(high) - int(low) + 1)
    return math.inf
