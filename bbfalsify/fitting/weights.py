"""Estimate the weights of edges from choices among changing sets of edges.

A component takes one of the possible edges, in proportion to their weights.  If the same edges are always possible, the
most likely weights are the counts.  Otherwise they solve, for every edge e,

    wins(e) = Σ over choices in which e was possible of  w(e) / Σ w(f), f possible

which the MM algorithm of Hunter (2004, "MM algorithms for generalized Bradley–Terry models") reaches from any start:
w(e) ← wins(e) / Σ 1/Σw(f).  Only ratios within a group of edges that compete, directly or through others, are
determined; the sum of a group's weights stays what it was.

A finite solution exists if, however a group is split in two, an edge of each part was preferred to one of the other.
Otherwise — an edge was possible but never taken, say — every edge of the group gets half a choice among all of them in
addition (Jeffreys' prior): rare is not impossible.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import special

from bbfalsify.core.estimate import Estimate
from bbfalsify.stats.intervals import clopper_pearson

Option = TypeVar("Option", bound=Hashable)
Choices = Mapping[tuple[Option, tuple[tuple[Option, int], ...]], int]
"""(taken, ((possible, how many times it was possible at once), …)) → how often."""

_MOST_ROUNDS = 20_000
_EPSILON = 1e-12


@dataclass(frozen=True)
class FittedWeight:
    weight: float
    taken: int
    """Choices in which it was taken."""
    possible: int
    """Choices in which it was possible."""
    contested: int
    """Choices in which it was taken although others were possible; only these inform about its weight."""
    share: Estimate
    """Its share of the choices in which all edges of the group are possible."""
    variance_of_log: float
    """Variance of the logarithm of the weight; two of them add up to the variance of the logarithm of the ratio."""
    half_counts: bool = False
    """Half a choice was added to every edge of its group."""


def fit_weights(
    choices: Choices[Option], given: Mapping[Option, float], confidence: float = 0.95
) -> dict[Option, FittedWeight]:
    """Fit the weights of all edges that ever had a rival; the sums of the `given` weights are kept."""
    contested: Choices[Option] = {c: n for c, n in choices.items() if len(c[1]) > 1}
    fitted: dict[Option, FittedWeight] = {}
    for group in _groups(contested):
        fitted.update(_fit_group(group, contested, choices, given, confidence))
    return fitted


def _groups(choices: Choices[Option]) -> list[list[Option]]:
    """Edges that were possible together, directly or through others."""
    groups: list[list[Option]] = []
    for _, possible in choices:
        members = [edge for edge, _ in possible]
        touched = [g for g in groups if any(m in g for m in members)]
        merged = list(dict.fromkeys([*(e for g in touched for e in g), *members]))
        groups = [g for g in groups if g not in touched] + [merged]
    return groups


def _fit_group(
    group: list[Option],
    contested: Choices[Option],
    choices: Choices[Option],
    given: Mapping[Option, float],
    confidence: float,
) -> dict[Option, FittedWeight]:
    place = {edge: i for i, edge in enumerate(group)}
    own = {c: n for c, n in contested.items() if c[0] in place}
    sets: dict[tuple[int, ...], float] = {}
    wins = np.zeros(len(group))
    for (taken, options), count in own.items():
        row = [0] * len(group)
        for edge, times in options:
            row[place[edge]] = times
        sets[tuple(row)] = sets.get(tuple(row), 0.0) + count
        wins[place[taken]] += count
    counts = wins.astype(int)
    prior = not _determined(group, own, place)
    if prior:
        everybody = tuple([1] * len(group))
        sets[everybody] = sets.get(everybody, 0.0) + len(group) / 2
        wins = wins + 0.5
    possible = np.array(list(sets), dtype=float)
    often = np.array(list(sets.values()))
    weights = _maximise(wins, possible, often)
    shares = weights / weights.sum()
    weights = shares * sum(given[edge] for edge in group)
    simple = len(sets) == 1 and possible.max() == 1
    covariance = _covariance(shares, possible, often)
    deviations, variances = _deviations(shares, covariance), _split(covariance, wins)
    total = sum(own.values())
    result = {}
    for edge, i in place.items():
        if simple:
            low, high = clopper_pearson(int(counts[i]), total, confidence)
            method = "Clopper–Pearson"
        else:
            low, high = _around(shares[i], deviations[i], confidence)
            method = "delta method"
        share = Estimate(
            float(shares[i]), min(low, float(shares[i])), max(high, float(shares[i])), confidence, method, total
        )
        seen = [(c, n) for c, n in choices.items() if any(e == edge for e, _ in c[1])]
        result[edge] = FittedWeight(
            float(weights[i]),
            sum(n for c, n in seen if c[0] == edge),
            sum(n for _, n in seen),
            int(counts[i]),
            share,
            float(variances[i]),
            prior,
        )
    return result


def _determined(group: list[Option], choices: Choices[Option], place: Mapping[Option, int]) -> bool:
    """Tell whether every edge was preferred to every other, directly or through others."""
    beats = np.eye(len(group), dtype=bool)
    for taken, possible in choices:
        for edge, _ in possible:
            beats[place[taken], place[edge]] = True
    for through in range(len(group)):
        beats |= np.outer(beats[:, through], beats[through])
    return bool(beats.all())


def _maximise(wins: np.ndarray, possible: np.ndarray, often: np.ndarray) -> np.ndarray:
    """MM rounds until no weight changes any more."""
    weights = np.full(len(wins), 1 / len(wins))
    for _ in range(_MOST_ROUNDS):
        following = wins / (possible.T @ (often / (possible @ weights)))
        following /= following.sum()
        change = float(np.max(np.abs(np.log(following / weights))))
        weights = following
        if change < _EPSILON:
            break
    return weights


def _covariance(shares: np.ndarray, possible: np.ndarray, often: np.ndarray) -> np.ndarray:
    """Covariance of the logarithms of the weights (inverse information); only differences are determined."""
    information = np.zeros((len(shares), len(shares)))
    for row, count in zip(possible, often, strict=True):
        p = row * shares / (row @ shares)
        information += count * (np.diag(p) - np.outer(p, p))
    # The sum of all logarithms is free; fixing it changes no difference.
    return np.linalg.inv(information + np.trace(information) / len(shares))


def _deviations(shares: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Standard errors of the logits of the shares."""
    slopes = (np.eye(len(shares)) - shares[None, :]) / (1 - shares)[:, None]
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slopes, covariance, slopes), 0.0))


def _split(covariance: np.ndarray, wins: np.ndarray) -> np.ndarray:
    """Independent variances whose sums best approximate (least squares) the variances of all log ratios.

    If the same edges are always possible this is exactly 1/wins.
    """
    own = np.diag(covariance)
    ratios = own[:, None] + own[None, :] - 2 * covariance
    size = len(wins)
    if size == 2:
        return ratios[0, 1] * (1 / wins) / (1 / wins).sum()
    rows = ratios.sum(axis=1)
    split = (rows - rows.sum() / (2 * (size - 1))) / (size - 2)
    return np.maximum(split, 0.1 / wins)  # odd patterns of guards may leave nothing, or less, for one edge


def _around(share: float, deviation: float, confidence: float) -> tuple[float, float]:
    half = float(special.ndtri((1 + confidence) / 2)) * deviation
    centre = float(special.logit(share))
    return float(special.expit(centre - half)), float(special.expit(centre + half))
