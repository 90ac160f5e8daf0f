"""The operations on piecewise functions against the definitions, on functions with points and open intervals too.

Functions are constant on pieces here; that certainty times, which rise, are handled is seen in tests/laws.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from bbfalsify.logic.stl.formula import Compare, Connective, Number, Reach, Signal, Window
from bbfalsify.logic.stl.piecewise import FLAT, future_window, past_window, pointwise
from bbfalsify.logic.stl.piecewise_until import since, until
from tests.laws.stl_reference import Oracle

P, Q = (Compare(">", Signal(name), Number(0.0)) for name in "pq")
LAST = 5


class Pieces:
    """Two functions in one set of arrays, with room for a result."""

    def __init__(self, rng):
        self.keys, self.consts, self.slopes = np.zeros(400, np.int64), np.zeros(400), np.full(400, FLAT)
        self.at, self.count = {}, {}
        top = 0
        for name in "pq":
            inner = np.sort(rng.choice(np.arange(1, 2 * LAST + 2), size=int(rng.integers(0, 7)), replace=False))
            n = len(inner) + 1
            self.keys[top : top + n] = [0, *inner]
            self.consts[top : top + n] = rng.integers(-2, 3, n)
            self.at[name], self.count[name] = np.int64(top), np.int64(n)
            top += n
        self.out = np.int64(top)

    @property
    def arrays(self):
        return self.keys, self.consts, self.slopes

    def value(self, at, count, t: Fraction) -> float:
        key = 2 * math.floor(t) + (t != math.floor(t))
        inside = [i for i in range(at, at + count) if self.keys[i] <= key]
        return float(self.consts[inside[-1]])

    def oracle(self):
        def atom(node, t):
            name = node.left.name
            return self.value(self.at[name], self.count[name], t)

        return Oracle(atom, {Fraction(k) for k in range(LAST + 3)}, math.inf, end=Fraction(LAST + 2))

    def agrees(self, node, made, sign=1) -> bool:
        oracle = self.oracle()
        moments = [Fraction(k, 2) for k in range(2 * (LAST + 8))]
        return all(sign * self.value(self.out, made, t) == oracle.value(node, t) for t in moments)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def both_readings(pieces, operation):
    """Run an operation as it is for robustness, and turned over as for certainty of truth."""
    yield operation(True), 1
    pieces.consts[: pieces.out] *= -1
    made = operation(False)
    pieces.consts[: pieces.out] *= -1
    yield made, -1


@pytest.mark.parametrize("name, function", [("until", until), ("since", since)])
def test_until_and_since(rng, name, function):
    for _ in range(60):
        f = Pieces(rng)

        def run(plain, f=f):
            return function(f.arrays, f.at["p"], f.count["p"], f.at["q"], f.count["q"], f.out, plain)

        for made, sign in both_readings(f, run):
            assert f.agrees(Reach(name, 0.0, math.inf, P, Q), made, sign)


def test_minimum_and_maximum(rng):
    for _ in range(50):
        f = Pieces(rng)
        for operator, smaller in (("and", True), ("or", False)):
            made = pointwise(f.arrays, f.at["p"], f.count["p"], f.at["q"], f.count["q"], f.out, smaller)
            assert f.agrees(Connective(operator, P, Q), made)


@pytest.mark.parametrize("function, every, some", [
    (future_window, "always", "eventually"), (past_window, "historically", "once"),
])  # fmt: skip
def test_windows(rng, function, every, some):
    for _ in range(150):
        f = Pieces(rng)
        delay, width = np.int64(rng.integers(3)), np.int64(rng.integers(4))
        endless = bool(rng.random() < 0.2)
        for name, smaller in ((every, True), (some, False)):
            made = function(f.arrays, f.at["p"], f.count["p"], f.out, delay, width, endless, smaller, False)
            upper = math.inf if endless else float(delay + width)
            assert f.agrees(Window(name, float(delay), upper, P), made)


@pytest.mark.parametrize("function, name", [(future_window, "until"), (past_window, "since")])
def test_half_open_windows(rng, function, name):
    """p on [t, t + a) is `p until[a:a] true`; p on (t - a, t] is `p since[a:a] true` from a on."""
    for _ in range(100):
        f = Pieces(rng)
        width = int(rng.integers(1, 4))
        made = function(f.arrays, f.at["p"], f.count["p"], f.out, np.int64(0), np.int64(width), False, True, True)
        oracle = f.oracle()
        always_q = Oracle(
            lambda node, t, o=oracle: math.inf if node == Q else o.atom(node, t),
            oracle.changes,
            math.inf,
            end=oracle.end,
        )
        node = Reach(name, float(width), float(width), P, Q)
        first = 0 if name == "until" else 2 * width
        for t in (Fraction(k, 2) for k in range(first, 2 * (LAST + 8))):
            assert f.value(f.out, made, t) == always_q.value(node, t)
