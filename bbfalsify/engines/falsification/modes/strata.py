"""Fresh simulations to estimate modes on, stratified by pattern.

The profile alone decides whether a pattern occurs in a use, so walks without the system tell how probable that is.  Of
the uses in which a pattern occurs many are simulated, of all others (which hardly ever violate) few relative to their
number:

    P(violation) = Σ over strata P(stratum) · part of its simulated uses that violate

A stratum holds the uses whose first matching pattern is the same; the last one those that match none.  How many uses of
each are simulated follows from what was learned (Neyman's allocation), never from the simulations themselves.  Uses of
a pattern that is too rare for plain walks come from splitting along its core (`along_core.py`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.baseline.failing_runs import failing_steps
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.modes.along_core import (
    CorePass,
    can_split,
    effort_within,
    least_scatter,
    split_along,
)
from bbfalsify.engines.falsification.modes.given_values import given
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.sampling import PlainUses, everyday_walks
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.modes.work import Work
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk
from bbfalsify.stats.intervals import Passes, clopper_pearson, splitting_estimate

WALKS = 500
"""Walks at a time that count how often patterns occur …"""
ENOUGH = 200
"""… until each occurred so often."""
NO_PATTERN = 0.5
"""Least part of the simulations for uses that match no pattern: they bound what was never seen."""
LEAST = 0.1
"""Least part of the others for each pattern, before they are scaled: a rare mode has its number, too."""
EACH, FOR_EACH = 40, 0.25
"""Simulations of each pattern, whatever the probabilities: they tell how often it fails; all together at most this part
of them."""
BATCH = 100
"""Simulations asked for at a time."""

Word = tuple[str, ...]


@dataclass
class Stratum:
    """Uses whose first matching pattern is the same, drawn under the profile's law."""

    wanted: int
    """Number of its uses to simulate."""
    drawn: int = 0
    """Walks that belong to it."""
    groups: list[list[Walk]] = field(default_factory=lambda: [[]])
    """The uses to simulate, in independent groups."""
    uses: list[PlainUses] = field(default_factory=list)
    """The simulated ones, group by group; empty before."""
    instead: bool = False
    """Its violations are estimated here also where they are on the list, in place of the list's passes."""

    @property
    def simulated(self) -> int:
        return sum(map(len, self.groups))

    @property
    def worth(self) -> float:
        """Number of independent uses that the simulated ones are worth."""
        return float(self.simulated)

    @property
    def weights(self) -> list[float]:
        """By group: the weight of each of its uses."""
        return [1.0] * len(self.groups)

    def occurrence(self, drawn: int, confidence: float) -> tuple[float, float, float]:
        """(value, low, high) of the probability of the stratum; the upper limit where none of its walks was drawn."""
        low, high = clopper_pearson(self.drawn, drawn, confidence)
        return self.drawn / drawn or high, low, high

    def keep(self, judged: list[list[Walk]]) -> None:
        """Leave uses out that nobody could judge."""
        self.groups = judged

    def limits(self, drawn: int, hits: np.ndarray, confidence: float) -> tuple[float, float, float]:
        """(value, low, high) of an event that was met `hits` times in each group."""
        met, count = float(hits.sum()), self.simulated
        share, least, most = self.occurrence(drawn, confidence)
        rate, (low, high) = met / count, clopper_pearson(met, count, confidence)
        value = share * rate
        below, above = (math.hypot(share * (rate - low), rate * (share - least)),
                        math.hypot(share * (high - rate), rate * (most - share)))  # fmt: skip
        return value, max(0.0, value - below), value + above


