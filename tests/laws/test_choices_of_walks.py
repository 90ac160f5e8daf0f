"""From a walk to its choices and back: the same walk; and under the profile's own law the choices are uniform.

The Kolmogorov tests ask for a p-value of 1e-6: one false alarm in a million.  With 5,000 numbers they notice a
distribution function that is 0.04 off anywhere (numbers of losers drawn from all of [0, 1), say).
"""

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from bbfalsify.kernel import (
    Particles,
    Walk,
    WalkStatus,
    accelerated_walks,
    compile_network,
    spans_of,
    step_towards,
    stochastic_step,
    stochastic_walks,
    taped_walk,
    walk_numbers,
)
from tests.support.networks import networks
from tests.unit.kernel.kernel_models import HEATER, model, one, several

UNTIL, STEPS = 12.0, 60

VALUES = one(
    "clock x; double a; double b; double c; double d; int[0,5] die;",
    {"S": 'invariant: "x <= 3"', "U": ""},
    [
        'from: S, to: U, action: draw, guard: "x >= 1", '
        'update: "x = 0, a = random(4), b = random_uniform(-2, a + 1), c = random_normal(a, 0.5), '
        'die = fint(random(6))"',
        'from: U, to: S, action: again, update: "x = 0, d = 3 - random_exponential(2) - random(1), c = a"',
    ],
)
RACE = several(
    {
        "A": ("clock x;", {"S": 'invariant: "x <= 5"'}, [
            'from: S, to: S, action: a, guard: "x >= 1", weight: 3, update: "x = 0"',
            'from: S, to: S, action: b, guard: "x >= 2", update: "x = 0"',
            'from: S, to: S, action: c, guard: "x == 5", update: "x = 0"',
        ]),
        "B": ("clock y;", {"S": "exponential_rate: 0.4"}, ['from: S, to: S, action: d, update: "y = 0"']),
        "C": ("clock z;", {"S": 'invariant: "z <= 5"'}, [
            'from: S, to: S, action: e, guard: "z >= 5", update: "z = 0"',
        ]),
    }
)  # fmt: skip


