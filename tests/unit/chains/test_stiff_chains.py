"""Rates that lie far apart: mean times of 1e12 and shares of 1e-12, against exact fractions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from bbfalsify.chains import answer_csl, explore_chain, long_run
from bbfalsify.chains.long_run import backward, expected_total, long_run_value, reach_probability
from bbfalsify.chains.uniformisation import Values, accumulated, transient
from bbfalsify.core.errors import UserError
from bbfalsify.examples.chains import chain_file
from bbfalsify.modelling import NetworkBuilder, load_network

Matrix = list[list[Fraction]]


def solved(matrix: Matrix, right: Sequence[Fraction]) -> list[Fraction]:
    count, rows = len(right), [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(count):
        pivot = next(r for r in range(i, count) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(count):
            if r != i and rows[r][i]:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[count] / row[i] for i, row in enumerate(rows)]


def stiff_chains(count: int) -> Iterator[tuple[Matrix, csr_matrix, np.random.Generator]]:
    """Irreducible chains of 3 to 7 states with rates from 1e-9 to 1e5."""
    rng = np.random.default_rng(3)
    while count:
        size = int(rng.integers(3, 8))
        rates = np.where(rng.random((size, size)) < 0.6, 10.0 ** rng.integers(-9, 5, (size, size)), 0.0)
        rates *= rng.integers(1, 9, (size, size)) * (1 - np.eye(size))
        if connected_components(rates, connection="strong")[0] == 1:
            yield [[Fraction(x) for x in row] for row in rates.tolist()], csr_matrix(rates), rng
            count -= 1


def check(found: Values, exact: Fraction, most: float) -> None:
    value, error = float(found.values[0]), float(found.errors[0])
    assert Fraction(value - error) <= exact <= Fraction(value + error), (value, error, float(exact))
    assert error <= most * abs(value)


@pytest.mark.parametrize(("large", "most"), [(False, 1e-11), (True, 1e300)])
def test_answers_contain_the_exact_ones(large: bool, most: float, monkeypatch: pytest.MonkeyPatch):
    """150 chains, each told to 11 digits.  Large ones are solved by factors; their interval is honest, or refused."""
    if large:
        monkeypatch.setattr(long_run, "MOST", 0)
    for rates, matrix, rng in stiff_chains(150):
        size = len(rates)
        leaving = [[sum(row) if i == j else -row[j] for j in range(size)] for i, row in enumerate(rates)]
        balance = [[-leaving[j][i] for j in range(size)] for i in range(size)]
        shares = solved([[Fraction(1)] * size, *balance[1:]], [Fraction(1), *[Fraction(0)] * (size - 1)])
        goal = np.arange(size) == size - 1
        gain = rng.integers(0, 6, size).astype(float)
        stopped = matrix.tolil()
        stopped[size - 2, :] = 0
        asked = [
            (partial(long_run_value, matrix, gain, discrete=False),
             sum(share * Fraction(g) for share, g in zip(shares, gain, strict=True))),
            (partial(expected_total, matrix, gain, goal, discrete=False),
             solved([row[:-1] for row in leaving[:-1]], [Fraction(g) for g in gain[:-1]])[0]),
            (partial(reach_probability, stopped.tocsr(), goal),
             solved([row[:-2] for row in leaving[:-2]], [row[-1] for row in rates[:-2]])[0]),
        ]  # fmt: skip
        for ask, exact in asked:
            try:
                found = ask()
            except UserError:
                assert large
                continue
            check(found, exact, most)


@pytest.mark.parametrize("room", [40, 100, 500])
def test_a_queue_that_is_rarely_full_or_rarely_empty(room: int):
    """P(k of n waiting) ~ 2^-k; the mean time to n is the sum of hₖ = 1 + 2 hₖ₋₁, about 2ⁿ⁺¹: 6.5e150 at 500."""
    rare = 1 / (2 ** (room + 1) - 1)
    busy = explore_chain(load_network(chain_file("queue"), {"room": room, "lambda": 2, "mu": 1}))
    assert answer_csl(busy, "S=? [ waiting == 0 ]").value == pytest.approx(rare, rel=1e-12)
    assert answer_csl(busy, "S=? [ waiting == room ]").value == pytest.approx(0.5, rel=1e-10)
    idle = explore_chain(load_network(chain_file("queue"), {"room": room}))
    assert answer_csl(idle, "S=? [ waiting == room ]").value == pytest.approx(rare, rel=1e-12)
    mean = answer_csl(idle, "T=? [ F waiting == room ]")
    exact = 2 ** (room + 1) - 2 - room
    assert mean.value == pytest.approx(exact, rel=1e-12) and mean.low <= exact <= mean.high


def test_a_mean_beyond_all_numbers_is_refused():
    chain = explore_chain(load_network(chain_file("queue"), {"room": 1100}))
    with pytest.raises(UserError, match="floating-point numbers cannot hold"):
        answer_csl(chain, "T=? [ F waiting == room ]")


def test_a_long_way_back_takes_one_look_at_each_state():
    """A line of 200,000 states, in which one step for each would need 40 billion entries."""
    count = 200_000
    line = csr_matrix((np.ones(count - 1), (np.arange(count - 1), np.arange(1, count))), (count, count))
    goal = np.arange(count) == count - 1
    assert backward(line, goal).all()
    assert int(backward(line, goal, np.arange(count) > 1000).sum()) == count - 1001


def test_an_integral_over_a_short_time_keeps_its_digits():
    """A delay with rate r, cost 1 per unit of time after it: t - (1 - e^-rt) / r, all of it in the second term."""
    for rate, time in ((1e-6, 0.01), (3e-3, 4e-3), (1.0, 1e-5), (0.25, 0.02)):
        found = accumulated(csr_matrix([[0.0, rate], [0.0, 0.0]]), np.array([1.0, 0.0]), time)
        x = Fraction(rate) * Fraction(time)
        exact = Fraction(time) * sum((-x) ** k / Fraction(math.factorial(k + 1)) for k in range(12))
        check(found, exact, 1e-13)


def test_an_early_end_counts_what_rounding_hides():
    """A change of 1e-17 a step is lost in 1, and 1e9 steps make it 1e-8: the interval says so, or the value does."""
    rates = csr_matrix([[0.0, 1e-9, 0.0], [0.0, 0.0, 1e8], [0.0, 1e8, 0.0]])
    for values in ([1.0, 0.5, 0.5], [1.0, 0.5, 0.25]):
        found = transient(rates, np.array(values), 10.0)
        jumped = -math.expm1(-1e-8)
        exact = Fraction(1 - jumped) + Fraction(jumped) * Fraction((values[1] + values[2]) / 2)
        assert Fraction(found.values[0] - found.errors[0]) <= exact <= Fraction(found.values[0] + found.errors[0])


def test_a_jump_may_lead_back():
    """Three of four jumps return; each happens at rate 2.  A share of 1e-9 within 1e-9 is told to twelve digits."""
    b = NetworkBuilder("again")
    a = b.automaton("A")
    a.location("First", exponential_rate=2)
    a.location("Second")
    a.edge("First", "First", action="again", weight=3)
    a.edge("First", "Second", action="go")
    chain = explore_chain(b.instance("A").build())
    assert answer_csl(chain, "P=? [ X A.First ]").value == pytest.approx(0.75, rel=1e-14)
    assert answer_csl(chain, "P=? [ X A.Second ]").value == pytest.approx(0.25, rel=1e-14)
    assert answer_csl(chain, "P=? [ X[0,1e-9] A.Second ]").value == pytest.approx(5e-10 * (1 - 1e-9), rel=1e-14)
    assert answer_csl(chain, "P=? [ F A.Second ]").value == 1


def test_a_probability_is_never_negative():
    chain = explore_chain(load_network(chain_file("queue"), {"room": 2, "lambda": 50}))
    found = answer_csl(chain, "P=? [ G<=40 waiting < 2 ]")
    assert 0 <= found.low <= found.value <= found.high < 1e-10
