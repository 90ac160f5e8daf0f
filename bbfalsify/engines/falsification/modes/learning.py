"""Learn failure modes: short patterns that tell violating uses from passing ones.

    1. core        the actions up to the violation of the most probable violating words; actions are left out as long
                   as the uses that match only without them violate about as often;
    2. list        cores that many violating uses come to; a core stands before those that it contains;
    3. conditions  on delays and values, each as wide as the violating uses need; kept if it excludes many passing ones.

The result is a decision list: a violating use belongs to the first pattern that it matches.  Learning is heuristic and
may be wrong without harm: modes are estimated on other simulations (`estimating.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bbfalsify.engines.falsification.modes.conditions import tighten
from bbfalsify.engines.falsification.modes.pattern import Pattern, is_subsequence
from bbfalsify.engines.falsification.modes.use import Use

MOST_MODES = 10
MOST_WORDS = 40
"""Violating words that are generalised, the most probable first."""
LEAST_SHARE = 0.005
"""Smallest part of the known violations that makes a mode."""
AS_OFTEN = 0.6
"""An action matters if uses without it violate less often than this, relative to those with it."""

Word = tuple[str, ...]


@dataclass(frozen=True)
class _Words:
    """Probabilities of words: up to the violation of uses that violate, whole ones of uses that pass."""

    bad: Mapping[Word, float]
    good: Mapping[Word, float]

    def precision(self, core: Sequence[str], without: Sequence[str] | None = None) -> float | None:
        """How often uses violate that match the core (but not `without`); None if there is none."""
        bad, good = (_weight(words, core, without) for words in (self.bad, self.good))
        return bad / (bad + good) if bad + good > 0 else None


def _weight(words: Mapping[Word, float], core: Sequence[str], without: Sequence[str] | None) -> float:
    return sum(
        weight
        for word, weight in words.items()
        if is_subsequence(core, word) and (without is None or not is_subsequence(without, word))
    )


def learn(bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Learn at most MOST_MODES patterns from violating and passing uses, in the order of the decision list."""
    if not bad:
        return []
    words = _Words(_added_up(bad), _added_up(good))
    chosen = sorted(words.bad, key=lambda word: (-words.bad[word], len(word), word))[:MOST_WORDS]
    shares: dict[Word, float] = {}
    for word in chosen:
        core = generalise(word, words)
        shares[core] = shares.get(core, 0.0) + words.bad[word]
    total = math.fsum(words.bad.values())
    cores = [core for core in shares if shares[core] >= LEAST_SHARE * total]
    cores = sorted(cores, key=lambda core: (-shares[core], core))[:MOST_MODES]
    patterns, rest = [], list(bad)
    for core in _specific_first(cores):
        own = [use for use in rest if is_subsequence(core, use.word)]
        rest = [use for use in rest if not is_subsequence(core, use.word)]
        others = [use for use in good if is_subsequence(core, use.actions)]
        if own:
            patterns.append(tighten(Pattern(core), own, others))
    return patterns


def _added_up(uses: Sequence[Use]) -> dict[Word, float]:
    weights: dict[Word, float] = {}
    for use in uses:
        weights[use.word] = weights.get(use.word, 0.0) + use.weight
    return weights


def generalise(word: Word, words: _Words) -> Word:
    """Leave out actions that do not matter: large pieces first, then single ones (as delta debugging does)."""
    core, size = word, max(1, len(word) // 2)
    while True:
        shorter = _without_a_piece(core, size, words)
        if shorter is not None:
            core = shorter
            size = min(size, max(1, len(core) // 2))
        elif size == 1:
            return core
        else:
            size //= 2


def _without_a_piece(core: Word, size: int, words: _Words) -> Word | None:
    """The first core with `size` fewer actions whose further uses violate about as often."""
    usual = words.precision(core)
    for start in range(0, len(core), size):
        shorter = core[:start] + core[start + size :]
        further = words.precision(shorter, without=core)
        if shorter and usual is not None and further is not None and further >= AS_OFTEN * usual:
            return shorter
    return None


def _specific_first(cores: Sequence[Word]) -> list[Word]:
    """A core before those that it contains; else in the given order."""
    return [cores[i] for i in sorted(range(len(cores)), key=lambda i: (-len(cores[i]), i))]
