"""The library's functions against Python's own, and the laws of its draws."""

import math

import numpy as np
import pytest
from scipy import stats

from bbfalsify.kernel import compile_network, stochastic_walks
from bbfalsify.modelling import NetworkBuilder
from bbfalsify.modelling.language.builtin_functions import LIBRARY
from tests.unit.modelling.helpers import value_of

VALUES = {
    "fmin(2, 3)": 2, "fmax(2, 3)": 3, "fdim(5, 3)": 2, "fdim(3, 5)": 0, "fma(2, 3, 4)": 10, "hypot(3, 4)": 5,
    "cbrt(-8)": -2, "exp2(3)": 8, "expm1(1)": math.expm1(1), "log2(8)": 3, "log1p(2)": math.log1p(2),
    "sinh(1.5)": math.sinh(1.5), "cosh(1.5)": math.cosh(1.5), "tanh(-0.5)": math.tanh(-0.5),
    "asinh(-2)": math.asinh(-2), "acosh(2)": math.acosh(2), "atanh(0.5)": math.atanh(0.5), "trunc(-2.5)": -2,
    "trunc(2.5)": 2, "round(-2.5)": -3, "round(2.5)": 3, "copysign(3, -1)": -3,
}  # fmt: skip


@pytest.mark.parametrize("call", VALUES)
def test_values(call):
    """As the initial value of a variable, where functions of constants are computed."""
    b = NetworkBuilder("test").declare(f"double d = {call};")
    b.automaton("P").location("L")
    assert float(b.build().variable("d").initial[0]) == pytest.approx(VALUES[call], rel=1e-12)


def test_every_function_is_tested():
    tested = {call.split("(")[0] for call in (*VALUES, *LAWS)}
    assert tested == set(LIBRARY)


def test_a_function_of_the_model_comes_first():
    assert value_of("hypot(3, 4)", "int hypot(int a, int b) { return a - b; }") == -1


LAWS = {
    "random_arcsine(1, 3)": stats.arcsine(1, 2),
    "random_weibull(2, 3)": stats.weibull_min(2, scale=3),
    "random_tri(1, 2, 5)": stats.triang(0.25, 1, 4),
    "random_gamma(2.5, 3)": stats.gamma(2.5, scale=3),
    "random_gamma(0.5, 2)": stats.gamma(0.5, scale=2),
    "random_beta(2, 0.7)": stats.beta(2, 0.7),
    "random_poisson(3.5)": stats.poisson(3.5),
}
SAMPLES = 4000


@pytest.mark.parametrize("call", LAWS)
def test_laws(call):
    """Null hypothesis: the draws follow the law.  4000 samples, Kolmogorov–Smirnov (Poisson: chi-square of 0…8 and the
    rest); each alarms falsely once in 10,000 seeds.  It would catch a shape or scale that is wrong by a tenth."""
    b = NetworkBuilder("test").declare("clock x; double d;")
    b.automaton("P").location("A", invariant="x <= 1").edge("A", "A", update=f"x = 0, d = {call}")
    network = b.build()
    walks = stochastic_walks(compile_network(network), np.array([7], np.uint64), 1e9, SAMPLES)
    draws = walks.walk(0).reals[1:, network.variable("d").slot]
    assert len(draws) == SAMPLES
    if call.startswith("random_poisson"):
        observed = np.bincount(np.minimum(draws.astype(int), 9), minlength=10)
        expected = np.append(LAWS[call].pmf(np.arange(9)), LAWS[call].sf(8)) * SAMPLES
        assert stats.chisquare(observed, expected).pvalue > 1e-4
    else:
        assert stats.kstest(draws, LAWS[call].cdf).pvalue > 1e-4
