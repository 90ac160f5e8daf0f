"""Replace a variable in an expression by a value; move a condition from after some updates to before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bbfalsify.modelling.language.folding import with_operands
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.effects import EffectAnalysis


class NotPlain(Exception):  # noqa: N818  (an answer, not an error)
    """The variable may be read in a function or by an index that is not constant."""


def substituted(expression: ex.Expression, variable: ex.Read, value: ex.Expression) -> ex.Expression:
    """Replace every plain read of `variable` by `value`; raise NotPlain if there may be other reads."""

    def inside(part: ex.Expression) -> ex.Expression:
        match part:
            case ex.Read(index=None):
                return value if part.slot == variable.slot and part.kind.is_real == variable.kind.is_real else part
            case ex.Read(slot=slot, size=size, kind=kind, index=index) if index is not None:
                if kind.is_real == variable.kind.is_real and slot <= variable.slot < slot + size:
                    raise NotPlain
                return replace(part, index=inside(index))
            case ex.Bound(index=index):
                return part if index is None else replace(part, index=inside(index))
            case ex.Quantifier(body=body):
                return replace(part, body=inside(body))
            case ex.Call():
                raise NotPlain
        return with_operands(part, inside)

    if variable.index is not None:
        raise NotPlain
    return inside(expression)


def before(effects: EffectAnalysis, updates: Sequence[ex.Statement], condition: ex.Expression) -> ex.Expression:
    """Return the condition that, before the updates, makes the given one hold after them; or raise NotPlain."""
    for update in reversed(updates):
        if effects.statements([update]).writes.isdisjoint(effects.expression(condition).reads):
            continue
        if not isinstance(update, ex.Assign) or not isinstance(update.target, ex.Read):
            raise NotPlain
        value = effects.expression(update.value)
        if value.writes or value.random:
            raise NotPlain
        condition = substituted(condition, update.target, update.value)
    return condition
