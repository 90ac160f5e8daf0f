"""The sampling grid: interval ends on samples, short intervals seen, the system's step, how far it may be refined."""

import math

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.trace import sample_times
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.logic.stl.requirement import intervals
from bbfalsify.modelling import parse_profile
from bbfalsify.running.falsify.sampling_grid import MOST_CHOSEN, choose_grid
from bbfalsify.systems import Capabilities, system
from tests import heater

COMPUTED = """
format_version: 1
name: ramp
declarations: "clock x;"
automata:
  User: {initial: S, locations: {S: {invariant: x <= 5}}, edges: [{from: S, to: S, action: go, update: "x = 0"}]}
inputs: {heat: {value: x}}
"""


def box(**declared):
    @system(inputs={"heat": "1"}, outputs={"T": "degC"}, **declared)
    def anything(stimulus):
        return {"T": stimulus.times}

    return anything


def grid(*formulas, horizon=20.0, period=None, profile=None, time="dense", every=None, **declared):
    requirements = [Requirement(f"R{i}", "", parse_stl(f), time, every) for i, f in enumerate(formulas)]
    duration = max(r.duration(horizon) for r in requirements)
    return choose_grid(box(**declared), profile or heater.profile(), requirements, duration, period)


@pytest.mark.parametrize(
    ("formula", "horizon", "period"),
    [
        ("always(T <= 75)", 20, 0.2),
        ("always[0:20](T <= 75)", 20, 0.2),
        ("always[0:10](T <= 75)", 30, 0.25),
        ("always[0:0.7](T <= 75)", 30, 0.05),
        ("always[0:30](eventually[0.5:2.5](T > 0))", 30, 0.125),
        ("always[3:3](T <= 75)", 20, 0.2),
        ("always[0:20](once[0:0.3](T <= 75))", 20, 0.025),
    ],
)
def test_every_end_of_an_interval_is_a_sample_and_short_intervals_have_ten(formula, horizon, period):
    chosen = grid(formula, horizon=horizon)
    assert chosen.period == pytest.approx(period) and chosen.notes == ()
    duration = Requirement("R", "", parse_stl(formula)).duration(horizon)
    times = sample_times(duration, chosen.period, np.array([]))
    for lower, upper in intervals(parse_stl(formula)):
        for bound in (lower, upper):
            assert math.isinf(bound) or np.abs(times - bound).min() < 1e-9
        assert upper == lower or upper - lower >= 9.99 * chosen.period


def test_bounds_that_would_need_too_many_samples_are_said():
    chosen = grid("always[0:30](eventually[0.001:0.1](always[0:2.5](T > 0)))", horizon=30)
    assert chosen.period == pytest.approx(0.00625) and chosen.refinements == 0
    [note] = chosen.notes
    assert note.startswith("the bounds 0.001 of the formulas are no multiples")


def test_intervals_that_would_need_too_many_samples_are_said():
    chosen = grid("always[0:1000](eventually[0.001:0.1](T > 0))", horizon=1000)
    assert 1000 / chosen.period <= 1.001 * MOST_CHOSEN and "too few" in chosen.notes[0]
    assert chosen.refinements == 0 and len(chosen.finer) == 1


def test_refinement_goes_to_the_limit_and_is_judged_there():
    chosen = grid("always(T <= 75)")
    assert chosen.finer == pytest.approx((0.02, 0.002, 0.0002)) and chosen.refinements == 2
    odd = grid("always[0:10](T <= 75)", horizon=30)
    assert odd.finer == pytest.approx((0.025, 0.003125, 0.0003125)) and odd.refinements == 2
    assert all(30 / p <= MOST_CHOSEN for p in odd.finer[: odd.refinements])


def test_a_given_period_is_kept_and_judged_once_more():
    chosen = grid("always(T <= 75)", period=0.7)
    assert (chosen.period, chosen.finer, chosen.refinements) == (0.7, pytest.approx((0.07,)), 0)
    with pytest.raises(UserError, match="makes more than"):
        grid("always(T <= 75)", period=1e-9)


@pytest.mark.parametrize("declared", [{"step": 0.01}, {"capabilities": Capabilities(step_s=0.01)}])
def test_a_system_with_a_step_is_sampled_at_its_step_and_never_again(declared):
    chosen = grid("always[0:7](eventually[0.001:0.1](T > 0))", **declared)
    assert (chosen.period, chosen.finer) == (0.01, ())
    assert grid("always(T <= 75)", period=0.005, **declared).finer == ()
    assert grid("always(T <= 75)", period=0.02, **declared).finer == pytest.approx((0.002,))


def test_a_step_that_is_too_short_is_where_refinement_ends():
    chosen = grid("always(T <= 75)", step=0.001)
    assert chosen.period == pytest.approx(0.2) and chosen.finer == pytest.approx((0.02, 0.002, 0.001))


def test_outputs_that_change_at_events_only_need_nothing_more():
    chosen = grid("always(T <= 75)", step=math.inf)
    assert (chosen.period, chosen.finer) == (pytest.approx(0.2), ())


def test_inputs_that_change_all_the_time_are_not_covered_by_the_systems_step():
    profile = parse_profile(COMPUTED)
    assert grid("always(T <= 75)", profile=profile, step=0.5).finer == ()
    assert grid("always(heat <= T)", profile=profile, step=0.5).finer


def test_discrete_time_is_sampled_where_it_looks():
    chosen = grid("always[0:3](T <= 75)", "always(T < 3)", time="discrete", every=0.75)
    assert (chosen.period, chosen.finer) == (0.75, ())
    assert grid("always[0:3](T <= 75)", time="discrete", every=0.75, period=0.5).finer == pytest.approx((0.05,))


def test_a_single_moment_has_one_sample():
    assert grid("T <= 75", horizon=0).finer == ()


@pytest.mark.parametrize("step", [0, -1, True, "0.1"])
def test_a_step_that_is_none_is_refused(step):
    with pytest.raises(UserError, match="step must be a positive number"):
        box(step=step)
    with pytest.raises(UserError, match="step must be a positive number"):
        grid("T <= 75", capabilities=Capabilities(step_s=-1.0))
