"""The pacemaker of the ARCH competition in mode AOO: it paces at the lower rate limit, whatever the heart does."""

import numpy as np

from bbfalsify.jit import jit

STEP = 0.001
PULSE_MS = 2
CHARGE, PACE = 0, 1


@jit
def advance(state, waited, count, rate):
    """One look of the chart, a millisecond after the last: state, milliseconds in it, paces so far."""
    period = 60000.0 / np.floor(rate)
    waited += 1
    if state == CHARGE and waited >= period - PULSE_MS:
        return PACE, 0, count + 1
    if state == PACE and waited >= PULSE_MS:
        return CHARGE, 0, count
    return state, waited, count


@jit
def pace(times, rates):
    """Paces until each of `times`: as counted at the last millisecond before it."""
    counts = np.empty(len(times))
    state, waited, count = CHARGE, 0, 0
    asked, given = 0, 0
    for step in range(int(times[-1] / STEP + 1e-6) + 1):
        now = step * STEP + 1e-9
        while given + 1 < len(times) and times[given + 1] <= now:
            given += 1
        if step > 0:
            state, waited, count = advance(state, waited, count, rates[given])
        while asked < len(times) and times[asked] < now + STEP - 2e-9:
            counts[asked] = count
            asked += 1
    return counts
