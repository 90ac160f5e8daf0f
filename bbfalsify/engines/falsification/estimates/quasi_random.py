"""Sort particles and spread delays evenly, for quasi-random passes of the conditional estimator.

Array-RQMC (L'Ecuyer, Lécot, Tuffin 2008): if the particles are sorted by what decides their future, neighbours have
nearly the same law.  Systematic resampling then takes an even share from every region of the state space, and numbers
that fill the square (place in the order, number) evenly give neighbours different delays, so that every region is
followed by every delay.  Each number alone is uniform, hence the estimate stays unbiased; a fresh random shift per
level and pass keeps the passes independent, hence Student's interval over them stays valid.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.kernel import Particles

GOLDEN = (5**0.5 - 1) / 2
PLASTIC = 0.7548776662466927
"""1/ρ with ρ³ = ρ + 1.  With 1 and the golden section it satisfies no integer relation, so that multiples of the two
fill the square; multiples of the golden section alone fill the line as evenly as is possible."""
CONSTANT = 1e-12


def even_points(count: int, rng: np.random.Generator) -> np.ndarray:
    """Make two numbers in [0, 1) for each particle in order (moment, edge): a lattice with one random shift."""
    shift = rng.random(2)
    return (np.arange(count)[:, None] * np.array([GOLDEN, PLASTIC]) + shift) % 1.0


def sorted_rows(particles: Particles, weights: np.ndarray) -> np.ndarray:
    """Sort the rows so that neighbours are alike.

    Particles with the same locations and integers stay together.  Among them the order is by the clock that correlates
    best with the weights (or the first that differs, if all weights are equal) and then by time, on which the system's
    answer may depend.
    """
    first, second = _two_keys(particles, weights)
    discrete = np.concatenate([particles.locations, particles.integers], axis=1)
    if (discrete == discrete[0]).all():
        group = np.zeros(len(discrete), np.int64)
    else:
        group = np.unique(discrete, axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((first, group))
    if second is None:
        return order
    # Two keys: stripes of the first, each sorted by the second, every other one backwards, so that ends meet.
    stripes = np.arange(len(order)) // max(1, round(len(order) ** 0.5))
    direction = np.where(stripes % 2, -1.0, 1.0)
    return order[np.lexsort((direction * second[order], stripes, group[order]))]


def _two_keys(particles: Particles, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    time = particles.time
    clocks = [c for c in particles.reals.T if not _constant(c) and not _constant(c - time)]
    if not clocks:
        return time, None
    first = clocks[0]
    if not _constant(weights):
        first = max([*clocks, time], key=lambda c: abs(float(np.dot(c - c.mean(), weights - weights.mean()))) / c.std())
    return first, None if first is time or _constant(time) else time


def _constant(values: np.ndarray) -> bool:
    return float(np.ptp(values)) <= CONSTANT * (1.0 + float(np.abs(values).max()))
