"""Numbers of failure modes, on simulations that no pattern was learned from.

A violation is either on the list (its key is a row) or not.  Rows are estimated by splitting along their words
(`estimates/estimating.py`), which knows rare ones well; the traces of these passes that violate are divided among
the modes.  Stratified simulations (`strata.py`) meet what is not on the list, if it is common.  So for every mode

    P(mode) = Σ over rows P(row) · share of its violating traces in the mode  +  unlisted violations of the mode met

The interval adds the limits of both parts like standard deviations.  What neither part has met is not in these numbers:
`unseen` is an upper bound of it.

How often a pattern fails when it occurs is counted among the simulated uses of its stratum.  Of a rare pattern it is
P(mode) divided by the probability that it occurs, first on the list, in uses that were not violated before.  The
profile alone decides whether it occurs, so walks count it, without the system.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.core.estimate import BOTH, NONE_SEEN, NOT_ESTIMATED, Estimate, TimeDistribution
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.strata import Hits, Strata, owner_of
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk
from bbfalsify.stats.estimates import distribution, half_each, intersection, part_of
from bbfalsify.stats.intervals import Passes, clopper_pearson, total_estimate

METHOD = "listed by splitting, others by stratified simulation"


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
    """Rows most of whose violating traces belong to it, in the order of the list; if none, rows found by such a use."""
    traces: tuple[tuple[Passes, list[list[Walk]]], ...] = ()
    """By row: its passes with this mode's hits, and pass by pass the violating traces that belong to it."""
    times: TimeDistribution | None = None
    """Times of its first violations; None where no simulation tells."""


@dataclass(frozen=True)
class Beside:
    """The probability of any violation by simulations that are asked for beside the list."""

    plain: Estimate
    """By plain simulation, at `half_each` of the confidence."""
    weighed: Estimate | None = None
    """By importance sampling."""


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
    strata: Strata,
    confidence: float,
    elsewhere: Beside | None = None,
    passed: int = 0,
) -> Modes:
    """Divide all violations among the patterns: those of listed words, and those that fresh simulations met.

    `passed` is the number of plain simulations that patterns were learned from, if none of them violates but along
    listed words.
    """
    met = _Met.of(patterns, strata)
    divided = [_divide(usage, patterns, row, met.instead) for row in rows]
    listed = [d.all for d in divided]
    none = len(patterns)

    def known(parts: Sequence[Passes], hits: Hits) -> Estimate:
        return _sum(parts, strata, hits, confidence)

    total = known(listed, met.everything())
    never = bool(rows) and not any(row.may_be_met for row in rows) and not _any(met.everything())
    if never:
        total = _none_met(total, strata, met.everything(), passed, confidence)

    def mode(number: int, own: Sequence[_Divided], mostly: Sequence[Finding]) -> EstimatedMode:
        probability = known([d.passes(number) for d in own], met.of_mode(number))
        return EstimatedMode(
            patterns[number],
            probability,
            _fails(strata, patterns[number], number, probability),
            part_of(probability, total),
            tuple(mostly),
            tuple((d.passes(number), d.walks(number)) for d in own),
            _times(number, own, met, strata),
        )

    walks = [_owner_of_walk(usage, patterns, row) for row in rows]
    found = []
    for number in range(none):
        own = [d for d in divided if d.assigned[:, number].any()]
        if own or _any(met.of_mode(number)):  # else only chance made it
            mostly = [row for row, d in zip(rows, divided, strict=True) if d.belongs_to() == number]
            found.append(
                mode(number, own, mostly or [row for row, first in zip(rows, walks, strict=True) if first == number])
            )
    rest_fails = known([d.passes(none) for d in divided], met.of_mode(none)).value / _without_pattern(strata)
    found = [mode for mode in found if _borne_out(mode, rest_fails)]
    alone = not found and total.none_seen
    if alone:
        found = list(_of_the_search_alone(patterns, rows, walks, strata, total))
    found.sort(key=lambda mode: (-mode.probability.value, mode.pattern.core))
    named = {mode.pattern for mode in found}
    others = [number for number in range(none + 1) if number == none or patterns[number] not in named]
    rest = [d.passes(*others) for d in divided if d.assigned[:, others].any()]
    beside = met.of_mode(*others)
    other = known(rest, beside)
    if not rest and not _any(beside):
        other = replace(other, value=0.0, method=f"{METHOD}, none seen", none_seen=True)
    # A pattern without core and conditions matches every use, so nothing is left to be seen.
    unseen = _unseen(patterns, strata, beside, met.everything(), passed, confidence)
    if other.none_seen and unseen is not None:
        other = replace(other, high=min(other.high, unseen))
    if elsewhere is not None:
        half = half_each(confidence)
        part = _sum(listed, strata, met.everything(), half)
        if never:
            total = _none_met(part, strata, met.everything(), passed, half)
        total = all_violations(total, part, elsewhere, confidence)
        unseen = None if unseen is None else min(unseen, max(0.0, total.high - part.low))
    return Modes(tuple(found) if alone else _adding_up(found, other), other, total, unseen)


