"""The reals as functions of the delay: exact where all rates are constant, by Runge–Kutta otherwise.

A rate is constant if its expression reads no clock that itself moves.  Then each real is an affine function of the
delay.  Otherwise (ODEs) the values come from a fixed-step fourth-order Runge–Kutta method in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bbfalsify.modelling.network.expressions import Expression, Kind
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference import exact_values as exact
from bbfalsify.modelling.reference.evaluation import Evaluator, Memory
from bbfalsify.modelling.reference.exact_code import ExactCode


def rate_expressions(network: Network, locations: Sequence[int]) -> dict[int, Expression]:
    """Slot of a clock → its rate in these locations; all other clocks have rate 1."""
    return {
        rate.slot: rate.expression
        for process, location in zip(network.processes, locations, strict=True)
        for rate in process.locations[location].rates
    }


def clock_slots(network: Network) -> list[int]:
    return [v.slot + i for v in network.variables if v.kind is Kind.CLOCK for i in range(v.size)]


class RealFlow:
    """The reals as functions of the delay since one state."""

    def __init__(
        self,
        code: ExactCode,
        locations: Sequence[int],
        integers: Sequence[int],
        reals: Sequence[exact.Real],
        *,
        step: float,
    ) -> None:
        self._code = code
        self._locations = locations
        self._integers = integers
        self._reals = reals
        self._step = step
        self._expressions = rate_expressions(code.network, locations)
        self._clocks = clock_slots(code.network)
        self._path: list[list[float]] = []
        self.rates: list[Fraction] | None = self._constant_rates()
        """One per real, or None where some rate is not constant."""

    @property
    def linear(self) -> bool:
        return self.rates is not None

    def symbolic(self) -> list[exact.Value]:
        """Every real as a function of the delay; NotAffine if a rate is not constant."""
        if self.rates is None:
            raise exact.NotAffine("a rate is not constant")
        return [exact.affine(value, rate) for value, rate in zip(self._reals, self.rates, strict=True)]

    def concrete(self, delay: exact.Real) -> list[exact.Real]:
        """Every real at this delay; exact if all rates are constant and the delay is a fraction."""
        if self.rates is not None:
            return [value + rate * delay for value, rate in zip(self._reals, self.rates, strict=True)]
        whole = int(delay / self._step)
        self._path = self._path or [[float(r) for r in self._reals]]
        while len(self._path) <= whole:
            self._path.append(self._runge_kutta(self._path[-1], self._step))
        return list(self._runge_kutta(self._path[whole], float(delay) - whole * self._step))

    def _constant_rates(self) -> list[Fraction] | None:
        rates: list[Fraction | None] = [Fraction(0)] * len(self._reals)
        for slot in self._clocks:
            rates[slot] = None if slot in self._expressions else Fraction(1)
        found = True
        while found and None in rates:
            found = False
            still: list[exact.Value] = [
                value if rate == 0 else exact.UNKNOWN for value, rate in zip(self._reals, rates, strict=True)
            ]
            for slot in self._expressions:
                if rates[slot] is None:
                    rates[slot] = self._rate(slot, still)
                    found = found or rates[slot] is not None
        known = [rate for rate in rates if rate is not None]
        return known if len(known) == len(rates) else None

    def _rate(self, slot: int, reals: list[exact.Value]) -> Fraction | None:
        """The rate if it depends on no moving real (those are UNKNOWN here), else None."""
        evaluator = Evaluator(self._code, self._memory(reals), exact.Sample(Fraction(0), set()))
        try:
            return Fraction(exact.at_delay(evaluator.value(self._expressions[slot]), 0))
        except exact.DependsOnDraw:
            return None

    def _slopes(self, reals: list[float]) -> list[float]:
        slopes = [0.0] * len(reals)
        evaluator = Evaluator(self._code, self._memory(list(reals)), exact.Sample(Fraction(0), set()))
        for slot in self._clocks:
            expression = self._expressions.get(slot)
            slopes[slot] = 1.0 if expression is None else float(exact.at_delay(evaluator.value(expression), 0))
        return slopes

    def _runge_kutta(self, start: list[float], step: float) -> list[float]:
        def moved(slopes: list[float], by: float) -> list[float]:
            return [value + by * slope for value, slope in zip(start, slopes, strict=True)]

        first = self._slopes(start)
        second = self._slopes(moved(first, step / 2))
        third = self._slopes(moved(second, step / 2))
        fourth = self._slopes(moved(third, step))
        mean = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(first, second, third, fourth, strict=True)]
        return moved(mean, step)

    def _memory(self, reals: list[exact.Value]) -> Memory:
        return Memory(list(self._locations), list(self._integers), reals)
