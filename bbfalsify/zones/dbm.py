"""Difference bound matrices, compiled: n × n bounds on differences of clocks in one flat int32 array.

Entry (i, j) bounds xᵢ − xⱼ; clock 0 is the constant 0.  A bound is 2·c + 1 for ≤ c and 2·c for < c, so that smaller
numbers are tighter bounds; INFINITE is none.  All functions take and keep matrices in canonical form (no bound follows
from others more tightly), unless they say otherwise.  `D` holds several matrices; arguments in small letters are the
places at which they begin.
"""

from __future__ import annotations

from bbfalsify.kernel.numba_types import compiled, inlined

INFINITE = 1 << 30
LARGEST = 1 << 26
"""Largest constant of a bound; sums of two stay far below INFINITE."""
AT_MOST_ZERO = 1


@inlined
def added(a, b):
    """Sum of two bounds that are not infinite."""
    return a + b - ((a | b) & 1)


@compiled
def copied(D, source, target, n):
    for k in range(n * n):
        D[target + k] = D[source + k]


@compiled
def tighten(D, m, n):
    """Bring a matrix into canonical form; return False if it is empty."""
    for k in range(n):
        kth = m + n * k
        for i in range(n):
            row = m + n * i
            through = D[row + k]
            if i == k or through == INFINITE:
                continue
            for j in range(n):
                rest = D[kth + j]
                total = INFINITE if rest == INFINITE else through + rest - ((through | rest) & 1)
                if total < D[row + j]:
                    D[row + j] = total
        if D[kth + k] < AT_MOST_ZERO:
            return False
    for i in range(n):
        if D[m + n * i + i] < AT_MOST_ZERO:
            return False
    return True


@compiled
def constrain(D, m, n, i, j, b):
    """Intersect with xᵢ − xⱼ ≺ b; return False if the result is empty."""
    if i == j:
        return b >= AT_MOST_ZERO
    if b >= D[m + n * i + j]:
        return True
    back = D[m + n * j + i]
    if back != INFINITE and added(back, b) < AT_MOST_ZERO:
        return False
    D[m + n * i + j] = b
    for p in range(n):
        to_i = D[m + n * p + i]
        if to_i == INFINITE:
            continue
        reach = b if p == i else added(to_i, b)
        row = m + n * p
        for q in range(n):
            rest = D[m + n * j + q]
            total = INFINITE if rest == INFINITE else reach + rest - ((reach | rest) & 1)
            if total < D[row + q]:
                D[row + q] = total
    return True


@compiled
def let_pass(D, m, n):
    """Add everything that is reached by waiting."""
    for i in range(1, n):
        D[m + n * i] = INFINITE


@compiled
def let_some_pass(D, m, n, W, stopped):
    """Add everything that is reached by waiting while the clocks with W[stopped + i] = 1 stand still, and more: the
    differences between running and standing clocks grow independently (an over-approximation)."""
    for i in range(1, n):
        if W[stopped + i]:
            continue
        D[m + n * i] = INFINITE
        for j in range(1, n):
            if W[stopped + j]:
                D[m + n * i + j] = INFINITE
    tighten(D, m, n)


@compiled
def fits(D, m, n):
    """Tell whether sums of the bounds are far from INFINITE."""
    for k in range(n * n):
        if D[m + k] != INFINITE and abs(D[m + k]) > 4 * LARGEST:
            return False
    return True


@compiled
def before(D, m, n):
    """Add everything from which it is reached by waiting."""
    for j in range(1, n):
        least = AT_MOST_ZERO
        for i in range(1, n):
            if D[m + n * i + j] < least:
                least = D[m + n * i + j]
        D[m + j] = least


@compiled
def assigned(D, source, target, n, W, sources, shifts):
    """Give clock i the value of clock W[sources + i] before, plus W[shifts + i]."""
    for i in range(n):
        for j in range(n):
            b = D[source + n * W[sources + i] + W[sources + j]]
            if b != INFINITE:
                b += 2 * (W[shifts + i] - W[shifts + j])
            D[target + n * i + j] = b


@compiled
def extrapolate(D, m, n, W, lower, upper):
    """Widen to what guards cannot tell apart (ExtraLU+): W[lower + i], W[upper + i] are the largest constants that
    clock i is compared with from below and from above, −1 for none.  The result is canonical."""
    changed = False
    for i in range(1, n):
        # lowest value of clock i, as a bound: −c for 0 − xᵢ ≺ c
        W[lower + n + i] = -(D[m + i] >> 1)
    W[lower + n] = 0
    for i in range(1, n):
        largest = W[lower + i]
        far = W[lower + n + i] > largest
        row = m + n * i
        for j in range(n):
            b = D[row + j]
            if i == j or b == INFINITE:
                continue
            if far or (b >> 1) > largest or (j > 0 and W[lower + n + j] > W[upper + j]):
                D[row + j] = INFINITE
                changed = True
    for j in range(1, n):
        largest = W[upper + j]
        if W[lower + n + j] > largest:
            b = AT_MOST_ZERO if largest < 0 else -2 * largest
            if D[m + j] != b:
                D[m + j] = b
                changed = True
    if changed:
        tighten(D, m, n)


@compiled
def disjoint(D, a, b, n):
    """Tell whether two matrices contradict each other in one pair of bounds."""
    for i in range(n):
        for j in range(n):
            there = D[a + n * i + j]
            back = D[b + n * j + i]
            if there != INFINITE and back != INFINITE and added(there, back) < AT_MOST_ZERO:
                return True
    return False


@compiled
def outside(D, m, n, piece, spare, target, most):
    """Cut matrix `piece` along the bounds of m; write the parts outside m to `target`, return their number, or −1."""
    size = n * n
    if disjoint(D, m, piece, n):
        copied(D, piece, target, n)
        return 1 if most > 0 else -1
    copied(D, piece, spare, n)
    count = 0
    for i in range(n):
        for j in range(n):
            b = D[m + n * i + j]
            if i == j or b >= D[spare + n * i + j]:
                continue
            if count >= most:
                return -1
            copied(D, spare, target + size * count, n)
            if constrain(D, target + size * count, n, j, i, 1 - b):
                count += 1
            if not constrain(D, spare, n, i, j, b):
                return count
    return count


@compiled
def subtract(D, m, n, first, count, spare, target, most):
    """Take matrix m away from the `count` matrices at `first`; write disjoint pieces to `target`, return their number.

    −1: there are more than `most` pieces.  `spare` is the place of one matrix to work in.
    """
    new = 0
    for k in range(count):
        parts = outside(D, m, n, first + n * n * k, spare, target + n * n * new, most - new)
        if parts < 0:
            return -1
        new += parts
    return new
