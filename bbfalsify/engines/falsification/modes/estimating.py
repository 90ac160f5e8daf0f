"""Numbers of failure modes, on simulations that no pattern was learned from.

A violation is either on the list (its key is a row) or not.  Rows are estimated by splitting along their words
(`falsification/estimating.py`), which knows rare ones well; the traces of these passes that violate are divided among
the modes.  Plain simulations meet what is not on the list, if it is common.  So for every mode

    P(mode) = Σ over rows P(row) · share of its violating traces in the mode  +  unlisted violations of the mode met

The interval adds the limits of both parts like standard deviations.  What neither part has met is not in these numbers:
`unseen` is an upper bound of it.

How often a pattern fails when it occurs needs the probability that it occurs.  The profile alone decides that, so walks
count it, without the system.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.sampling import PlainUses, everyday_walks
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk
from bbfalsify.stats.estimates import part_of
from bbfalsify.stats.intervals import Passes, clopper_pearson, total_estimate

METHOD = "listed by splitting, others by plain simulation"
WALKS = 500
"""Walks at a time that count how often patterns occur …"""
PER_TRACE, MOST_WALKS = 5, 20_000
"""… at most so many for each trace of the estimates, and in all …"""
ENOUGH = 200
"""… until each occurred so often."""


@dataclass(frozen=True, eq=False)
class EstimatedMode:
    pattern: Pattern
    probability: Estimate
    """Probability that a use violates and belongs to this mode."""
    precision: Estimate
    """How often a use in which the pattern occurs violates with it."""
    share: Estimate
    """Part of all known violations."""
    rows: tuple[Finding, ...]
    """Rows most of whose violating traces belong to it, in the order of the list."""
    traces: tuple[tuple[Passes, list[list[Walk]]], ...] = ()
    """By row: its passes with this mode's hits, and pass by pass the violating traces that belong to it."""


@dataclass(frozen=True, eq=False)
class Modes:
    """Failure modes of one requirement, the most probable first."""

    modes: tuple[EstimatedMode, ...]
    other: Estimate
    """Known violations that belong to no mode."""
    total: Estimate
    """All known violations."""
    unseen: float | None
    """Upper bound of violations that are not on the list and match no mode; None where the list holds all there are."""


def estimate_modes(
    usage: Usage,
    patterns: Sequence[Pattern],
    rows: Sequence[Finding],
    unlisted: PlainUses,
    confidence: float,
    seeds: SeedTree,
) -> Modes:
    """Divide all violations among the patterns."""
    simulations = unlisted.simulations
    divided = [_divide(usage, patterns, row) for row in rows]
    met = _count(patterns, [_matches(patterns, use) for use in unlisted.violating])
    none, nothing = len(patterns), np.zeros(len(patterns) + 1)
    beside = met.assigned if unlisted.violating else nothing

    def known(parts: Sequence[Passes], hits: float) -> Estimate:
        return _sum(parts, hits, simulations, confidence)

    total = known([row.estimated.passes for row in rows], float(beside.sum()) + unlisted.unlocated)
    most = min(MOST_WALKS, PER_TRACE * sum(row.estimated.passes.total_traces for row in rows))
    occurring = _occurrences(usage, patterns, most, confidence, seeds)
    found = []
    for number, pattern in enumerate(patterns):
        own = [d.passes(number) for d in divided if d.assigned[:, number].any()]
        probability = known(own, beside[number])
        if not own and not beside[number]:
            continue  # only chance made it
        any_order = [d.matching_passes(number) for d in divided if d.matching[:, number].any()]
        failing = known(any_order, met.matching[number] if unlisted.violating else 0.0)
        mostly = [row for row, d in zip(rows, divided, strict=True) if d.belongs_to() == number]
        found.append(
            EstimatedMode(
                pattern,
                probability,
                part_of(failing, occurring[number]),
                part_of(probability, total),
                tuple(mostly),
                tuple((d.passes(number), d.walks(number)) for d in divided if d.assigned[:, number].any()),
            )
        )
    found.sort(key=lambda mode: (-mode.probability.value, mode.pattern.core))
    rest = [d.passes(none) for d in divided if d.assigned[:, none].any()]
    other = known(rest, float(beside[none]) + unlisted.unlocated)
    if not rest and not beside[none] and not unlisted.unlocated:
        other = replace(other, value=0.0, method=f"{METHOD}, none seen")
    unseen = clopper_pearson(float(beside[none]), simulations, 2 * confidence - 1)[1] if simulations else None
    return Modes(tuple(found), other, total, unseen)


