"""A hot-water tank with three faults in its controller.  Time is in minutes."""

from __future__ import annotations

import math

import numpy as np

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import system

TARGET, FULL, COLD = 60.0, 95.0, 12.0
"""Set point, temperature that the element reaches if left on, and temperature of the fresh water [degC]."""
HEATING, SHOWER, BATH, COOLING = 1 / 40, 1 / 40, 1 / 30, 1 / 600
"""Rates of change per minute."""
BOOST = 3.0
"""Duration of a boost."""
SAFE = 5.0
"""Fault 1: for so long after the tap was closed the mixing valve of the shower stays in its safe position, and lets
cold water in."""
BOTH = 10.0
"""Fault 2: a boost during a bath switches a second, stronger element on, for so long."""
STUCK = 3
"""Fault 3: so many boosts within one use make the controller forget to end them."""


@system(inputs={"tap": "1", "boost": "1"}, outputs={"T": "degC"}, parameters={"faults": 1.0})
def water_tank(stimulus: Stimulus, faults: float = 1.0) -> dict[str, list[float]]:
    """Temperature of the tank; `tap` is 0 closed, 1 shower, 2 bath, and `boost` counts the presses of its button."""
    tank = _Tank(faults=faults > 0)
    temperatures = [tank.temperature]
    inputs = zip(stimulus.inputs["tap"], stimulus.inputs["boost"], np.diff(stimulus.times), strict=False)
    for tap, boosts, duration in inputs:
        temperatures.append(tank.run(int(tap), int(boosts), float(duration)))
    return {"T": temperatures}


class _Tank:
    def __init__(self, *, faults: bool) -> None:
        self.temperature, self.time, self.faults = TARGET, 0.0, faults
        self._tap, self._boosts = 0, 0
        self._closed = -math.inf
        """Time at which the tap was closed last."""
        self._boosted = self._both = -math.inf
        """End of the last boost, and of the second element."""
        self._early = False
        """The shower was opened again too early."""

    def run(self, tap: int, boosts: int, duration: float) -> float:
        if self._tap and not tap:
            self._closed = self.time
        if tap and not self._tap:
            self._early = self.faults and tap == 1 and self.time - self._closed < SAFE
        if boosts > self._boosts:
            self._boosted = self.time + BOOST
            if self.faults and tap == 2:
                self._both = self.time + BOTH
        self._tap, self._boosts = tap, boosts
        heats = self.time < self._boosted or self.temperature < TARGET or (self.faults and boosts >= STUCK)
        towards, rate = (FULL, HEATING) if heats else (COLD, COOLING)
        if self.time < self._both:
            towards, rate = FULL, 5 * HEATING
        drawn = {0: 0.0, 1: SHOWER, 2: BATH}[tap] * (8 if self._early else 1)
        # Both pull at the temperature at the same time.
        total = rate + drawn
        goal = (rate * towards + drawn * COLD) / total
        self.temperature = goal + (self.temperature - goal) * math.exp(-total * duration)
        self.time += duration
        return self.temperature
