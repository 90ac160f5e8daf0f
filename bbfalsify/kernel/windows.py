"""Compute the moments at which a transition can fire, as intervals with strictness, in absolute time.

    atoms      `clock ⋈ bound`: one interval each, intersected; no interpreter
    sweep      any Boolean combination of affine comparisons, and the invariants of the state entered: from breakpoint
               to breakpoint (`bytecode`), exact
    scan       ODE variables and all that is not affine in the delay: truth on the grid of `ode`, flips by bisection

Deadlines, the moments until which the invariants of the processes hold, are absolute, too.  They are cached per process
in a tournament tree with the earliest at its root.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.arithmetic import compared, fail
from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.entry_invariants import entry_holds, receiving_edges
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.ode import values_at

TOLERANCE = 2.0**-40
"""Difference, relative to time, up to which two bounds count as equal."""


@inlined
def slack(t):
    return TOLERANCE * (1.0 + abs(t))


@compiled
def atoms_window(T, F, S, X, R, atoms, count, low, low_strict, high, high_strict):
    """Intersect an interval with `clock ⋈ bound` atoms; an empty one has high = −inf."""
    for i in range(count):
        atom = atoms + ATOM_WIDTH * i
        operator = T[atom + A_OPERATOR]
        if T[atom + A_SOURCE] == BOUND_CONSTANT:
            bound = F[T[atom + A_BOUND]]
        elif T[atom + A_SOURCE] == BOUND_INTEGER:
            bound = float(S[INTEGERS + T[atom + A_BOUND]])
        else:
            execute(T, F, S, X, R, T[atom + A_BOUND], MODE_FROZEN, X[X_NOW])
            bound = X[T[H_X_STACK]]
        clock = CLOCKS + 3 * T[atom + A_SLOT]
        rate = X[clock + 2]
        if rate == 0.0:
            value = X[clock]
            if compared(operator, -1 if value < bound else (1 if value > bound else 0)) == 0:
                return low, low_strict, -math.inf, 0
            continue
        crossing = X[clock + 1] + ((bound - X[clock]) if rate == 1.0 else (bound - X[clock]) / rate)
        if operator == EQUAL:
            if crossing > low:
                low = crossing
                low_strict = 0
            if crossing < high:
                high = crossing
                high_strict = 0
            continue
        if rate < 0.0:
            operator = 3 - operator
        if operator <= LESS_EQUAL:
            if crossing < high:
                high = crossing
                high_strict = 1 if operator == LESS else 0
            elif crossing == high and operator == LESS:
                high_strict = 1
        else:
            if crossing > low:
                low = crossing
                low_strict = 1 if operator == GREATER else 0
            elif crossing == low and operator == GREATER:
                low_strict = 1
    return low, low_strict, high, high_strict


@inlined
def integers_hold(T, F, S, X, R, e):
    """Evaluate the part of a guard that is constant during a delay."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    atoms = T[edge + E_INTEGER_ATOMS]
    for i in range(T[edge + E_INTEGER_COUNT]):
        atom = atoms + ATOM_WIDTH * i
        value = S[INTEGERS + T[atom + A_SLOT]]
        bound = T[atom + A_BOUND]
        operator = T[atom + A_OPERATOR]
        if operator == EQUAL:
            if value != bound:
                return False
        elif compared(operator, -1 if value < bound else (1 if value > bound else 0)) == 0:
            return False
    if T[edge + E_DISCRETE] >= 0:
        return execute(T, F, S, X, R, T[edge + E_DISCRETE], MODE_FROZEN, X[X_NOW]) != 0
    return True


