"""Laws of random numbers for importance sampling: histograms in place of the uniform law.

A walk's random numbers have labels (`rng.py`): the delay of a process, its choice of an edge, of a branch, a drawn
value.  Each label has one histogram for its first number in a walk, one for its second, and so on; the last one serves
all later numbers.  The likelihood ratio of a walk is the product of width / share over the bins of its numbers, so it
follows from how often the walk fell into each bin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

_WHOLE = 2.0**53
_NARROWEST = 2.0**-40
_CHANCE, _SPEED = 0.001, 0.7
"""Smoothing: the part of the new histogram, beside that of the one before."""


@dataclass(frozen=True, eq=False)
class Tilts:
    labels: tuple[int, ...]
    """Labels that are tilted."""
    shares: np.ndarray
    """Labels × rows × bins; each row sums to 1."""
    ends: np.ndarray
    """Labels × rows × (bins + 1): the ends of the bins, from 0 to 1."""

    @classmethod
    def uniform(cls, labels: tuple[int, ...], rows: int, bins: int) -> Tilts:
        ends = np.broadcast_to(np.linspace(0.0, 1.0, bins + 1), (len(labels), rows, bins + 1))
        return cls(labels, np.full((len(labels), rows, bins), 1.0 / bins), ends)

    @property
    def size(self) -> int:
        """The number of bins of all rows together."""
        return int(self.shares.size)

    @property
    def widths(self) -> np.ndarray:
        return np.diff(self.ends, axis=2)

    def log_ratios(self, counts: np.ndarray) -> np.ndarray:
        """The logarithm of the likelihood ratio (profile's law over tilted law) of each walk, from its counts."""
        return counts.astype(float) @ np.log(self.widths / self.shares).reshape(-1)

    def as_own(self) -> Tilts:
        """The uniform law, counted in the same bins."""
        return replace(self, shares=self.widths)

    def fitted(self, counts: np.ndarray, weights: np.ndarray, *, least: float) -> Tilts:
        """The histograms of weighted walks, which cross-entropy says are the nearest to their law.

        A row that differs from the uniform law no more than chance allows (one in a thousand) stays uniform: the noise
        of many rows would spoil the likelihood ratio.  Every row keeps the share `least` of the uniform law.  Bins
        become narrow where the numbers are.
        """
        from scipy import special  # a third of a second; most walks are not tilted

        worth, widths = effective_samples(weights), self.widths
        seen = ((weights / weights.sum()) @ counts.astype(float)).reshape(self.shares.shape)
        numbers = seen.sum(axis=2, keepdims=True)
        # One more number in all, spread evenly: a bin that was never met is not impossible.
        hist = (seen * worth + widths) / (numbers * worth + 1.0)
        differs = worth * numbers[:, :, 0] * ((hist - widths) ** 2 / widths).sum(axis=2)
        hist = np.where((differs > special.chdtri(self.shares.shape[2] - 1, _CHANCE))[:, :, None], hist, widths)
        hist = _SPEED * hist + (1.0 - _SPEED) * self.shares
        shares, ends = (1.0 - least) * hist + least * widths, self.ends.copy()
        for row in np.argwhere(np.any(np.abs(hist - widths) > 1e-9, axis=2)):
            shares[*row], ends[*row] = _rebinned(shares[*row], ends[*row])
        return replace(self, shares=shares, ends=ends)

    def moved(self, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the laws made of uniform ones, a column per label, and their bins; for labels with one row."""
        classes, _, bins = self.shares.shape
        found = np.empty(uniforms.shape)
        counts = np.zeros((len(uniforms), classes * bins), np.uint64)
        for k in range(classes):
            up_to = np.append(0.0, np.cumsum(self.shares[k, 0]))
            place = np.clip(np.searchsorted(up_to, uniforms[:, k], side="right") - 1, 0, bins - 1)
            inside = np.clip((uniforms[:, k] - up_to[place]) / self.shares[k, 0, place], 0.0, 1.0)
            found[:, k] = self.ends[k, 0, place] + inside * self.widths[k, 0, place]
            counts[np.arange(len(uniforms)), k * bins + place] = 1
        return np.minimum(found, 1.0 - 2.0**-53), counts

    def words(self) -> np.ndarray:
        """The tilts as the kernel reads them."""
        classes, rows, bins = self.shares.shape
        known = max(self.labels, default=-1) + 1
        kinds = np.zeros(known, np.uint64)
        kinds[list(self.labels)] = np.arange(1, classes + 1)
        tables = np.zeros((classes, rows, 2, bins + 1), np.uint64)
        tables[:, :, 0, 1:] = np.floor(np.cumsum(self.shares, axis=2) * _WHOLE)
        tables[:, :, 1] = np.floor(self.ends * _WHOLE)
        tables[:, :, :, -1] = 2**53
        head = np.array([known, bins, rows], np.uint64)
        return np.concatenate([
            head, kinds, np.zeros(classes, np.uint64), tables.reshape(-1), np.zeros(self.size, np.uint64),
        ])  # fmt: skip


def _rebinned(shares: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same law in other bins: half of them hold equal parts of it, the rest grow geometrically on both sides.

    A bin that straddles the border of where the goal lies must not be much wider than its neighbour: the few numbers
    that fall into the goal's sliver of it would carry weights so large and so rare that no interval knows of them.
    """
    up_to = np.append(0.0, np.cumsum(shares))
    up_to[-1] = 1.0
    core = np.interp(np.linspace(0.0, 1.0, len(shares) // 2 + 1)[1:-1], up_to, ends)
    step = 1.5 * (core[-1] - core[0]) / (len(core) - 1)
    rooms = np.array([core[0], 1.0 - core[-1]])
    if step <= 0.0 or (rooms <= step).all():
        fresh = np.interp(np.linspace(0.0, 1.0, len(ends)), (up_to + ends) / 2, ends)
    else:
        logs = np.log(np.maximum(rooms / step, 1.0))
        spare = len(shares) - 1 - len(core)
        left = min(max(round(spare * logs[0] / logs.sum()), int(logs[0] > 0)), spare - int(logs[1] > 0))
        counts = (left, spare - left)
        steps = [step * np.exp(log * np.arange(n) / max(n, 1)) for log, n in zip(logs, counts, strict=True)]
        fresh = np.concatenate([[0.0], core[0] - steps[0][::-1], core, core[-1] + steps[1], [1.0]])
    fresh[0], fresh[-1] = 0.0, 1.0
    if np.diff(fresh).min() < _NARROWEST:
        return shares, ends
    parts = np.diff(np.interp(fresh, ends, up_to))
    return parts / parts.sum(), fresh


def effective_samples(weights: np.ndarray) -> float:
    """The number of equally weighted samples that weighted ones are worth."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0
