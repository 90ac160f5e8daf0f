"""RTAMT as a second judge: `bbfalsify monitor --monitor rtamt`, and the reference in tests.

RTAMT only computes robustness, as if the trace held everything that matters, so the verdict is its sign: a bound that
lies behind the trace makes nothing inconclusive, and a violation has no time.  Formulas are translated to its text;
its traps (`a - b + c` means `a - (b + c)`, `x/2` is a name) are avoided by parentheses and new names of signals.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.logic.stl import formula as stl
from bbfalsify.logic.stl.requirement import Requirement

if TYPE_CHECKING:
    import numpy as np

_TRUE = "vtrue"
"""Signal that is infinite all the time: RTAMT has no constants true and false."""


def judge(requirement: Requirement, times: np.ndarray, signals: Mapping[str, np.ndarray]) -> Judgement:
    """Judge one trace by the sign of RTAMT's robustness; zero is inconclusive."""
    names = {name: f"v{number}" for number, name in enumerate(requirement.formula.signals)}
    discrete = requirement.time == "discrete"
    unit = requirement.period or (float(times[1] - times[0]) if len(times) > 1 else 1.0)
    text = to_rtamt(requirement.formula.root, names, unit if discrete else None)
    values = {short: signals[name] for name, short in names.items()}
    try:
        robustness = evaluate(text, times, {**values, _TRUE: [math.inf] * len(times)}, discrete=discrete)
    except (ArithmeticError, LookupError, RecursionError, RuntimeError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise UserError(Problem(f"RTAMT cannot judge '{requirement.formula}' ({reason}).")) from None
    verdict = Verdict.SATISFIED if robustness > 0 else Verdict.VIOLATED if robustness < 0 else Verdict.INCONCLUSIVE
    return Judgement(verdict, robustness)


def evaluate(text: str, times: np.ndarray, signals: Mapping[str, Any], *, discrete: bool = False) -> float:
    """Return RTAMT's robustness of a formula in its own syntax, at the first sample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its parser's old runtime imports typing.io
        try:
            import rtamt
        except ImportError:
            raise UserError(
                Problem("the package rtamt is not installed (it needs Python 3.12 or older): pip install rtamt.")
            ) from None
    spec = rtamt.StlDiscreteTimeSpecification() if discrete else rtamt.StlDenseTimeSpecification()
    for name in signals:
        spec.declare_var(name, "float")
    spec.spec = text
    try:
        spec.parse()
        if discrete:
            samples = {name: [float(value) for value in values] for name, values in signals.items()}
            return float(spec.evaluate({"time": list(range(len(times))), **samples})[0][1])
        traces = [
            [name, [[float(t), float(v)] for t, v in zip(times, values, strict=True)]]
            for name, values in signals.items()
        ]
        return float(spec.evaluate(*traces)[0][1])
    except rtamt.RTAMTException as error:
        raise ValueError(str(error)) from None


def to_rtamt(node: Any, names: Mapping[str, str], period: float | None) -> str:
    """Write a part of a formula for RTAMT; with a period, bounds are counted in samples."""

    def write(part: Any) -> str:
        return to_rtamt(part, names, period)

    match node:
        case stl.Signal(name):
            return names[name]
        case stl.Number(value):
            return f"({_number(value)})" if value < 0 else _number(value)
        case stl.Truth(value):
            return f"({_TRUE} {'>=' if value else '<='} 0)"
        case stl.Function(name, argument):
            return f"{name}({write(argument)})"
        case stl.Arithmetic("pow", left, right):
            return f"pow({write(left)}, {write(right)})"
        case stl.Arithmetic(operator, left, right):
            return f"({write(left)} {operator} {write(right)})"
        case stl.Compare(operator, left, right):
            return f"({write(left)} {'!==' if operator == '!=' else operator} {write(right)})"
        case stl.Connective(operator, left, right):
            return f"({write(left)} {operator} {write(right)})"
        case stl.Not(body):
            return f"(not {write(body)})"
        case stl.Step(operator, body):
            return f"({operator}({write(body)}))"
        case stl.Window(operator, lower, upper, body) if lower > 0 and math.isinf(upper):
            return f"({operator}{_interval(lower, lower, period)} ({operator} {write(body)}))"
        case stl.Window(operator, lower, upper, body):
            return f"({operator}{_interval(lower, upper, period)} {write(body)})"
        case stl.Reach(operator, lower, upper, left, right):
            return f"({write(left)} {operator}{_interval(lower, upper, period)} {write(right)})"
    raise TypeError(f"not part of a formula: {node!r}")


def _interval(lower: float, upper: float, period: float | None) -> str:
    if math.isinf(upper):
        if lower > 0:
            raise UserError(Problem(f"RTAMT has no interval [{stl.render_number(lower)}:inf] of until and since."))
        return ""
    if period is None:
        return f"[{_number(lower)}:{_number(upper)}]"
    return f"[{round(lower / period)}:{round(upper / period)}]"


def _number(value: float) -> str:
    """Write a number without exponent."""
    return f"{Decimal(repr(value)):f}"
