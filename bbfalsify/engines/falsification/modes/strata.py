"""Fresh simulations to estimate modes on, stratified by pattern.

The profile alone decides whether a pattern occurs in a use, so walks without the system tell how probable that is.  Of
the uses in which a pattern occurs many are simulated, of all others (which hardly ever violate) few relative to their
number:

    P(violation) = Σ over strata P(stratum) · part of its simulated uses that violate

A stratum holds the uses whose first matching pattern is the same; the last one those that match none.  How many uses of
each are simulated follows from what was learned (Neyman's allocation), never from the simulations themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.failing_runs import failing_steps
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.sampling import PlainUses, everyday_walks
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk
from bbfalsify.stats.intervals import clopper_pearson

WALKS = 500
"""Walks at a time that count how often patterns occur …"""
ENOUGH = 200
"""… until each occurred so often."""
NO_PATTERN = 0.5
"""Least part of the simulations for uses that match no pattern: they bound what was never seen."""
BATCH = 100
"""Simulations asked for at a time."""

Word = tuple[str, ...]


@dataclass
class Stratum:
    """Uses whose first matching pattern is the same."""

    wanted: int
    """Number of its uses to simulate."""
    drawn: int = 0
    """Walks that belong to it."""
    walks: list[Walk] = field(default_factory=list)
    uses: PlainUses | None = None
    """The simulated ones; None before."""


@dataclass(frozen=True, eq=False)
class Strata:
    drawn: int
    """Walks that were classified."""
    occurring: np.ndarray
    """How many of them match each pattern, first or not."""
    parts: list[Stratum]
    """One per pattern; the last one has the uses that match none."""

    @property
    def simulated(self) -> int:
        return sum(len(part.walks) for part in self.parts)

    def limits(self, hits: Sequence[float], confidence: float) -> Iterator[tuple[float, float, float]]:
        """(value, low, high) of the probability of an event, stratum by stratum, where it was met `hits` times."""
        for part, met in zip(self.parts, hits, strict=True):
            if met and part.walks:
                share, (least, most) = part.drawn / self.drawn, clopper_pearson(part.drawn, self.drawn, confidence)
                rate, (low, high) = met / len(part.walks), clopper_pearson(met, len(part.walks), confidence)
                value = share * rate
                below, above = (math.hypot(share * (rate - low), rate * (share - least)),
                                math.hypot(share * (high - rate), rate * (most - share)))  # fmt: skip
                yield value, max(0.0, value - below), value + above

    def unseen(self, hits: Sequence[float], confidence: float) -> float:
        """Upper bound of the probability of an event that was met `hits` times in each stratum.

        Where nothing was met, the least favourable stratum alone gives the bound: uses that were not seen to violate in
        n simulations violate at most with ln(1/α)/n, and all strata together have the likelihood of one.
        """
        met = list(self.limits(hits, 2 * confidence - 1))
        value = sum(v for v, _, _ in met)
        above = math.sqrt(sum((high - v) ** 2 for v, _, high in met))
        never = [
            part.drawn / self.drawn * clopper_pearson(0, len(part.walks), 2 * confidence - 1)[1]
            for part, count in zip(self.parts, hits, strict=True)
            if part.drawn and part.walks and not count
        ]
        return min(1.0, value + math.hypot(above, max(never, default=0.0)))


def allocated(patterns: Sequence[Pattern], bad: Sequence[Use], good: Sequence[Use], simulations: int) -> list[int]:
    """Divide simulations among the strata, by what was learned: P(stratum) times the spread of its verdicts."""
    weights = np.zeros((len(patterns) + 1, 2))
    for column, uses in enumerate((bad, good)):
        for use in uses:
            weights[owner_of(patterns, use), column] += use.weight
    total = np.maximum(weights.sum(axis=1), 1e-300)
    rates = np.clip(weights[:, 0] / total, 1 / max(2, simulations), 0.5)
    importance = total * np.sqrt(rates * (1 - rates))
    shares = importance / importance.sum()
    last = max(NO_PATTERN if len(patterns) else 1.0, shares[-1])
    rest = shares[:-1] / max(shares[:-1].sum(), 1e-300) * (1 - last)
    return [*(int(math.ceil(simulations * share)) for share in rest), max(1, int(simulations * last))]


def draw(usage: Usage, patterns: Sequence[Pattern], wanted: Sequence[int], most: int, seeds: SeedTree) -> Strata:
    """Draw walks of the profile until every stratum has as many as wanted, or `most` are drawn."""
    parts = [Stratum(number) for number in wanted]
    occurring, drawn = np.zeros(len(patterns)), 0
    while (
        not drawn
        or drawn < most
        and (any(len(part.walks) < part.wanted for part in parts) or (len(patterns) and occurring.min() < ENOUGH))
    ):
        for walk in everyday_walks(usage, seeds.child("occurrences", drawn), WALKS):
            found = matches(patterns, use_of(usage, walk))
            occurring += found
            part = parts[owner(found)]
            part.drawn += 1
            if len(part.walks) < part.wanted:
                part.walks.append(walk)
        drawn += WALKS
    return Strata(drawn, occurring, parts)


def simulate(ask: Ask, usage: Usage, requirement: int, listed: frozenset[Word], strata: Strata) -> None:
    """Execute the chosen uses of every stratum; those that follow a listed word do not count.

    Uses that nobody could judge, because their simulations failed, are left out of their stratum.
    """
    for number, part in enumerate(strata.parts):
        part.uses = PlainUses(usage, requirement, listed, max(1, len(part.walks)))
        judged: list[Walk] = []
        for first in range(0, len(part.walks), BATCH):
            walks = part.walks[first : first + BATCH]
            names = [f"modes/{requirement}/stratum/{number}/{first + k}" for k in range(len(walks))]
            queries = [Query(name, usage.draft(walk)) for name, walk in zip(names, walks, strict=True)]
            answers = ask(queries)
            failed = {
                k: violating_step(walks[k].times, usage.duration)
                for k, answer in enumerate(answers)
                if not answer.ok and requirement in answer.violated
            }
            steps = failing_steps(ask, usage, walks, names, failed)
            for k, (walk, answer) in enumerate(zip(walks, answers, strict=True)):
                if answer.judgements:
                    part.uses.add(walk, answer, steps.get(k, 0))
                    judged.append(walk)
        part.walks[:] = judged


def matches(patterns: Sequence[Pattern], use: Use) -> np.ndarray:
    return np.array([pattern.matches(use) for pattern in patterns], bool)


def owner(found: np.ndarray) -> int:
    """The first pattern that matches; the number after the last if none does."""
    return int(np.argmax(found)) if found.any() else len(found)


def owner_of(patterns: Sequence[Pattern], use: Use) -> int:
    return next((number for number, pattern in enumerate(patterns) if pattern.matches(use)), len(patterns))
