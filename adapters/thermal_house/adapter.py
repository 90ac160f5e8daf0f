"""A house with a thermostat in the weather: the public `sldemo_househeat` as constants and one linear equation.

Heater on: T' = a (50 - T) - b (T - T_out).  Heater off: T' = -b (T - T_out).  The thermostat switches on at 65 °F and
off at 75 °F.  Time is in hours, temperatures are in °C.

The house reads the outdoor temperature once per hour, at the first sample of the hour, and keeps it until the next hour
begins: samples in between (the weather's events) get the exact solution of the equation, but do not move T_out.
With T_out held, T is an exponential between two switches of the thermostat, and the moment of a switch is a logarithm:
nothing is integrated numerically.
"""

from __future__ import annotations

import math

import numpy as np

from bbfalsify.core.jit import jit
from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import system

# The building [m, m2, rad].
LENGTH, WIDTH, HEIGHT, ROOF_PITCH = 30.0, 10.0, 4.0, math.radians(40.0)
WINDOW_AREA = 6 * 1.0 * 1.0
WALL_AREA = (
    2 * LENGTH * HEIGHT
    + 2 * WIDTH * HEIGHT
    + 2 * (1 / math.cos(ROOF_PITCH / 2)) * WIDTH * LENGTH
    + math.tan(ROOF_PITCH) * WIDTH
    - WINDOW_AREA
)
VOLUME = LENGTH * WIDTH * HEIGHT + math.tan(ROOF_PITCH) * WIDTH * LENGTH
# Thermal resistances [h K/J]: glass wool and glass, conductivities in J/(h m K), in parallel.
WALL = 0.2 / (0.038 * 3600 * WALL_AREA)
WINDOWS = 0.01 / (0.78 * 3600 * WINDOW_AREA)
RESISTANCE = WALL * WINDOWS / (WALL + WINDOWS)
# The air [kg, J/(kg K)] and the heater [°C, kg/h].
AIR_MASS = VOLUME * 1.2250
AIR_HEAT = 1005.4
HEATER_AIR, HEATER_FLOW = 50.0, 3600.0

HEATING_RATE = HEATER_FLOW / AIR_MASS
"""a: how fast the heater replaces the air [1/h]."""
LOSS_RATE = 1 / (RESISTANCE * AIR_MASS * AIR_HEAT)
"""b: how fast the house follows the weather [1/h]."""
SWITCH_ON, SWITCH_OFF = (65.0 - 32.0) * 5 / 9, (75.0 - 32.0) * 5 / 9
START = 20.0


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
        left = times[i + 1] - times[i] if i + 1 < len(times) else 0.0
        while left > 0.0:
            rate = HEATING_RATE + LOSS_RATE if heating else LOSS_RATE
            target = (HEATING_RATE * HEATER_AIR + LOSS_RATE * held) / rate if heating else held
            threshold = SWITCH_OFF if heating else SWITCH_ON
            passes = target > threshold if heating else target < threshold
            until_switch = math.log((room - target) / (threshold - target)) / rate if passes else math.inf
            if until_switch < left:
                room, heating = threshold, not heating
                left -= max(until_switch, 0.0)
            else:
                room = target + (room - target) * math.exp(-rate * left)
                left = 0.0
    return result


@system(inputs={"T_out": "degC"}, outputs={"T": "degC"})
def thermal_house(stimulus: Stimulus) -> dict[str, np.ndarray]:
    """The room temperature of the house in this weather."""
    return {"T": temperatures(stimulus.times, stimulus.inputs["T_out"])}