def _of_the_search_alone(
    patterns: Sequence[Pattern], rows: Sequence[Finding], owners: Sequence[int], strata: Strata, total: Estimate
) -> Iterator[EstimatedMode]:
    """Yield patterns of listed violations that no simulation met again; `owners`: the pattern of each row's walk."""
    confidence, said = total.confidence, f"{METHOD}, {NONE_SEEN}: upper bound"
    for number, pattern in enumerate(patterns):
        own = tuple(row for row, owner in zip(rows, owners, strict=True) if owner == number)
        if not own or pattern == Pattern(()):
            continue
        part = strata.parts[number]
        occurs = part.occurrence(strata.drawn, confidence)[2] if part.simulated else 1.0
        fails = clopper_pearson(0, part.worth, confidence)[1]
        if fails < HARDLY:
            continue
        probability = replace(total, high=min(total.high, occurs * fails))
        precision = Estimate(0.0, 0.0, fails, confidence, said, part.simulated, none_seen=True)
        share = Estimate(0.0, 0.0, 1.0, confidence, NOT_ESTIMATED, 0, none_seen=True)
        yield EstimatedMode(pattern, probability, precision, share, own)


def all_violations(known: Estimate, part: Estimate, beside: Beside, confidence: float) -> Estimate:
    """All violations, by what knows them best: `part` (with half of the doubt) and plain simulation, or weights."""
    if beside.weighed is not None:
        return replace(beside.weighed, method=beside.weighed.method + BOTH)
    plain = beside.plain
    if not known.none_seen:
        return intersection(part, plain, confidence)
    # Neither passes nor fresh simulations met one, so plain simulation alone may tell more than an upper bound.
    if plain.value > 0 and not plain.none_seen:
        high = max(plain.value, min(known.high, plain.high))
        return replace(plain, high=high, confidence=confidence, method=plain.method + BOTH)
    return replace(known, high=min(known.high, plain.high), confidence=confidence)


def _borne_out(mode: EstimatedMode, rest_fails: float) -> bool:
    """Tell whether fresh simulations bear out what was learned; `rest_fails`: how often uses fail without a pattern."""
    if mode.pattern == Pattern(()):
        return True
    return mode.precision.high >= WEAK and (mode.share.value >= SMALL or mode.precision.low > rest_fails)


def _without_pattern(strata: Strata) -> float:
    """Probability that no pattern occurs in a use."""
    return max(1e-3, 1.0 - sum(part.occurrence(strata.drawn, 0.95)[0] for part in strata.parts[:-1]))


def _none_met(total: Estimate, strata: Strata, nothing: Hits, passed: int, confidence: float) -> Estimate:
    """Upper bound of all violations where neither passes along the listed words nor any simulation met one.

    Without fresh simulations (a profile without actions) the list holds all violations there are.
    """
    high = 0.0
    if strata.parts[-1].simulated:
        high = strata.never(passed, confidence) if passed else strata.unseen(nothing, confidence)
    said = f"{METHOD}, {NONE_SEEN}: upper bound"
    return Estimate(0.0, 0.0, min(1.0, high + total.high), confidence, said, total.samples, none_seen=True)


def _unseen(
    patterns: Sequence[Pattern], strata: Strata, beside: Hits, everything: Hits, passed: int, confidence: float
) -> float | None:
    """Upper bound of violations that are not on the list and match no mode; None where nothing is left to be seen.

    Where neither fresh nor earlier simulations met one beside the list, both bound it.  That this is asked first costs
    half of the doubt.
    """
    if not strata.simulated or not strata.parts[-1].simulated or Pattern(()) in patterns:
        return None
    half = half_each(confidence)
    if not passed or _any(everything):
        # Where every stratum has met some, their intervals have what was never met, too.
        return strata.unseen(beside, half if passed else confidence) or None
    return strata.never(passed, half)


