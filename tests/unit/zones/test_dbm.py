"""Matrices of bounds against sets of points on a grid of half units."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify.kernel.numba_types import entry_point
from bbfalsify.zones.dbm import (
    AT_MOST_ZERO,
    INFINITE,
    assigned,
    before,
    constrain,
    copied,
    extrapolate,
    let_pass,
    subtract,
    tighten,
)
from tests.drawing import examples

N = 3
GRID = [(a / 2, b / 2) for a in range(13) for b in range(13)]


@entry_point
def operate(D, W, n, i, j, b, mode):
    if mode == 0:
        return 1 if constrain(D, 0, n, i, j, b) else 0
    if mode == 1:
        let_pass(D, 0, n)
    elif mode == 2:
        before(D, 0, n)
    elif mode == 3:
        assigned(D, 0, n * n, n, W, 0, n)
        copied(D, n * n, 0, n)
    elif mode == 4:
        return 1 if tighten(D, 0, n) else 0
    elif mode == 5:
        extrapolate(D, 0, n, W, 0, 2 * n)
    else:
        return subtract(D, 0, n, n * n, 1, 2 * n * n, 3 * n * n, 20)
    return 1


def full():
    D = np.full(40 * N * N, INFINITE, np.int32)
    for i in range(N):
        D[i * N + i] = AT_MOST_ZERO
        D[i] = AT_MOST_ZERO
    return D


def inside(D, point, place=0):
    values = (0, *point)
    for i in range(N):
        for j in range(N):
            b = int(D[place + N * i + j])
            difference = values[i] - values[j]
            if b != INFINITE and not (difference <= b >> 1 if b & 1 else difference < b >> 1):
                return False
    return True


def points(D, place=0):
    return {point for point in GRID if inside(D, point, place)}


def drawn(seed, count=4):
    """A zone that is not empty."""
    r = random.Random(seed)
    while True:
        D = full()
        W = np.zeros(4 * N, np.int64)
        bounds = [(r.randrange(N), r.randrange(N), 2 * r.randint(-2, 4) + r.randint(0, 1)) for _ in range(count)]
        if all(operate(D, W, N, i, j, b, 0) for i, j, b in bounds if i != j) and len(points(D)) > 0:
            return D, W


@examples(60)
@given(st.integers(0, 10**6))
def test_constraining_intersects_and_stays_canonical(seed):
    D, W = drawn(seed)
    before, r = points(D), random.Random(seed)
    i, j, b = r.choice([0, 1]), 2, 2 * r.randint(-2, 3) + r.randint(0, 1)
    left = operate(D, W, N, i, j, b, 0)
    expected = {p for p in before if ((0, *p)[i] - (0, *p)[j] <= b >> 1 if b & 1 else (0, *p)[i] - (0, *p)[j] < b >> 1)}
    if not left:
        assert not expected
        return
    assert points(D) == expected
    again = D.copy()
    assert operate(again, W, N, 0, 0, 0, 4)
    assert (again == D).all()


@examples(40)
@given(st.integers(0, 10**6))
def test_waiting_and_the_past(seed):
    D, W = drawn(seed)
    start = points(D)
    later, earlier = D.copy(), D.copy()
    operate(later, W, N, 0, 0, 0, 1)
    operate(earlier, W, N, 0, 0, 0, 2)
    for a, b in GRID:
        delays = [d / 4 for d in range(0, 25)]
        assert inside(later, (a, b)) == any(a >= d and b >= d and inside(D, (a - d, b - d)) for d in delays)
        assert inside(earlier, (a, b)) == any(inside(D, (a + d, b + d)) for d in delays) or (a, b) in start


@pytest.mark.parametrize(
    ("sources", "shifts"), [((0, 0, 2), (0, 0, 0)), ((0, 2, 2), (0, 0, 0)), ((0, 0, 1), (0, 3, 1))]
)
def test_assigning_is_the_image(sources, shifts):
    for seed in range(20):
        D, W = drawn(seed)
        before = points(D)
        W[:N], W[N : 2 * N] = sources, shifts
        operate(D, W, N, 0, 0, 0, 3)
        image = {tuple((0, *p)[s] + k for s, k in zip(sources[1:], shifts[1:], strict=True)) for p in before}
        assert points(D) >= {p for p in image if p in GRID}


@examples(40)
@given(st.integers(0, 10**6))
def test_subtracting_cuts_into_disjoint_pieces(seed):
    first, W = drawn(seed)
    second, _ = drawn(seed + 1)
    D = full()
    D[: N * N], D[N * N : 2 * N * N] = second[: N * N], first[: N * N]
    count = operate(D, W, N, 0, 0, 0, 6)
    pieces = [points(D, 3 * N * N + k * N * N) for k in range(count)]
    assert set().union(*pieces) == points(first) - points(second)
    assert sum(map(len, pieces)) == len(set().union(*pieces))


@examples(40)
@given(st.integers(0, 10**6))
def test_widening_only_adds_and_keeps_what_constants_tell_apart(seed):
    D, W = drawn(seed)
    before, r = points(D), random.Random(seed)
    lower, upper = (r.randint(-1, 3), r.randint(-1, 3)), (r.randint(-1, 3), r.randint(-1, 3))
    W[1:3], W[2 * N + 1 : 3 * N] = lower, upper
    operate(D, W, N, 0, 0, 0, 5)
    assert points(D) >= before
    for k in range(2):
        # a bound x <= c with c <= U (x >= c with c <= L) that no point meets is still met by none
        for c in range(upper[k] + 1):
            if not any(p[k] <= c for p in before):
                assert not any(p[k] <= c for p in points(D))
        for c in range(lower[k] + 1):
            if not any(p[k] >= c for p in before):
                assert not any(p[k] >= c for p in points(D))
