"""Equations, tables and constants of the automatic transmission of the ARCH competition.

Engine speed and wheel speed are integrated with the fixed step of 0.01 s by the fifth-order formula of Dormand and
Prince (Simulink's ode5); the shift logic is a chart that is looked at every 0.04 s.  Inputs are read at every step.
"""

import math

import numpy as np

from bbfalsify.jit import jit

STEP = 0.01
CHART_STEPS = 4
"""Steps between two looks at the shift logic."""
WAIT_TICKS = 2
"""Looks for which a speed has to stay beyond its threshold before the gear is shifted."""

ENGINE_INERTIA = 0.021991488283555904
IDLE_RPM, SLOWEST_RPM, FASTEST_RPM = 1000.0, 600.0, 6000.0
VEHICLE_INERTIA = 12.094147857312473
FINAL_DRIVE = 3.23
GEAR_RATIOS = np.array([2.393, 1.450, 1.000, 0.677])
MPH_PER_WHEEL_RPM = 2 * math.pi * 1.0 * 60 / 5280

# Engine torque over throttle (rows) and engine speed (columns).
THROTTLES = np.array([0.0, 20, 30, 40, 50, 60, 70, 80, 90, 100])
ENGINE_SPEEDS = np.arange(800.0, 4801.0, 400.0)
ENGINE_TORQUE = np.array(
    [
        [-40.0, -44, -49, -53, -57, -61, -65, -70, -74, -78, -82],
        [215, 117, 85, 66, 44, 29, 10, -2, -13, -22, -32],
        [245, 208, 178, 148, 122, 104, 85, 66, 48, 33, 18],
        [264, 260, 241, 219, 193, 167, 152, 133, 119, 96, 85],
        [264, 279, 282, 275, 260, 238, 223, 208, 189, 171, 152],
        [267, 290, 293, 297, 290, 275, 260, 256, 234, 212, 193],
        [267, 297, 305, 305, 305, 301, 293, 282, 267, 249, 226],
        [267, 301, 308, 312, 319, 323, 319, 316, 297, 279, 253],
        [267, 301, 312, 319, 327, 327, 327, 327, 312, 293, 267],
        [267, 301, 312, 319, 327, 334, 334, 334, 319, 305, 275],
    ]
)
# Torque converter: capacity and torque ratio over the ratio of its two speeds.
SPEED_RATIOS = np.array(
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, 0.87, 0.88, 0.89, 0.9, 0.92, 0.94]
)
CAPACITIES = np.array(
    [
        137.4652089938063, 137.06501915685197, 135.86444964598905, 135.6643547275119, 137.56525645304487,
        140.3665853117251, 145.2689108144154, 152.87251771654735, 162.97731109964374, 164.2779280697452,
        166.17882979527823, 167.97968406157264, 170.08068070558275, 172.78196210502438, 175.3831960452274,
        179.58518933324765, 183.58708770279083, 189.8900776348212, 197.69377945543027, 215.90241703685155,
        244.51599037908485,
    ]
)  # fmt: skip
TORQUE_RATIOS = np.array(
    [
        2.232, 2.075, 1.975, 1.846, 1.72, 1.564, 1.409, 1.254, 1.096, 1.08, 1.061, 1.043, 1.028, 1.012, 1.002, 1.002,
        1.001, 0.998, 0.999, 1.001, 1.002,
    ]
)  # fmt: skip
# Shift speeds [mph] over throttle (rows) and gear (columns).
UP_THROTTLES = np.array([0.0, 25, 35, 50, 90, 100])
UP_SPEEDS = np.array(
    [
        [10.0, 30, 50, 1e6],
        [10, 30, 50, 1e6],
        [15, 30, 50, 1e6],
        [23, 41, 60, 1e6],
        [40, 70, 100, 1e6],
        [40, 70, 100, 1e6],
    ]
)
DOWN_THROTTLES = np.array([0.0, 5, 40, 50, 90, 100])
DOWN_SPEEDS = np.array(
    [[0.0, 5, 20, 35], [0, 5, 20, 35], [0, 5, 25, 40], [0, 5, 30, 50], [0, 30, 50, 80], [0, 30, 50, 80]]
)

# Dormand and Prince: what each stage takes of the slopes before it, and what the step takes of all.
STAGES = np.array(
    [
        [0.0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    ]
)
WEIGHTS = np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])


@jit
def place(points, value):
    """The interval of a table in which a value lies, and where in it; beyond the ends the last interval goes on."""
    low = min(max(np.searchsorted(points, value, side="right") - 1, 0), len(points) - 2)
    return low, (value - points[low]) / (points[low + 1] - points[low])


