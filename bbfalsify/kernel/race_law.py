"""Compute the exact law of the next action in a race of several components, and its inverse.

Component j waits with hazard h_j(t) = 1/(D_j − t), or its exponential rate, while one of its outputs is enabled
(`races`).
The first to act at t is p with density h_p(t)·Π_j S_j(t), so an action has the density

    g(t) = Σ_p share_p · h_p(t) · Π_j S_j(t)           share_p: weight of p's edges that carry it, among those enabled

Between two neighbouring ends of windows the same edges are enabled, and g is a polynomial times an exponential:
Gauss–Legendre quadrature of 16 points on few stretches gives its integral to rounding; where only exponentials race,
and on the infinite tail, it is a closed form.  Components that still wait at the first *atom* (a bound reached with an
edge enabled there only, an urgent or committed location, an urgent channel) act there; ties are divided equally.

g never increases inside a piece.  So its integral G is concave: Newton's step from the left never overshoots the moment
with a given G, the chord never undershoots it, and both together close in on it quadratically (Newton–Fourier).
"""

from __future__ import annotations

import math

from bbfalsify.kernel.firing import weight_of
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.races import component_windows, covers, delay_law, urgent_moment

# Positive nodes of the Gauss–Legendre rule with 16 points on [−1, 1], and their weights; written out, so that every
# machine adds the same numbers.
NODES = (0.09501250983763744, 0.2816035507792589, 0.45801677765722737, 0.6178762444026438,
         0.755404408355003, 0.8656312023878318, 0.9445750230732326, 0.9894009349916499)  # fmt: skip
WEIGHTS = (0.1894506104550685, 0.18260341504492358, 0.16915651939500254, 0.14959598881657674,
           0.12462897125553388, 0.09515851168249279, 0.062253523938647894, 0.027152459411754096)  # fmt: skip
STRETCH_DECAY = 8.0  # rate · length of a stretch: the quadrature's relative error is below 1e-20
STRETCH_BOUNDS = 16  # uniform components per stretch
NEGLIGIBLE_DECAY = 60.0  # beyond rate · time = 60 less than 1e-26 of a piece's mass is left
PRECISION = 1e-14  # of a moment, relative to its stretch
SMALLEST_GAP = 1e-200


# --- the racers -------------------------------------------------------------------------------------------------------


@compiled
def gather_racers(T, F, S, X, R, deadline, strict):
    """List all components that can act before the deadline, with windows, weights, bounds and atoms; count them."""
    racers = 0
    place = T[H_X_RACE_WINDOWS]
    for p in range(T[H_PROCESSES]):
        count = component_windows(T, F, S, X, R, p, deadline, strict)
        if S[S_ERROR] != 0:
            return racers
        if count == 0:
            continue
        racer = T[H_X_RACERS] + RACE_WIDTH * racers
        racers += 1
        bound, rate = delay_law(T, F, S, X, R, p)
        X[racer + RACE_FIRST] = place
        X[racer + RACE_WINDOWS] = count
        X[racer + RACE_BOUND] = bound
        X[racer + RACE_RATE] = rate
        X[racer + RACE_MOMENT] = urgent_moment(T, S, X, count)
        X[racer + RACE_POINT] = X[racer + RACE_MOMENT]
        for k in range(count):
            w = T[H_X_WINDOWS] + 5 * k
            if X[w] >= bound and bound < X[racer + RACE_MOMENT]:  # only the bound itself is left
                X[racer + RACE_MOMENT] = bound
                X[racer + RACE_POINT] = X[w]  # which rounding may have put beside the bound
            for c in range(5):
                X[place + c] = X[w + c]
            X[place + 5] = weight_of(T, F, S, X, R, T[T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4]) + E_WEIGHT])
            place += RACE_WINDOW_WIDTH
    return racers


