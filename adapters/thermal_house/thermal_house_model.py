"""The equations of the house in plain Python, for the adapter (which compiles them) and the FMU (which packs them).

Heater on: T' = a (50 - T) - b (T - T_out).  Heater off: T' = -b (T - T_out).  With T_out held, T is an exponential
between two switches of the thermostat, and the moment of a switch is a logarithm: nothing is integrated numerically.
"""

import math

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


def advance(room, heating, outdoor, hours):
    """The room and whether it is heated, so many hours later, with the outdoor temperature held."""
    left = hours
    while left > 0.0:
        rate = HEATING_RATE + LOSS_RATE if heating else LOSS_RATE
        target = (HEATING_RATE * HEATER_AIR + LOSS_RATE * outdoor) / rate if heating else outdoor
        threshold = SWITCH_OFF if heating else SWITCH_ON
        passes = target > threshold if heating else target < threshold
        until_switch = math.log((room - target) / (threshold - target)) / rate if passes else math.inf
        if until_switch < left:
            room, heating = threshold, not heating
            left -= max(until_switch, 0.0)
        else:
            room = target + (room - target) * math.exp(-rate * left)
            left = 0.0
    return room, heating
