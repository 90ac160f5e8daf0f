"""Learn failure modes: short patterns that tell violating uses from passing ones.

    1. word        the most probable actions up to a violation that no pattern matches yet;
    2. conditions  on delays and values, and actions that must not come in between; kept if they exclude many passing
                   uses (`conditions.py`);
    3. core        actions are left out as long as the uses that match only without them violate about as often: two
                   showers within 8 minutes are one too many, whoever takes them.  An action at the end of a delay that
                   a condition speaks about stays;
    4. again       conditions of the shorter core, from all violating uses that come to it; then the next word, until
                   the patterns match nearly all violating uses.

A pattern that often passes may lack a time: "no off for 14 after the first".  It is looked for last.  Where hardly two
violating words are the same, a computed input that stays low or high says more (`lasting.py`), or few actions, or a
single one with its circumstances (`unlike_words.py`).

The result is a decision list: a violating use belongs to the first pattern that it matches; longer cores stand first.
Learning is heuristic and may be wrong without harm: modes are estimated on other simulations (`estimating.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from bbfalsify.engines.falsification.modes.conditions import (
    FEWEST_USES,
    STILL,
    Sample,
    precision,
    refine,
    tighten,
    told,
    widen,
)
from bbfalsify.engines.falsification.modes.lasting import some_of, what_lasts
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.single_action import around
from bbfalsify.engines.falsification.modes.some_moment import at_some_moment
from bbfalsify.engines.falsification.modes.unlike_words import (
    BULK,
    MORE,
    WEAK,
    heavy,
    short_cores,
    single_actions,
    worth,
)
from bbfalsify.engines.falsification.modes.use import Use
from bbfalsify.engines.falsification.modes.work import MOST_DECIDING, SHORT, Work, thinned

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
SURE = 0.98
"""A pattern that fails so often cannot be sharper."""
FEW_WORDS = 0.5
"""Where the most probable words, of those met often, have less than this part of all violations, no word tells what the
others share: `unlike_words.py`."""
ODDS = 1.2
"""Failing against passing, a pattern must fail so many times as often as any use."""
Word = tuple[str, ...]


def learn(bad: Sequence[Use], good: Sequence[Use], work: Work | None = None) -> list[Pattern]:
    """Learn at most MOST_MODES patterns from violating and passing uses, in the order of the decision list."""
    work = Work() if work is None else work
    if bad and not good:
        return [Pattern(())]  # every use violates, whatever it does
    found = _learned(bad, good, work)
    return [pattern for pattern in found if _tells(pattern, bad, good)] or ([Pattern(())] if found else [])


def _tells(pattern: Pattern, bad: Sequence[Use], good: Sequence[Use]) -> bool:
    """Tell whether uses with a pattern fail clearly more often than any use."""
    sample = Sample((), bad, good)
    usual, often = precision(Pattern(()), sample), precision(pattern, sample)
    return often * (1 - usual) >= ODDS * usual * (1 - often)


def _learned(bad: Sequence[Use], good: Sequence[Use], work: Work) -> list[Pattern]:
    few, passing = some_of(bad), some_of(good)
    bad, good = work.learned(bad, "violating"), work.learned(good, "passing")
    if _repeating(bad):
        return _needed(_by_words(bad, good), bad, good)
    lasting = what_lasts(few, passing)
    if lasting.conditions and worth([lasting], few, passing) >= PRECISE:
        return [lasting]
    found = _unlike(bad, good)
    found = _needed(_ordered(found, bad, good), bad, good)
    if not lasting.conditions:
        return found
    both = _needed(_ordered([lasting, *found], few, passing), few, passing)
    return both if worth(both, few, passing) > MORE * worth(found, few, passing) else found


def _unlike(bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Patterns of violations of which hardly two have the same word."""
    passing = heavy(good)
    found = single_actions(_pattern(_probable(_added_up(bad)), bad, good), bad, good) or _by_words(bad, good)
    short = [_conditioned((), core, bad, good) for core in short_cores(bad, good)]
    return short if short and worth(short, bad, passing) >= worth(found, bad, passing) else found


