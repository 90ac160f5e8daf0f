"""Walks that look for a target, compiled: Algorithm 2 of paper B with every heuristic.

A walk can be interrupted and continued (all of its state is in the arrays), so a caller can check the time.  Nothing is
recorded: the walk that met the target is repeated from its seed, with a record.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.accelerated_walk import candidate_windows, choose_moment, draw_transition
from bbfalsify.kernel.candidate_lists import wake_edges
from bbfalsify.kernel.firing import fire
from bbfalsify.kernel.heuristics import (
    channel_first,
    collect_windows,
    least_covered,
    list_candidates,
    semantic_choice,
)
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import entry_point, inlined
from bbfalsify.kernel.target_moments import (
    FLOW_DISCRETE,
    GOAL_ALIVE,
    GOAL_ALIVE_FLOW,
    GOAL_SPLIT,
    first_moment,
    reaches,
    split_moment,
)
from bbfalsify.kernel.walk_frame import begin_walk, stay

RET, SEM, RLC, RLC_A, RCF = range(5)
TARGET_MET, NO_ROOM = 6, 7
# state of a batch, in an array; counters of endings follow
(P_WALK, P_STEPS, P_CHECK, P_TOTAL, P_DEADLOCKS, P_TIMELOCKS, P_ZENO, P_ROOM, P_EDGE, P_PARTNER, P_SIZE) = range(11)
M_TARGET, M_HALF, M_FIRING, M_SIZE = range(4)
LISTING_COST = 4
"""Looking at all candidates costs about as much as drawing one in so many of them."""
ZENO_STEPS = 256
"""Number of steps without time passing, upper bounds of windows included, that make a zeno run."""


@inlined
def record_moves(T, S, X, numbers, rows, matrix, progress, step, t):
    """Record time, participants (numbers of branches) and, if wanted, new values; return False if there is no room."""
    moves = T[H_S_MOVES]
    place = progress[P_ROOM]
    if step >= len(numbers) or place + 1 + T[H_PROCESSES] > len(rows):
        return False
    numbers[step] = t
    count = 0
    while count < T[H_PROCESSES] and S[moves + 2 * count + 1] >= 0:
        rows[place + 1 + count] = (S[moves + 2 * count + 1] - T[H_BRANCH_TABLE]) // BRANCH_WIDTH
        count += 1
    rows[place] = count
    progress[P_ROOM] = place + 1 + count
    if len(matrix) > 0:
        for i in range(T[H_INTEGERS]):
            matrix[step, i] = float(S[INTEGERS + i])
        for i in range(T[H_REALS]):
            clock = CLOCKS + 3 * i
            matrix[step, T[H_INTEGERS] + i] = X[clock] + X[clock + 2] * (X[X_NOW] - X[clock + 1])
    return True


@inlined
def walk_on(
    T, F, S, X, R, heuristic, share_lower, share_uniform, until, depth, goal, affects, coverage, work, stamps, actions,
    pool, numbers, rows, matrix, moments, progress, budget,
):  # fmt: skip
    """Continue the current walk; return the status of its end, or 0 when the budget of steps is used up."""
    timed = goal[GOAL_ALIVE_FLOW] != FLOW_DISCRETE
    split = goal[GOAL_SPLIT] != 0
    recording = len(numbers) > 0
    while progress[P_TOTAL] < budget:
        steps = progress[P_STEPS]
        progress[P_EDGE] = -1
        status, deadline, strict = stay(T, F, S, X, R)
        if status != 0:
            return status
        if S[S_ASLEEP] > 0 and deadline >= X[X_WAKE]:
            wake_edges(T, S, X, deadline)
        now = X[X_NOW]
        if goal[GOAL_ALIVE] >= 0 and not split and (timed or progress[P_CHECK] != 0):
            t = first_moment(T, F, S, X, R, goal[GOAL_ALIVE], goal[GOAL_ALIVE_FLOW], now, 0, deadline, strict)
            if S[S_ERROR] != 0:
                return RUNTIME_ERROR
            if t < math.inf:
                moments[M_TARGET] = t
                return TARGET_MET
        if steps >= depth and not split:
            return STEP_LIMIT
        e1 = -1
        e2 = -1
        count = 0
        t = now
        if heuristic == RET and S[S_COMMITTED] == 0:
            e1, e2, count = draw_transition(T, F, S, X, R, deadline, strict, LISTING_COST, True)
        if count == 0:
            total = list_candidates(T, F, S, X, R, work)
            if heuristic == SEM:
                found = collect_windows(T, F, S, X, R, total, deadline, strict, work, pool)
                if found > 0:
                    e1, e2, t = semantic_choice(R, pool, found, work)
                    count = candidate_windows(T, F, S, X, R, e1, e2, deadline, strict)
            else:
                if heuristic == RCF:
                    e1, e2 = channel_first(T, F, S, X, R, total, deadline, strict, work, stamps, actions)
                else:  # the counters of RET stay 0, so that this is uniform
                    e1, e2 = least_covered(T, F, S, X, R, total, deadline, strict, coverage, work)
                count = 0 if e1 < 0 else candidate_windows(T, F, S, X, R, e1, e2, deadline, strict)
        if S[S_ERROR] != 0:
            return RUNTIME_ERROR
        until_the_end = split and count > 0 and reaches(T, X, count, deadline, strict)
        if count > 0 and heuristic != SEM:
            t = choose_moment(T, X, R, count, share_lower, share_uniform)
        if split:
            met = split_moment(T, F, S, X, R, goal, until_the_end, deadline, strict, work)
            if S[S_ERROR] != 0:
                return RUNTIME_ERROR
            if met < math.inf:
                moments[M_TARGET] = met
                return TARGET_MET
        if count == 0:
            return DEADLOCK if deadline == math.inf else TIMELOCK
        if steps >= depth or t >= until:
            return STEP_LIMIT
        progress[P_EDGE] = e1
        progress[P_PARTNER] = e2
        moments[M_FIRING] = t
        if recording:
            for p in range(T[H_PROCESSES]):
                S[T[H_S_MOVES] + 2 * p + 1] = -1
        fire(T, F, S, X, R, e1, e2, t, True, False)
        if S[S_ERROR] != 0:
            return RUNTIME_ERROR
        coverage[e1] += 1 if heuristic == RLC or heuristic == RLC_A else 0
        if recording and not record_moves(T, S, X, numbers, rows, matrix, progress, steps, t):
            return NO_ROOM
        first = (S[T[H_S_MOVES] + 1] - T[H_BRANCH_TABLE]) // BRANCH_WIDTH
        check = affects[first]
        if e2 >= 0:
            check |= affects[(S[T[H_S_MOVES] + 3] - T[H_BRANCH_TABLE]) // BRANCH_WIDTH]
        progress[P_CHECK] = check
        progress[P_STEPS] = steps + 1
        progress[P_TOTAL] += 1
        if 2 * (steps + 1) == depth:
            moments[M_HALF] = X[X_NOW]
    return 0


@entry_point
def reach_batch(
    T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, heuristic, seeds, shares, until,
    depth, goal, affects, coverage, coverage_before, work, stamps, actions, pool, numbers, rows, matrix, moments,
    progress, budget,
):  # fmt: skip
    """Make walks progress[P_WALK], … until one meets the target or fails, all are done, or the budget is used up."""
    while progress[P_WALK] < len(seeds):
        b = progress[P_WALK]
        if progress[P_STEPS] < 0:
            S[S_LAZY] = 1
            begin_walk(T, F, S, X, R, seeds[b], states_locations, states_integers, states_reals, largest, ode_step)
            for e in range(T[H_EDGES]):
                if heuristic == RLC_A:
                    coverage_before[e] = coverage[e]
                elif heuristic == RLC:
                    coverage[e] = 0
            progress[P_STEPS] = 0
            progress[P_CHECK] = 1
            progress[P_ROOM] = 0
            moments[M_HALF] = -1.0
        outcome = walk_on(
            T, F, S, X, R, heuristic, shares[b, 0], shares[b, 1], until, depth, goal, affects, coverage, work, stamps,
            actions, pool, numbers, rows, matrix, moments, progress, budget,
        )  # fmt: skip
        if outcome == 0 or outcome == TARGET_MET or outcome == RUNTIME_ERROR or outcome == NO_ROOM:
            return outcome
        progress[P_DEADLOCKS] += 1 if outcome == DEADLOCK else 0
        progress[P_TIMELOCKS] += 1 if outcome == TIMELOCK else 0
        still = moments[M_HALF] == X[X_NOW] and progress[P_STEPS] >= 2 * ZENO_STEPS
        progress[P_ZENO] += 1 if still and shares[b, 0] < 1.0 and outcome == STEP_LIMIT else 0
        progress[P_WALK] = b + 1
        progress[P_STEPS] = -1
    return REACHED_END