@compiled
def enabled_at(T, F, S, X, R, e, t):
    """Tell whether the guard of one edge holds at moment t (invariants aside); t >= now."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    if not integers_hold(T, F, S, X, R, e):
        return False
    low, low_strict, high, high_strict = atoms_window(
        T, F, S, X, R, T[edge + E_CLOCK_ATOMS], T[edge + E_CLOCK_COUNT], -math.inf, 0, math.inf, 0
    )
    if t < low or t > high or (t == low and low_strict) or (t == high and high_strict):
        return False
    if T[edge + E_TIMED] >= 0:
        return execute(T, F, S, X, R, T[edge + E_TIMED], MODE_AT, t) != 0
    if T[edge + E_NUMERIC] >= 0:
        values_at(T, F, S, X, R, t)
        return execute(T, F, S, X, R, T[edge + E_NUMERIC], MODE_NUMERIC, t) != 0
    return True


@inlined
def receives(T, F, S, X, R, r, channel):
    """Tell whether a receiving edge listens to a channel and is enabled now."""
    return T[T[H_EDGE_TABLE] + EDGE_WIDTH * r + E_CHANNEL] == channel and enabled_at(T, F, S, X, R, r, X[X_NOW])


@inlined
def leaves_committed(T, F, S, X, R, e1, e2):
    """Tell whether the transition leaves a committed location (a broadcast may do so by a receiver enabled now)."""
    locations = T[H_LOCATION_TABLE]
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e1
    if T[locations + LOCATION_WIDTH * T[edge + E_SOURCE] + L_FLAGS] & LOCATION_COMMITTED:
        return True
    if e2 >= 0:
        other = T[H_EDGE_TABLE] + EDGE_WIDTH * e2
        return (T[locations + LOCATION_WIDTH * T[other + E_SOURCE] + L_FLAGS] & LOCATION_COMMITTED) != 0
    if T[edge + E_KIND] == KIND_BROADCAST_SEND:
        row = T[H_BROADCAST_TABLE] + 2 * T[edge + E_CHANNEL]
        for i in range(T[row + 1]):
            p = T[T[row] + i]
            location = locations + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
            if p == T[edge + E_PROCESS] or not T[location + L_FLAGS] & LOCATION_COMMITTED:
                continue
            for k in receiving_edges(T, S, p):
                if receives(T, F, S, X, R, T[k], T[edge + E_CHANNEL]):
                    return True
    return False


@compiled
def condition(T, F, S, X, R, e1, e2, mode, t):
    """Evaluate all conditions of a transition that are no atoms, at t or just after it."""
    if mode == MODE_NUMERIC:
        values_at(T, F, S, X, R, t)
    needs_entry = ENTRY_FREE
    e = e1
    while e >= 0:
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
        if T[edge + E_TIMED] >= 0 and execute(T, F, S, X, R, T[edge + E_TIMED], mode, t) == 0:
            return False
        if T[edge + E_NUMERIC] >= 0 and execute(T, F, S, X, R, T[edge + E_NUMERIC], mode, t) == 0:
            return False
        needs_entry = max(needs_entry, T[edge + E_ENTRY])
        e = e2 if e == e1 else -1
    if S[S_ERROR] != 0:
        return False
    if needs_entry != ENTRY_FREE:
        return entry_holds(T, F, S, X, R, e1, e2, mode, t)
    return True


@inlined
def store_window(T, S, X, count, low, low_strict, high, high_strict):
    if count >= MAXIMUM_WINDOWS:
        fail(S, ERROR_WINDOWS, 0, count)
        return count
    w = T[H_X_WINDOWS] + 5 * count
    X[w] = low
    X[w + 1] = low_strict
    X[w + 2] = high
    X[w + 3] = high_strict
    return count + 1


@inlined
def sweep(T, F, S, X, R, e1, e2, low, low_strict, high, high_strict, count):
    """Append the exact windows inside an interval where everything is affine in the delay behind `count`."""
    t = low
    open_low = 0.0
    open_strict = 0
    is_open = False
    for step in range(MAXIMUM_BREAKPOINTS):
        here = True
        if step == 0 and low_strict:
            here = False
        elif t == high and high_strict:
            here = False
        else:
            X[X_BREAKPOINT] = math.inf
            here = condition(T, F, S, X, R, e1, e2, MODE_AT, t)
        if S[S_ERROR] != 0:
            return count
        if here and not is_open:
            is_open = True
            open_low = t
            open_strict = 0
        elif is_open and not here:
            is_open = False
            count = store_window(T, S, X, count, open_low, open_strict, t, 1)
        if t >= high:
            break
        X[X_BREAKPOINT] = math.inf
        after = condition(T, F, S, X, R, e1, e2, MODE_AFTER, t)
        if S[S_ERROR] != 0:
            return count
        if after and not is_open:
            is_open = True
            open_low = t
            open_strict = 1
        elif is_open and not after:
            is_open = False
            count = store_window(T, S, X, count, open_low, open_strict, t, 0)
        t = min(X[X_BREAKPOINT], high)
        if t == math.inf:
            break
    if is_open:
        count = store_window(T, S, X, count, open_low, open_strict, high, high_strict)
    return count


@compiled
def scan(T, F, S, X, R, e1, e2, code, low, high, first_only, count):
    """Append windows of a numeric condition inside [low, high]; with `code` >= 0 of that code, not a transition.

    Truth is evaluated on the grid and each flip is bisected; a pair of flips inside one step is missed.
    Ends of windows are the last moments found true, so they are closed.
    """
    step = X[X_ODE_STEP]
    now = X[X_NOW]
    limit = min(high, now + (GRID_ROWS - 1) * step)
    t = low
    truth = numeric_truth(T, F, S, X, R, e1, e2, code, t)
    opened = low
    row = int(math.floor((low - now) / step)) + 1
    while t < limit:
        following = min(now + row * step, limit)
        row += 1
        if following <= t:
            continue
        value = numeric_truth(T, F, S, X, R, e1, e2, code, following)
        if S[S_ERROR] != 0:
            return count
        if value != truth:
            a = t
            b = following
            for _ in range(60):
                middle = 0.5 * (a + b)
                if middle <= a or middle >= b:
                    break
                if numeric_truth(T, F, S, X, R, e1, e2, code, middle) == truth:
                    a = middle
                else:
                    b = middle
            if truth:
                count = store_window(T, S, X, count, opened, 0, a, 0)
                if first_only:
                    return count
            else:
                opened = b
            truth = value
        t = following
    if truth:
        count = store_window(T, S, X, count, opened, 0, high, 0)
    return count


@inlined
def numeric_truth(T, F, S, X, R, e1, e2, code, t):
    if code >= 0:
        values_at(T, F, S, X, R, t)
        return execute(T, F, S, X, R, code, MODE_NUMERIC, t) != 0
    return condition(T, F, S, X, R, e1, e2, MODE_NUMERIC, t)


@compiled
def transition_windows(T, F, S, X, R, e1, e2, deadline, deadline_strict, count):
    """Append windows of an internal or sending edge e1 (with receiver e2, or −1) up to a deadline behind `count`.

    Intervals go to X[H_X_WINDOWS], five words each: low, strict, high, strict, (edge).  Returns the new count.
    """
    if not integers_hold(T, F, S, X, R, e1):
        return count
    if e2 >= 0 and not integers_hold(T, F, S, X, R, e2):
        return count
    if S[S_COMMITTED] > 0 and not leaves_committed(T, F, S, X, R, e1, e2):
        return count
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e1
    low, low_strict, high, high_strict = atoms_window(
        T, F, S, X, R, T[edge + E_CLOCK_ATOMS], T[edge + E_CLOCK_COUNT], X[X_NOW], 0, deadline, deadline_strict
    )
    if low > deadline and high > -math.inf:
        X[T[H_X_EARLIEST] + e1] = low  # the clocks will not allow it before
    general = T[edge + E_TIMED] >= 0
    numeric = T[edge + E_NUMERIC] >= 0
    entry = T[edge + E_ENTRY]
    if e2 >= 0:
        other = T[H_EDGE_TABLE] + EDGE_WIDTH * e2
        low, low_strict, high, high_strict = atoms_window(
            T, F, S, X, R, T[other + E_CLOCK_ATOMS], T[other + E_CLOCK_COUNT], low, low_strict, high, high_strict
        )
        general = general or T[other + E_TIMED] >= 0
        numeric = numeric or T[other + E_NUMERIC] >= 0
        entry = max(entry, T[other + E_ENTRY])
    if low > high:
        if high == -math.inf or low_strict or high_strict or low - high > slack(low):
            return count
        high = low
    elif low == high and (low_strict or high_strict):
        return count
    if numeric or entry == ENTRY_NUMERIC:
        return scan(T, F, S, X, R, e1, e2, -1, low, high, False, count)
    if general or entry != ENTRY_FREE:
        return sweep(T, F, S, X, R, e1, e2, low, low_strict, high, high_strict, count)
    return store_window(T, S, X, count, low, low_strict, high, high_strict)


@compiled
def invariant_deadline(T, F, S, X, R, p):
    """Compute until when the invariant of process p holds: (moment, strict); −inf if it is violated already."""
    location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
    now = X[X_NOW]
    low, low_strict, high, high_strict = atoms_window(
        T, F, S, X, R, T[location + L_ATOMS], T[location + L_ATOM_COUNT], -math.inf, 0, math.inf, 0
    )
    if low > now + slack(now) or (low == now and low_strict):
        return -math.inf, 0
    if high < now:
        if high < now - slack(now) or high_strict:
            return -math.inf, 0
        high = now
    if high == now and high_strict:
        return -math.inf, 0
    if T[location + L_TIMED] >= 0:
        code = T[location + L_TIMED]
        t = now
        for _ in range(MAXIMUM_BREAKPOINTS):
            X[X_BREAKPOINT] = math.inf
            if execute(T, F, S, X, R, code, MODE_AT, t) == 0:
                if t == now:
                    return -math.inf, 0
                high = t
                high_strict = 1
                break
            X[X_BREAKPOINT] = math.inf
            if execute(T, F, S, X, R, code, MODE_AFTER, t) == 0:
                high = t
                high_strict = 0
                break
            t = X[X_BREAKPOINT]
            if t > high or t == math.inf:
                break
    if T[location + L_NUMERIC] >= 0:
        if not numeric_truth(T, F, S, X, R, -1, -1, T[location + L_NUMERIC], now):
            return -math.inf, 0
        count = scan(T, F, S, X, R, -1, -1, T[location + L_NUMERIC], now, high, True, 0)
        if count > 0:
            found = X[T[H_X_WINDOWS] + 2]
            if found < high:
                high = found
                high_strict = 0
    return high, high_strict