def same(again, walk, tolerance=1e-9):
    assert np.array_equal(again.edges, walk.edges) and again.status == walk.status
    assert walk.branches is None or np.array_equal(again.branches, walk.branches)
    assert np.array_equal(again.locations, walk.locations) and np.array_equal(again.integers, walk.integers)
    assert np.allclose(again.times, walk.times, rtol=tolerance, atol=tolerance)
    assert np.allclose(again.reals, walk.reals, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("text", [HEATER, VALUES, RACE], ids=["heater", "values", "race"])
def test_walks_of_the_profile_have_uniform_choices_that_make_them_again(text):
    profile, pooled = model(text), []
    walks = stochastic_walks(profile, np.arange(150, dtype=np.uint64), 40.0, 2000)
    for i in range(len(walks)):
        walk = walks.walk(i)
        numbers = walk_numbers(profile, walk, seed=1000 + i)
        pooled.append(numbers)
        same(taped_walk(profile, 77, numbers, 40.0, 2000)[0], walk)
    assert stats.kstest(np.concatenate(pooled), "uniform").pvalue > 1e-6
    for kth in range(3):  # also each choice by itself
        assert stats.kstest([numbers[kth] for numbers in pooled], "uniform").pvalue > 1e-6


@pytest.mark.parametrize("text", [HEATER, VALUES, RACE], ids=["heater", "values", "race"])
def test_exact_ends_of_the_accelerator_have_choices(text):
    profile = model(text)
    walks = accelerated_walks(profile, np.arange(110, dtype=np.uint64), np.arange(110) % 11, 40.0, 2000)
    for i in range(len(walks)):
        walk = walks.walk(i)
        again = taped_walk(profile, 77, walk_numbers(profile, walk), 40.0, 2000)[0]
        same(again, walk)
        if text == HEATER:  # every delay of rows 0…9 is at an end of its window
            ends = np.isin(np.diff(walk.times, prepend=0.0), [3.0, 4.0, 5.0])
            assert np.array_equal(again.times[ends], walk.times[ends])
            assert ends.all() or i % 11 == 10


def test_steps_of_particles_have_choices_up_to_their_end():
    profile = model(VALUES)
    levels = [Particles.initial(profile, np.arange(3, dtype=np.uint64))]
    made = [stochastic_step(profile, levels[0])]
    for _ in range(5):
        made.append(stochastic_step(profile, made[-1].particles))
    states = [levels[0], *(step.particles for step in made)]
    for row in range(3):
        walk = Walk(
            WalkStatus.REACHED_END,
            np.array([s.particles.time[row] for s in made]),
            np.array([s.edge[row] for s in made]),
            *(np.array([getattr(s, name)[row] for s in states]) for name in ("locations", "integers", "reals")),
        )
        again = taped_walk(profile, 0, walk_numbers(profile, walk), walk.times[-1], 2000)[0].prefix(walk.steps)
        same(again, walk)


def test_a_walk_of_probability_zero_has_no_choices():
    profile = model(
        one(
            "clock x;",
            {"S": 'invariant: "x <= 5"'},
            ['from: S, to: S, action: a, update: "x = 0"', 'from: S, to: S, action: never, weight: 0, update: "x = 0"'],
        )
    )
    walks = accelerated_walks(profile, np.arange(20, dtype=np.uint64), 10, 40.0, 2000)
    chosen = [walks.walk(i) for i in range(20)]
    with_it = [walk for walk in chosen if "never" in walk.actions(profile)]
    assert with_it and all(walk_numbers(profile, walk) is None for walk in with_it)


@given(networks(handshakes=False))
def test_walks_of_any_network_have_choices(network):
    profile = compile_network(network)
    for seed in range(3):
        walk = stochastic_walks(profile, np.array([seed], np.uint64), UNTIL, STEPS).walk(0)
        if walk.status is WalkStatus.RUNTIME_ERROR:
            continue
        numbers = walk_numbers(profile, walk, seed=9)
        assert numbers is not None
        same(taped_walk(profile, 5, numbers, UNTIL, STEPS)[0].prefix(walk.steps), walk.prefix(walk.steps))


@given(networks(handshakes=False))
def test_accelerated_walks_of_any_network_are_made_again(network):
    profile = compile_network(network)
    walks = accelerated_walks(profile, np.arange(6, dtype=np.uint64), np.arange(6), UNTIL, STEPS)
    for i in range(len(walks)):
        walk = walks.walk(i)
        numbers = walk_numbers(profile, walk)
        if numbers is not None:  # its probability may be zero
            same(taped_walk(profile, 5, numbers, UNTIL, STEPS)[0].prefix(walk.steps), walk.prefix(walk.steps))


def made_step_by_step(profile, walk, numbers, spans):
    """The choices of a walk, each step's asked for anew from the state before: only what it draws is kept."""
    here, made = Particles.initial(profile, np.zeros(1, np.uint64)), []
    for k, (_, rest, beyond) in enumerate(spans):
        step = step_towards(profile, here, int(walk.edges[k]), float(walk.times[k]), numbers[rest:beyond], seed=k)
        if step is None:
            return None
        here = step.after
        made.append(step.numbers)
    return np.concatenate([*made, np.zeros(0)])


@pytest.mark.parametrize("text", [HEATER, VALUES, RACE], ids=["heater", "values", "race"])
def test_each_step_owns_a_span_of_choices_and_can_be_asked_for(text):
    profile = model(text)
    for seed in range(20):
        walk, numbers, _ = taped_walk(profile, seed, np.zeros(0), 40.0, 2000)
        spans = spans_of(profile, numbers, walk.steps)
        assert [first for first, _, _ in spans] == [0, *(beyond for _, _, beyond in spans[:-1])]
        assert all(first <= rest <= beyond for first, rest, beyond in spans) and spans[-1][2] == len(numbers)
        same(taped_walk(profile, 5, made_step_by_step(profile, walk, numbers, spans), 40.0, 2000)[0], walk)
        assert len(spans_of(profile, numbers[: spans[3][2]], walk.steps)) == 4, "no step without its choices"


@given(networks(handshakes=False))
def test_steps_of_any_network_can_be_asked_for(network):
    profile = compile_network(network)
    for seed in range(3):
        walk, numbers, _ = taped_walk(profile, seed, np.zeros(0), UNTIL, STEPS)
        if walk.status is WalkStatus.RUNTIME_ERROR:
            continue
        spans = spans_of(profile, numbers, walk.steps)
        assert len(spans) == walk.steps
        asked = made_step_by_step(profile, walk, numbers, spans)
        assert asked is not None
        same(taped_walk(profile, 5, asked, UNTIL, STEPS)[0].prefix(walk.steps), walk.prefix(walk.steps))
