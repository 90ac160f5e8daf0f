"""Conditional steps whose moment and edge are chosen by numbers from outside."""

from __future__ import annotations

import numpy as np
import pytest

from bbfalsify.kernel import Particles, conditional_step
from tests.unit.kernel.kernel_models import GAP, HEATER, model, one


def particles(count: int, m) -> Particles:
    return Particles.initial(m, np.arange(count, dtype=np.uint64))


def grid(count: int, choice: float = 0.5) -> np.ndarray:
    return np.column_stack([np.arange(count) / count, np.full(count, choice)])


def test_the_first_number_is_the_inverse_cdf_of_the_moment():
    """Given `off`, the delay has density 1/2·(4/3) on [3, 4) and 1/4·(4/3) on [4, 5): quantiles by hand."""
    m = model(HEATER)
    quantiles = np.array([0.0, 1 / 3, 2 / 3, 5 / 6, 1 - 2**-53])
    step = conditional_step(m, particles(5, m), 0, np.column_stack([quantiles, np.zeros(5)]))
    np.testing.assert_allclose(step.delay, [3.0, 3.5, 4.0, 4.5, 5.0], rtol=1e-12)
    assert (step.action == 0).all()


@pytest.mark.parametrize("text", [HEATER, GAP], ids=["heater", "gap"])
def test_the_moment_grows_with_the_number(text):
    m = model(text)
    for action in range(2):
        delays = conditional_step(m, particles(1000, m), action, grid(1000)).delay
        assert (np.diff(delays) > 0).all()


def test_the_second_number_chooses_the_edge_by_weight():
    edges = ['from: S, to: S, action: a, weight: 3, update: "x = 0"', 'from: S, to: S, action: a, guard: "x >= 1"']
    m = model(one("clock x;", {"S": 'invariant: "x <= 2"'}, edges))
    uniforms = np.array([[0.9, 0.0], [0.9, 0.74], [0.9, 0.76], [0.9, 0.999], [0.1, 0.999]])
    step = conditional_step(m, particles(5, m), 0, uniforms)
    assert step.edge.tolist() == [0, 0, 1, 1, 0]  # before x = 1 there is only the first
    assert len(set(step.delay[:4])) == 1


def test_updates_still_draw_from_the_particles_stream():
    m = model(
        one("clock x; double y;", {"S": 'invariant: "x <= 2"'}, ["from: S, to: S, action: a, update: y = random(1)"])
    )
    step = conditional_step(m, particles(50, m), 0, np.full((50, 2), 0.5))
    assert len(set(step.particles.reals[:, 1])) == 50
    assert set(step.delay) == {1.0}


def test_wrong_uniforms_are_refused():
    m = model(HEATER)
    with pytest.raises(ValueError, match=r"shape \(3, 2\)"):
        conditional_step(m, particles(2, m), 0, np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        conditional_step(m, particles(1, m), 0, np.ones((1, 2)))
