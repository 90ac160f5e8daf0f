"""The exact law of the next action, and the next transition given its action.

Where one component can act (several: `race_law`), the time axis is cut at the ends of all its windows: it falls into
pieces on which the same edges are enabled.  The mass of a piece is the survival lost over it (`races`); its share for
an action is the weight of the edges that carry it.  So the probability of an action is a finite sum, and drawing a
piece, a moment in it by inverse CDF, and an edge by weight draws from the conditional law without rejection.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.firing import branch_taken, fire, weight_of
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, entry_point, inlined
from bbfalsify.kernel.race_law import gather_racers, in_piece, insert_sorted, race_law, race_winner, share_of
from bbfalsify.kernel.races import (
    component_windows,
    covers,
    exponential_rate,
    inside,
    own_bound,
    pick_output,
    stochastic_transition,
)
from bbfalsify.kernel.refreshing import load_state, refresh
from bbfalsify.kernel.rng import unit
from bbfalsify.kernel.walk_frame import global_deadline, write_state


@inlined
def survival_after(t, low, bound, rate):
    """Survival from `low` to t, while something is enabled."""
    if bound == math.inf:
        return 0.0 if t == math.inf else math.exp(-rate * (t - low))
    return (bound - t) / (bound - low)


@compiled
def share_of_action(T, F, S, X, R, count, low, high, action):
    """Weight share of an action among the edges enabled on all of (low, high), or at the point low = high; −1: none."""
    total = 0.0
    wanted = 0.0
    first = -1
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        if in_piece(X, w, low, high):
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4])
            weight = weight_of(T, F, S, X, R, T[edge + E_WEIGHT])
            total += weight
            if first < 0:
                first = T[edge + E_ACTION]
            if T[edge + E_ACTION] == action:
                wanted += weight
    return share_of(wanted, total, first, action)


@compiled
def cut_points(T, X, count):
    """The sorted ends of the windows in the buffer, into the buffer of pieces; how many."""
    points = T[H_X_PIECES]
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        insert_sorted(X, points, 2 * k, X[w])
        insert_sorted(X, points, 2 * k + 1, X[w + 2])
    return 2 * count


@compiled
def law_of_action(T, F, S, X, R, count, bound, rate, action, survivor):
    """(probability of the action, moment): the moment at which its mass exceeds survivor · probability; −1: no search.

    `survivor` is what is left to cross, in units of probability; a negative one asks for the probability only.
    """
    probability = 0.0
    points = cut_points(T, X, count)
    base = T[H_X_PIECES]
    survival = 1.0
    for i in range(points):
        low = X[base + i]
        if bound != math.inf and low >= bound:  # all that survived fires at the bound itself
            share = share_of_action(T, F, S, X, R, count, low, low, action)
            mass = survival * max(share, 0.0)
            probability += mass
            if survivor >= 0.0 and probability > survivor:
                return probability, bound
            break
        if i + 1 == points:
            break
        high = X[base + i + 1]
        if high == low:
            continue
        share = share_of_action(T, F, S, X, R, count, low, high, action)
        if share < 0.0:
            continue
        after = survival * survival_after(high, low, bound, rate)
        mass = (survival - after) * share
        if survivor >= 0.0 and probability + mass > survivor:
            left = max(survival - (survivor - probability) / share, 2.0**-1000)  # survival at the moment drawn
            if bound == math.inf:
                moment = low - math.log(left / survival) / rate
            else:
                moment = bound - (bound - low) * (left / survival)
            return probability, min(max(moment, low), high)
        probability += mass
        survival = after
    return probability, -1.0


@inlined
def component(T, S):
    """(first process with output edges in its location or −1, how many there are)."""
    first = -1
    count = 0
    for p in range(T[H_PROCESSES]):
        if T[T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p] + L_OUTPUTS] > 0:
            if count == 0:
                first = p
            count += 1
    return first, count


@inlined
def chosen_output(T, F, S, X, R, count, t, action, choice_number):
    """An edge of the buffer of an action enabled at t, in proportion to the weights, by one number; −1: none."""
    total = 0.0
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4])
        if T[edge + E_ACTION] == action and covers(X, w, t):
            total += weight_of(T, F, S, X, R, T[edge + E_WEIGHT])
    chosen = -1
    rest = choice_number * total
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4])
        if T[edge + E_ACTION] == action and covers(X, w, t):
            weight = weight_of(T, F, S, X, R, T[edge + E_WEIGHT])
            if chosen < 0 or weight > 0.0:
                chosen = int(X[w + 4])
            if rest < weight:
                break
            rest -= weight
    return chosen


@compiled
def racing_transition(T, F, S, X, R, deadline, strict, action, firing, moment_number, choice_number):
    """`conditional_transition` where several components race, or one with an urgent channel."""
    racers = gather_racers(T, F, S, X, R, deadline, strict)
    if S[S_ERROR] != 0:
        return RUNTIME_ERROR, 0.0, -1, 0.0
    probability, _, _, _ = race_law(T, S, X, racers, deadline, action, -1.0)
    if firing == 0:
        return 0, probability, -1, 0.0
    if probability <= 0.0:
        return (DEADLOCK if deadline == math.inf else TIMELOCK), 0.0, -1, 0.0
    wanted = (moment_number if moment_number >= 0.0 else unit(R)) * probability
    _, t, low, high = race_law(T, S, X, racers, deadline, action, wanted)
    if t < 0.0:  # rounding lost the end of the last piece
        _, t, low, high = race_law(T, S, X, racers, deadline, action, wanted * (1.0 - 1e-12))
    choice = choice_number if choice_number >= 0.0 else unit(R)
    w = race_winner(T, X, racers, action, low, high, t, choice) if t >= 0.0 else -1
    if w < 0:
        return TIMELOCK, probability, -1, 0.0
    if t > X[w + 2] or t < X[w] or not covers(X, w, t):
        t = inside(X, w, min(max(t, X[w]), X[w + 2]))
    e = int(X[w + 4])
    fire(T, F, S, X, R, e, -1, t, False, True)
    if S[S_ERROR] != 0:
        return RUNTIME_ERROR, probability, e, t
    return 0, probability, e, t


@compiled
def conditional_transition(T, F, S, X, R, action, firing, moment_number, choice_number):
    """(status, probability, edge, moment) of the next transition given its action; fired where `firing` is 1.

    The numbers in [0, 1) choose moment and edge; negative ones are drawn from the stream.
    """
    deadline, strict = global_deadline(T, F, S, X, R)
    if S[S_ERROR] != 0:
        return RUNTIME_ERROR, 0.0, -1, 0.0
    if deadline < X[X_NOW] or (deadline == X[X_NOW] and strict):
        return TIMELOCK, 0.0, -1, 0.0
    p, components = component(T, S)
    if p < 0:
        return (DEADLOCK if deadline == math.inf else TIMELOCK), 0.0, -1, 0.0
    if components > 1 or T[H_URGENT_COUNT] > 0:
        return racing_transition(T, F, S, X, R, deadline, strict, action, firing, moment_number, choice_number)
    count = component_windows(T, F, S, X, R, p, deadline, strict)
    bound = own_bound(T, S, X, p)
    if deadline == X[X_NOW] and (S[S_COMMITTED] > 0 or S[S_URGENT] > 0):
        bound = deadline  # time stands still for another process: what is enabled goes at once, as in the race
    rate = exponential_rate(T, F, S, X, R, p) if bound == math.inf else 0.0
    probability = 0.0
    if bound < math.inf or rate > 0.0:
        probability, _ = law_of_action(T, F, S, X, R, count, bound, rate, action, -1.0)
    if S[S_ERROR] != 0:
        return RUNTIME_ERROR, 0.0, -1, 0.0
    if firing == 0:
        return 0, probability, -1, 0.0
    if probability <= 0.0:
        return (DEADLOCK if deadline == math.inf else TIMELOCK), 0.0, -1, 0.0
    number = moment_number if moment_number >= 0.0 else unit(R)
    _, t = law_of_action(T, F, S, X, R, count, bound, rate, action, number * probability)
    e = -1
    if t >= 0.0 and choice_number >= 0.0:
        e = chosen_output(T, F, S, X, R, count, t, action, choice_number)
    elif t >= 0.0:
        e = pick_output(T, F, S, X, R, count, t, action)
    if e < 0:  # rounded out of every window of the action: its first window will do
        for k in range(count):
            w = T[H_X_WINDOWS] + 5 * k
            if T[T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4]) + E_ACTION] == action and (t < 0.0 or X[w + 2] >= t):
                t = max(t, X[w])
                t = min(max(t, X[w] + (X[w + 2] - X[w]) * 2.0**-12), X[w + 2] - (X[w + 2] - X[w]) * 2.0**-12)
                e = int(X[w + 4])
                break
    if e < 0:
        return TIMELOCK, probability, -1, 0.0
    fire(T, F, S, X, R, e, -1, t, False, True)
    if S[S_ERROR] != 0:
        return RUNTIME_ERROR, probability, e, t
    return 0, probability, e, t


@entry_point
def particle_batch(
    T, F, S, X, R, states_locations, states_integers, states_reals, states_time, states_rng, largest, ode_step, action,
    firing, uniforms, status, numbers, chosen_edges, chosen_branches, more_numbers, errors,
):  # fmt: skip
    """One step of every particle in place: any (action −1), given its action, or only its probability (firing 0).

    numbers: delays; more_numbers: probabilities of the action; uniforms: a row of two numbers that choose moment and
    edge of each particle, or no row at all.
    """
    for m in range(len(states_time)):
        for i in range(4):
            R[i] = states_rng[m, i]
        time = states_time[m]
        load_state(T, F, S, X, R, states_locations, states_integers, states_reals, m, time, largest, ode_step)
        refresh(T, F, S, X, R, False)
        probability = 0.0
        if action < 0:
            outcome, e, t = stochastic_transition(T, F, S, X, R, False)
        else:
            outcome, probability, e, t = conditional_transition(
                T, F, S, X, R, action, firing,
                uniforms[m, 0] if len(uniforms) > 0 else -1.0, uniforms[m, 1] if len(uniforms) > 0 else -1.0,
            )  # fmt: skip
        status[m] = outcome
        more_numbers[m] = probability
        chosen_edges[m] = e
        if outcome == RUNTIME_ERROR:
            for i in range(3):
                errors[m, i] = S[S_ERROR + i]
        if firing == 0:
            continue
        for i in range(4):
            states_rng[m, i] = R[i]
        if outcome != 0:
            continue
        numbers[m] = t - time
        chosen_branches[m] = branch_taken(T, S, e)
        states_time[m] = t
        write_state(T, S, X, t, states_locations, states_integers, states_reals, m)
