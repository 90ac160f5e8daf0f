"""Sample times and held inputs of many walks, in one compiled call: `core.trace.sample_times` for each of them."""

from __future__ import annotations

import numpy as np

from bbfalsify.jit import jit


@jit
def merged_times(grid, ends, walk_times, steps, times, offsets):
    """Merge the grid, the times of each walk up to its end, and the end; walk i begins at offsets[i]."""
    place = 0
    for walk in range(len(steps)):
        offsets[walk] = place
        duration = ends[walk]
        last = -1.0
        at, step = 0, 0
        while True:
            moment = duration
            if at < len(grid) and grid[at] < moment:
                moment = grid[at]
            if step < steps[walk] and walk_times[walk, step] < moment:
                moment = walk_times[walk, step]
            if moment > last:
                times[place] = last = moment
                place += 1
            if at < len(grid) and grid[at] <= moment:
                at += 1
            elif step < steps[walk] and walk_times[walk, step] <= moment:
                step += 1
            elif moment >= duration:
                break
    offsets[len(steps)] = place
    return place


@jit
def held_values(times, offsets, walk_times, steps, levels, initial, ends, values):
    """Hold at each sample the level that the last action up to then has set; NaN sets nothing."""
    for walk in range(len(steps)):
        level, step, duration = initial, 0, ends[walk]
        for place in range(offsets[walk], offsets[walk + 1]):
            while step < steps[walk] and walk_times[walk, step] <= times[place] and walk_times[walk, step] <= duration:
                if not np.isnan(levels[walk, step]):
                    level = levels[walk, step]
                step += 1
            values[place] = level
