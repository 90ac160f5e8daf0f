"""How the reals change while time passes: exactly when all rates are constant, by Runge–Kutta otherwise.

A rate is constant when its expression can be evaluated without reading a clock that itself moves.  Then each real is an
affine function of the delay, and everything stays exact.  Otherwise (ODEs) the values come from a fixed-step fourth
order Runge–Kutta of the interpreter's own, in float64: approximate, with the step the caller chose.
"""

from __future__ import annotations

from fractions import Fraction

from bbfalsify.modelling.network.expressions import Expression, Kind
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.evaluation import Machine, Memory
from bbfalsify.modelling.reference.values import UNKNOWN, DependsOnDraw, Sample, Value, affine


def rate_expressions(network: Network, locations: tuple[int, ...]) -> dict[int, Expression]:
    """Slot of a clock to the rate the current locations give it; clocks not named here flow at rate 1."""
    return {
        rate.slot: rate.expression
        for process, location in zip(network.processes, locations, strict=True)
        for rate in process.locations[location].rates
    }


def clock_slots(network: Network) -> list[int]:
    return [v.slot + i for v in network.variables if v.kind is Kind.CLOCK for i in range(v.size)]


class Flow:
    """The reals as functions of the delay, from one state on."""

    def __init__(
        self, network: Network, locations: tuple[int, ...], integers: tuple[int, ...], reals: tuple, *, step: float
    ) -> None:
        self._network = network
        self._locations = locations
        self._integers = integers
        self._reals = reals
        self._step = step
        self._expressions = rate_expressions(network, locations)
        self._clocks = clock_slots(network)
        self._path: list[list[float]] = []
        self.rates: list[Fraction] | None = self._constant_rates()
        """One per real, or None where some rate is not constant."""

    @property
    def linear(self) -> bool:
        return self.rates is not None

    def symbolic(self) -> list[Value]:
        """Every real as a function of the delay; only when linear."""
        return [affine(Fraction(value), rate) for value, rate in zip(self._reals, self.rates, strict=True)]

    def concrete(self, delay: Fraction | float) -> list[Value]:
        """Every real at this delay; exact when linear and the delay is a fraction."""
        if self.linear:
            return [value + rate * delay for value, rate in zip(self._reals, self.rates, strict=True)]
        whole = int(delay / self._step)
        self._path = self._path or [[float(r) for r in self._reals]]
        while len(self._path) <= whole:
            self._path.append(self._runge_kutta(self._path[-1], self._step))
        return self._runge_kutta(self._path[whole], float(delay) - whole * self._step)

    def _constant_rates(self) -> list[Fraction] | None:
        rates: list[Fraction | None] = [Fraction(0)] * len(self._reals)
        for slot in self._clocks:
            rates[slot] = None if slot in self._expressions else Fraction(1)
        found = True
        while found and None in rates:
            found = False
            still = [value if rate == 0 else UNKNOWN for value, rate in zip(self._reals, rates, strict=True)]
            for slot in self._expressions:
                if rates[slot] is None:
                    rates[slot] = self._rate(slot, still)
                    found = found or rates[slot] is not None
        return None if None in rates else rates

    def _rate(self, slot: int, reals: list[Value]) -> Fraction | None:
        """The rate if it depends on no real that moves (those are UNKNOWN here)."""
        machine = Machine(self._network, self._memory(reals), Sample(Fraction(0), set()))
        try:
            value = machine.value(self._expressions[slot], {})
        except DependsOnDraw:
            return None
        return None if value is UNKNOWN else Fraction(value)

    def _slopes(self, reals: list[float]) -> list[float]:
        slopes = [0.0] * len(reals)
        machine = Machine(self._network, self._memory(list(reals)), Sample(Fraction(0), set()))
        for slot in self._clocks:
            expression = self._expressions.get(slot)
            slopes[slot] = 1.0 if expression is None else float(machine.value(expression, {}))
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

    def _memory(self, reals: list[Value]) -> Memory:
        return Memory(list(self._locations), list(self._integers), reals)