@inlined
def first_atom(T, S, X, racers, deadline):
    """Find the moment of the earliest atom, inf if there is none.

    If time stands still for a process that cannot move, any that is enabled now goes on.
    """
    now = X[X_NOW]
    first = math.inf
    for k in range(racers):
        first = min(first, X[T[H_X_RACERS] + RACE_WIDTH * k + RACE_MOMENT])
    if first == math.inf and deadline == now and (S[S_COMMITTED] > 0 or S[S_URGENT] > 0):
        for k in range(racers):
            racer = T[H_X_RACERS] + RACE_WIDTH * k
            X[racer + RACE_MOMENT] = now
            X[racer + RACE_POINT] = now
            first = now
    return first


@inlined
def insert_sorted(X, points, count, t):
    """Insert a moment into sorted ones."""
    k = points + count
    while k > points and X[k - 1] > t:
        X[k] = X[k - 1]
        k -= 1
    X[k] = t


@compiled
def race_points(T, X, racers):
    """Sort the ends of all windows; return their number."""
    points = T[H_X_RACE_POINTS]
    count = 0
    for k in range(racers):
        racer = T[H_X_RACERS] + RACE_WIDTH * k
        w = int(X[racer + RACE_FIRST])
        for _ in range(int(X[racer + RACE_WINDOWS])):
            insert_sorted(X, points, count, X[w])
            insert_sorted(X, points, count + 1, X[w + 2])
            count += 2
            w += RACE_WINDOW_WIDTH
    return count


@inlined
def in_piece(X, w, low, high):
    """Tell whether a window contains all of (low, high), or the point low = high."""
    if low == high:
        return covers(X, w, low)
    return X[w] <= low and X[w + 2] >= high


@inlined
def share_of(wanted, whole, first, action):
    """Compute the share of the wanted weight; `first` labels the first enabled edge, −1: nothing is enabled."""
    if whole > 0.0:
        return wanted / whole
    if first < 0:
        return -1.0
    return 1.0 if first == action else 0.0  # no edge has a weight: the race takes the first


@compiled
def racer_share(T, X, racer, low, high, action):
    """Compute the weight share of an action among the racer's edges enabled on a piece or at a point; −1: none is."""
    total = 0.0
    wanted = 0.0
    first = -1
    w = int(X[racer + RACE_FIRST])
    for _ in range(int(X[racer + RACE_WINDOWS])):
        if in_piece(X, w, low, high):
            label = T[T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4]) + E_ACTION]
            if first < 0:
                first = label
            total += X[w + 5]
            if label == action:
                wanted += X[w + 5]
        w += RACE_WINDOW_WIDTH
    return share_of(wanted, total, first, action)


# --- one piece --------------------------------------------------------------------------------------------------------


@compiled
def density(T, X, racers, low, rate, t):
    """Compute g(t), given that all still wait at the start `low` of the piece; `rate` is that of all exponentials."""
    alive = math.exp(-rate * (t - low))
    total = 0.0
    for k in range(racers):
        racer = T[H_X_RACERS] + RACE_WIDTH * k
        share = X[racer + RACE_SHARE]
        if share >= 0.0:
            bound = X[racer + RACE_BOUND]
            if bound == math.inf:
                total += share * X[racer + RACE_RATE]
            else:
                gap = max(bound - t, SMALLEST_GAP)
                alive *= gap / (bound - low)
                total += share / gap
    return alive * total


@inlined
def stretch_mass(T, X, racers, low, rate, u, v):
    """Integrate g over [u, v]."""
    half = 0.5 * (v - u)
    middle = 0.5 * (u + v)
    total = 0.0
    for i in range(len(NODES)):
        step = half * NODES[i]
        total += WEIGHTS[i] * (
            density(T, X, racers, low, rate, middle - step) + density(T, X, racers, low, rate, middle + step)
        )
    return half * total


