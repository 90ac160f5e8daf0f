"""Arithmetic of the reference interpreter: exact numbers that may depend on the delay.

While time passes at constant rates every real is an affine function `constant + slope · d` of the delay d (`Affine`).
Where a decision — a comparison, min, max, abs — depends on one, it is taken at a sample delay, and the delay at which
it would flip is recorded as a **breakpoint**.  Between two neighbouring breakpoints every decision is the same, so that
evaluating the breakpoints and one point of each gap settles all delays (`delay_sets.solve`).

Values: `int` (integers and Booleans), `Fraction` (exact reals), `float` (only in models that are not linear in time),
`Affine` (reals that depend on the delay), `UNKNOWN` (a random draw that has not been made).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final, Protocol

from bbfalsify.core.errors import BBFalsifyError, InvariantViolated
from bbfalsify.modelling.language.folding import BITWISE, COMPARISONS, FLOAT_FUNCTIONS, truncated_quotient


class ModelRuntimeError(BBFalsifyError):
    """A run-time error of the model: a range, a bound, a division by zero, an endless loop."""

    def __init__(self, kind: str, message: str, *, variable: str | None = None, edge: str | None = None) -> None:
        self.kind = kind
        """range, bounds, division, domain, loop, weight"""
        self.variable = variable
        self.edge = edge
        self.message = message
        super().__init__(message + (f" (in {edge})" if edge else ""))


class NotAffine(BBFalsifyError):
    """The value is not affine in the delay, so the exact method does not apply."""


class DependsOnDraw(BBFalsifyError):
    """The decision depends on a random draw that has not been made."""


class Unknown(Enum):
    """The result of a random draw that is not made, because transitions are only listed."""

    VALUE = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown.VALUE

Real = Fraction | float
Exact = int | Fraction
"""An exact real; `long_replay` keeps whole ones as `int`."""
Number = int | float | Fraction


@dataclass(slots=True)
class Affine:
    constant: Exact
    slope: Exact
    """Never 0: `affine` returns a plain Fraction then."""

    def at(self, delay: Real) -> Real:
        return self.constant + self.slope * delay


Value = int | float | Fraction | Affine | Unknown


def fraction(value: Number) -> Fraction:
    """The number as a fraction; one that is one already is not made again."""
    return value if type(value) is Fraction else Fraction(value)


def simplest(value: Exact) -> Exact:
    """A whole number as an `int`, whose arithmetic is many times faster than that of fractions."""
    return value if type(value) is int or value.denominator != 1 else value.numerator


def affine(constant: Number, slope: Number) -> Fraction | Affine:
    return Affine(fraction(constant), fraction(slope)) if slope != 0 else fraction(constant)


def at_delay(value: Value, delay: Real) -> Number:
    """The number at a delay; DependsOnDraw if it is unknown."""
    if value is UNKNOWN:
        raise DependsOnDraw("a decision depends on a random draw")
    return value.at(delay) if isinstance(value, Affine) else value


def _parts(value: Number | Affine) -> tuple[Number, Number]:
    return (value.constant, value.slope) if isinstance(value, Affine) else (value, 0)


def wrapped(value: Value) -> Value:
    """An integer in two's complement of 64 bits; reals that are whole numbers must not get here."""
    return value if value is UNKNOWN or not isinstance(value, int) else _in_64_bits(value)


def _in_64_bits(value: int) -> int:
    return value if _LEAST <= value < -_LEAST else (value - _LEAST) % 2**64 + _LEAST


_LEAST = -(2**63)


def add(left: Value, right: Value) -> Value:
    if type(left) is int and type(right) is int:
        return left + right
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, Affine) or isinstance(right, Affine):
        (a, b), (c, d) = _parts(left), _parts(right)
        return affine(a + c, b + d)
    return left + right


def negate(value: Value) -> Value:
    if value is UNKNOWN:
        return UNKNOWN
    return affine(-value.constant, -value.slope) if isinstance(value, Affine) else -value


def subtract(left: Value, right: Value) -> Value:
    if type(left) is int and type(right) is int:
        return left - right
    return add(left, negate(right))


def multiply(left: Value, right: Value) -> Value:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, Affine):
        if isinstance(right, Affine):
            raise NotAffine("a product of two values that both depend on the delay")
        return affine(left.constant * right, left.slope * right)
    if isinstance(right, Affine):
        return affine(left * right.constant, left * right.slope)
    return left * right


