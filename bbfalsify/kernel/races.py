"""The stochastic semantics: every component draws a delay, and the smallest wins (paper D, section 3.1).

A component is a process whose location has output edges.  It waits uniformly up to the bound D of its own invariant, or
exponentially where nothing bounds it, and where nothing is enabled at the moment drawn it takes an additional delay
from there.  That rule is the first point of a Poisson process with hazard 1/(D − t), or the rate, restricted to the set
A of moments with an enabled output: crossing an enabled interval [u, v] multiplies the survival by (D − v)/(D − u), or
by exp(−rate·(v − u)), and gaps cost nothing.  So one uniform number and a pass over A give the firing time exactly.
"""

from __future__ import annotations

import math

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.kernel.arithmetic import fail
from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.firing import fire, number_of, weight_of
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, entry_point, inlined
from bbfalsify.kernel.ode import values_at
from bbfalsify.kernel.rng import DRAWN_DELAY, DRAWN_EDGE, DRAWN_TIE, label_draws, unit
from bbfalsify.kernel.walk_frame import begin_walk, ends_well, record_end, record_step, stay, write_state
from bbfalsify.kernel.windows import transition_windows

ROUNDING = 2.0**-51
"""Four times the distance of two numbers: no draw comes that near to an end otherwise, in practice."""
POINT = 2.0**-52
"""Probability of a single moment, which has none in exact arithmetic: two numbers, so that it has a quantile, too."""


def refuse_handshakes(model: CompiledModel) -> None:
    """Raise UserError for handshakes: two components that must agree on a moment have no race."""
    network = model.network
    used = dict.fromkeys(e.channel for p in network.processes for e in p.edges if e.channel is not None)
    problems = [
        Problem(
            f"channel '{network.channels[c].name}' is a handshake: handshakes have no stochastic semantics; "
            "declare it 'broadcast chan'.",
            file=network.file,
        )
        for c in used
        if not network.channels[c].broadcast
    ]
    if problems:
        raise UserError(problems)


@compiled
def component_windows(T, F, S, X, R, p, deadline, strict):
    """Fill the buffer with the windows of all output edges of process p, sorted by their start; return their number."""
    location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
    windows = T[H_X_WINDOWS]
    count = 0
    for i in range(T[location + L_OUTPUTS]):
        e = T[T[location + L_EDGES] + i]
        more = transition_windows(T, F, S, X, R, e, -1, deadline, strict, count)
        for k in range(count, more):
            X[windows + 5 * k + 4] = e
        count = more
    for i in range(1, count):  # insertion sort: there are few, and mostly in order
        k = i
        while k > 0 and X[windows + 5 * k] < X[windows + 5 * (k - 1)]:
            for c in range(5):
                kept = X[windows + 5 * k + c]
                X[windows + 5 * k + c] = X[windows + 5 * (k - 1) + c]
                X[windows + 5 * (k - 1) + c] = kept
            k -= 1
    return count


@inlined
def exponential_rate(T, F, S, X, R, p):
    location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
    rate = number_of(T, F, S, X, R, T[location + L_EXPONENTIAL], 1.0)
    if not rate >= 0.0:
        fail(S, ERROR_RATE, 0, T[T[location + L_EDGES]])
        return 1.0
    return rate


@inlined
def own_bound(T, S, X, p):
    """The bound of the uniform law of process p: its invariant's, or now in an urgent or committed location."""
    location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
    if T[location + L_FLAGS] & (LOCATION_URGENT | LOCATION_COMMITTED):
        return X[X_NOW]
    return max(X[T[H_X_DEADLINE] + 2 * p], X[X_NOW])


@inlined
def delay_law(T, F, S, X, R, p):
    """(bound, rate) of the delay of process p: uniform up to a finite bound, else exponential."""
    bound = own_bound(T, S, X, p)
    return bound, exponential_rate(T, F, S, X, R, p) if bound == math.inf else 0.0


@inlined
def at_an_end(T, X, count, t, whole):
    """Move a moment onto the closed end of a window from which only rounding keeps it: so each end has a quantile.

    `whole` times the distance of two numbers is that of their moments.
    """
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        if X[w + 1] == 0.0 and abs(t - X[w]) <= whole * ROUNDING:
            return X[w]
        if X[w + 3] == 0.0 and abs(t - X[w + 2]) <= whole * ROUNDING:
            return X[w + 2]
    return t


