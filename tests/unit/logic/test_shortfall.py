"""Shortfalls: what a trace lacks for a violation, compared with hand-made cases and with robustness."""

import math

import numpy as np
import pytest

from bbfalsify.core.verdict import Verdict
from bbfalsify.logic import parse_stl
from bbfalsify.logic.stl.formula import render
from bbfalsify.logic.stl.program import compile_formula
from bbfalsify.logic.stl.shortfall import MISSING_ANTECEDENT, shortfalls
from bbfalsify.logic.stl.stl_monitor import judge

TIMES = np.arange(11.0)
ANTECEDENT = "antecedent"


def lacking(text, times=TIMES, **signals):
    """Amounts by name, without those that are 0."""
    formula = parse_stl(text)
    signals = {name: np.asarray(values, float) for name, values in signals.items()}
    names = (*(render(atom) for atom in compile_formula(formula).atoms), ANTECEDENT)
    amounts = (amount for amount, _, _ in shortfalls(formula, times, signals))
    return {name: amount for name, amount in zip(names, amounts, strict=True) if amount}


def test_one_comparison_lacks_its_margin():
    x = np.array([0, 1, 2, 5, 3, 2, 1, 0, 0, 0, 0.0])
    assert lacking("always[0:10](x < 7)", x=x) == {"x < 7": 2.0}
    assert lacking("always[0:2](x < 7)", x=x) == {"x < 7": 5.0}
    assert lacking("eventually[0:10](x >= 4)", x=x) == {"x >= 4": 1.0}
    assert lacking("always[0:10](x < 5)", x=x) == {}


def test_both_sides_of_an_implication_count_in_their_own_units():
    x, y = np.full(11, 3000.0), np.linspace(0, 40, 11)
    x[5] = 3500.0
    text = "(always[0:10](x < 3000)) implies (always[0:4](y < 35))"
    assert lacking(text, x=x, y=y) == {"x < 3000": 500.0, "y < 35": 19.0}
    assert lacking("(always[0:10](x < 4000)) implies (always[0:4](y < 35))", x=x, y=y) == {"y < 35": 19.0}
    assert lacking("(always[0:10](x < 3000)) implies (always[0:9](y < 35))", x=x, y=y) == {"x < 3000": 500.0}


def test_of_alternatives_the_one_that_is_closer_in_units_of_its_range():
    x, y = np.linspace(0, 1000, 11), np.linspace(0, 10, 11)
    assert lacking("always[0:10](x < 1100 and y < 14)", x=x, y=y) == {"x < 1100": 100.0}
    assert lacking("always[0:10](x < 1500 and y < 14)", x=x, y=y) == {"y < 14": 4.0}


def test_levels_lack_the_time_until_they_change():
    gear = np.array([1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3.0])
    assert lacking("always[0:4](gear != 3)", gear=gear) == {"gear != 3": pytest.approx(0.4)}
    assert lacking("always[0:10](gear != 5)", gear=gear) == {"gear != 5": pytest.approx(1 + 2 / 3)}
    assert lacking("always[9:10](gear != 1)", gear=gear) == {"gear != 1": pytest.approx(1.0)}


KEPT = "always[0:10]((gear != 2 and eventually[0.5:1](gear == 2)) implies eventually[0.5:1](always[0:2](gear == 2)))"


def test_a_trigger_comes_first_and_then_the_time_that_a_gear_is_kept_too_long():
    """Gear 2 is engaged at 3; it is left at 8, and 3 + 2 would have been a violation."""
    kept = np.array([1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3.0])
    sooner = np.array([1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3.0])
    never = np.array([1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3.0])
    amounts = [lacking(KEPT, gear=gear) for gear in (never, kept, sooner)]
    assert amounts[0][ANTECEDENT] == MISSING_ANTECEDENT
    assert ANTECEDENT not in amounts[1] and ANTECEDENT not in amounts[2]
    totals = [sum(a.values()) for a in amounts]
    assert totals[0] > totals[1] > totals[2] > 0
    gone = {"gear": np.array([1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3.0])}
    assert judge(parse_stl(KEPT), TIMES, gone).verdict is Verdict.VIOLATED and lacking(KEPT, **gone) == {}


FORMULAS = [
    "always[0:6](x < 1)",
    "eventually[1:5](x > 0.5)",
    "always[0:5](eventually[0:3](x > 0))",
    "(x < 1) until[1:6] (y > 0.5)",
    "always[0:8]((y > 0) since[0:3] (x > 0))",
    "always[0:9]((x > 0.3) implies eventually[0:2](y > 0.2))",
    "always[0:9](historically[0:2](x < 1.2) or once[1:3](y > 0.9))",
    "not(eventually[2:4](x > 1 and y > 1))",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_run_lacks_nothing_where_its_robustness_is_negative(text):
    """Random steps: what is lacking is 0 for every violation, and positive where the robustness is."""
    rng, formula, seen = np.random.default_rng(5), parse_stl(text), set()
    for _ in range(200):
        signals = {name: rng.normal(0.3, 0.8, 11) for name in ("x", "y")}
        # Amounts are taken at the samples: in dense time `since` also looks between them.
        robustness = judge(formula, TIMES, signals, time="discrete" if "since" in text else "dense").robustness
        total = sum(amount for amount, _, _ in shortfalls(formula, TIMES, signals))
        assert total >= 0 and (total == 0) == (robustness <= 0), (robustness, total)
        seen.add(robustness < 0)
    assert seen == {True, False}, "the random runs do not tell"


def test_one_comparison_alone_lacks_exactly_its_robustness():
    rng, formula = np.random.default_rng(2), parse_stl("always[0:5](eventually[0:3](always[0:1](x > 0)))")
    for _ in range(100):
        x = {"x": rng.normal(0.5, 1.0, 11)}
        amount = shortfalls(formula, TIMES, x)[0][0]
        assert amount == pytest.approx(max(judge(formula, TIMES, x).robustness, 0.0))


def test_ranges_and_what_can_never_be_violated():
    x = np.linspace(-1, 3, 11)
    (amount, low, high), antecedent = shortfalls(parse_stl("always[0:10](x < 4)"), TIMES, {"x": x})
    assert (amount, low, high) == (1.0, 1.0, 5.0) and antecedent == (0.0, 0.0, 1.0)
    never = shortfalls(parse_stl("always[0:10](x < 4 or true)"), TIMES, {"x": x})
    assert never[0][0] == math.inf


def test_samples_need_not_be_evenly_spaced():
    times = np.array([0.0, 0.1, 0.5, 4.0, 4.2, 9.0])
    x = np.array([0.0, 3.0, 1.0, 2.0, 0.0, 5.0])
    assert lacking("always[0:0.4](x < 4)", times, x=x) == {"x < 4": 1.0}
    assert lacking("always[0.6:8](x < 4)", times, x=x) == {"x < 4": 2.0}, "the sample at 0.5 holds until 4"
    assert lacking("always[4.1:8](x < 4)", times, x=x) == {"x < 4": 2.0}
