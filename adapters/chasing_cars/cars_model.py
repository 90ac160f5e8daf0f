"""Equations of the chasing cars of the ARCH competition: five cars in a row, the first one driven, each other follows.

Cars run towards minus infinity.  Within a step of 0.01 s modes and inputs are constant, and every equation has a closed
solution, which is used; modes change at the beginnings of steps.
"""

import math

import numpy as np

from bbfalsify.jit import jit

STEP = 0.01
CARS = 5
KEEPING, CHASING, BRAKING = 0, 1, 2
FAR, CLOSE, NEAR, FARTHEST = 15.0, 10.0, 5.0, 20.0
"""Gaps: keeping becomes chasing at 15 and braking at 5, chasing becomes keeping at 10, braking chasing at 20."""


@jit
def start():
    """Places and speeds of the cars, and their modes (that of the first car means nothing)."""
    return 10.0 * np.arange(CARS), np.zeros(CARS), np.zeros(CARS, np.int64)


@jit
def switch(places, modes):
    """Change modes by the gaps to the cars in front."""
    for car in range(1, CARS):
        gap = places[car] - places[car - 1]
        if modes[car] == KEEPING and gap >= FAR:
            modes[car] = CHASING
        elif modes[car] == KEEPING and gap <= NEAR:
            modes[car] = BRAKING
        elif modes[car] == CHASING and gap <= CLOSE:
            modes[car] = KEEPING
        elif modes[car] == BRAKING and gap >= FARTHEST:
            modes[car] = CHASING


@jit
def advance(places, speeds, modes, throttle, brake, step):
    """Move all cars by one step: v1' = -throttle - brake·v1, y1' = v1; for the others see the README."""
    if brake > 1e-9:
        kept, steady = math.exp(-brake * step), -throttle / brake
        places[0] += steady * step + (speeds[0] - steady) * (1.0 - kept) / brake
        speeds[0] = steady + (speeds[0] - steady) * kept
    else:
        places[0] += speeds[0] * step - throttle * step**2 / 2
        speeds[0] -= throttle * step
    for car in range(1, CARS):
        if modes[car] == CHASING:
            places[car] -= speeds[car] * step + step**2 / 2
            speeds[car] += step
        elif modes[car] == KEEPING:
            places[car] += speeds[car] * step  # sic: the chart of the benchmark has + here
        else:
            kept = math.exp(-step)
            places[car] -= speeds[car] * (1.0 - kept)
            speeds[car] *= kept


@jit
def chase(times, throttles, brakes):
    """Places of the cars (cars × times), as they were at the last step before each time."""
    found = np.empty((CARS, len(times)))
    places, speeds, modes = start()
    asked, given = 0, 0
    for count in range(int(times[-1] / STEP + 1e-6) + 1):
        now = count * STEP + 1e-9
        while given + 1 < len(times) and times[given + 1] <= now:
            given += 1
        switch(places, modes)
        while asked < len(times) and times[asked] < now + STEP - 2e-9:
            found[:, asked] = places
            asked += 1
        advance(places, speeds, modes, throttles[given], brakes[given], STEP)
    return found
