"""A hot-water tank with three faults in its controller.  Time is in minutes."""

from __future__ import annotations

import math

import numpy as np

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import system

TARGET, FULL, COLD = 60.0, 95.0, 12.0
"""Set point, temperature that the element reaches if left on, and temperature of the fresh water [degC]."""
HEATING, SHOWER, BATH, COOLING = 1 / 40, 1 / 14, 1 / 30, 1 / 600
"""Rates of change per minute."""
SAFE = 8.0
"""Fault 1: for so long after the tap was closed the mixing valve stays in its safe position, and lets cold water in."""
STUCK = 3
"""Fault 3: so many boosts within one use make the controller forget to end them."""


@system(inputs={"tap": "1", "boost": "1"}, outputs={"T": "degC"})
def water_tank(stimulus: Stimulus) -> dict[str, list[float]]:
    """Temperature of the tank; `tap` is 0 closed, 1 shower, 2 bath, and `boost` counts the presses of its button."""
    tank = _Tank()
    temperatures = [tank.temperature]
    inputs = zip(stimulus.inputs["tap"], stimulus.inputs["boost"], np.diff(stimulus.times), strict=False)
    for tap, boosts, duration in inputs:
        temperatures.append(tank.run(int(tap), int(boosts), float(duration)))
    return {"T": temperatures}


class _Tank:
    def __init__(self) -> None:
        self.temperature, self.time = TARGET, 0.0
        self._tap, self._boosts = 0, 0
        self._closed = -math.inf
        """Time at which the tap was closed last."""
        self._boosted = -math.inf
        """End of the last boost."""
        self._early = False
        """The tap was opened again too early."""

    def run(self, tap: int, boosts: int, duration: float) -> float:
        if self._tap and not tap:
            self._closed = self.time
        if tap and not self._tap:
            self._early = self.time - self._closed < SAFE
        if boosts > self._boosts:
            # Fault 2: a boost during a bath adds the time that the bath still takes once more.
            self._boosted = self.time + (30.0 if tap == 2 else 4.0)
        self._tap, self._boosts = tap, boosts
        boosting = self.time < self._boosted or boosts >= STUCK
        heats = boosting or self.temperature < TARGET
        towards, rate = (FULL, HEATING) if heats else (COLD, COOLING)
        drawn = {0: 0.0, 1: SHOWER, 2: BATH}[tap] * (6 if self._early else 1)
        # Both pull at the temperature at the same time.
        total = rate + drawn
        goal = (rate * towards + drawn * COLD) / total
        self.temperature = goal + (self.temperature - goal) * math.exp(-total * duration)
        self.time += duration
        return self.temperature
