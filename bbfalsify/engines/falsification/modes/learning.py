"""Learn failure modes: short patterns that tell violating uses from passing ones.

    1. word        the most probable actions up to a violation that no pattern matches yet;
    2. conditions  on delays and values, and actions that must not come in between; kept if they exclude many passing
                   uses (`conditions.py`);
    3. core        actions are left out as long as the uses that match only without them violate about as often: two
                   showers within 8 minutes are one too many, whoever takes them.  An action at the end of a delay that
                   a condition speaks about stays;
    4. again       conditions of the shorter core, from all violating uses that come to it; then the next word, until
                   the patterns match nearly all violating uses.

A pattern that often passes may lack a time: "no off for 14 after the first".  It is looked for last, in the core and
around each single action of the word.

The result is a decision list: a violating use belongs to the first pattern that it matches; longer cores stand first.
Learning is heuristic and may be wrong without harm: modes are estimated on other simulations (`estimating.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bbfalsify.engines.falsification.modes.conditions import (
    Sample,
    around_one,
    precision,
    refine,
    tighten,
    told,
    widen,
)
from bbfalsify.engines.falsification.modes.pattern import Pattern, is_subsequence
from bbfalsify.engines.falsification.modes.some_moment import at_some_moment
from bbfalsify.engines.falsification.modes.use import Use

MOST_MODES = 10
MOST_WORDS = 15
"""Violating words that are looked at, the most probable unexplained one first."""
ENOUGH = 0.9995
"""Part of the known violations that the patterns must match."""
AS_OFTEN = 0.6
"""An action matters if uses without it violate less often than this, relative to those with it …"""
FEWEST = 3
"""… of which at least so many are known."""
PRECISE = 0.9
"""Of a pattern of values that fails this often no other is looked for."""
SURE, MORE = 0.98, 1.15
"""A pattern that fails less often than the first may give way to one of a single action and a time without another,
which fails as often and tells this much more (or more at all, if both speak of such times)."""
MOST_USES = 600
"""Uses of each kind that decide about cores; of more, every second, third, …."""

Word = tuple[str, ...]


def learn(bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Learn at most MOST_MODES patterns from violating and passing uses, in the order of the decision list."""
    found = _without_others(_by_word(bad, good), bad, good)
    found = _widened(sorted(found, key=lambda pattern: -len(pattern.core)), bad, good)
    return list(dict.fromkeys(found))


def _by_word(bad: Sequence[Use], good: Sequence[Use]) -> list[tuple[Word, Pattern]]:
    """Learn a pattern from one violating word after the other, each with the word that it began with."""
    total = math.fsum(use.weight for use in bad)
    found: list[tuple[Word, Pattern]] = []
    rest, tried = list(bad), set[Word]()
    while rest and len(found) < MOST_MODES and len(tried) < MOST_WORDS:
        weights = _added_up(rest)
        left = [word for word in weights if word not in tried]
        if not left or (found and math.fsum(weights.values()) <= (1 - ENOUGH) * total):
            break
        word = min(left, key=lambda word: (-weights[word], len(word), word))
        pattern = _pattern(word, rest, good)
        if found and pattern == Pattern(()):
            break  # it would match every use: what is left has nothing in common
        unexplained = [use for use in rest if not pattern.matches(use)]
        if word or len(unexplained) == len(rest):
            tried.add(word)  # without actions all violations have one word, which is looked at again
        if len(unexplained) < len(rest):
            found.append((word, pattern))
        rest = unexplained
    return found


def _without_others(found: list[tuple[Word, Pattern]], bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Learn each pattern again, without the violations that another one explains: they made it look more general."""
    patterns = [pattern for _, pattern in found]
    for number, (word, pattern) in enumerate(found):
        others = [other for other in patterns if other.core != pattern.core]
        own = [use for use in bad if use.word == word or not any(other.matches(use) for other in others)]
        if word and others:
            patterns[number] = _pattern(word, own, good)
    return patterns


def _widened(patterns: list[Pattern], bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Let violating uses that match no pattern into those whose core they have."""
    for number, pattern in enumerate(patterns):
        others = patterns[:number] + patterns[number + 1 :]
        own = [use for use in bad if not any(other.matches(use) for other in others)]
        patterns[number] = widen(pattern, _sample((), pattern.core, own, good))
    return patterns


def _pattern(word: Word, bad: Sequence[Use], good: Sequence[Use]) -> Pattern:
    """The pattern of the violations with a word, and of others that are like them."""
    few, passing = _thinned(bad), _thinned(good)
    whole = tighten(Pattern(word), _sample(word, word, few, passing))
    core = simplify(whole, few, passing).core
    sample = _sample(word, core, bad, good)
    found = refine(tighten(Pattern(core), sample), sample)
    if precision(found, sample) >= (SURE if core else PRECISE):
        return found
    if not core:
        everyone = Sample(few, few, passing)
        moving = at_some_moment(everyone)
        return moving if told(moving, everyone) > MORE * told(found, everyone) else found
    # A time without another action may say more than a sequence of them: a long cold spell, however it is spelt.
    everyone = Sample([use for use in few if use.word == word], few, passing)
    others = [around_one(action, _sample(word, (action,), few, passing)) for action in dict.fromkeys(word)]
    least, more = precision(found, everyone), 1.0 if any(found.quiet) else MORE
    sharper = [other for other in others if any(other.quiet) and precision(other, everyone) >= least]
    best = max(sharper, key=lambda pattern: told(pattern, everyone), default=found)
    return best if told(best, everyone) > more * told(found, everyone) else found


def _sample(word: Word, core: Word, bad: Sequence[Use], good: Sequence[Use]) -> Sample:
    """The violating uses of a word, and all uses that come to a core."""
    own = [use for use in bad if is_subsequence(core, use.word)]
    return Sample(
        [use for use in own if use.word == word], own, [use for use in good if is_subsequence(core, use.actions)]
    )


def _thinned(uses: Sequence[Use]) -> list[Use]:
    step = -(-len(uses) // MOST_USES) or 1
    return [replace(use, weight=use.weight * step) for use in uses[::step]]


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
    usual, further, count = [0.0, 0.0], [0.0, 0.0], 0
    for passes, uses in enumerate((bad, good)):
        for use in uses:
            if pattern.matches(use):
                usual[passes] += use.weight
            elif shorter.matches(use):
                further[passes] += use.weight
                count += 1
    if count < FEWEST or not sum(further):
        return True  # the action says nothing that the others do not imply
    return bool(usual[0]) and further[0] / sum(further) >= AS_OFTEN * usual[0] / sum(usual)


def _added_up(uses: Sequence[Use]) -> dict[Word, float]:
    weights: dict[Word, float] = {}
    for use in uses:
        weights[use.word] = weights.get(use.word, 0.0) + use.weight
    return weights
