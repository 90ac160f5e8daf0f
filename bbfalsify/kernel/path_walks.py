"""Random walks of the stochastic semantics, judged by a path: φ until ψ, within a time or a number of steps.

A walk goes on from a given state until the goal is met, a condition to be avoided is met before, or its bound is
reached.  Conditions over clocks are looked for within delays.  The state in which the goal is met can be recorded:
splitting goes on from there.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, entry_point
from bbfalsify.kernel.ode import advance
from bbfalsify.kernel.races import fire_winner, race
from bbfalsify.kernel.refreshing import load_state, refresh
from bbfalsify.kernel.rng import begin_tape, seed_stream
from bbfalsify.kernel.target_moments import GOAL_ALIVE, GOAL_ALIVE_FLOW, first_moment
from bbfalsify.kernel.walk_frame import stay, write_state

MISSED, MET, FAILED, ENDLESS, STUCK = range(5)
"""Ends of a walk: without the goal, with it, the model failed, too many steps without reaching the bound of time; and
the same where the second half of them took no time at all."""
FEW_STEPS = 1000
"""A walk of fewer steps is never called stuck."""


@compiled
def walk_path(T, F, S, X, R, goal, avoid, until, max_steps, counted):
    """Walk from the loaded state: (end, moment, steps).  `counted`: steps are the bound, not time."""
    steps = 0
    moved = 0
    while True:
        outcome, deadline, strict = stay(T, F, S, X, R)
        if outcome == RUNTIME_ERROR:
            return FAILED, 0.0, steps
        now = X[X_NOW]
        winner = -1
        t = now
        if outcome == 0:
            winner, t = race(T, F, S, X, R, deadline, strict)
            if S[S_ERROR] != 0:
                return FAILED, 0.0, steps
            if winner < 0:
                t = deadline
        high = min(t, until)
        if counted and steps >= max_steps:
            high = now
        met = math.inf
        if goal[GOAL_ALIVE] >= 0:
            met = first_moment(T, F, S, X, R, goal[GOAL_ALIVE], goal[GOAL_ALIVE_FLOW], now, 0, high, 0)
        bad = math.inf
        if avoid[GOAL_ALIVE] >= 0:
            bad = first_moment(T, F, S, X, R, avoid[GOAL_ALIVE], avoid[GOAL_ALIVE_FLOW], now, 0, high, 0)
        if S[S_ERROR] != 0:
            return FAILED, 0.0, steps
        if met < math.inf and met <= bad:
            return MET, met, steps
        if bad < math.inf or winner < 0 or t > until:
            return MISSED, min(t, until), steps
        if steps >= max_steps:
            if counted:
                return MISSED, now, steps
            return (STUCK if steps - moved > max(FEW_STEPS, steps // 2) else ENDLESS), now, steps
        outcome, e, t = fire_winner(T, F, S, X, R, winner, t, deadline, strict, True)
        if outcome == RUNTIME_ERROR:
            return FAILED, 0.0, steps
        if outcome != 0:
            return MISSED, now, steps
        steps += 1
        if t > now:
            moved = steps


@entry_point
def path_batch(
    T, F, S, X, R, states_locations, states_integers, states_reals, states_time, rows, largest, ode_step, seeds, until,
    max_steps, counted, goal, avoid, status, moments, work, errors, ends_locations, ends_integers, ends_reals,
    tilt_bins,
):  # fmt: skip
    """Make one walk per seed, walk b from state rows[b]; `work` are numbers of steps left of `max_steps`, per state.

    Where there is room in the arrays of ends, the states in which walks ended are recorded, clocks only where the goal
    was met; the first walk that is stuck is the last one; in `tilt_bins`, how often a walk fell into the bins of its
    tilts (`rng.py`).
    """
    for b in range(len(seeds)):
        row = rows[b]
        seed_stream(R, seeds[b])
        begin_tape(R)
        time = states_time[row]
        load_state(T, F, S, X, R, states_locations, states_integers, states_reals, row, time, largest, ode_step)
        refresh(T, F, S, X, R, True)
        outcome, moment, steps = walk_path(T, F, S, X, R, goal, avoid, until, max_steps - work[row], counted)
        status[b] = outcome
        moments[b] = moment
        if outcome == FAILED:
            for i in range(3):
                errors[b, i] = S[S_ERROR + i]
        else:
            errors[b, 0] = work[row] + steps
        if outcome == STUCK:
            return
        if b < len(tilt_bins):
            for i in range(tilt_bins.shape[1]):
                tilt_bins[b, i] = R[len(R) - tilt_bins.shape[1] + i]
        if outcome == FAILED or len(ends_locations) == 0:
            continue
        if outcome == MET:
            advance(T, F, S, X, R, moment)
        write_state(T, S, X, moment, ends_locations, ends_integers, ends_reals, b)
