"""Failure modes of profiles without actions: conditions on values, also where passes hardly meet a violation."""

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.engines.falsification.modes.moments import Held, Rise
from bbfalsify.engines.falsification.modes.pattern import Condition, Pattern
from bbfalsify.engines.falsification.modes.use import Series, Use
from bbfalsify.engines.falsification.modes.wording import sentence_of
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.modelling import value_profile
from bbfalsify.results.mode_words import time_text
from bbfalsify.systems import system

OPTIONS = Options(passes=10, traces=80, sensitivity=False, shrink=0)


@system(inputs={"u": "1"}, outputs={"often": "1", "rare": "1", "chance": "1", "total": "1"})
def values(times, inputs):
    u = inputs["u"]
    blended = np.modf(np.unique(u).sum() * 1e4)[0]
    return {
        "often": u,
        "rare": np.where(times < 5, u, 1.0),
        "chance": np.full(len(times), blended),
        "total": np.cumsum(u) / len(times),
    }


PROFILE = value_profile({"u": {"range": [0, 2], "every": 5}})


@pytest.mark.parametrize(
    ("requirement", "name"),
    [
        ("always(often <= 1.9)", "u high"),  # 1 use in 4
        ("always(rare >= 0.02)", "u low"),  # 1 use in 100: the passes to learn from meet one at most, or none
        ("always(total <= 1.4)", "u high"),  # 1 use in 23; no single value decides
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_values_that_tell_violating_from_passing_uses_are_named(requirement, name, seed):
    result = falsify(values, PROFILE, requirement, horizon=30, options=OPTIONS, seed=seed)
    first = result.modes[0]
    assert first.name == name
    assert first.share.value > 0.3
    [row] = result.requirements
    assert first.precision.value > 3 * row.violation.value  # it says more than "any use"


@pytest.mark.parametrize("seed", [1, 2])
def test_a_mode_of_values_below_a_millionth_is_estimated_within_its_limits(seed):
    """Three values above 99 of 100: 1e-6 of the uses, and none of the plain ones."""

    @system(inputs={"u": "1"}, outputs={"high": "1"})
    def three(times, inputs):
        high = np.minimum.reduce([inputs["u"][np.searchsorted(times, at, "right") - 1] for at in (0, 10, 20)])
        return {"high": np.where((times >= 25) & (times[-1] >= 25), high, 0.0)}

    profile = value_profile({"u": {"range": [0, 100], "every": 10}})
    result = falsify(three, profile, "always(high < 99)", horizon=60, options=Options(sensitivity=False), seed=seed)
    [mode], [row] = result.modes, result.requirements
    assert mode.sentence == "u ≥ 99 until 30"
    assert mode.probability.low <= 1e-6 <= mode.probability.high < 1.2e-6
    assert mode.precision.low > 0.8 and mode.counterexamples == (1,)
    assert 0 < row.violation.low <= 1e-6 < row.violation.high < 1e-2  # beyond the mode, as passes say
    assert result.counterexamples[0].probability.none_seen


def test_any_use_is_named_where_no_value_tells_them_apart():
    result = falsify(values, PROFILE, "always(chance <= 0.7)", horizon=30, options=OPTIONS, seed=1)
    assert [mode.name for mode in result.modes] == ["any use"]


def test_the_mean_of_a_window_weighs_levels_by_their_times():
    series = Series(np.array([0.0, 5.0, 7.0]), np.array([1.0, 3.0, 10.0]))
    assert series.mean(0.0, 7.0) == pytest.approx((5 * 1 + 2 * 3) / 7)
    assert series.mean(6.0, 8.0) == pytest.approx((3 + 10) / 2)


def test_a_mode_tells_when_its_uses_are_violated():
    """Only the first piece matters, so all violations are within the first five time units."""
    result = falsify(values, PROFILE, "always(rare >= 0.1)", horizon=30, options=OPTIONS, seed=1)
    times = result.modes[0].time_to_violation
    assert times is not None
    assert 0 <= times.first <= times.median <= times.last < 5
    assert times.samples >= 20
    again = type(result.modes[0]).from_json(result.modes[0].as_json())
    assert again.time_to_violation == times
    assert time_text(again) == "violated at 0"
    assert result.modes[0].counterexamples == (1,)


@system(inputs={"u": "1", "d": "1"}, outputs={"latched": "1"})
def latch(times, inputs):
    """Latches when u jumps up by more than 1 while d is above 0.5, whenever that is."""
    u, d = inputs["u"], inputs["d"]
    jumped = np.concatenate([[False], (np.diff(u) > 1) & (d[1:] > 0.5)])
    return {"latched": np.logical_or.accumulate(jumped).astype(float)}


JUMPING = value_profile({"u": {"range": [0, 2], "every": 5}, "d": {"range": [0, 1], "every": 5}})


@pytest.mark.parametrize("seed", [1, 2])
def test_a_jump_under_a_disturbance_is_named_whenever_it_comes(seed):
    """Seven jumps of which one in four is large, half of them under a disturbance: no fixed time tells anything."""
    result = falsify(latch, JUMPING, "always(latched == 0)", horizon=40, options=OPTIONS, seed=seed)
    first = result.modes[0]
    assert first.name == "d high, u rises"
    assert first.sentence.startswith("at some time u rises by ")
    assert first.precision.value > 0.9
    assert first.share.value > 0.6


def use_of_values(u, d, violated_at=np.inf):
    times = np.arange(len(u)) * 5.0
    return Use(
        (), np.zeros(0), {"u": Series(times, np.array(u)), "d": Series(times, np.array(d))}, violated_at, end=20.0
    )


def test_conditions_about_a_moment_hold_at_one_and_the_same():
    jump, high = Condition(Rise("u"), low=1.0), Condition(Held("d", 0.0, 5.0, "level"), low=0.5)
    pattern = Pattern((), (jump, high))
    assert pattern.matches(use_of_values([0.0, 2.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]))
    assert not pattern.matches(use_of_values([0.0, 2.0, 0.0, 0.0], [1.0, 0.0, 1.0, 1.0]))  # high, but not at the jump
    assert not pattern.matches(use_of_values([0.0, 2.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], violated_at=4.0))  # too late
    assert sentence_of(pattern, {"u": "m"}) == "at some time u rises by 1 m or more, with d ≥ 0.5 for 5"


def test_levels_held_around_a_moment():
    use = use_of_values([3.0, 1.0, 2.0, 4.0], [0.0, 0.0, 0.0, 0.0])
    assert Held("u", 0.0, 10.0, "least").values(use).tolist() == [1.0, 1.0, 2.0, 4.0]  # the last is cut by the end
    assert Held("u", 0.0, 10.0, "greatest").values(use).tolist() == [3.0, 2.0, 4.0, 4.0]
    before = Held("u", -5.0, 0.0, "level").values(use)
    assert np.isnan(before[0])
    assert before[1:].tolist() == [3.0, 1.0, 2.0]
    assert Rise("u").values(use).tolist() == [0.0, -2.0, 1.0, 2.0]