@compiled
def draw_moment(T, X, count, bound, rate, survivor):
    """Compute the firing moment for a given survival in (0, 1], by the inverse CDF over the windows; inf: never.

    `bound` is that of the uniform law, inf for the exponential law with `rate`; at rate 0 the wait has no end.
    """
    if bound == math.inf and rate <= 0.0:
        return math.inf
    windows = T[H_X_WINDOWS]
    survival = 1.0
    i = 0
    while i < count:
        low = X[windows + 5 * i]
        high = X[windows + 5 * i + 2]
        high_strict = X[windows + 5 * i + 3]
        i += 1
        while i < count and X[windows + 5 * i] <= high:  # merge what overlaps or touches
            if X[windows + 5 * i + 2] > high:
                high = X[windows + 5 * i + 2]
                high_strict = X[windows + 5 * i + 3]
            elif X[windows + 5 * i + 2] == high and X[windows + 5 * i + 3] == 0.0:
                high_strict = 0.0
            i += 1
        if high == low and high_strict == 0.0 and low < bound and survivor > survival - POINT:
            return low
        if bound == math.inf:
            after = 0.0 if high == math.inf else survival * math.exp(-rate * (high - low))
            if after <= survivor and high > low:
                moment = min(low - math.log(survivor / survival) / rate, high)
                return at_an_end(T, X, count, moment, moment + 1.0 / (rate * survivor))
            survival = after
        else:
            if low >= bound:  # only the bound itself is left: the rest of the mass fires there
                return bound if high_strict == 0.0 or high > low else math.inf
            after = survival * ((bound - high) / (bound - low))
            if after <= survivor and high > low:
                moment = min(max(bound - (bound - low) * (survivor / survival), low), high)
                return at_an_end(T, X, count, moment, bound)
            survival = after
    return math.inf


@inlined
def urgent_moment(T, S, X, count):
    """Find the first moment at which an edge of the buffer on an urgent channel is enabled."""
    if T[H_URGENT_COUNT] == 0:
        return math.inf
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        for i in range(T[H_URGENT_COUNT]):
            if T[T[H_URGENT_EDGES] + i] == int(X[w + 4]):
                return X[w]
    return math.inf


@inlined
def contender(T, F, S, X, R, p, deadline, strict):
    """Prepare process p for a race: (windows in the buffer, bound, rate, urgent moment); 0 windows: it has no part."""
    count = component_windows(T, F, S, X, R, p, deadline, strict)
    if count == 0:
        return 0, math.inf, 0.0, math.inf
    bound, rate = delay_law(T, F, S, X, R, p)
    return count, bound, rate, urgent_moment(T, S, X, count)


@inlined
def nobody_may_wait(S, X, deadline):
    """Tell whether time stands still for a process that cannot move: any that is enabled now goes on."""
    return deadline == X[X_NOW] and (S[S_COMMITTED] > 0 or S[S_URGENT] > 0)


@inlined
def race(T, F, S, X, R, deadline, strict):
    """Let all components draw; return (winner, moment), winner −1 if none fires before the deadline."""
    winner = -1
    best = math.inf
    ties = 0
    for p in range(T[H_PROCESSES]):
        count, bound, rate, urgent = contender(T, F, S, X, R, p, deadline, strict)
        if count == 0:
            continue
        label_draws(R, DRAWN_DELAY, p)
        moment = min(draw_moment(T, X, count, bound, rate, 1.0 - unit(R)), urgent)
        if moment == math.inf:
            continue
        if moment < best:
            best = moment
            winner = p
            ties = 1
        elif moment == best:
            ties += 1
            label_draws(R, DRAWN_TIE, p)
            if unit(R) * ties < 1.0:
                winner = p
    if winner < 0 and nobody_may_wait(S, X, deadline):
        for p in range(T[H_PROCESSES]):
            if component_windows(T, F, S, X, R, p, deadline, strict) > 0:
                ties += 1
                label_draws(R, DRAWN_TIE, p)
                if ties == 1 or unit(R) * ties < 1.0:
                    winner = p
                    best = X[X_NOW]
    return winner, best


@inlined
def covers(X, w, t):
    return (t > X[w] or (t == X[w] and X[w + 1] == 0.0)) and (t < X[w + 2] or (t == X[w + 2] and X[w + 3] == 0.0))


@inlined
def weight_at(T, F, S, X, R, code, t, timed):
    """Compute the weight of an edge at t; timed weights need `values_at(t)` before."""
    if code < 0 or not timed:
        return weight_of(T, F, S, X, R, code)
    execute(T, F, S, X, R, code, MODE_NUMERIC, t)
    return max(X[T[H_X_STACK]], 0.0)


