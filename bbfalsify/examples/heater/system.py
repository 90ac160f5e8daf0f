"""A room with a heater, the running example of usage-aware falsification.

While the heater is on the temperature follows T' = 10 - T/10, while it is off T' = -T/10; it starts at 0 and off.
Between two samples the input is held, so each step is solved exactly.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import system

TIME_CONSTANT_S = 10.0
HIGHEST = 100.0
"""Limit of the temperature while the heater is on."""


@system(inputs={"heat": "1"}, outputs={"T": "degC"})
def heater(stimulus: Stimulus) -> dict[str, np.ndarray]:
    """Temperature of the room; `heat` is 1 while the heater is on and 0 while it is off."""
    decays = np.exp(np.diff(stimulus.times) / -TIME_CONSTANT_S).tolist()
    targets = (HIGHEST * stimulus.inputs["heat"][:-1]).tolist()
    temperature = 0.0
    temperatures = [temperature]
    for decay, target in zip(decays, targets, strict=True):
        temperature = target + (temperature - target) * decay
        temperatures.append(temperature)
    return {"T": np.array(temperatures)}
