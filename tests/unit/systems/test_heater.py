"""The heater against the solution of its differential equation."""

import math

import numpy as np
import pytest

from bbfalsify.core.trace import Stimulus, sample_times
from bbfalsify.systems import load_system


@pytest.fixture
def heater():
    return load_system("bbfalsify.examples.heater.system:heater")


def temperatures(heater, times, heat):
    return heater(Stimulus(np.array(times), {"heat": np.array(heat, dtype=float)}))["T"]


def test_always_on_tends_to_one_hundred(heater):
    times = np.linspace(0, 200, 401)
    expected = 100 * (1 - np.exp(-times / 10))
    assert np.allclose(temperatures(heater, times, np.ones(401)), expected, rtol=1e-12, atol=1e-12)


def test_on_then_off_is_exact_at_event_times(heater):
    """On during [3.25, 9.5), then off; the events do not lie on the grid."""
    times = sample_times(20.0, 1.0, np.array([3.25, 9.5]))
    heat = ((times >= 3.25) & (times < 9.5)).astype(float)
    peak = 100 * (1 - math.exp(-6.25 / 10))
    got = dict(zip(times.tolist(), temperatures(heater, times, heat).tolist(), strict=True))
    assert got[3.0] == got[3.25] == 0.0
    assert got[9.5] == pytest.approx(peak, rel=1e-12)
    assert got[20.0] == pytest.approx(peak * math.exp(-10.5 / 10), rel=1e-12)


def test_one_sample_is_enough(heater):
    assert temperatures(heater, [0.0], [1.0]).tolist() == [0.0]
