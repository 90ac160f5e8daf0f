"""Curves over time: the same question with other bounds of time.

at_time(question, 5.0)
"""

from __future__ import annotations

import math
from dataclasses import replace

from bbfalsify.core.errors import UserError
from bbfalsify.engines.estimation.questions import Question
from bbfalsify.logic import csl


def at_time(question: Question, time: float) -> Question:
    """The question with this bound of time instead of its own."""
    formula = None if question.formula is None else _formula_at(question.formula, time)
    path = question.path
    if path is not None and path.limit < math.inf:
        path = replace(path, limit=time)
    if (formula is None and path is None) or question.other is not None or question.expression is not None:
        raise UserError(f"query '{question.text}': a curve over time needs one bound of time, such as F<=10.")
    return replace(question, formula=formula, path=path, limit=time)


def _formula_at(formula: csl.Formula, time: float) -> csl.Formula | None:
    match formula:
        case csl.Probability(path, _) if isinstance(path, csl.Until | csl.Globally) and path.high < math.inf:
            low = time if path.low == path.high else path.low
            if low > time:
                raise UserError(f"a curve over time begins at {low:g}, where the interval of the query begins.")
            return replace(formula, path=replace(path, low=low, high=time))
        case csl.Reward(_, kind, _, _, _) if kind in ("up to", "at"):
            return replace(formula, time=time)
    return None
