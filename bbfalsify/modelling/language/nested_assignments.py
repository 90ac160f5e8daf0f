"""Move assignments inside expressions (`list[len++] = x`) to steps before the statement.

    lifted, steps = lift(node)       steps: [("#1", tree.Assignment), …], to be executed first, in this order

Steps are moved out of indices, arguments and operands that are always evaluated.  Those behind `&&`, `||`, `?:` or a
quantifier are not always evaluated; they stay, and are refused later.
"""

from __future__ import annotations

from dataclasses import replace

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.syntax_tree import (
    Assignment,
    Binary,
    Conditional,
    Index,
    Invocation,
    Member,
    Name,
    Unary,
)

Step = tuple[str, Assignment]


def lift(node: tree.Expression, number: int = 0) -> tuple[tree.Expression, list[Step]]:
    steps: list[Step] = []

    def inside(part: tree.Expression) -> tree.Expression:
        match part:
            case Assignment():
                name = f"#step{number + len(steps)}"
                steps.append((name, part))
                return Name(name, part.line)
            case Index(base=base, index=index):
                return replace(part, base=inside(base), index=inside(index))
            case Member(base=base):
                return replace(part, base=inside(base))
            case Unary(operand=operand):
                return replace(part, operand=inside(operand))
            case Binary(operator=operator, left=left, right=right):
                always = operator not in ("&&", "||", "imply")
                return replace(part, left=inside(left), right=inside(right) if always else right)
            case Conditional(condition=condition):
                return replace(part, condition=inside(condition))
            case Invocation(arguments=arguments):
                return replace(part, arguments=tuple(inside(argument) for argument in arguments))
        return part

    return inside(node), steps