def _adding_up(modes: Sequence[EstimatedMode], other: Estimate) -> tuple[EstimatedMode, ...]:
    """Shares that are no more than a whole, also where modes that were never met have their upper limits as values."""
    known = sum(mode.probability.value for mode in modes) + other.value
    most = [mode.probability.value / known if known > 0 else 1.0 for mode in modes]
    limited = [min(mode.share.value, part) for mode, part in zip(modes, most, strict=True)]
    return tuple(
        replace(mode, share=replace(mode.share, value=value, low=min(mode.share.low, value)))
        for mode, value in zip(modes, limited, strict=True)
    )


def _times(number: int, rows: Sequence[_Divided], met: _Met, strata: Strata) -> TimeDistribution | None:
    """Distribution of the first violations of a mode: traces along rows, and uses met by fresh simulations."""
    weighed = [pair for row in rows for pair in row.times(number)]
    for part, uses in zip(strata.parts, met.uses, strict=True):
        own = [use.violated_at for owner, use in uses if owner == number]
        if own:
            each = part.occurrence(strata.drawn, 0.95)[0] / max(1, part.simulated)
            weighed += [(time, each) for time in own]
    times, weights = np.array([pair for pair in weighed if math.isfinite(pair[0])]).reshape(-1, 2).T
    return None if not len(times) else distribution(times, weights, np.array([times.min(), times.max()]))


def _owner_of_walk(usage: Usage, patterns: Sequence[Pattern], row: Finding) -> int:
    """The pattern that the walk that found a row belongs to; the number after the last if none."""
    walk = row.walk
    return (
        len(patterns) if walk is None else owner_of(patterns, use_of(usage, walk, row.judgement.first_violation_time))
    )


WEAK, SMALL = 0.01, 0.01
"""A pattern that certainly fails less often is no mode; nor is one with less than this share that may fail no more
often than uses without a pattern."""
HARDLY = 0.05
"""A pattern that the search alone knows tells nothing where its simulated uses show that it fails less often."""
ENOUGH = 8
"""Independent simulated uses of a pattern that alone tell how often it fails."""


def _fails(strata: Strata, pattern: Pattern, number: int, probability: Estimate) -> Estimate:
    """How often a use violates in which the pattern occurs, first on the list, and which was not violated before.

    The simulated uses of its stratum are counted; a quotient of probabilities tells less, but also of rare patterns.
    """
    part, confidence = strata.parts[number], probability.confidence
    hits = judged = 0.0
    for weight, walks, uses in zip(part.weights, part.groups, part.uses, strict=True):
        violating = [*uses.violating, *uses.on_list]
        own = sum(pattern.matches(use) for use in violating)
        hits += weight * own
        judged += weight * (len(walks) - (len(violating) - own))
    if part.worth < ENOUGH or not hits:  # a mode that was met does not fail in 0 %
        return part_of(probability, _occurrence(strata, pattern, number, confidence))
    rate = hits / judged
    low, high = clopper_pearson(rate * part.worth, part.worth, confidence)
    return Estimate(rate, low, high, confidence, "Clopper–Pearson", part.simulated)


def _occurrence(strata: Strata, pattern: Pattern, number: int, confidence: float) -> Estimate:
    """Probability that a pattern is the first to occur in a use, which was not violated before."""
    part = strata.parts[number]
    value, low, high = part.occurrence(strata.drawn, confidence)
    violating = [use for uses in part.uses for use in (*uses.violating, *uses.on_list)]
    before = sum(not pattern.matches(use) for use in violating)
    left = 1.0 - before / max(1, part.simulated)
    return Estimate(left * value, left * low, left * high, confidence, "walks of the profile", strata.drawn)


@dataclass(frozen=True, eq=False)
class _Met:
    """Unlisted violations that fresh simulations met, by stratum and its groups."""

    assigned: list[np.ndarray]
    """By stratum [groups, patterns + 1]: by the mode that they belong to; the last column has those of none."""
    uses: list[list[tuple[int, Use]]]
    """By stratum: the mode of each violation, and the violation."""
    instead: frozenset[int] = frozenset()
    """Strata whose violations, as far as they were met, are estimated here and not by the rows' passes."""

    @staticmethod
    def of(patterns: Sequence[Pattern], strata: Strata) -> _Met:
        assigned, owned = [], []
        for part in strata.parts:
            counted = np.zeros((len(part.groups), len(patterns) + 1))
            owned.append([(owner_of(patterns, use), use) for uses in part.uses for use in uses.violating])
            for group, uses in enumerate(part.uses):
                owners = [owner_of(patterns, use) for use in uses.violating]
                counted[group] = np.bincount(owners, minlength=len(patterns) + 1)
            assigned.append(counted)
        instead = (k for k, part in enumerate(strata.parts) if part.instead and assigned[k].any())
        return _Met(assigned, owned, frozenset(instead))

    def of_mode(self, *numbers: int) -> Hits:
        return [table[:, numbers].sum(axis=1) for table in self.assigned]

    def everything(self) -> Hits:
        return [table.sum(axis=1) for table in self.assigned]