@inlined
def pick_output(T, F, S, X, R, count, t, action):
    """Draw an edge of the buffer enabled at t (of an action, or −1 for any) in proportion to the weights; −1: none."""
    chosen = -1
    total = 0.0
    enabled = 0
    timed = T[H_FLAGS] & FLAG_TIMED_WEIGHTS
    if timed:
        values_at(T, F, S, X, R, t)
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        if covers(X, w, t):
            e = int(X[w + 4])
            if action >= 0 and T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_ACTION] != action:
                continue
            weight = weight_at(T, F, S, X, R, T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_WEIGHT], t, timed)
            total += weight
            enabled += 1
            if enabled == 1:
                chosen = e
            elif unit(R) * total < weight:
                chosen = e
    return chosen


@inlined
def inside(X, w, t):
    """Move t off a strict end of a window that a rounded draw has hit."""
    low = X[w]
    high = X[w + 2]
    if t <= low and X[w + 1] != 0.0:
        return low + min(2.0**-10, (high - low) / 4.0)
    if t >= high and X[w + 3] != 0.0:
        return high - min(2.0**-10, (high - low) / 4.0)
    return t


@compiled
def stochastic_transition(T, F, S, X, R, incremental):
    """Make one step of the race; return (status, edge, moment), status 0 if a step was made."""
    status, deadline, strict = stay(T, F, S, X, R)
    if status != 0:
        return status, -1, 0.0
    winner, t = race(T, F, S, X, R, deadline, strict)
    if S[S_ERROR] != 0:
        return RUNTIME_ERROR, -1, 0.0
    if winner < 0:
        return (DEADLOCK if deadline == math.inf else TIMELOCK), -1, 0.0
    return fire_winner(T, F, S, X, R, winner, t, deadline, strict, incremental)


@compiled
def fire_winner(T, F, S, X, R, winner, t, deadline, strict, incremental):
    """Let the winner of the race take one of its enabled edges at t; return (status, edge, moment)."""
    count = component_windows(T, F, S, X, R, winner, deadline, strict)
    label_draws(R, DRAWN_EDGE, winner)
    e = pick_output(T, F, S, X, R, count, t, -1)
    if e < 0:  # the draw was rounded onto a strict end
        for k in range(count):
            w = T[H_X_WINDOWS] + 5 * k
            if X[w] <= t and t <= X[w + 2]:
                t = inside(X, w, t)
                break
        e = pick_output(T, F, S, X, R, count, t, -1)
    if e < 0:
        return TIMELOCK, -1, 0.0
    fire(T, F, S, X, R, e, -1, t, incremental, True)
    if S[S_ERROR] != 0:
        return RUNTIME_ERROR, e, t
    return 0, e, t


@inlined
def stochastic_walk(T, F, S, X, R, until, max_steps, b, capacity, times, edges, branches, locations, integers, reals):
    """Walk from the loaded state; return (status, steps); RUNNING (0): no room left."""
    if capacity > 0:
        write_state(T, S, X, X[X_NOW], locations[b], integers[b], reals[b], 0)
    steps = 0
    while steps < max_steps:
        if capacity > 0 and steps == capacity:
            return 0, steps
        now = X[X_NOW]
        status, e, t = stochastic_transition(T, F, S, X, R, True)
        if status != 0:
            return (REACHED_END if ends_well(status, steps, now, until) else status), steps
        if capacity > 0:
            record_step(T, S, X, e, t, times, edges, branches, locations, integers, reals, b, steps)
        steps += 1
        if t > until:
            return REACHED_END, steps
    return STEP_LIMIT, steps


@entry_point
def stochastic_batch(
    T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, seeds, until, max_steps, first,
    capacity, status, steps, errors, times, edges, branches, locations, integers, reals,
):  # fmt: skip
    """Make walks first, first + 1, … from the initial state; return the walk that found no room, or their number."""
    for b in range(first, len(seeds)):
        begin_walk(T, F, S, X, R, seeds[b], states_locations, states_integers, states_reals, largest, ode_step)
        outcome, taken = stochastic_walk(
            T, F, S, X, R, until, max_steps, b, capacity, times, edges, branches, locations, integers, reals
        )
        if outcome == 0:
            return b
        record_end(S, outcome, taken, status, steps, errors, b)
    return len(seeds)
