"""Bound the turns of loops, so that code whose loops all end need not count them."""

from __future__ import annotations

import math

from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.visit import children, expressions_of, substatements


def turns(content: ex.Expression | tuple[ex.Statement, ...] | None, functions: tuple[ex.Function, ...]) -> float:
    """Most turns of loops in an expression or in statements, calls included; infinite if a loop may not end."""
    if content is None:
        return 0
    if not isinstance(content, tuple):
        inner = sum(turns(child, functions) for child in children(content))
        if isinstance(content, ex.Quantifier):
            return (content.high - content.low + 1) * (1 + inner)
        if isinstance(content, ex.Call):
            return inner + turns(functions[content.function].body, functions)
        return inner
    total = 0.0
    for place, s in enumerate(content):
        match s:
            case ex.While(condition=condition, body=body):
                before = content[place - 1] if place else None
                each = 1 + turns(condition, functions) + turns(body, functions)
                total += _range_size(before, s) * each
            case ex.If(condition=condition, then=then, otherwise=otherwise):
                total += turns(condition, functions) + turns(then, functions) + turns(otherwise, functions)
            case _:
                total += sum(turns(e, functions) for e in expressions_of((s,)))
    return total


def _range_size(before: ex.Statement | None, loop: ex.While) -> float:
    """Number of turns of `for (i : int[low, high])`; infinite for other loops."""
    match before, loop:
        case (
            ex.Assign(target=ex.Bound(slot=slot, index=None), value=ex.Constant(value=low)),
            ex.While(
                condition=ex.Binary(operator="<=", left=ex.Bound(slot=same), right=ex.Constant(value=high)), body=body
            ),
        ) if slot == same and body:
            match body[-1]:
                case ex.Assign(
                    target=ex.Bound(slot=stepped, index=None),
                    value=ex.Binary(operator="+", left=ex.Bound(slot=old), right=ex.Constant(value=1)),
                ) if stepped == old == slot:
                    targets = [s.target for s in substatements(body[:-1]) if isinstance(s, ex.Assign)]
                    written = [t for t in targets if isinstance(t, ex.Bound) and not t.kind.is_real]
                    if all(not t.slot <= slot < t.slot + t.size for t in written):
                        return max(0, int(high) - int(low) + 1)
    return math.inf
