"""Probe patterns before they are estimated: simulate uses of rare ones, and learn again where these contradict.

Plain simulations to learn from meet a rare pattern hardly ever, so it may look as if it always failed.

    repeat   draw uses of each such pattern, along its core or within its limits
             they fail much more seldom than was learned: learn again, from them, too
             else: the patterns stay

Patterns of actions are probed once.  Patterns of values are narrowed step by step: the uses of one that is too wide
show what the next one must exclude.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.modes.along_core import LEAST_EFFORT
from bbfalsify.engines.falsification.modes.conditions import Sample, precision
from bbfalsify.engines.falsification.modes.learning import learn
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.strata import (
    SplitStratum,
    Strata,
    Stratum,
    Word,
    draw,
    learned_weights,
    rare,
    simulate,
    split_stratum,
)
from bbfalsify.engines.falsification.modes.use import Use
from bbfalsify.engines.falsification.modes.work import Work
from bbfalsify.engines.falsification.usage import Usage

PROBED, PROBES = 0.25, 20
"""Part of the fresh simulations that rare patterns are learned again with; so many for each pattern, at most …"""
SELDOM = 10
"""… and those of which plain simulations to learn from met less than a tenth of what is enough to estimate on."""
CONTRADICTS = 3
"""Factor between learned and probed shares of failing uses from which on patterns are learned again."""
ROUNDS, PROBED_VALUES, EACH, FEWEST = 5, 0.5, 12, 4
"""Times that patterns of values are probed, with this part of the fresh simulations in all; so many for each pattern
at a time, and fewer tell nothing."""
MOST_WALKS = 2_000
"""Walks that are drawn for uses of patterns whose values cannot be drawn within limits."""
KNOWN = 8
"""Passing uses of a pattern of values that tell how often it fails without a probe."""


@dataclass(frozen=True, eq=False)
class Learned:
    patterns: list[Pattern]
    bad: list[Use]
    good: list[Use]
    fresh: int
    """Simulations that are left to estimate on."""

    @property
    def sample(self) -> Sample:
        return Sample((), self.bad, self.good)

    def rare(self, usage: Usage, most: int) -> set[int]:
        """Numbers of the patterns that so many plain walks hardly meet."""
        weights = learned_weights(self.patterns, self.bad, self.good).sum(axis=1).tolist()
        return rare(usage, self.patterns, weights, most) if self.fresh else set()


@dataclass(frozen=True, eq=False)
class Probing:
    ask: Ask
    usage: Usage
    requirement: int
    seeds: SeedTree
    work: Work

    def of_cores(self, known: Learned, listed: frozenset[Word], most: int, met: int) -> Learned:
        """Probe patterns that `most` walks hardly meet, or of which `met` plain simulations tell little."""
        few = known.rare(self.usage, most) | known.rare(self.usage, SELDOM * met)
        each = min(PROBES, int(PROBED * known.fresh) // max(1, len(few)))
        if not few or not each:
            return known
        seeds = self.seeds.child("probe")
        parts: list[Stratum] = [
            split_stratum(self.usage, known.patterns, k, each, LEAST_EFFORT, seeds) for k in sorted(few)
        ]
        probed, made = self._simulated(Strata(0, parts), listed, "probe")
        learned = Learned(
            known.patterns, [*known.bad, *probed.bad], [*known.good, *probed.good], max(0, known.fresh - made)
        )
        wrong = any(_contradicted(known.patterns[k], known.sample, probed) for k in few)
        return self._again(learned) if wrong else learned

    def of_values(self, known: Learned) -> Learned:
        """Probe patterns of values, and narrow them, until uses of each fail about as often as was learned."""
        most = int(PROBED_VALUES * known.fresh)
        for number in range(ROUNDS):
            unknown = [
                k for k, pattern in enumerate(known.patterns) if len(known.sample.matching(pattern).good) < KNOWN
            ]
            each = min(EACH, most // max(1, len(unknown)))
            if each < FEWEST:
                break
            wanted = [each * (k in unknown) for k in range(len(known.patterns) + 1)]
            seeds = self.seeds.child("probe", number)
            strata = draw(self.usage, known.patterns, wanted, MOST_WALKS, seeds, work=self.work)
            # Every violation is along the list's one word; its passes tell nothing of rare patterns.
            probed, made = self._simulated(strata, frozenset(), f"probe/{number}")
            most -= made
            wrong = any(_contradicted(known.patterns[k], known.sample, probed) for k in unknown)
            bad = [*known.bad, *probed.bad]
            for k in unknown:
                bad = _as_probable(bad, known.patterns[k], strata, k)
            known = Learned(known.patterns, bad, [*known.good, *probed.good], known.fresh - made)
            if not wrong:
                break
            known = self._again(known)
        return known

    def _again(self, known: Learned) -> Learned:
        return replace(known, patterns=learn(known.bad, known.good, self.work))

    def _simulated(self, strata: Strata, listed: frozenset[Word], stage: str) -> tuple[Sample, int]:
        """The uses of these strata that violate and that pass, with their probabilities; and their number."""
        simulate(self.ask, self.usage, self.requirement, listed, strata, stage)
        kinds: tuple[list[Use], list[Use]] = [], []
        for part in strata.parts:
            for weight, uses in zip(_weights(part, strata.drawn), part.uses, strict=True):
                for kind, some in zip(kinds, (uses.violating, uses.passing), strict=True):
                    kind.extend(replace(use, weight=weight) for use in some)
        return Sample((), *kinds), strata.simulated


def _weights(part: Stratum, drawn: int) -> list[float]:
    """By group: the probability that each of its uses stands for."""
    if isinstance(part, SplitStratum):
        return [weight / len(part.groups) for weight in part.weights]
    return [part.occurrence(drawn, 0.95)[0] / max(1, part.simulated)]


def _contradicted(pattern: Pattern, learned: Sample, probed: Sample) -> bool:
    """Tell whether probed uses of a pattern fail much more seldom than those that it was learned from."""
    still = probed.matching(pattern)
    known = bool(still.bad or still.good)
    return known and CONTRADICTS * precision(pattern, probed) < precision(pattern, learned)


def _as_probable(bad: Sequence[Use], pattern: Pattern, strata: Strata, number: int) -> list[Use]:
    """Violating uses, of which those with a pattern are as probable as the simulated ones of its stratum tell."""
    part = strata.parts[number]
    if not part.simulated:
        return list(bad)
    failed = sum(len(uses.violating) for uses in part.uses)
    probability = part.occurrence(strata.drawn, 0.95)[0] * max(0.5, failed) / part.simulated
    own = {id(use) for use in bad if pattern.matches(use)}
    weight = math.fsum(use.weight for use in bad if id(use) in own)
    factor = probability / weight if weight else 1.0
    return [replace(use, weight=use.weight * factor) if id(use) in own else use for use in bad]