def _by_words(bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    found = _without_others(_by_word(bad, good), bad, good)
    return _widened(_ordered(found, bad, good), bad, good)


def _repeating(bad: Sequence[Use]) -> bool:
    """Tell whether the most probable violating words stand for a good part of the violations."""
    weights, total = _added_up(bad), math.fsum(use.weight for use in bad)
    often = Counter(use.word for use in bad)
    common = sorted((weight for word, weight in weights.items() if often[word] >= FEWEST_USES), reverse=True)
    return total <= 0 or math.fsum(common[:MOST_MODES]) > FEW_WORDS * total or () in weights


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
        word = _probable({word: weights[word] for word in left})
        pattern = _pattern(word, rest, good)
        if found and pattern == Pattern(()):
            break  # it would match every use: what is left has nothing in common
        unexplained = [use for use in rest if not pattern.matches(use)]
        weak = bool(found) and precision(pattern, Sample((), rest, good)) < WEAK
        if word or len(unexplained) == len(rest):
            tried.add(word)  # without actions all violations have one word, which is looked at again
        if len(unexplained) < len(rest) and not weak:
            found.append((word, pattern))
            rest = unexplained
    return found


def _without_others(found: list[tuple[Word, Pattern]], bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Learn each pattern again, without the violations that another one explains: they made it look more general."""
    patterns = [pattern for _, pattern in found]
    for number, (word, pattern) in enumerate(found):
        others = [other for other in patterns if other.core != pattern.core]
        own = [use for use in bad if use.word == word or not any(other.matches(use) for other in others)]
        if word and others and not any(pattern.quiet):
            patterns[number] = _pattern(word, own, good)
    return patterns


def _ordered(patterns: Sequence[Pattern], bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Put patterns first that fail more often by a tenth; of the same, and of those that nearly always fail, longer
    cores: a shorter one may match all that a longer one does.
    """
    sample = Sample((), bad, good)
    tenths = {pattern: round(10 * min(PRECISE, precision(pattern, sample))) for pattern in patterns}
    return sorted(tenths, key=lambda pattern: (-tenths[pattern], -len(pattern.core)))


def _needed(patterns: list[Pattern], bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Leave out patterns that hardly ever fail, or whose violations the others match, too; the last one first.

    Such a pattern stays if it fails as often as they do, in a good part of the violations, which are not a few.
    """
    total, sample = math.fsum(use.weight for use in bad), Sample((), bad, good)
    matched = [{number for number, pattern in enumerate(patterns) if pattern.matches(use)} for use in bad]
    fails = [precision(pattern, sample) for pattern in patterns]
    kept = list(range(len(patterns)))
    for number in reversed(range(len(patterns))):
        others = [other for other in kept if other != number]
        own = [use.weight for use, found in zip(bad, matched, strict=True) if number in found]
        alone = [
            use.weight for use, found in zip(bad, matched, strict=True) if number in found and found.isdisjoint(others)
        ]
        independent = math.fsum(own) ** 2 / max(1e-300, math.fsum(weight**2 for weight in own))
        tells = independent >= FEWEST_USES and math.fsum(own) >= BULK * total
        sharp = all(fails[number] > STILL * fails[other] for other in others)
        needless = math.fsum(alone) <= (1 - ENOUGH) * total and not (tells and sharp)
        if others and (needless or fails[number] < WEAK):
            kept.remove(number)
    return [patterns[number] for number in kept]


def _widened(patterns: list[Pattern], bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Let violating uses that match no pattern into those whose core they have."""
    for number, pattern in enumerate(patterns):
        others = patterns[:number] + patterns[number + 1 :]
        own = [use for use in bad if not any(other.matches(use) for other in others)]
        patterns[number] = widen(pattern, _sample((), pattern.core, own, good))
    return patterns


def _pattern(word: Word, bad: Sequence[Use], good: Sequence[Use]) -> Pattern:
    """The pattern of the violations with a word, and of others that are like them."""
    most = MOST_DECIDING * SHORT // max(SHORT, len(word))
    few, passing = thinned(bad, most), thinned(good, most)
    whole = tighten(Pattern(word), _sample(word, word, few, passing))
    core = simplify(whole, few, passing).core
    found = _conditioned(word, core, bad, good)
    if precision(found, Sample((), bad, good)) >= (SURE if core else PRECISE):
        return found
    if not core:
        everyone = Sample(few, few, passing)
        moving = at_some_moment(everyone)
        return moving if told(moving, everyone) > MORE * told(found, everyone) else found
    if not any(found.quiet):
        return found
    # The time may count from another action of the word.
    often = heavy(good)
    others = [around(action, bad, often) for action in dict.fromkeys(word)]
    return max([found, *others], key=lambda pattern: worth([pattern], bad, often))


def _conditioned(word: Word, core: Word, bad: Sequence[Use], good: Sequence[Use]) -> Pattern:
    sample = _sample(word, core, bad, good)
    return refine(tighten(Pattern(core), sample), sample)


def _sample(word: Word, core: Word, bad: Sequence[Use], good: Sequence[Use]) -> Sample:
    """The violating uses of a word, and all uses that come to a core."""
    own = [use for use in bad if use.has(core)]
    return Sample([use for use in own if use.word == word], own, [use for use in good if use.has(core)])


def simplify(pattern: Pattern, bad: Sequence[Use], good: Sequence[Use]) -> Pattern:
    """Leave out actions without a condition if further uses, which match only without them, violate about as often.

    Of a long core whole pieces are left out first, each half as long as those before.  An action of which few further
    uses tell is left out last: without a rare one before it, more of them tell whether it matters.
    """
    return _simplified(_simplified(pattern, bad, good, few=False), bad, good, few=True)


def _simplified(pattern: Pattern, bad: Sequence[Use], good: Sequence[Use], *, few: bool) -> Pattern:
    size = max(1, len(pattern.core) // 4)
    number = 0
    while number < len(pattern.core):
        shorter = _without_piece(pattern, number, size)
        if shorter is not None and _as_often(pattern, shorter, bad, good, few=few):
            pattern, number = shorter, 0 if size == 1 else number
        else:
            number += size
        if number >= len(pattern.core) and size > 1:
            size, number = size // 2, 0
    return pattern


def _without_piece(pattern: Pattern, number: int, size: int) -> Pattern | None:
    shorter: Pattern | None = pattern
    for _ in range(min(size, len(pattern.core) - number)):
        shorter = shorter.without(number) if shorter is not None and len(shorter.core) > 1 else None
    return shorter


def _as_often(pattern: Pattern, shorter: Pattern, bad: Sequence[Use], good: Sequence[Use], *, few: bool) -> bool:
    """`few`: the answer where only a few further uses are known."""
    usual, further, count = [0.0, 0.0], [0.0, 0.0], 0
    for passes, uses in enumerate((bad, good)):
        for use in uses:
            if pattern.matches(use):
                usual[passes] += use.weight
            elif shorter.matches(use):
                further[passes] += use.weight
                count += 1
    if not sum(further):
        return True  # the action says nothing that the others do not imply
    if count < FEWEST:  # where the pattern nearly always fails, one that passes is no chance
        return few and (further[0] > 0 or usual[0] < PRECISE * sum(usual))
    return bool(usual[0]) and further[0] / sum(further) >= AS_OFTEN * usual[0] / sum(usual)


def _probable(weights: Mapping[Word, float]) -> Word:
    """The most probable word; of those the shortest."""
    return min(weights, key=lambda word: (-weights[word], len(word), word))


def _added_up(uses: Sequence[Use]) -> dict[Word, float]:
    weights: dict[Word, float] = {}
    for use in uses:
        weights[use.word] = weights.get(use.word, 0.0) + use.weight
    return weights
