"""Compute how the ranking depends on the profile's parameters.

The elasticity of a counterexample's probability P with respect to a parameter θ (a weight or a rate) is d ln P/d ln θ:
one per cent more of θ changes P by that many per cent.  It is the mean, over the traces that violate, of the score
d ln p(trace)/d ln θ (`kernel.likelihood_scores`); the system's part of p does not depend on θ.  The elasticities of
weights that compete in one choice sum to zero.

For larger changes the same traces are weighted by their exact likelihood ratios p_fθ(trace) / p_θ(trace): that gives
P as a function of the factor f, and the factor at which two neighbours of the ranking change places.  (The first-order
guess ln(P1/P2) / (E2 − E1) is off by as much as the elasticities change in between.)

If a profile declares the uncertainty of its parameters (`Profile.uncertainty`, variances v of ln θ), the delta method
adds Σ E²·v to the variance of ln P.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from bbfalsify.core.estimate import Estimate
from bbfalsify.engines.falsification.finding import WordEstimate
from bbfalsify.kernel import CompiledModel, Walk, score_walks
from bbfalsify.modelling import Parameter
from bbfalsify.results.falsify_insights import Elasticity, Swap
from bbfalsify.stats.estimates import ratio_of_means

FACTORS = 10.0 ** np.linspace(-1.0, 1.0, 41)
"""Factors by which a parameter is changed; the middle one is 1."""
LEAST_TRACES = 10
"""Effective violating traces that a probability under changed parameters needs."""


@dataclass(frozen=True, eq=False)
class Influence:
    """Dependence of one counterexample's probability on each parameter."""

    parameters: tuple[str, ...]
    weights: np.ndarray
    """[R]: the estimate of each pass."""
    scores: np.ndarray
    """[R, parameters]: mean score of the pass's violating traces."""
    ratios: np.ndarray
    """[R, parameters, factors]: mean likelihood ratio of the pass's violating traces."""
    effective: np.ndarray
    """[parameters, factors]: effective number of violating traces under the changed parameter."""
    untouched: np.ndarray
    """[parameters]: no trace met a choice or a wait that the parameter decides."""
    traces: int
    violating: bool
    """False: no trace violated, so this is about following the word."""

    def elasticities(self, confidence: float) -> tuple[Elasticity, ...]:
        """Compute the elasticities with intervals by Student's t over the passes.

        Scores often take few values, and if all traces agree that interval is a point.  Up to ln(2/α)/n of the traces
        may be of a kind that did not occur, whose score differs by one choice: no interval is narrower.
        """
        values, half = ratio_of_means(self.weights[:, None] * self.scores, self.weights, confidence)
        half = np.where(self.untouched, half, np.maximum(half, math.log(2 / (1 - confidence)) / self.traces))
        return tuple(
            Elasticity(name, float(v), float(v - h), float(v + h), confidence)
            for name, v, h in zip(self.parameters, values, half, strict=True)
        )


def influence_of(model: CompiledModel, estimate: WordEstimate, parameters: Sequence[Parameter]) -> Influence | None:
    """Compute the influence of the parameters; None if no trace followed the word."""
    evidence = estimate.evidence
    violating = any(evidence.walks)
    groups = evidence.walks if violating else [evidence.followers]
    if not any(groups):
        return None
    weights = estimate.passes.values if violating else np.ones(1)
    return influence_of_walks(model, groups, weights, parameters, violating=violating)


def influence_of_walks(
    model: CompiledModel,
    groups: Sequence[Sequence[Walk]],
    weights: np.ndarray,
    parameters: Sequence[Parameter],
    *,
    violating: bool = True,
) -> Influence:
    """Compute the influence on the probability of walks, pass by pass; `weights` are the estimates of the passes."""
    walks = [walk for group in groups for walk in group]
    found = score_walks(model, walks, parameters, FACTORS.tolist())
    ratios = np.exp(found.logarithms)
    ends = np.cumsum([len(group) for group in groups])
    scores = np.array(
        [part.mean(axis=0) if len(part) else part.sum(axis=0) for part in np.split(found.scores, ends[:-1])]
    )
    means = np.array([part.mean(axis=0) if len(part) else part.sum(axis=0) for part in np.split(ratios, ends[:-1])])
    with np.errstate(invalid="ignore", over="ignore"):
        effective = ratios.sum(axis=0) ** 2 / (ratios**2).sum(axis=0)
    names = tuple(p.name for p in parameters)
    untouched = np.logical_not(np.any(found.scores, axis=0))
    return Influence(names, weights, scores, means, effective, untouched, len(walks), violating)


