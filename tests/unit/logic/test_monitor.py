"""Judging traces: verdicts, moments of violation, the ends of a trace, vacuity, and complaints about traces."""

import math

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.logic.stl import dense
from bbfalsify.logic.stl.requirement import MONITORS
from bbfalsify.logic.stl.stl_monitor import judge, robustness_over_time, warm_up

VIOLATED, SATISFIED, INCONCLUSIVE = Verdict.VIOLATED, Verdict.SATISFIED, Verdict.INCONCLUSIVE
BOTH = pytest.mark.parametrize("time", ["dense", "discrete"])


def verdict(text, values, *, period=1.0, time="dense"):
    times = period * np.arange(len(values))
    return judge(parse_stl(text), times, {"x": np.array(values, float)}, time=time, period=period).verdict


def violation(text, times, values, time="dense"):
    return judge(parse_stl(text), times, {"x": values}, time=time).first_violation_time


@BOTH
def test_a_threshold_exactly_met_is_decided_by_the_comparison(time):
    for text, expected in [("x <= 75", SATISFIED), ("x < 75", VIOLATED), ("x >= 75", SATISFIED), ("x > 75", VIOLATED)]:
        found = judge(parse_stl(text), [0.0], {"x": [75.0]}, time=time)
        assert (found.verdict, found.robustness) == (expected, 0.0), text
    assert verdict("x == 75", [75], time=time) is SATISFIED
    assert verdict("x != 75", [75], time=time) is VIOLATED


@BOTH
def test_the_heater(time):
    formula = parse_stl("always[0:20](T <= 75)")
    times = np.arange(201) * 0.1
    warm = np.full(201, 75.0)
    assert judge(formula, times, {"T": warm}, time=time) == Judgement(SATISFIED, 0.0)
    warm[200] = 75.5
    assert judge(formula, times, {"T": warm}, time=time) == Judgement(VIOLATED, -0.5, times[200])
    cut = judge(formula, times[:200], {"T": warm[:200]}, time=time)
    assert (cut.verdict, cut.first_violation_time) == (INCONCLUSIVE, math.inf)


@BOTH
def test_only_what_no_future_can_change_is_final(time):
    assert verdict("always(x > 0)", [1, 1, 1], time=time) is INCONCLUSIVE
    assert verdict("always(x > 0)", [1, 0, 1], time=time) is VIOLATED
    assert verdict("eventually(x > 0)", [0, 0], time=time) is INCONCLUSIVE
    assert verdict("eventually(x > 0)", [0, 1], time=time) is SATISFIED
    assert verdict("eventually[0:2](x > 0)", [0, 0], time=time) is INCONCLUSIVE
    assert verdict("eventually[0:2](x > 0)", [0, 0, 0], time=time) is VIOLATED
    assert verdict("always[0:2](x > 0)", [1, 1, 1], time=time) is SATISFIED
    assert verdict("historically(x > 0)", [1], time=time) is SATISFIED
    assert verdict("once[1:2](x > 0)", [1], time=time) is VIOLATED, "nothing lies before the first sample"
    assert verdict("historically[1:2](x > 0)", [0], time=time) is SATISFIED


def test_violations_become_certain_when_the_last_chance_has_passed():
    assert violation("always[0:9](x <= 1)", [0, 2.5, 9], [0, 2, 0]) == 2.5
    assert violation("eventually[1:4](x > 1)", [0, 2.5, 9], [0, 0, 0]) == 4.0
    # From 1 on x is low; the first such moment had until 1 + 3.
    assert violation("always(x < 1 implies eventually[0:3](x > 1))", [0, 1, 9], [2, 0, 0]) == 4.0
    assert violation("not eventually(x > 1)", [0, 2, 3], [0, 5, 0]) == 2.0
    assert violation("always[0:5](x > 0)", [10.0, 12.0, 20.0], [1, 0, 0]) == 12.0, "time is that of the trace"
    assert violation("false", [10.0, 12.0], [1, 0]) == 10.0
    assert violation("eventually[0:1](x > 0)", [0.0, 0.5, 1.0, 1.5], [0, 0, 0, 0], "discrete") == 1.0


def test_dense_time_sees_what_happens_between_samples():
    # x is 1 on [0, 1) and 0 from 1 on, so half a unit after 0.5 it is 0.
    assert judge(parse_stl("always[0:0.9](x > 0)"), [0, 1, 2], {"x": [1, 0, 0]}).verdict is SATISFIED
    assert violation("always[0:0.5](eventually[0.5:0.5](x > 0))", [0, 1, 2], [1, 0, 0]) == 1.0
    assert (
        judge(parse_stl("eventually[0:0.4](always[0:0.5](x > 0))"), [0, 0.3, 0.9], {"x": [0, 1, 1]}).verdict
        is SATISFIED
    )