def _any(hits: Hits) -> bool:
    return any(met.any() for met in hits)


# ---------------------------------------------------------------------- rows and counts


@dataclass(frozen=True, eq=False)
class _Divided:
    """The violating traces of a row, pass by pass, divided among patterns; the last column has those of none."""

    all: Passes
    assigned: np.ndarray
    owned: list[list[tuple[int, Walk, float]]]
    """Pass by pass: the number of the pattern that each violating trace belongs to, the trace, and when it violates."""

    def walks(self, number: int) -> list[list[Walk]]:
        return [[walk for owner, walk, _ in group if owner == number] for group in self.owned]

    def times(self, number: int) -> Iterator[tuple[float, float]]:
        """Yield the first violation of each trace of a pattern, and the probability that it stands for."""
        for value, group in zip(self.all.values, self.owned, strict=True):
            each = value / len(self.owned) / max(1, len(group))
            yield from ((time, each) for owner, _, time in group if owner == number)

    def passes(self, *numbers: int) -> Passes:
        return replace(self.all, hits=tuple(self.assigned[:, numbers].sum(axis=1).tolist()))

    def belongs_to(self) -> int | None:
        totals = self.assigned.sum(axis=0)
        return int(np.argmax(totals)) if totals.any() else None


def _divide(usage: Usage, patterns: Sequence[Pattern], row: Finding, elsewhere: Collection[int]) -> _Divided:
    """`elsewhere`: strata whose violations are estimated by their own simulations."""
    passes, evidence = row.estimated.passes, row.estimated.evidence
    assigned = np.zeros((len(passes.hits), len(patterns) + 1))
    owned: list[list[tuple[int, Walk, float]]] = [[] for _ in passes.hits]
    for r, (walks, times) in enumerate(zip(evidence.walks, evidence.kept_times, strict=True)):
        if not walks:
            continue
        left = [
            (walk, float(time))
            for walk, time in zip(walks, times, strict=True)
            if not elsewhere or owner_of(patterns, use_of(usage, walk)) not in elsewhere
        ]
        uses = [use_of(usage, walk, time) for walk, time in left]
        owned[r] = [(owner_of(patterns, use), walk, use.violated_at) for use, (walk, _) in zip(uses, left, strict=True)]
        scale = passes.hits[r] / len(walks)  # of many traces only some were kept
        assigned[r] = np.bincount([number for number, _, _ in owned[r]], minlength=len(patterns) + 1) * scale
    if elsewhere:
        passes = replace(passes, hits=tuple(assigned.sum(axis=1).tolist()))
    return _Divided(passes, assigned, owned)


def _sum(parts: Sequence[Passes], strata: Strata, hits: Hits, confidence: float) -> Estimate:
    """Add the rows' part and what fresh simulations met; nothing met gives an upper bound."""
    listed = total_estimate(parts, method=METHOD, confidence=confidence) if parts else None
    beside = list(strata.limits(hits, confidence))
    if not beside:
        if listed is not None:
            return replace(listed, method=METHOD, none_seen=False)
        high = strata.unseen(hits, confidence) if strata.simulated else 1.0
        said = f"{METHOD}, {NONE_SEEN}: upper bound"
        return Estimate(0.0, 0.0, high, confidence, said, strata.simulated, none_seen=True)
    if listed is not None:
        beside.append((0.0 if listed.none_seen else listed.value, listed.low, listed.high))
    value = min(1.0, sum(v for v, _, _ in beside))
    below = math.sqrt(sum((v - low) ** 2 for v, low, _ in beside))
    above = math.sqrt(sum((high - v) ** 2 for v, _, high in beside))
    samples = strata.simulated + (0 if listed is None else listed.samples)
    return Estimate(value, max(0.0, value - below), min(1.0, value + above), confidence, METHOD, samples)