@dataclass
class SplitStratum(Stratum):
    """Uses of a rare pattern, by passes of splitting along its core: a group per pass."""

    passes: list[CorePass] = field(default_factory=list)
    owned: list[int] = field(default_factory=list)
    """By pass: its uses whose first matching pattern is this one; some of them are simulated."""
    roots: list[dict[int, int]] = field(default_factory=list)
    """By pass: the roots of its uses, by the identity of the walk."""
    effort: int = 1
    """Uses of each level of a pass."""

    @staticmethod
    def of(passes: list[CorePass], own: Sequence[Sequence[int]], wanted: int, effort: int) -> SplitStratum:
        """`own`: by pass, the places of the uses that belong to the stratum; evenly over roots some are simulated."""
        made = SplitStratum(wanted, groups=[], passes=passes, owned=[len(places) for places in own], effort=effort)
        each = -(-wanted // len(passes))
        for one, places in zip(passes, own, strict=True):
            by_root = sorted(places, key=lambda place: (one.roots[place], place))
            chosen = [by_root[k * len(by_root) // each] for k in range(each)] if len(by_root) > each else by_root
            made.groups.append([one.walks[place] for place in chosen])
            made.roots.append({id(one.walks[place]): int(one.roots[place]) for place in chosen})
        return made

    @property
    def worth(self) -> float:
        return sum(self._families)

    @property
    def weights(self) -> list[float]:
        return [
            probability / max(1, len(group))
            for probability, group in zip(self._probabilities, self.groups, strict=True)
        ]

    @property
    def _probabilities(self) -> list[float]:
        """By pass: the probability of the stratum."""
        return [one.probability * n / max(1, len(one.walks)) for one, n in zip(self.passes, self.owned, strict=True)]

    @property
    def _families(self) -> list[float]:
        """By pass: independent uses that the simulated ones are worth."""
        return [
            float(len({roots[id(walk)] for walk in group}))
            for roots, group in zip(self.roots, self.groups, strict=True)
        ]

    def counted(self, hits: np.ndarray) -> Passes:
        looked = sum(len(one.walks) for one in self.passes)
        share = sum(self.owned) / max(1, looked)
        further = (1 - share) / share / looked if share else 0.0
        return Passes(
            tuple(self._probabilities),
            tuple(hits.tolist()),
            tuple(map(len, self.groups)),
            families=tuple(self._families),
            least_scatter=least_scatter(self.passes, self.effort) + further,
        )

    def occurrence(self, drawn: int, confidence: float) -> tuple[float, float, float]:
        passes = Passes(
            tuple(one.probability for one in self.passes),
            tuple(self.owned),
            tuple(len(one.walks) for one in self.passes),
            families=tuple(float(len(np.unique(one.roots))) for one in self.passes),
            least_scatter=least_scatter(self.passes, self.effort),
        )
        return _limits_of(passes, confidence)

    def limits(self, drawn: int, hits: np.ndarray, confidence: float) -> tuple[float, float, float]:
        return _limits_of(self.counted(hits), confidence)


@dataclass
class GivenStratum(Stratum):
    """Uses of a pattern of values, whose values are drawn within its limits."""

    probability: float = 0.0
    """Probability that the values lie within their limits."""
    tried: int = 0
    """Uses that were drawn so …"""
    owned: int = 0
    """… and those of them whose first matching pattern is this one."""

    def occurrence(self, drawn: int, confidence: float) -> tuple[float, float, float]:
        low, high = clopper_pearson(self.owned, self.tried, confidence)
        share = self.owned / max(1, self.tried) or high
        return self.probability * share, self.probability * low, self.probability * high


def _limits_of(passes: Passes, confidence: float) -> tuple[float, float, float]:
    made = splitting_estimate(passes, method="splitting along the core", confidence=confidence)
    return made.value, made.low, made.high


Hits = Sequence[np.ndarray]
"""By stratum: how often an event was met in each of its groups."""


@dataclass(frozen=True, eq=False)
class Strata:
    drawn: int
    """Walks that were classified."""
    parts: list[Stratum]
    """One per pattern; the last one has the uses that match none."""

    @property
    def simulated(self) -> int:
        return sum(part.simulated for part in self.parts)

    def limits(self, hits: Hits, confidence: float) -> Iterator[tuple[float, float, float]]:
        """(value, low, high) of the probability of an event, stratum by stratum, where it was met."""
        for part, met in zip(self.parts, hits, strict=True):
            if met.any() and part.simulated:
                yield part.limits(self.drawn, met, confidence)

    def unseen(self, hits: Hits, confidence: float) -> float:
        """Upper bound of what an event adds in the strata where it was not met; others have limits of their own.

        The least favourable stratum alone gives the bound: uses that were not seen to violate in n simulations violate
        at most with ln(1/α)/n, and all strata together have the likelihood of one.
        """
        never = [
            part.occurrence(self.drawn, confidence)[0] * clopper_pearson(0, part.worth, 2 * confidence - 1)[1]
            for part, count in zip(self.parts, hits, strict=True)
            if part.worth and not count.any()
        ]
        return min(1.0, max(never, default=0.0))

    def never(self, plain: int, confidence: float) -> float:
        """Upper bound of the probability of an event that neither these nor so many `plain` simulations met.

        With n uses of a stratum of probability P, and m plain ones, the likelihood of probability p, all of it in this
        stratum, is (1 - p/P)^n (1 - p)^m.
        """
        doubt = -math.log(1 - confidence)
        most = 0.0
        for part in self.parts:
            value, _, high = part.occurrence(self.drawn, confidence)
            most = max(most, min(high, doubt / max(plain + part.worth / max(value, 1e-300), 1e-300)))
        return min(1.0, most)


def learned_weights(patterns: Sequence[Pattern], bad: Sequence[Use], good: Sequence[Use]) -> np.ndarray:
    """[strata, 2]: about how probable violating and passing uses of each stratum are."""
    weights = np.zeros((len(patterns) + 1, 2))
    for column, uses in enumerate((bad, good)):
        for use in uses:
            weights[owner_of(patterns, use), column] += use.weight
    return weights


def allocated(weights: np.ndarray, simulations: int, *, others: bool = True) -> list[int]:
    """Divide simulations among the strata, by what was learned: P(stratum) times the spread of its verdicts.

    Without `others`, uses that match no pattern are not simulated: the list holds all violations there are.
    """
    if not others:
        return [*[simulations // max(1, len(weights) - 1)] * (len(weights) - 1), 0]
    total = np.maximum(weights.sum(axis=1), 1e-300)
    rates = np.clip(weights[:, 0] / total, 1 / max(2, simulations), 0.5)
    importance = total * np.sqrt(rates * (1 - rates))
    shares = importance / importance.sum()
    last = max(NO_PATTERN if len(weights) > 1 else 1.0, shares[-1])
    rest = np.maximum(shares[:-1] / max(shares[:-1].sum(), 1e-300), LEAST)
    rest = rest / max(rest.sum(), 1e-300) * (1 - last)
    each = min(EACH, int(simulations * FOR_EACH / max(1, len(rest))))
    own = [max(each, math.ceil(simulations * share)) for share in rest]
    return [*own, max(min(1, simulations), simulations - sum(own))]


def instead_of_passes(strata: Strata, learned: Sequence[float], traces: int) -> None:
    """Choose the strata whose own simulations know their violations better than so many plain `traces` do.

    `learned`: about how probable violating uses of each are.  What is estimated is not asked.
    """
    for part, probability in zip(strata.parts, learned, strict=True):
        part.instead = probability * traces < part.simulated


def rare(usage: Usage, patterns: Sequence[Pattern], learned: Sequence[float], most: int) -> set[int]:
    """Numbers of the patterns that plain walks would hardly meet, by their learned probabilities.

    Where plain walks give enough uses, though fewer than wanted, they tell more than the few families of splitting.
    """
    few = (number for number, pattern in enumerate(patterns) if can_split(usage, pattern))
    return {number for number in few if learned[number] * most < ENOUGH}


def draw(
    usage: Usage,
    patterns: Sequence[Pattern],
    wanted: Sequence[int],
    most: int,
    seeds: SeedTree,
    split: Collection[int] = (),
    work: Work | None = None,
) -> Strata:
    """Draw walks of the profile until every stratum has as many as wanted, or `most` are drawn, or the work is over;
    `split` rare ones.
    """
    work = Work() if work is None else work
    parts: list[Stratum] = []
    for number, count in enumerate(wanted):
        part = given_stratum(usage, patterns, number, count, seeds) if number < len(patterns) and count else None
        if part is None and number in split:
            part = split_stratum(usage, patterns, number, count, effort_within(most), seeds)
        parts.append(Stratum(count) if part is None else part)
    plain, drawn = [part for part in parts if not isinstance(part, SplitStratum | GivenStratum)], 0

    def missing() -> bool:
        return any(p.simulated < p.wanted for p in plain) or any(p.drawn < ENOUGH for p in plain[:-1])

    while not drawn or drawn < most and missing() and not work.over:
        moments = 0
        for walk in everyday_walks(usage, seeds.child("occurrences", drawn), WALKS):
            use = use_of(usage, walk)
            part = parts[owner_of(patterns, use)]
            part.drawn += 1
            moments += use.looked_at
            if not isinstance(part, SplitStratum | GivenStratum) and part.simulated < part.wanted:
                part.groups[0].append(walk)
        drawn += WALKS
        work.walks(WALKS, moments)
    if work.over and drawn < most and missing():
        work.cuts.append(f"{drawn:,} of {most:,} walks of the profile told how often patterns occur")
    return Strata(drawn, parts)


def given_stratum(
    usage: Usage, patterns: Sequence[Pattern], number: int, wanted: int, seeds: SeedTree
) -> Stratum | None:
    """Uses of one pattern of values; None where they cannot be drawn directly."""
    limits = given(usage, patterns[number])
    if limits is None:
        return None
    part = GivenStratum(wanted, probability=limits.probability)
    for walk in limits.walks(usage, wanted, seeds.child("given", number)):
        part.tried += 1
        if owner_of(patterns, use_of(usage, walk)) == number:
            part.owned += 1
            part.groups[0].append(walk)
        if part.simulated == wanted:
            break
    return part


def split_stratum(
    usage: Usage, patterns: Sequence[Pattern], number: int, wanted: int, effort: int, seeds: SeedTree
) -> SplitStratum:
    """Uses of one pattern by splitting along its core."""
    passes = split_along(usage, patterns[number], seeds.child("core", number), effort=effort)
    own = [
        [k for k, walk in enumerate(one.walks) if owner_of(patterns, use_of(usage, walk)) == number] for one in passes
    ]
    return SplitStratum.of(passes, own, wanted, effort)


def simulate(
    ask: Ask, usage: Usage, requirement: int, listed: frozenset[Word], strata: Strata, stage: str = "stratum"
) -> None:
    """Execute the chosen uses of every stratum; those that follow a listed word count only where they stand for it.

    Uses that nobody could judge, because their simulations failed, are left out of their stratum.
    """
    for number, part in enumerate(strata.parts):
        words = frozenset[Word]() if part.instead else listed
        part.uses = [PlainUses(usage, requirement, words, max(1, part.simulated)) for _ in part.groups]
        queue = [(walk, group) for group, walks in enumerate(part.groups) for walk in walks]
        judged: list[list[Walk]] = [[] for _ in part.groups]
        for first in range(0, len(queue), BATCH):
            batch = queue[first : first + BATCH]
            walks = [walk for walk, _ in batch]
            names = [f"modes/{requirement}/{stage}/{number}/{first + k}" for k in range(len(batch))]
            answers = ask([Query(name, usage.draft(walk)) for name, walk in zip(names, walks, strict=True)])
            failed = {
                k: violating_step(walks[k].times, usage.duration)
                for k, answer in enumerate(answers)
                if not answer.ok and requirement in answer.violated
            }
            steps = failing_steps(ask, usage, walks, names, failed)
            for k, ((walk, group), answer) in enumerate(zip(batch, answers, strict=True)):
                if answer.judgements:
                    part.uses[group].add(walk, answer, steps.get(k, 0))
                    judged[group].append(walk)
        part.keep(judged)


def owner_of(patterns: Sequence[Pattern], use: Use) -> int:
    """The first pattern that matches; the number after the last if none does."""
    return next((number for number, pattern in enumerate(patterns) if pattern.matches(use)), len(patterns))