# ---------------------------------------------------------------------- rows and counts


@dataclass(frozen=True, eq=False)
class _Divided:
    """The violating traces of a row, pass by pass, divided among patterns; the last column has those of none."""

    all: Passes
    assigned: np.ndarray
    matching: np.ndarray
    owned: list[list[tuple[int, Walk]]]
    """Pass by pass: the number of the pattern that each violating trace belongs to, and the trace."""

    def walks(self, number: int) -> list[list[Walk]]:
        return [[walk for owner, walk in group if owner == number] for group in self.owned]

    def passes(self, number: int) -> Passes:
        return replace(self.all, hits=tuple(self.assigned[:, number].tolist()))

    def matching_passes(self, number: int) -> Passes:
        return replace(self.all, hits=tuple(self.matching[:, number].tolist()))

    def belongs_to(self) -> int | None:
        totals = self.assigned.sum(axis=0)
        return int(np.argmax(totals)) if totals.any() else None


def _divide(usage: Usage, patterns: Sequence[Pattern], row: Finding) -> _Divided:
    passes, evidence = row.estimated.passes, row.estimated.evidence
    assigned = np.zeros((len(passes.hits), len(patterns) + 1))
    matching = np.zeros((len(passes.hits), len(patterns)))
    owned: list[list[tuple[int, Walk]]] = [[] for _ in passes.hits]
    for r, (walks, times) in enumerate(zip(evidence.walks, evidence.kept_times, strict=True)):
        if not walks:
            continue
        seen = [_matches(patterns, use_of(usage, w, float(t))) for w, t in zip(walks, times, strict=True)]
        scale = passes.hits[r] / len(walks)  # of many traces only some were kept
        counted = _count(patterns, seen)
        assigned[r], matching[r] = counted.assigned * scale, counted.matching * scale
        owned[r] = [(_owner(row), walk) for row, walk in zip(seen, walks, strict=True)]
    return _Divided(passes, assigned, matching, owned)


@dataclass(frozen=True, eq=False)
class _Counted:
    assigned: np.ndarray
    matching: np.ndarray


def _matches(patterns: Sequence[Pattern], use: Use) -> np.ndarray:
    return np.array([pattern.matches(use) for pattern in patterns], bool)


def _owner(matches: np.ndarray) -> int:
    """The first pattern that matches; the number after the last if none does."""
    return int(np.argmax(matches)) if matches.any() else len(matches)


def _count(patterns: Sequence[Pattern], matches: Sequence[np.ndarray]) -> _Counted:
    assigned, matching = np.zeros(len(patterns) + 1), np.zeros(len(patterns))
    for row in matches:
        assigned[_owner(row)] += 1
        matching += row
    return _Counted(assigned, matching)


def _sum(parts: Sequence[Passes], hits: float, simulations: int, confidence: float) -> Estimate:
    """Add the rows' part and what plain simulation met; nothing met gives an upper bound."""
    listed = total_estimate(parts, method=METHOD, confidence=confidence) if parts else None
    if not hits or not simulations:
        if listed is not None:
            return replace(listed, method=METHOD)
        high = clopper_pearson(0, simulations, confidence)[1] if simulations else 1.0
        return Estimate(high, 0.0, high, confidence, f"{METHOD}, upper bound (none met)", simulations)
    low, high = clopper_pearson(min(hits, simulations), simulations, confidence)
    share = hits / simulations
    if listed is None:
        return Estimate(share, low, high, confidence, METHOD, simulations)
    value = min(1.0, listed.value + share)
    below = math.hypot(listed.value - listed.low, share - low)
    above = math.hypot(listed.high - listed.value, high - share)
    samples = listed.samples + simulations
    return Estimate(value, max(0.0, value - below), min(1.0, value + above), confidence, METHOD, samples)


# ---------------------------------------------------------------------- how often a pattern occurs


def _occurrences(
    usage: Usage, patterns: Sequence[Pattern], most: int, confidence: float, seeds: SeedTree
) -> list[Estimate]:
    """Probability that a use matches each pattern, by walks that no system executes."""
    counts, walks, batch = np.zeros(len(patterns)), 0, min(WALKS, most)
    while patterns and (not walks or walks < most and counts.min() < ENOUGH):
        for walk in everyday_walks(usage, seeds.child("occurrences", walks), batch):
            counts += _matches(patterns, use_of(usage, walk))
        walks += batch
    found = []
    for count in counts.tolist():
        low, high = clopper_pearson(count, walks, confidence)
        found.append(Estimate(count / walks if count else high, low, high, confidence, "walks of the profile", walks))
    return found
