"""Failure modes of profiles without actions: conditions on values, also where passes hardly meet a violation."""

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.engines.falsification.modes.use import Series
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
