"""Variables that get random values: which draws an update makes, and for whom."""

from __future__ import annotations

from dataclasses import dataclass

from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.network import Branch, Network
from bbfalsify.modelling.network.visit import expressions_of, subexpressions

_NUMBERS = {"random_normal": 2}
"""Random numbers of a draw, where it is not one."""


@dataclass(frozen=True)
class DrawnVariable:
    """A variable that an update draws, and how many random numbers that takes."""

    name: str
    slot: int
    real: bool
    numbers: int
    normal: bool = False
    """It is one normal draw, by two numbers."""


def drawn_variables(network: Network, branch: Branch) -> tuple[DrawnVariable, ...] | None:
    """The variables that the updates of a branch draw, in order; None if that is only known when they are executed."""
    found = []
    for statement in branch.updates:
        if _may_draw_elsewhere(network, statement):
            return None
        if not isinstance(statement, ex.Assign):
            continue
        draws = [part for part in subexpressions(statement.value) if isinstance(part, ex.Random)]
        if not draws:
            continue
        target = statement.target
        if not isinstance(target, ex.Read) or target.index is not None:
            return None
        numbers = sum(_NUMBERS.get(draw.name, 1) for draw in draws)
        normal = [draw.name for draw in draws] == ["random_normal"]
        found.append(DrawnVariable(_name(network, target), target.slot, target.kind.is_real, numbers, normal))
    return tuple(found)


def _may_draw_elsewhere(network: Network, statement: ex.Statement) -> bool:
    """Tell whether a statement draws in a branch, a loop or a function, which may be executed or not."""
    hidden = not isinstance(statement, ex.Assign)
    for expression in expressions_of([statement]):
        for part in subexpressions(expression):
            if isinstance(part, ex.Random) and hidden:
                return True
            if isinstance(part, ex.Call) and _draws(network, part.function, set()):
                return True
            if isinstance(part, ex.Conditional) and any(isinstance(p, ex.Random) for p in subexpressions(part)):
                return True
    return False


def _draws(network: Network, function: int, seen: set[int]) -> bool:
    if function in seen:
        return False
    seen.add(function)
    parts = (part for e in expressions_of(network.functions[function].body) for part in subexpressions(e))
    return any(
        isinstance(part, ex.Random) or (isinstance(part, ex.Call) and _draws(network, part.function, seen))
        for part in parts
    )


def _name(network: Network, target: ex.Read) -> str:
    for variable in network.variables:
        same_store = variable.kind.is_real == target.kind.is_real
        if same_store and variable.slot <= target.slot < variable.slot + variable.size:
            return variable.element_names()[target.slot - variable.slot]
    return "?"
