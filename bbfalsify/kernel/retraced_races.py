"""The random numbers with which a race ends as it did: its winner, the moment, and the edge taken.

A race (`races.py`) draws one number per component, more where components tie, and n − 1 for n enabled edges.  For a
given winner, moment and edge, the numbers that lead there form intervals: one point for the winner's delay, all later
moments for a component that lost, the share of a weight for an edge.  A number is drawn uniformly from its interval, so
that the numbers of walks that follow the profile are independent and uniform again.

Numbers have 53 bits.  For a moment that none of them gives, the next one before it is taken, within 2**-53 of the
delays possible, divided by the probability that the component waits that long where its delay is exponential.
"""

from __future__ import annotations

import math

import numpy as np

from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.ode import values_at
from bbfalsify.kernel.races import (
    component_windows,
    contender,
    covers,
    draw_moment,
    nobody_may_wait,
    weight_at,
)
from bbfalsify.kernel.rng import TAPE, TAPE_ROOM, unit

ALL = 1 << 53
"""Numbers are 0, 1, …, ALL − 1; as quantiles they are divided by ALL."""
UNIT = 2.0**-53
TIES = 32
"""Tries to draw a race that its winner wins by chance among ties; after those, ties are decided for it."""
ATTEMPTS = 16
"""Tries to guess what a walk does not say: which of several receiving edges was taken, which summand was drawn."""


@inlined
def between(seeds, first, beyond):
    """Draw one of the numbers first, …, beyond − 1."""
    return min(first + int(unit(seeds) * (beyond - first)), beyond - 1)


@inlined
def put(R, place, value):
    """Write a number onto the tape, if there is room; return the next place."""
    if place < np.int64(R[TAPE_ROOM]):
        R[TAPE + place] = np.uint64(value)
    return place + 1


@inlined
def moment_of(T, X, count, bound, rate, until, n):
    """The moment at which a component acts that draws the number n; `until`: its urgent moment."""
    return min(draw_moment(T, X, count, bound, rate, 1.0 - n * UNIT), until)


@compiled
def first_number(T, X, count, bound, rate, until, t, over):
    """Return the first number whose moment is t or later (with `over`: later than t); ALL if there is none."""
    lowest = 0
    highest = ALL
    while lowest < highest:
        middle = (lowest + highest) // 2
        moment = moment_of(T, X, count, bound, rate, until, middle)
        if moment > t or (moment == t and over == 0):
            highest = middle
        else:
            lowest = middle + 1
    return lowest


@compiled
def own_numbers(T, X, count, bound, rate, until, t):
    """(first, beyond, moment): the numbers with which a component acts at t, or shortly before; inf: never.

    Before, not after: a sample at t, and the end of a walk at t, see the action.
    """
    first = first_number(T, X, count, bound, rate, until, t, 0)
    if first < ALL and moment_of(T, X, count, bound, rate, until, first) == t:
        return first, first_number(T, X, count, bound, rate, until, t, 1), t
    if first > 0:
        return first - 1, first, moment_of(T, X, count, bound, rate, until, first - 1)
    after = moment_of(T, X, count, bound, rate, until, first)
    return (0, ALL, math.inf) if after == math.inf else (0, 1, after)


@compiled
def tie_number(R, seeds, place, p, winner, ahead, ties, forced):
    """Write the number that decides a tie; return (next place, the process now ahead)."""
    border = (ALL + ties - 1) // ties  # numbers below it replace the one ahead
    first = 0
    beyond = ALL
    if forced != 0 and p == winner:
        beyond = border
    elif forced != 0 and ahead == winner:
        first = border
    n = between(seeds, first, beyond)
    if n * UNIT * ties < 1.0:
        ahead = p
    return put(R, place, n), ahead


@compiled
def race_numbers(T, F, S, X, R, seeds, place, winner, deadline, strict, t):
    """Write the numbers of a race that a component wins at t; return (next place or −1, moment)."""
    count, bound, rate, urgent = contender(T, F, S, X, R, winner, deadline, strict)
    if count == 0:
        return -1, t
    first, beyond, moment = own_numbers(T, X, count, bound, rate, urgent, t)
    for attempt in range(TIES + 1):
        forced = 1 if attempt == TIES else 0
        after = place
        best = math.inf
        ahead = -1
        ties = 0
        for p in range(T[H_PROCESSES]):
            count, bound, rate, urgent = contender(T, F, S, X, R, p, deadline, strict)
            if count == 0:
                continue
            n = 0
            if p == winner:
                n = between(seeds, first, beyond)
            else:
                earliest = first_number(T, X, count, bound, rate, urgent, moment, 0)
                if forced != 0:
                    later = first_number(T, X, count, bound, rate, urgent, moment, 1)
                    earliest = later if later < ALL else earliest
                if earliest >= ALL:
                    return -1, t
                n = between(seeds, earliest, ALL)
            after = put(R, after, n)
            drawn = moment_of(T, X, count, bound, rate, urgent, n)
            if drawn == math.inf:
                continue
            if drawn < best:
                best = drawn
                ahead = p
                ties = 1
            elif drawn == best:
                ties += 1
                after, ahead = tie_number(R, seeds, after, p, winner, ahead, ties, forced)
        if ahead < 0 and nobody_may_wait(S, X, deadline):
            for p in range(T[H_PROCESSES]):
                if component_windows(T, F, S, X, R, p, deadline, strict) > 0:
                    ties += 1
                    best = X[X_NOW]
                    if ties == 1:
                        ahead = p
                    else:
                        after, ahead = tie_number(R, seeds, after, p, winner, ahead, ties, forced)
        if ahead == winner and best < math.inf:
            return after, best
    return -1, t


@compiled
def share_number(R, seeds, place, wanted, whole, taking):
    """Write a number that is below wanted / whole (taking 1), is not (0), or any (−1); next place, −1: impossible."""
    if taking < 0:
        return put(R, place, between(seeds, 0, ALL))
    border = int(wanted / whole * ALL) if whole > 0.0 else 0
    while border > 0 and not (border - 1) * UNIT * whole < wanted:
        border -= 1
    while border < ALL and border * UNIT * whole < wanted:
        border += 1
    if taking == 1 and border > 0:
        return put(R, place, between(seeds, 0, border))
    if taking == 0 and border < ALL:
        return put(R, place, between(seeds, border, ALL))
    return -1


@compiled
def edge_numbers(T, F, S, X, R, seeds, place, e, deadline, strict, t):
    """Write the numbers with which the winner takes edge e at t (`pick_output`); return the next place, −1: none."""
    winner = T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_PROCESS]
    count = component_windows(T, F, S, X, R, winner, deadline, strict)
    timed = T[H_FLAGS] & FLAG_TIMED_WEIGHTS
    if timed:
        values_at(T, F, S, X, R, t)
    last = -1
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        if int(X[w + 4]) == e and covers(X, w, t):
            last = k
    if last < 0:
        return -1
    total = 0.0
    enabled = 0
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        if covers(X, w, t):
            code = T[T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4]) + E_WEIGHT]
            weight = weight_at(T, F, S, X, R, code, t, timed)
            total += weight
            enabled += 1
            if enabled > 1:
                place = share_number(R, seeds, place, weight, total, -1 if k < last else 1 if k == last else 0)
                if place < 0:
                    return -1
    return place
