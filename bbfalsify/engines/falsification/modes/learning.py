"""Learn failure modes: short patterns that tell violating uses from passing ones.

    1. word        the most probable actions up to a violation that no pattern matches yet;
    2. conditions  on delays and values, each as wide as the violating uses need; kept if it excludes many passing ones;
    3. core        actions are left out as long as the uses that match only without them violate about as often: two
                   showers within 8 minutes are one too many, whoever takes them.  An action at the end of a delay that
                   a condition speaks about stays;
    4. again       until the patterns match nearly all violating uses.  Each core then gets its conditions anew, from
                   all violating uses that come to it; a core stands before those that it contains.

The result is a decision list: a violating use belongs to the first pattern that it matches.  Learning is heuristic and
may be wrong without harm: modes are estimated on other simulations (`estimating.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bbfalsify.engines.falsification.modes.conditions import tighten
from bbfalsify.engines.falsification.modes.pattern import Pattern, is_subsequence
from bbfalsify.engines.falsification.modes.use import Use

MOST_MODES = 10
MOST_WORDS = 15
"""Violating words that are looked at, the most probable first."""
ENOUGH = 0.995
"""Part of the known violations that the patterns must match."""
AS_OFTEN = 0.6
"""An action matters if uses without it violate less often than this, relative to those with it."""
MOST_USES = 600
"""Uses of each kind that decide about cores; of more, every second, third, …."""

Word = tuple[str, ...]


def learn(bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Learn at most MOST_MODES patterns from violating and passing uses, in the order of the decision list."""
    some_bad, some_good = _thinned(bad), _thinned(good)
    words, total = _added_up(bad), math.fsum(use.weight for use in bad)
    found: list[Pattern] = []
    rest = list(bad)
    for word in sorted(words, key=lambda word: (-words[word], len(word), word))[:MOST_WORDS]:
        left = math.fsum(use.weight for use in rest)
        if len(found) == MOST_MODES or left <= (1 - ENOUGH) * total:
            break
        if math.fsum(use.weight for use in rest if use.word == word) < words[word] / 2:
            continue  # most of its uses match a pattern already
        [pattern] = _tightened([word], some_bad, some_good) or [Pattern(word)]
        pattern = simplify(pattern, some_bad, some_good)
        found.append(pattern)
        rest = [use for use in rest if not pattern.matches(use)]
    return _tightened(_specific_first(list(dict.fromkeys(p.core for p in found))), bad, good)


def _thinned(uses: Sequence[Use]) -> list[Use]:
    step = -(-len(uses) // MOST_USES) or 1
    return [replace(use, weight=use.weight * step) for use in uses[::step]]


def _tightened(cores: Sequence[Word], bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Give each core the conditions of the violating uses that come to it first."""
    patterns, rest = [], list(bad)
    for core in cores:
        own = [use for use in rest if is_subsequence(core, use.word)]
        rest = [use for use in rest if not is_subsequence(core, use.word)]
        others = [use for use in good if is_subsequence(core, use.actions)]
        if own:
            patterns.append(tighten(Pattern(core), own, others))
    return patterns


def simplify(pattern: Pattern, bad: Sequence[Use], good: Sequence[Use]) -> Pattern:
    """Leave out actions without a condition if further uses, which match only without them, violate about as often."""
    number = 0
    while number < len(pattern.core):
        shorter = pattern.without(number) if len(pattern.core) > 1 else None
        if shorter is not None and _as_often(pattern, shorter, bad, good):
            pattern, number = shorter, 0
        else:
            number += 1
    return pattern


def _as_often(pattern: Pattern, shorter: Pattern, bad: Sequence[Use], good: Sequence[Use]) -> bool:
    usual, further = [0.0, 0.0], [0.0, 0.0]
    for passes, uses in enumerate((bad, good)):
        for use in uses:
            if pattern.matches(use):
                usual[passes] += use.weight
            elif shorter.matches(use):
                further[passes] += use.weight
    if not sum(further):
        return True  # the action says nothing that the others do not imply
    return bool(usual[0]) and further[0] / sum(further) >= AS_OFTEN * usual[0] / sum(usual)


def _added_up(uses: Sequence[Use]) -> dict[Word, float]:
    weights: dict[Word, float] = {}
    for use in uses:
        weights[use.word] = weights.get(use.word, 0.0) + use.weight
    return weights


def _specific_first(cores: Sequence[Word]) -> list[Word]:
    """A core before those that it contains; else in the given order."""
    return [cores[i] for i in sorted(range(len(cores)), key=lambda i: (-len(cores[i]), i))]
