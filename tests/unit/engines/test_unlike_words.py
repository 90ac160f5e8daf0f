"""Short cores are grown where hardly two violating words are the same."""

import math

import numpy as np

from bbfalsify.engines.falsification.modes.learning import learn
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.unlike_words import heavy, short_cores, worth
from bbfalsify.engines.falsification.modes.use import Use

ACTIONS = [chr(ord("a") + number) for number in range(20)]


def uses(count, violates, seed=1, length=6):
    """Plain uses of six of twenty actions, 6.4e7 words; those that violate, and those that pass."""
    rng = np.random.default_rng(seed)
    bad, good = [], []
    for _ in range(count):
        actions = tuple(rng.choice(ACTIONS, size=length).tolist())
        times = np.cumsum(rng.uniform(1, 2, size=length))
        failing = violates(actions)
        (bad if failing else good).append(Use(actions, times, {}, 15.0 if failing else math.inf, 1 / count))
    return bad, good


def follows(first, second):
    return lambda word: first in word and second in word[word.index(first) + 1 :]


def test_two_actions_in_order_are_found_among_words_that_are_never_the_same():
    bad, good = uses(2_000, follows("a", "b"))
    assert len({use.word for use in bad}) > 0.9 * len(bad) > 40
    assert learn(bad, good) == [Pattern(("a", "b"))]


def test_two_causes_are_two_cores():
    either = lambda word: follows("a", "b")(word) or follows("c", "d")(word)  # noqa: E731
    bad, good = uses(2_000, either)
    assert set(short_cores(bad, good)) == {("a", "b"), ("c", "d")}


def test_what_has_nothing_in_common_has_no_core():
    rng = np.random.default_rng(3)
    bad, good = uses(2_000, lambda _: rng.random() < 0.05)
    assert short_cores(bad, good) == []


def test_worth_is_a_harmonic_mean():
    bad, good = uses(2_000, follows("a", "b"))
    assert worth([Pattern(("a", "b"))], bad, good) == 1.0
    matching = sum("a" in use.word for use in (*bad, *good))
    assert math.isclose(worth([Pattern(("a",))], bad, good), 2 * len(bad) / (matching + len(bad)))
    few = [Use(("a",), np.zeros(1), weight=weight) for weight in (1.0, 0.5, 1e-9)]
    assert heavy(few) == few[:2]