def test_until_hands_over_at_one_moment():
    times, signals = [0.0, 2.0, 3.0, 6.0], {"p": [1, 0, 0, 0], "q": [0, 1, 0, 0]}
    assert judge(parse_stl("(p > 0) until[2:5] (q > 0)"), times, signals).verdict is SATISFIED
    assert judge(parse_stl("(p > 0) until[2.5:5] (q > 0)"), times, signals).verdict is VIOLATED
    assert judge(parse_stl("eventually[0.1:1](p > 0 until[2:5] q > 0)"), times, signals).verdict is VIOLATED
    assert judge(parse_stl("eventually[0:1](p > 0 until[2:5] q > 0)"), times, signals).verdict is SATISFIED
    assert judge(parse_stl("(p > 0) until[0:1] (q > 0)"), times, signals).first_violation_time == 1.0
    assert judge(parse_stl("(p > 0) until (q > 0)"), [0.0, 1.0], {"p": [1, 0], "q": [0, 0]}).first_violation_time == 1.0


def test_rounding_makes_no_slivers():
    """Sums such as 0.1 + 0.2 must meet 0.3: every low is answered after exactly 0.2, at the end of its window."""
    times = np.cumsum(np.full(3000, 0.1)) - 0.1
    x = np.where(np.arange(3000) % 3 == 2, 1.0, 0.0)
    formula = parse_stl("always((x < 0.5) implies eventually[0:0.2](x > 0.5))")
    assert judge(formula, times, {"x": x}).verdict is INCONCLUSIVE
    bounded = parse_stl("always[0:299.6]((x < 0.5) implies eventually[0:0.2](x > 0.5))")
    assert judge(bounded, times, {"x": x}).verdict is SATISFIED
    tighter = parse_stl("always((x < 0.5) implies eventually[0:0.19](x > 0.5))")
    assert judge(tighter, times, {"x": x}).verdict is VIOLATED
    third = parse_stl("always[0:9](once[0:1](x > 0))")
    assert judge(third, np.arange(28) / 3, {"x": np.arange(28) % 3 == 0}).verdict is SATISFIED


def test_samples_closer_than_a_tick_are_all_seen():
    times = np.array([0.0, 5.0, 5.0 + 1e-12, 5.0 + 2e-12, 20.0])
    found = judge(parse_stl("always[0:20](x <= 0)"), times, {"x": [0, 0, 1, 0, 0]})
    assert (found.verdict, found.first_violation_time) == (VIOLATED, times[2])


def test_robustness_holds_the_last_value_in_dense_time_and_ends_in_discrete_time():
    formula = parse_stl("eventually[5:6](x > 0)")
    assert judge(formula, [0.0, 1.0], {"x": [1, 3]}).robustness == 3.0
    assert judge(formula, [0.0, 1.0], {"x": [1, 3]}, time="discrete").robustness == -math.inf


def test_one_sample():
    for time in ("dense", "discrete"):
        assert judge(parse_stl("x > 0"), [0.0], {"x": [1.0]}, time=time) == Judgement(SATISFIED, 1.0)
        assert judge(parse_stl("always[0:0](x > 0)"), [3.0], {"x": [-1.0]}, time=time) == Judgement(VIOLATED, -1.0, 3.0)
        assert judge(parse_stl("always[0:2](x > 0)"), [0.0], {"x": [1.0]}, time=time).verdict is INCONCLUSIVE
        assert judge(parse_stl("once(x > 0)"), [0.0], {"x": [1.0]}, time=time).verdict is SATISFIED


@pytest.mark.parametrize(
    "text, values, vacuous",
    [
        ("always(x > 5 implies eventually[0:1](x < 0))", [0, 0, 0], True),
        ("always(x > 5 implies eventually[0:1](x < 0))", [0, 6, -1], False),
        ("always[0:1](x > 5 implies x < 9)", [0, 0, 6], True),
        ("always[0:2](x > 5 implies x < 9)", [0, 0, 6], False),
        ("always(x > 5 implies (x > 6 implies x > 7))", [0, 6, 0], True),
        ("always(x > 5 implies x < 9) and always(x < 9)", [0, 0, 0], False),
        ("always(x > 5 implies x < 9) and always(x > 6 implies x < 9)", [0, 0, 0], True),
        ("always(x > 5 implies x < 9) and always(x > -1 implies x < 9)", [0, 0, 0], False),
        ("x > 5 implies eventually(x > 6)", [0, 6, 7], True),
        ("always(x < 9)", [0, 0, 0], False),
        ("always(x >= 0 implies x > 5)", [0, 0, 0], False),
    ],
)
@BOTH
def test_vacuity(text, values, vacuous, time):
    found = judge(parse_stl(text), np.arange(3.0), {"x": values}, time=time)
    assert found.vacuous is vacuous