@jit
def shift_speed(throttles, speeds, throttle, gear):
    row, part = place(throttles, throttle)
    return speeds[row, gear] + part * (speeds[row + 1, gear] - speeds[row, gear])


@jit
def engine_torque(throttle, engine):
    row, down = place(THROTTLES, throttle)
    column, across = place(ENGINE_SPEEDS, engine)
    upper = ENGINE_TORQUE[row, column] + across * (ENGINE_TORQUE[row, column + 1] - ENGINE_TORQUE[row, column])
    lower = ENGINE_TORQUE[row + 1, column] + across * (
        ENGINE_TORQUE[row + 1, column + 1] - ENGINE_TORQUE[row + 1, column]
    )
    return upper + down * (lower - upper)


@jit
def slopes(engine, wheel, throttle, brake, gear):
    """Time derivatives of the engine's and the wheels' speed [rpm/s]; the engine's is limited to 600…6000 rpm."""
    ratio = GEAR_RATIOS[gear]
    cell, part = place(SPEED_RATIOS, FINAL_DRIVE * wheel * ratio / engine)
    capacity = CAPACITIES[cell] + part * (CAPACITIES[cell + 1] - CAPACITIES[cell])
    impeller = (engine / capacity) ** 2
    turbine = impeller * (TORQUE_RATIOS[cell] + part * (TORQUE_RATIOS[cell + 1] - TORQUE_RATIOS[cell]))
    speed = wheel * MPH_PER_WHEEL_RPM
    load = np.sign(speed) * (40.0 + 0.02 * speed**2 + brake)
    faster = (engine_torque(throttle, engine) - impeller) / ENGINE_INERTIA
    if (engine <= SLOWEST_RPM and faster < 0.0) or (engine >= FASTEST_RPM and faster > 0.0):
        faster = 0.0
    return faster, (FINAL_DRIVE * turbine * ratio - load) / VEHICLE_INERTIA


@jit
def advance(engine, wheel, throttle, brake, gear):
    """Both speeds, one step later."""
    rises = np.zeros((6, 2))
    for stage in range(6):
        at_engine, at_wheel = engine, wheel
        for earlier in range(stage):
            at_engine += STEP * STAGES[stage, earlier] * rises[earlier, 0]
            at_wheel += STEP * STAGES[stage, earlier] * rises[earlier, 1]
        rises[stage, 0], rises[stage, 1] = slopes(at_engine, at_wheel, throttle, brake, gear)
    for stage in range(6):
        engine += STEP * WEIGHTS[stage] * rises[stage, 0]
        wheel += STEP * WEIGHTS[stage] * rises[stage, 1]
    return min(max(engine, SLOWEST_RPM), FASTEST_RPM), wheel


@jit
def shift(gear, waiting, ticks, speed, throttle):
    """One look of the chart: gear (0…3), whether it waits to shift up (1) or down (-1), and for how many looks."""
    up = shift_speed(UP_THROTTLES, UP_SPEEDS, throttle, gear)
    down = shift_speed(DOWN_THROTTLES, DOWN_SPEEDS, throttle, gear)
    if waiting == 0:
        return gear, 1 if speed > up else -1 if speed < down else 0, 0
    ticks += 1
    if (waiting > 0 and speed < up) or (waiting < 0 and speed > down):
        return gear, 0, 0
    if ticks >= WAIT_TICKS:
        return min(max(gear + waiting, 0), 3), 0, 0
    return gear, waiting, ticks


@jit
def drive(times, throttles, brakes):
    """Speed [mph], engine speed [rpm] and gear at each of `times`: as they were at the last step before it."""
    speeds, engines, gears = np.empty(len(times)), np.empty(len(times)), np.empty(len(times))
    engine, wheel, gear, waiting, ticks = IDLE_RPM, 0.0, 0, 0, 0
    asked, given = 0, 0
    for step in range(int(times[-1] / STEP + 1e-6) + 1):
        now = step * STEP + 1e-9
        while given + 1 < len(times) and times[given + 1] <= now:
            given += 1
        speed = wheel * MPH_PER_WHEEL_RPM
        if step % CHART_STEPS == 0:
            gear, waiting, ticks = shift(gear, waiting, ticks, speed, throttles[given])
        while asked < len(times) and times[asked] < now + STEP - 2e-9:
            speeds[asked], engines[asked], gears[asked] = speed, engine, gear + 1
            asked += 1
        engine, wheel = advance(engine, wheel, throttles[given], brakes[given], gear)
    return speeds, engines, gears
