"""A house with a thermostat in the weather: the public `sldemo_househeat` as constants and one linear equation.

Heater on: T' = a (50 - T) - b (T - T_out).  Heater off: T' = -b (T - T_out).  The thermostat switches on at 65 °F and
off at 75 °F.  Time is in hours, temperatures are in °C.  The equations are in thermal_house_model.py.

The house reads the outdoor temperature once per hour, at the first sample of the hour, and keeps it until the next hour
begins: samples in between (the weather's events) get the exact solution of the equation, but do not move T_out.
"""

from __future__ import annotations

import math

import numpy as np
from thermal_house_model import START, advance

from bbfalsify.core.trace import Stimulus
from bbfalsify.jit import jit
from bbfalsify.systems import system

later = jit(advance)


@jit
def temperatures(times: np.ndarray, outdoor: np.ndarray) -> np.ndarray:
    """The room temperature at each of `times` [h]; it starts at 20 °C with the heater off."""
    result = np.empty(len(times))
    room, heating = START, False
    hour, held = -1.0, 0.0
    for i in range(len(times)):
        result[i] = room
        if math.floor(times[i]) > hour:
            hour, held = math.floor(times[i]), outdoor[i]
        if i + 1 < len(times):
            room, heating = later(room, heating, held, times[i + 1] - times[i])
    return result


@system(inputs={"T_out": "degC"}, outputs={"T": "degC"})
def thermal_house(stimulus: Stimulus) -> dict[str, np.ndarray]:
    """The room temperature of the house in this weather."""
    return {"T": temperatures(stimulus.times, stimulus.inputs["T_out"])}
