"""Tilted random numbers: their laws, their likelihood ratios, and the bins in which they are counted."""

from __future__ import annotations

import numpy as np
import pytest

from bbfalsify.kernel import compile_network, stochastic_walks, tilted_walks
from bbfalsify.kernel.rng import DRAWN_DELAY, DRAWN_EDGE
from bbfalsify.kernel.tilts import Tilts, effective_samples
from tests.heater import profile

MODEL = compile_network(profile().network)
LABELS = (DRAWN_DELAY, DRAWN_EDGE)
SEEDS = np.random.default_rng(3).integers(0, 2**64, size=4000, dtype=np.uint64)


def test_uniform_tilts_change_nothing_but_rounding():
    plain = stochastic_walks(MODEL, SEEDS[:50], 20.0, 100)
    for i, (walk, bins) in enumerate(tilted_walks(MODEL, SEEDS[:50], Tilts.uniform(LABELS, 3, 8), 20.0, 100)):
        assert walk.edges.tolist() == plain.walk(i).edges.tolist()
        assert walk.times == pytest.approx(plain.walk(i).times, abs=1e-12)
        assert bins[:24].sum() == walk.steps  # a delay each
        assert bins[:8].sum() == bins[8:16].sum() == 1  # the first two have rows of their own


def test_weights_correct_what_tilts_distort():
    """P(first action is on) is 1/4; under the tilts about 0.82.

    H0: the weighted mean is 1/4.  4,000 walks; five standard errors, so a false alarm has probability below 1e-6, and
    an error of 0.03 is seen.
    """
    shares = np.array([[[0.02, 0.02, 0.03, 0.03, 0.3, 0.2, 0.2, 0.2]], [[0.2, 0.2, 0.2, 0.2, 0.05, 0.05, 0.05, 0.05]]])
    ends = np.array([[[0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 1.0]], [np.linspace(0, 1, 9)]])
    tilts = Tilts(LABELS, shares, ends)
    made = tilted_walks(MODEL, SEEDS, tilts, 4.0, 100)
    on = np.array([walk.actions(MODEL)[0] == "on" for walk, _ in made])
    weights = np.exp(tilts.log_ratios(np.array([bins for _, bins in made])))
    assert on.mean() > 0.6
    for values, truth in ((weights, 1.0), (weights * on, 0.25)):
        assert abs(values.mean() - truth) < 5 * values.std() / np.sqrt(len(values))


def test_fitting_moves_the_law_to_the_chosen_walks_and_keeps_noise_out():
    """Chosen: walks whose first action is on, so the first delay exceeds 4: quantile above 1/2.

    The fit keeps 0.3 of the histogram before it, of which half is below 1/2, and 0.05 of the uniform law.
    """
    own = Tilts.uniform(LABELS, 2, 8)
    made = tilted_walks(MODEL, SEEDS, own, 4.0, 100)
    counts = np.array([bins for _, bins in made])
    on = np.array([walk.actions(MODEL)[0] == "on" for walk, _ in made])
    fitted = own.fitted(counts[on], np.ones(int(on.sum())), least=0.05)
    first = fitted.shares[0, 0]
    assert first.sum() == pytest.approx(1.0) and first[fitted.ends[0, 0, 1:] <= 0.5].sum() < 0.18
    noise = own.fitted(counts, np.ones(len(counts)), least=0.05)
    assert np.array_equal(noise.shares, own.shares)


def test_moved_numbers_have_the_law():
    tilts = Tilts((0,), np.array([[[0.8, 0.2]]]), np.array([[[0.0, 0.25, 1.0]]]))
    numbers, counts = tilts.moved(np.array([[0.4], [0.8], [0.9], [1 - 2**-53]]))
    assert numbers[:3, 0] == pytest.approx([0.125, 0.25, 0.625]) and numbers.max() < 1
    assert counts.argmax(axis=1).tolist() == [0, 1, 1, 1]
    assert np.exp(tilts.log_ratios(counts)) == pytest.approx([0.25 / 0.8, 0.75 / 0.2, 0.75 / 0.2, 0.75 / 0.2])


def test_effective_samples():
    assert effective_samples(np.ones(7)) == pytest.approx(7)
    assert effective_samples(np.array([1.0, 0.0])) == 1 and effective_samples(np.zeros(3)) == 0
