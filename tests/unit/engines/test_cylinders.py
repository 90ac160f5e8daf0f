"""Rough probabilities of words: long words, and prefixes whose particles were dropped."""

import sys

import pytest

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.search import cylinders
from bbfalsify.engines.falsification.search.cylinders import Cylinders
from bbfalsify.kernel import compile_network
from tests import heater


@pytest.fixture(scope="module")
def model():
    return compile_network(heater.profile().network)


def test_a_long_word_is_followed_again_after_its_particles_were_dropped(model, monkeypatch):
    """Longer than Python's stack is deep; the heater is switched off with probability 3/4 at each step."""
    length = sys.getrecursionlimit() + 100
    word, other = ("off",) * length, ("off",) * (length - 1) + ("on",)
    kept = Cylinders(model, SeedTree(1))
    expected = [kept.probability(word), kept.probability(other)]
    monkeypatch.setattr(cylinders, "MOST_PREFIXES", 50)
    dropping = Cylinders(model, SeedTree(1))
    first = dropping.probability(word)
    dropping._particles.clear()
    assert [first, dropping.probability(other)] == expected
    assert expected[0] > 0 and len(dropping._particles) <= 51
