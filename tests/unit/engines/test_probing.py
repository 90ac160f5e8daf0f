"""Rare patterns are simulated along their cores, or within their limits, before they are learned again."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.modes.pattern import Condition, Pattern, Window
from bbfalsify.engines.falsification.modes.probing import EACH, PROBES, Learned, Probing
from bbfalsify.engines.falsification.modes.sampling import everyday_walks
from bbfalsify.engines.falsification.modes.use import use_of
from bbfalsify.engines.falsification.modes.work import Work
from bbfalsify.engines.falsification.usage import Usage, WalkDraft
from bbfalsify.kernel import Walk, compile_network
from bbfalsify.modelling import value_profile
from tests.heater import profile


class WalksOnly(Usage):
    def draft(self, walk, *, stop=None):
        return WalkDraft(self, walk, stop)


USAGE = WalksOnly(profile(), compile_network(profile().network), 45.0, 0.1)
EIGHT, FAST = Pattern(("on",) * 8), 35.5


def ask(queries):
    """Eight times "on" in a row violate where the eighth comes early."""
    answers = []
    for query in queries:
        walk = query.source.walk
        fast = walk.actions(USAGE.model)[:8] == ("on",) * 8 and walk.times[7] < FAST
        seen = Judgement(Verdict.VIOLATED, -1.0, float(walk.times[7])) if fast else Judgement(Verdict.SATISFIED, 1.0)
        answers.append(Answer(SimulationStatus.OK, (seen,)))
    return answers


def probed(listed=frozenset(), fresh=400):
    known = Learned([EIGHT], [], [], fresh)
    return Probing(ask, USAGE, 0, SeedTree(1), Work()).of_cores(known, listed, 1_000, 1_000)


def test_probed_uses_have_the_pattern_and_its_probability():
    found = probed()
    made = 400 - found.fresh
    assert made == len(found.bad) + len(found.good) and PROBES / 2 <= made <= PROBES
    assert found.good and all(EIGHT.matches(use) for use in (*found.bad, *found.good))
    # 4^-8 = 1.5e-5 for eight in a row, and several times as much with "off" before, between or after.
    assert 1e-5 < math.fsum(use.weight for use in (*found.bad, *found.good)) < 1e-3


def test_uses_that_follow_a_listed_word_are_known_from_its_passes():
    found = probed(frozenset([("on",)]))
    made = 400 - found.fresh
    assert made >= PROBES / 2 and len(found.bad) + len(found.good) < made


def test_a_small_budget_probes_nothing():
    assert probed(fresh=3).fresh == 3


SIGNALS = value_profile({"u": {"range": [0, 100], "every": 10}}, {})
VALUES = WalksOnly(SIGNALS, compile_network(SIGNALS.network), 60.0, 1.0)


def high(places, low=98.0):
    """The box u ≥ `low` from 0 on, for so many values."""
    return Pattern((), (Condition(Window("u", 0.0, 10.0 * places, "least"), low=low),))


def ask_three(queries):
    """The first three values above 98 violate: 8e-6 of the uses."""
    answers = []
    for query in queries:
        violates = min(query.source.walk.values[:3]) >= 0.98
        seen = Judgement(Verdict.VIOLATED, -1.0, 25.0) if violates else Judgement(Verdict.SATISFIED, 1.0)
        answers.append(Answer(SimulationStatus.OK, (seen,)))
    return answers


def test_a_pattern_of_values_is_narrowed_until_its_uses_fail():
    """Learned from violating uses and plain ones alone, it is too wide: one value above 98 tells them apart."""
    rng = np.random.default_rng(1)
    plain, some = rng.random((100, 6)), rng.random((40, 6))
    some[:, :3] = 0.98 + 0.02 * some[:, :3]
    empty = everyday_walk()
    bad = [use_of(VALUES, replace(empty, values=row), 25.0, 1e-4) for row in some]
    good = [use_of(VALUES, replace(empty, values=row), weight=0.01) for row in plain]
    probing = Probing(ask_three, VALUES, 0, SeedTree(1), Work())
    found = probing.of_values(Learned([high(1)], bad, good, 90))
    assert found.patterns == [high(3)]
    assert 45 <= found.fresh <= 90 - 2 * EACH  # wide ones twice at least, and half is left to estimate on
    own = [use.weight for use in found.bad if high(3).matches(use)]
    assert math.fsum(own) == pytest.approx(8e-6, rel=0.05)


def test_what_is_known_from_passing_uses_is_not_probed():
    empty = everyday_walk()
    rows = np.random.default_rng(1).random((100, 6))
    known = Learned([high(1, 20.0)], [], [use_of(VALUES, replace(empty, values=row)) for row in rows], 90)
    assert Probing(ask_three, VALUES, 0, SeedTree(1), Work()).of_values(known).fresh == 90


def everyday_walk() -> Walk:
    return next(everyday_walks(VALUES, SeedTree(2), 1))
