"""Patterns of violations of which hardly two have the same word.

Leaving actions out of one word (`learning.py`) tells nothing then: nobody met uses that have nearly all of it.

    short cores      one more action is put at any place of each of the best cores, as long as that is worth more:
                     "a, then b", whatever comes before, between and after
    single actions   an action with its circumstances (`single_action.py`)

What counts is how often a pattern fails, and the part of the violations that it matches.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.engines.falsification.modes.conditions import FEWEST_USES
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.single_action import around
from bbfalsify.engines.falsification.modes.use import Use
from bbfalsify.engines.falsification.modes.work import thinned

MOST_PATTERNS = 4
"""Patterns that are looked for at most …"""
TELLING, MORE = 0.4, 1.15
"""… if the first is worth so much; one of a single action this much more than that of the most probable word …"""
BULK = 0.05
"""… and as long as they match this part of the violations: conditions around one action fit any few uses."""
WEAK = 0.05
"""A further pattern that fails less often, or is worth less, explains nothing: its violations stay without a mode."""
HEAVY = 0.9995
"""Part of the weight of uses beside which the others do not count."""
BEAM, LONGEST = 3, 4
"""Cores that grow side by side, to so many actions …"""
BETTER = 1.07
"""… each of which is worth so much more."""
MOST_GROWN = 20_000
"""Actions of all uses of a kind that cores are grown on."""


def worth(patterns: Sequence[Pattern], bad: Sequence[Use], good: Sequence[Use]) -> float:
    """Harmonic mean of how often uses fail that match one of some patterns, and of the violations that do."""
    matched, passing = (
        math.fsum(use.weight for use in uses if any(pattern.matches(use) for pattern in patterns))
        for uses in (bad, good)
    )
    total = math.fsum(use.weight for use in bad)
    return 2 * matched / (matched + passing + total) if total else 0.0


def heavy(uses: Sequence[Use]) -> list[Use]:
    """The uses without those that together have hardly any weight."""
    order = sorted(uses, key=lambda use: -use.weight)
    sums = list(itertools.accumulate(use.weight for use in order))
    return [use for use, known in zip(order, sums, strict=True) if known - use.weight < HEAVY * sums[-1]]


def single_actions(usual: Pattern, bad: Sequence[Use], good: Sequence[Use]) -> list[Pattern]:
    """Patterns of one action each; none where the `usual` one, of the most probable word, tells as much."""
    total, passing = math.fsum(use.weight for use in bad), heavy(good)
    actions = sorted({action for use in bad for action in use.word})
    found: list[Pattern] = []
    rest = list(bad)
    while len(found) < MOST_PATTERNS:
        tried = [around(action, rest, passing) for action in actions]
        tried = [one for one in tried if any(one.quiet) and _weight(rest, one) >= BULK * total]
        worths = [worth([one], rest, passing) for one in tried]
        if max(worths, default=0.0) < (TELLING if not found else WEAK):
            break
        best = tried[int(np.argmax(worths))]
        if not found and max(worths) < MORE * worth([usual], rest, passing):
            break
        found.append(best)
        rest = [use for use in rest if not best.matches(use)]
        passing = [use for use in passing if not best.matches(use)]
    return found


def short_cores(bad: Sequence[Use], good: Sequence[Use]) -> list[tuple[str, ...]]:
    """Cores of few actions, each the best one for the violations that those before do not match."""
    rest, passing = thinned(bad, MOST_GROWN), thinned(heavy(good), MOST_GROWN)
    total = math.fsum(use.weight for use in rest)
    found: list[tuple[str, ...]] = []
    while len(found) < MOST_PATTERNS and len(rest) >= FEWEST_USES:
        best = _grown(rest, passing)
        own = math.fsum(use.weight for use in best.bad)
        if len(best.bad) < FEWEST_USES or own < BULK * total or best.worth < (TELLING if not found else WEAK):
            break
        found.append(best.core)
        rest, passing = ([use for use in uses if not use.has(best.core)] for uses in (rest, passing))
    return found


@dataclass(frozen=True, eq=False)
class _Core:
    """A core, the uses that have it, and its worth."""

    core: tuple[str, ...]
    bad: Sequence[Use]
    good: Sequence[Use]
    worth: float = 0.0

    def longer(self, core: tuple[str, ...], total: float) -> _Core:
        """Uses with a longer core are among those that have this one."""
        bad, good = ([use for use in uses if use.has(core)] for uses in (self.bad, self.good))
        matched, passing = (math.fsum(use.weight for use in uses) for uses in (bad, good))
        return _Core(core, bad, good, 2 * matched / (matched + passing + total) if matched else 0.0)


def _grown(bad: Sequence[Use], good: Sequence[Use]) -> _Core:
    total = math.fsum(use.weight for use in bad)
    actions = sorted({action for use in bad for action in use.word})
    best = _Core((), bad, good)
    beam = [best]
    for _ in range(LONGEST):
        made: dict[tuple[str, ...], _Core] = {}
        for one in beam:
            for place, action in itertools.product(range(len(one.core) + 1), actions):
                core = (*one.core[:place], action, *one.core[place:])
                if core not in made:
                    made[core] = one.longer(core, total)
        beam = sorted(made.values(), key=lambda one: (-one.worth, one.core))[:BEAM]
        if not beam or beam[0].worth < BETTER * best.worth:
            break
        best = beam[0]
    return best


def _weight(uses: Sequence[Use], pattern: Pattern) -> float:
    return math.fsum(use.weight for use in uses if pattern.matches(use))
