"""The monitors against RTAMT: the same numbers on random formulas and traces, and the places where RTAMT is wrong on
purpose.

RTAMT is the reference for robustness except for: dense until and since (they demand the left side also at the moment
of the witness, so a step signal that hands over from left to right gets the wrong sign: RTAMT issue 210), iff and xor
(-|l - r| is negative where both sides hold).  There the definitions decide (test_stl_definition.py).
"""

import numpy as np
import pytest

from bbfalsify.core.verdict import Verdict
from bbfalsify.logic import Formula, Requirement, parse_stl
from bbfalsify.logic.stl import rtamt_monitor
from bbfalsify.logic.stl.stl_monitor import judge
from tests.laws.stl_reference import Generator

pytest.importorskip("rtamt", reason="RTAMT does not run on Python 3.13")


def rtamt_dense(formula, times, signals):
    return rtamt_monitor.judge(Requirement("R", "", formula), times, signals).robustness


def rtamt_discrete(formula, times, signals):
    return rtamt_monitor.judge(Requirement("R", "", formula, "discrete", 1.0), times, signals).robustness


def test_discrete_robustness_is_that_of_rtamt():
    rng = np.random.default_rng(31)
    for _ in range(250):
        generator = Generator(rng, unit=1.0, avoid=("iff", "xor", "late"), steps=True)
        formula = Formula(generator.condition(3))
        n = int(rng.integers(2, 12))
        times, signals = np.arange(float(n)), {"x": rng.normal(size=n), "y": rng.normal(size=n)}
        assert judge(formula, times, signals, time="discrete").robustness == rtamt_discrete(formula, times, signals), (
            formula
        )


def test_dense_robustness_is_that_of_rtamt():
    rng = np.random.default_rng(32)
    for _ in range(250):
        generator = Generator(rng, unit=1.0, avoid=("iff", "xor", "late", "until", "since"))
        formula = Formula(generator.condition(3))
        n = int(rng.integers(2, 12))
        times = np.concatenate([[0.0], np.cumsum(rng.choice([0.25, 0.5, 1.0, 1.5], size=n - 1))])
        signals = {"x": rng.normal(size=n), "y": rng.normal(size=n)}
        assert judge(formula, times, signals).robustness == pytest.approx(rtamt_dense(formula, times, signals)), formula


def test_a_step_that_hands_over_satisfies_until_though_rtamt_says_otherwise():
    formula = parse_stl("(x < 0.5) until[0:1] (x >= 0.5)")
    times, signals = [0.0, 0.5, 1.0], {"x": [0.0, 1.0, 1.0]}
    found = judge(formula, times, signals)
    assert (found.verdict, found.robustness) == (Verdict.SATISFIED, 0.5)
    assert judge(formula, times, signals, time="discrete").robustness == 0.5
    assert rtamt_dense(formula, times, signals) == -0.5, (
        "RTAMT has been repaired: compare until and since with it again"
    )


def test_iff_of_two_true_conditions_is_not_negative_though_rtamt_says_so():
    formula = parse_stl("(x > 0) iff (y > 0)")
    found = judge(formula, [0.0, 1.0], {"x": [2.0, 2.0], "y": [5.0, 5.0]})
    assert (found.verdict, found.robustness) == (Verdict.SATISFIED, 2.0)
    assert rtamt_discrete(formula, [0.0, 1.0], {"x": [2.0, 2.0], "y": [5.0, 5.0]}) == -3.0


def test_operators_bind_as_in_rtamt():
    """Texts without parentheses mean the same to both grammars (but iff and xor, whose robustness differs)."""
    rng = np.random.default_rng(33)
    prefixes = ["", "", "not ", "always[0:2] ", "eventually ", "historically[0:1] ", "once ", "next ", "prev "]
    infixes = ["and", "or", "implies", "->", "until[0:2]", "unless[1:3]", "since[0:3]", "since"]
    comparisons = ["x > 0", "y <= 0.5", "x < -0.25", "y >= 0.1"]
    for _ in range(250):
        text = ""
        for _ in range(int(rng.integers(1, 6))):
            text += f" {rng.choice(infixes)} " if text else ""
            text += "".join(rng.choice(prefixes, size=2)) + rng.choice(comparisons)
        times, signals = np.arange(8.0), {"x": rng.normal(size=8), "y": rng.normal(size=8)}
        found = judge(parse_stl(text), times, signals, time="discrete").robustness
        assert found == rtamt_monitor.evaluate(text, times, signals, discrete=True), text


@pytest.mark.parametrize(
    "text, robustness",
    [
        ("a.b - y + 1 > y / 2", 2.5),
        ("always(true implies a.b >= 3)", 0.0),
        ("eventually(false or y != 1)", 1.0),
        ("always[0.5:inf](a.b > 0) and 1e-7 < y", 1 - 1e-7),
        ("pow(a.b, 2) - -y > abs(-1 * y)", 9.0),
    ],
)
def test_what_rtamt_writes_otherwise_is_translated(text, robustness):
    formula, times, signals = parse_stl(text), [0.0, 0.5, 1.0], {"a.b": [3.0, 4.0, 5.0], "y": [1.0, 2.0, 1.0]}
    assert rtamt_dense(formula, times, signals) == pytest.approx(robustness)
    assert judge(formula, times, signals).robustness == pytest.approx(robustness)