@inlined
def narrowed(low, before, high, after, middle, mass, ahead):
    """Narrow (low, high), with the masses (before, after), to the part behind its `middle` or to that before it."""
    if ahead:
        return middle, mass, high, after
    return low, before, middle, mass


@compiled
def moment_in_stretch(T, X, racers, low, rate, u, v, survivor):
    """Find the moment at which the integral of g from u, which is larger at v, reaches `survivor`."""
    start = u
    end = v
    tolerance = PRECISION * (v - u)
    before = 0.0
    after = stretch_mass(T, X, racers, low, rate, u, v)
    for _ in range(100):
        width = end - start
        if width <= tolerance or not after > before:
            break
        chord = min(max(start + width * ((survivor - before) / (after - before)), start), end)
        slope = density(T, X, racers, low, rate, start)
        newton = start + (survivor - before) / slope if slope > 0.0 else start
        newton = min(max(newton, start), chord)
        mass = stretch_mass(T, X, racers, low, rate, u, newton)
        start, before, end, after = narrowed(start, before, end, after, newton, mass, mass <= survivor)
        if chord < end:
            mass = stretch_mass(T, X, racers, low, rate, u, chord)
            start, before, end, after = narrowed(start, before, end, after, chord, mass, not mass >= survivor)
        if end - start > 0.5 * width:
            middle = 0.5 * (start + end)
            mass = stretch_mass(T, X, racers, low, rate, u, middle)
            start, before, end, after = narrowed(start, before, end, after, middle, mass, mass <= survivor)
    return 0.5 * (start + end)


@compiled
def piece_law(T, X, racers, low, high, survivor):
    """Return (∫ g over a piece, the moment at which it reaches `survivor`); −1: never, or a negative survivor."""
    rate = 0.0
    wanted = 0.0
    bounded = 0
    for k in range(racers):
        racer = T[H_X_RACERS] + RACE_WIDTH * k
        if X[racer + RACE_SHARE] >= 0.0:
            if X[racer + RACE_BOUND] == math.inf:
                rate += X[racer + RACE_RATE]
                wanted += X[racer + RACE_SHARE] * X[racer + RACE_RATE]
            else:
                bounded += 1
    if bounded == 0:
        mass = wanted / rate * -math.expm1(-rate * (high - low)) if rate > 0.0 else 0.0
        if survivor < 0.0 or mass <= survivor:
            return mass, -1.0
        left = max(1.0 - survivor * (rate / wanted), SMALLEST_GAP)
        return mass, min(max(low - math.log(left) / rate, low), high)
    end = min(high, low + NEGLIGIBLE_DECAY / rate) if rate > 0.0 else high
    stretches = 1 + int(rate * (end - low) / STRETCH_DECAY) + bounded // STRETCH_BOUNDS
    mass = 0.0
    u = low
    for i in range(stretches):
        v = end if i + 1 == stretches else low + (end - low) * ((i + 1.0) / stretches)
        more = stretch_mass(T, X, racers, low, rate, u, v)
        if survivor >= 0.0 and mass + more > survivor:
            return mass, moment_in_stretch(T, X, racers, low, rate, u, v, survivor - mass)
        mass += more
        u = v
    return mass, -1.0


@inlined
def piece_survival(T, X, racers, low, high):
    """Probability that no component acts in a piece, given that all wait at its start."""
    alive = 1.0
    for k in range(racers):
        racer = T[H_X_RACERS] + RACE_WIDTH * k
        if X[racer + RACE_SHARE] >= 0.0:
            bound = X[racer + RACE_BOUND]
            if bound == math.inf and X[racer + RACE_RATE] > 0.0:
                alive *= math.exp(-X[racer + RACE_RATE] * (high - low))
            elif bound < math.inf:
                alive *= max(bound - high, 0.0) / (bound - low)
    return alive


# --- all pieces -------------------------------------------------------------------------------------------------------