def divide(left: Value, right: Value, *, integer: bool) -> Value:
    """Divide as C does: truncated for integers; a division by zero is an error for reals too."""
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(right, Affine):
        raise NotAffine("a division by a value that depends on the delay")
    if right == 0:
        raise ModelRuntimeError("division", "division by zero")
    if integer:
        return _in_64_bits(truncated_quotient(*_integers(left, right)))
    if isinstance(left, Affine):
        return affine(fraction(left.constant) / right, fraction(left.slope) / right)
    return Fraction(left) / right if isinstance(left, int) else left / right


def remainder(left: Value, right: Value) -> Value:
    """C's `%`: the sign of the dividend."""
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    dividend, divisor = _integers(left, right)
    if divisor == 0:
        raise ModelRuntimeError("division", "remainder by zero")
    return dividend - divisor * truncated_quotient(dividend, divisor)


def _integers(left: Value, right: Value) -> tuple[int, int]:
    if not (isinstance(left, int) and isinstance(right, int)):
        raise InvariantViolated(f"integers expected, found {left!r} and {right!r}")
    return left, right


def bitwise(operator: str, left: Value, right: Value) -> Value:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    a, b = _integers(left, right)
    if operator in BITWISE:
        return BITWISE[operator](a, b)
    if not 0 <= b < 64:
        raise ModelRuntimeError("domain", f"shift by {b}; allowed are 0 to 63")
    return _in_64_bits(a << b) if operator == "<<" else a >> b


class Breakpoints(Protocol):
    def add(self, point: Exact, /) -> None: ...


@dataclass
class Sample:
    """A delay at which decisions are taken, and the delays at which those decisions would flip."""

    delay: Real
    breakpoints: Breakpoints

    def sign(self, value: Value) -> int:
        if isinstance(value, Affine):
            root = -value.constant if value.slope == 1 else -fraction(value.constant) / value.slope
            if root >= 0 if type(root) is int else root.numerator >= 0:
                self.breakpoints.add(root)
            side = (self.delay > root) - (self.delay < root)
            return side if value.slope > 0 else -side
        number = at_delay(value, self.delay)
        return (number > 0) - (number < 0)

    def compare(self, operator: str, left: Value, right: Value) -> bool:
        if isinstance(left, Affine) and isinstance(right, int | Fraction):
            return COMPARISONS[operator](self.sign(Affine(left.constant - right, left.slope)), 0)
        return COMPARISONS[operator](self.sign(subtract(left, right)), 0)

    def truth(self, value: Value) -> bool:
        return self.sign(value) != 0


def apply_builtin(name: str, arguments: list[Value], sample: Sample) -> Value:
    """Apply a function; abs, min and max keep affine values, all others need values independent of the delay."""
    known = [a for a in arguments if a is not UNKNOWN]
    if len(known) < len(arguments):
        return UNKNOWN
    if name == "abs":
        return negate(known[0]) if sample.sign(known[0]) < 0 else known[0]
    if name in ("min", "max"):
        left, right = known
        first_is_smaller = sample.sign(subtract(left, right)) <= 0
        return left if first_is_smaller == (name == "min") else right
    numbers = [a for a in known if not isinstance(a, Affine)]
    if len(numbers) < len(known):
        raise NotAffine(f"{name} of a value that depends on the delay")
    if name in _EXACT_FUNCTIONS:
        return _EXACT_FUNCTIONS[name](*(Fraction(a) for a in numbers))
    approximate = any(isinstance(a, float) for a in numbers)
    try:
        result = FLOAT_FUNCTIONS[name](*(float(a) for a in numbers))
    except (ValueError, OverflowError, ZeroDivisionError):
        result = math.nan
    if not math.isfinite(result):
        shown = ", ".join(str(float(a)) for a in numbers)
        raise ModelRuntimeError("domain", f"{name}({shown}) has no finite value")
    return result if approximate else Fraction(result)


def _fmod(left: Fraction, right: Fraction) -> Fraction:
    if right == 0:
        raise ModelRuntimeError("division", "fmod by zero")
    return left - right * math.trunc(left / right)


_EXACT_FUNCTIONS: dict[str, Callable[..., int | Fraction]] = {
    "floor": lambda a: Fraction(math.floor(a)),
    "ceil": lambda a: Fraction(math.ceil(a)),
    "fint": math.trunc,
    "fmod": _fmod,
}