def swaps(first: Influence, second: Influence, ranks: tuple[int, int], confidence: float) -> list[Swap]:
    """Find changes of one parameter that make two counterexamples equally probable, the smallest change first."""
    found = []
    for number, name in enumerate(first.parameters):
        crossing = _crossing(first, second, number, confidence)
        if crossing is not None:
            found.append(Swap(*ranks, name, *crossing))
    return sorted(found, key=lambda s: (abs(math.log(s.factor)), s.factor < 1))


def _crossing(first: Influence, second: Influence, number: int, confidence: float) -> tuple[float, float, float] | None:
    """Find the factor nearest to 1 at which both are equally probable, with its interval."""
    curves, halves = [], []
    usable = np.ones(len(FACTORS), bool)
    for influence in (first, second):
        ratios = influence.ratios[:, number, :]
        usable &= influence.effective[number] >= LEAST_TRACES
        values, half = ratio_of_means(influence.weights[:, None] * ratios, np.ones(len(ratios)), confidence)
        usable &= np.isfinite(values) & (values > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            curves.append(np.log(values))
            halves.append(half / values)
    gap, half = curves[0] - curves[1], np.hypot(*halves)
    middle, steps = len(FACTORS) // 2, np.log(FACTORS)
    best: tuple[float, float, float] | None = None
    for direction in (1, -1):
        here = middle
        while 0 <= here + direction < len(FACTORS) and usable[here + direction]:
            there = here + direction
            if gap[there] <= 0 < gap[here] or gap[here] < 0 <= gap[there]:  # similar rows may stand either way
                slope = (gap[there] - gap[here]) / (steps[there] - steps[here])
                logarithm = steps[here] - gap[here] / slope
                margin = max(half[here], half[there]) / abs(slope)
                if best is None or abs(logarithm) < abs(best[0]):
                    best = (logarithm, logarithm - margin, logarithm + margin)
                break
            here = there
    return None if best is None else tuple(math.exp(min(b, 700.0)) for b in best)  # type: ignore[return-value]


def logarithmic_variance(elasticities: Sequence[Elasticity], uncertainty: Mapping[str, float]) -> float:
    """Variance of ln P due to the uncertainty of the parameters (delta method)."""
    return sum(e.value**2 * uncertainty.get(e.parameter, 0.0) for e in elasticities)


def of_total(rows: Sequence[tuple[float, Sequence[Elasticity]]]) -> tuple[Elasticity, ...]:
    """Elasticities of a sum of probabilities: the mean of theirs, weighted by the probabilities."""
    total = sum(p for p, _ in rows)
    if not rows or total <= 0:
        return ()
    columns = zip(*(elasticities for _, elasticities in rows), strict=True)
    return tuple(
        replace(column[0], value=sum(p * e.value for (p, _), e in zip(rows, column, strict=True)) / total)
        for column in columns
    )


def widened(estimate: Estimate, variance: float) -> Estimate:
    """Widen the interval to cover the profile's uncertainty: errors add in squares, on ln P."""
    spread = float(special.ndtri((1 + estimate.confidence) / 2)) * math.sqrt(variance)
    value, low, high = estimate.value, estimate.low, estimate.high
    if value > 0:
        up = math.hypot(math.log(high / value), spread)
        down = math.hypot(math.log(value / low), spread) if low > 0 else math.inf
        low, high = value * math.exp(-down), min(1.0, value * math.exp(up))
    return replace(
        estimate, value=value, low=low, high=high, method=f"{estimate.method}, with the profile's uncertainty"
    )