def test_robustness_over_time_is_that_of_the_body():
    formula = parse_stl("always[0:20](eventually[0:1](x > 0))")
    times, values = robustness_over_time(parse_stl("always[0:20](x > 0)"), [0, 1, 2.5], {"x": [3, -1, -1]})
    assert (times.tolist(), values.tolist()) == ([0, 1, 2.5], [3, -1, -1])
    times, values = robustness_over_time(formula, [0, 1, 2.5], {"x": [3, -1, 2]})
    assert (times.tolist(), values.tolist()) == ([0, 1, 1.5, 2.5], [3, -1, 2, 2])
    times, values = robustness_over_time(
        parse_stl("x > 0 implies eventually[0:0.5](x < 0)"), [5, 6, 7], {"x": [1, -2, 4]}
    )
    assert (times.tolist(), values.tolist()) == ([5.0, 5.5, 7.0], [-1.0, 2.0, -4.0])


def complaints(text, times, signals, **how):
    with pytest.raises(UserError) as caught:
        judge(parse_stl(text), times, signals, **how)
    return str(caught.value)


def test_complaints_about_traces():
    assert "no samples" in complaints("x > 0", [], {"x": []})
    assert "signal 'x' is not a number at time 1" in complaints("x > 0", [0, 1], {"x": [0, math.nan]})
    both = complaints("x > 0 and y > 0", [0, 1, 1], {"x": [0, 1]})
    assert "sample 2 at 1 follows one at 1" in both
    assert "signal 'x' has 2 samples, the trace has 3" in both
    assert "unknown signal 'y'" in both and "Did you mean" not in both
    assert "must be finite" in complaints("x > 0", [0, math.inf], {"x": [0, 1]})
    assert "'0 / x > 0' is undefined at time 1" in complaints("0 / x > 0", [0, 1], {"x": [1, 0]})
    assert "root of a negative" in complaints("sqrt(x) > 0", [0, 1], {"x": [1, -1]})


def test_complaints_about_discrete_time():
    uneven = complaints("x > 0", [0, 1, 3], {"x": [1, 1, 1]}, time="discrete", period=1.0)
    assert "one sample every 1, but sample 2 is at 3" in uneven
    assert "the bound 0.5 is not a multiple" in complaints(
        "always[0:0.5] x > 0", [0, 1], {"x": [1, 1]}, time="discrete"
    )
    assert "dense time has no next sample" in complaints("next(x > 0)", [0, 1], {"x": [1, 1]})
    with pytest.raises(ValueError, match="'dense' or 'discrete'"):
        judge(parse_stl("x > 0"), [0], {"x": [1]}, time="continuous")


def test_a_requirement_judges():
    requirement = Requirement("R1", "rises once", parse_stl("eventually[0:1](rise(x > 0))"), "discrete", 0.5)
    assert requirement.judge(np.array([0.0, 0.5, 1.0]), {"x": np.array([0.0, 0.0, 1.0])}).verdict is SATISFIED


def test_warm_up_compiles_all_that_judging_needs():
    """Times that cannot be written, as workers and frozen traces have them, need no code of their own."""
    warm_up()
    functions = (dense.is_sound, dense.sample_ticks, dense.evaluate, dense.judge_dense)
    times = np.arange(4.0)
    times.flags.writeable = False
    for text in ("always[0:2](x >= 0)", "(x >= 0) until[0:2] (x >= 2)", "always(x > 5 implies once[0:1](x >= 0))"):
        for given in (times, times.copy(), [0, 1, 2, 3]):
            assert judge(parse_stl(text), given, {"x": np.arange(4)}).verdict is not VIOLATED
        robustness_over_time(parse_stl(text), times, {"x": np.arange(4)})
    assert [len(f.signatures) for f in functions] == [1, 1, 2, 2]  # with and without until and the past
    assert [Requirement("R", "", parse_stl(t)).monitor for t in ("x > 0", "once(x > 0)")] == list(MONITORS[:2])
