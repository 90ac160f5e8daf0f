"""Rare patterns are simulated along their cores before they are learned again: plain simulations do not meet them."""

import math

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.strata import PROBES, probe
from bbfalsify.engines.falsification.usage import Usage, WalkDraft
from bbfalsify.kernel import compile_network
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


def test_probed_uses_have_the_pattern_and_its_probability():
    bad, good, made = probe(ask, USAGE, 0, frozenset(), [EIGHT], {0}, 100, SeedTree(1))
    assert made == len(bad) + len(good) and PROBES / 2 <= made <= PROBES
    assert good and all(EIGHT.matches(use) for use in (*bad, *good))
    # 4^-8 = 1.5e-5 for eight in a row, and several times as much with "off" before, between or after.
    assert 1e-5 < math.fsum(use.weight for use in (*bad, *good)) < 1e-3


def test_uses_that_follow_a_listed_word_are_known_from_its_passes():
    listed = frozenset([("on",)])
    bad, good, made = probe(ask, USAGE, 0, listed, [EIGHT], {0}, 100, SeedTree(1))
    assert made >= PROBES / 2 and len(bad) + len(good) < made


def test_a_small_budget_probes_nothing():
    assert probe(ask, USAGE, 0, frozenset(), [EIGHT], {0}, 0, SeedTree(1)) == ([], [], 0)
