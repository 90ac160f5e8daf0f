"""Random numbers of a walk, recorded and given from outside."""

from pathlib import Path

import numpy as np
import pytest

from bbfalsify.kernel import WalkStatus, compile_network, stochastic_walks, taped_walk
from bbfalsify.modelling import load_profile

ROOT = Path(__file__).parents[3]
PROFILES = ["heater_user", "throttle_and_brake", "weather"]
UNTIL, STEPS = 30.0, 1000


def same(one, other):
    assert np.array_equal(one.times, other.times)
    assert np.array_equal(one.edges, other.edges)
    assert np.array_equal(one.branches, other.branches)
    assert np.array_equal(one.integers, other.integers)
    assert np.array_equal(one.reals, other.reals)


@pytest.fixture(params=PROFILES)
def model(request):
    return compile_network(load_profile(ROOT / "profiles" / f"{request.param}.yaml").network)


def test_a_walk_without_given_numbers_is_that_of_its_seed(model):
    walks = stochastic_walks(model, np.arange(5, dtype=np.uint64), UNTIL, STEPS)
    for seed in range(5):
        walk, numbers, labels = taped_walk(model, seed, np.zeros(0), UNTIL, STEPS)
        same(walk, walks.walk(seed))
        assert len(numbers) == len(labels) > 0
        assert np.all((numbers >= 0) & (numbers < 1))


def test_its_own_numbers_give_the_same_walk_from_any_seed(model):
    walk, numbers, labels = taped_walk(model, 3, np.zeros(0), UNTIL, STEPS)
    again, numbers_again, labels_again = taped_walk(model, 77, numbers, UNTIL, STEPS)
    same(walk, again)
    assert np.array_equal(numbers, numbers_again) and np.array_equal(labels, labels_again)


def test_the_first_numbers_and_the_seed_give_the_same_walk(model):
    walk, numbers, _ = taped_walk(model, 3, np.zeros(0), UNTIL, STEPS)
    for count in range(len(numbers)):
        again, *_ = taped_walk(model, 3, numbers[:count], UNTIL, STEPS)
        same(walk, again)


@pytest.mark.parametrize("number", [0.0, 0.5, 1 - 2.0**-53])
def test_any_numbers_give_a_walk_to_the_end(model, number):
    walk, numbers, _ = taped_walk(model, 1, np.full(2000, number), UNTIL, STEPS)
    assert walk.status is WalkStatus.REACHED_END
    assert set(numbers.tolist()) == {number}


def test_a_long_tape_finds_room(model):
    long, numbers, _ = taped_walk(model, 5, np.zeros(0), 3000.0, 100_000)
    walks = stochastic_walks(model, np.array([5], np.uint64), 3000.0, 100_000)
    same(long, walks.walk(0))
