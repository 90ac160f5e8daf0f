"""Failure modes of computed inputs that stay low or high for a while, and uses as modes see them."""

import math

import numpy as np
import pytest

from bbfalsify.engines.falsification.modes.learning import learn
from bbfalsify.engines.falsification.modes.pattern import Condition, Lasting, Pattern
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.modes.wording import name_of, sentence_of
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network, stochastic_walks
from tests.heater import profile

STEP = 0.5
COLD = Pattern((), (Condition(Lasting("T", 3.0, "greatest"), high=-5.0),))


def weather(levels, actions=(), violated_at=math.inf):
    levels = np.asarray(levels, float)
    times = np.arange(1.0, len(actions) + 1)
    computed = {"T": levels}
    return Use(
        tuple(actions), times, {}, violated_at, 1.0, STEP * (len(levels) - 1), None,
        lambda every: {name: of[::every] for name, of in computed.items()}, STEP,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_a_lasting_value_is_the_lowest_level_that_holds_for_so_long(seed):
    """Against all windows one by one; the quick look at few samples never denies a match."""
    rng = np.random.default_rng(seed)
    levels = np.cumsum(rng.normal(size=int(rng.integers(5, 80))))
    length = float(rng.choice([0.5, 1.0, 3.0, 3.2, 7.0]))
    size, use = int(length / STEP) + 1, weather(levels)
    windows = [levels[k : k + size] for k in range(len(levels) - size + 1)]
    lowest = min((window.max() for window in windows), default=math.inf)
    highest = max((window.min() for window in windows), default=-math.inf)
    below, above = Lasting("T", length, "greatest"), Lasting("T", length, "least")
    assert below.value(use, ()) == lowest and above.value(use, ()) == highest
    for limit in rng.normal(scale=5, size=20):
        assert Pattern((), (Condition(below, high=limit),)).matches(weather(levels)) is bool(lowest <= limit)
        assert Pattern((), (Condition(above, low=limit),)).matches(weather(levels)) is bool(highest >= limit)


def test_what_lasts_ends_with_the_violation():
    levels = [0.0] * 4 + [-6.0] * 7 + [0.0] * 4
    assert COLD.matches(weather(levels)) and COLD.matches(weather(levels, violated_at=5.0))
    assert not COLD.matches(weather(levels, violated_at=4.9))


def test_cold_that_lasts_is_learned_whatever_spells_lead_to_it():
    """Words of violating uses do not repeat; they violate once T was below -5 for 3."""
    rng = np.random.default_rng(2)
    bad, good = [], []
    for _ in range(800):
        spells = np.repeat(rng.normal(scale=4, size=20), 5)
        levels = np.convolve(spells, np.ones(6) / 6, "same")
        actions = ["down" if b < a else "up" for a, b in zip(levels, levels[1:], strict=False)]
        actions = [f"{name}{rng.integers(9)}" for name in actions]
        ends = [k for k in range(6, len(levels)) if levels[k - 6 : k + 1].max() <= -5]
        made = weather(levels, actions, ends[0] * STEP if ends else math.inf)
        (bad if ends else good).append(made)
    assert len(bad) > 50 and len({use.word for use in bad}) > 0.9 * len(bad)
    [pattern] = learn(bad, good)
    [condition] = pattern.conditions
    assert condition.feature.name == "T" and condition.feature.extreme == "greatest"
    assert 3 <= condition.feature.length < 3.5 and condition.high == pytest.approx(-5, abs=0.1)
    assert name_of(pattern) == "T low"
    assert sentence_of(COLD, {"T": "degC"}) == "at some time T ≤ -5 degC for 3"


def test_actions_after_the_end_are_no_part_of_a_use():
    """A walk goes one action beyond the end: counted, "on by 20" told uses of 20 apart."""
    usage = Usage(profile(), compile_network(profile().network), 20.0, 0.1)
    walks = stochastic_walks(usage.model, np.arange(50, dtype=np.uint64), until=20.0, max_steps=100)
    for number in range(50):
        use = use_of(usage, walks.walk(number))
        assert max(use.action_times) <= 20 < walks.walk(number).times[-1] and len(use.actions) == len(use.times)
