"""Evaluate calls whose value is known before the model runs: `const int LIMIT = largest(TABLE);`.

The reference interpreter executes the function.  It may read constants only: no variables, no random draws.
"""

from __future__ import annotations

from fractions import Fraction

from bbfalsify.modelling.language.scopes import Assembly
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.modelling.network.network import Network


def constant_value(expression: Expression, assembly: Assembly) -> Expression:
    """Return a constant if the value is known, else the expression; raise ModelRuntimeError if the function fails."""
    if isinstance(expression, Constant) or not _known(expression, assembly):
        return expression
    from bbfalsify.modelling.reference.evaluation import Evaluator, Memory
    from bbfalsify.modelling.reference.exact_code import ExactCode
    from bbfalsify.modelling.reference.exact_values import Sample, at_delay

    network = Network(
        "constants", tuple(assembly.variables), (), tuple(assembly.functions), (), len(assembly.integer_ranges),
        assembly.real_count,
    )  # fmt: skip
    memory = Memory([], list(network.initial_integers()), list(network.initial_reals()))
    value = at_delay(Evaluator(ExactCode(network), memory, Sample(0, set())).value(expression), 0)
    kind = Kind.DOUBLE if expression.kind.is_real else expression.kind
    return Constant(Fraction(value) if kind is Kind.DOUBLE else int(value), kind)


def _known(expression: Expression, assembly: Assembly) -> bool:
    effects = EffectAnalysis(assembly.functions).expression(expression)
    constant = assembly.constant_places()
    return not effects.random and not effects.writes and effects.reads <= constant