@compiled
def race_law(T, S, X, racers, deadline, action, survivor):
    """Return (probability of the action, moment at which its mass exceeds `survivor`, low and high of its piece).

    A negative survivor computes the probability only; low = high is an atom.  The racers keep the shares of the piece.
    """
    last = first_atom(T, S, X, racers, deadline)
    points = race_points(T, X, racers)
    probability = 0.0
    alive = 1.0
    for i in range(points - 1):
        low = X[T[H_X_RACE_POINTS] + i]
        high = min(X[T[H_X_RACE_POINTS] + i + 1], last)
        if low >= last or alive <= 0.0:
            break
        if low == high:
            continue
        enabled = False
        wanted = False
        for k in range(racers):
            racer = T[H_X_RACERS] + RACE_WIDTH * k
            share = racer_share(T, X, racer, low, high, action)
            X[racer + RACE_SHARE] = share
            enabled = enabled or share >= 0.0
            wanted = wanted or share > 0.0
        if wanted:
            left = max((survivor - probability) / alive, 0.0) if survivor >= 0.0 else -1.0
            mass, moment = piece_law(T, X, racers, low, high, left)
            if moment >= 0.0:
                return probability, moment, low, high
            probability += alive * mass
        if enabled:
            alive *= piece_survival(T, X, racers, low, high)
    if last == math.inf or alive <= 0.0:
        return probability, -1.0, 0.0, 0.0
    tied = 0
    mass = 0.0
    for k in range(racers):
        racer = T[H_X_RACERS] + RACE_WIDTH * k
        X[racer + RACE_SHARE] = -1.0
        if X[racer + RACE_MOMENT] == last:
            tied += 1
            point = X[racer + RACE_POINT]
            X[racer + RACE_SHARE] = racer_share(T, X, racer, point, point, action)
            mass += max(X[racer + RACE_SHARE], 0.0)
    probability += alive * mass / tied
    if survivor >= 0.0 and mass > 0.0:
        return probability, last, last, last
    return probability, -1.0, 0.0, 0.0


@inlined
def racer_weight(X, racer, t, low, high):
    """Compute the racer's part of g(t), up to a factor that all have in common."""
    share = max(X[racer + RACE_SHARE], 0.0)
    if low == high:
        return share
    if X[racer + RACE_BOUND] == math.inf:
        return share * X[racer + RACE_RATE]
    return share / max(X[racer + RACE_BOUND] - t, SMALLEST_GAP)


@compiled
def race_winner(T, X, racers, action, low, high, t, choice_number):
    """Return the place of the window of the edge that fires at t; one number chooses the winner, then its edge."""
    total = 0.0
    for k in range(racers):
        total += racer_weight(X, T[H_X_RACERS] + RACE_WIDTH * k, t, low, high)
    rest = choice_number * total
    winner = -1
    for k in range(racers):
        racer = T[H_X_RACERS] + RACE_WIDTH * k
        weight = racer_weight(X, racer, t, low, high)
        if weight > 0.0:
            winner = racer
            if rest < weight:
                rest = rest / weight
                break
            rest -= weight
    if winner < 0:
        return -1
    if low == high:
        low = X[winner + RACE_POINT]
        high = low
    total = 0.0
    for k in range(int(X[winner + RACE_WINDOWS])):
        w = int(X[winner + RACE_FIRST]) + RACE_WINDOW_WIDTH * k
        if T[T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4]) + E_ACTION] == action and in_piece(X, w, low, high):
            total += X[w + 5]
    rest = min(rest, 1.0) * total
    chosen = -1
    for k in range(int(X[winner + RACE_WINDOWS])):
        w = int(X[winner + RACE_FIRST]) + RACE_WINDOW_WIDTH * k
        if T[T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4]) + E_ACTION] == action and in_piece(X, w, low, high):
            if chosen < 0 or X[w + 5] > 0.0:
                chosen = w
            if rest < X[w + 5]:
                break
            rest -= X[w + 5]
    return chosen
