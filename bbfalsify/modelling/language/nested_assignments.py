"""Move assignments inside expressions (`list[len++] = x`) to steps before the statement.

    lifted, steps = lift(node)       steps: [("#1", tree.Assignment), …], to be executed first, in this order

Steps are moved out of indices, arguments and operands that are always evaluated.  Those behind `&&`, `||`, `?:` or a
quantifier are not always evaluated; they stay, and are refused later.
"""

from __future__ import annotations

from dataclasses import replace

from bbfalsify.modelling.language import syntax_tree as tree

Step = tuple[str, tree.Assignment]


def lift(node: tree.Expression, number: int = 0) -> tuple[tree.Expression, list[Step]]:
    steps: list[Step] = []

    def inside(part: tree.Expression) -> tree.Expression:
        match part:
            case tree.Assignment():
                name = f"#step{number + len(steps)}"
                steps.append((name, part))
                return tree.Name(name, part.line)
            case tree.Index(base=base, index=index):
                return replace(part, base=inside(base), index=inside(index))
            case tree.Member(base=base):
                return replace(part, base=inside(base))
            case tree.Unary(operand=operand):
                return replace(part, operand=inside(operand))
            case tree.Binary(operator=operator, left=left, right=right):
                always = operator not in ("&&", "||", "imply")
                return replace(part, left=inside(left), right=inside(right) if always else right)
            case tree.Conditional(condition=condition):
                return replace(part, condition=inside(condition))
            case tree.Invocation(arguments=arguments):
                return replace(part, arguments=tuple(inside(argument) for argument in arguments))
        return part

    return inside(node), steps
