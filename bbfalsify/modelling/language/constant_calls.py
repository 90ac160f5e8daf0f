"""Evaluate calls whose value is known before the model runs: `const int LIMIT = largest(TABLE);`.

The reference interpreter executes the function.  It may read constants only: no variables, no random draws.
"""

from __future__ import annotations

from fractions import Fraction

from bbfalsify.modelling.language.scopes import Assembly
from bbfalsify.modelling.network.expressions import Call, Constant, Expression, Kind, Read
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.network.visit import expressions_of, has_effects, subexpressions


def constant_value(expression: Expression, assembly: Assembly) -> Expression:
    """Return a constant if the value is known, else the expression; raise ModelRuntimeError if the function fails."""
    if isinstance(expression, Constant) or not _known(expression, assembly):
        return expression
    from bbfalsify.modelling.reference.evaluation import Evaluator, Memory
    from bbfalsify.modelling.reference.exact_values import Sample, at_delay

    network = Network(
        "constants", tuple(assembly.variables), (), tuple(assembly.functions), (), len(assembly.integer_ranges),
        assembly.real_count,
    )  # fmt: skip
    memory = Memory([], list(network.initial_integers()), list(network.initial_reals()))
    value = at_delay(Evaluator(network, memory, Sample(0, set())).value(expression, {}), 0)
    kind = Kind.DOUBLE if expression.kind.is_real else expression.kind
    return Constant(Fraction(value) if kind is Kind.DOUBLE else int(value), kind)


def _known(expression: Expression, assembly: Assembly) -> bool:
    return not has_effects(expression, assembly.functions) and _reads_constants(expression, assembly)


def _reads_constants(expression: Expression, assembly: Assembly) -> bool:
    for part in subexpressions(expression):
        if isinstance(part, Read) and not assembly.is_constant_array(part):
            return False
        if isinstance(part, Call):
            body = assembly.functions[part.function].body
            if not all(_reads_constants(inner, assembly) for inner in expressions_of(body)):
                return False
    return True
