"""Intervals and tests for a number of runs that is fixed in advance, beside the exact one of Clopper and Pearson.

Wilson's interval inverts the normal test.  With few hits or few misses it would cover too seldom (in the worst case
84 % instead of 95 %), so there it is corrected for continuity (Newcombe 1998): computed over all probabilities, at
least 94.1 % from 300 runs on.  The Bayesian one is robust: it contains the central posterior intervals of all priors
beta(a, 1 - a) with a from 0.1 to 0.9 (Jeffreys' is a = 1/2; alone it covers 88 % in its worst case), and so covers at
least 94.2 % from 30 runs on, whatever the probability.  All a from 0 to 1 would be Clopper and Pearson's interval.
Wald's sequential test decides between p ≥ threshold + δ and p ≤ threshold − δ with as few runs as possible; inside the
gap either answer may come.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from scipy import special

FEW = 20
"""With fewer hits or misses than this, Wilson's interval is corrected for continuity."""
PRIORS = (0.1, 0.9)
"""Least and largest a of the priors beta(a, 1 - a) of the Bayesian interval."""


def wilson(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval; with few hits or few misses half a hit more on either side."""
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    half_a_hit = 0.5 if min(hits, trials - hits) < FEW else 0.0
    low = 0.0 if hits == 0 else _score_limit(hits - half_a_hit, trials, -z)
    high = 1.0 if hits == trials else _score_limit(hits + half_a_hit, trials, z)
    return max(0.0, low), min(1.0, high)


def _score_limit(hits: float, trials: int, z: float) -> float:
    """The probability whose expected hits lie z standard deviations from these hits."""
    share, width = hits / trials, z * z / trials
    half = math.copysign(math.sqrt(max(0.0, share * (1 - share) * width + width * width / 4)), z)
    return (share + width / 2 + half) / (1 + width)


def bayesian(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The hull of the central posterior intervals of all priors beta(a, 1 - a) with a between `PRIORS`."""
    doubt, (least, most) = (1 - confidence) / 2, PRIORS
    misses = trials - hits
    low = 0.0 if hits == 0 else float(special.betaincinv(hits + least, misses + 1 - least, doubt))
    high = 1.0 if misses == 0 else float(special.betaincinv(hits + most, misses + 1 - most, 1 - doubt))
    return low, high


def normal_samples(epsilon: float, confidence: float) -> int:
    """Number of runs after which intervals of this kind have at most the half width ε, whatever the probability."""
    return math.ceil((NormalDist().inv_cdf((1 + confidence) / 2) / (2 * epsilon)) ** 2)


@dataclass(frozen=True)
class SequentialTest:
    """Wald's test of p ≥ threshold + δ against p ≤ threshold − δ, with the same probability of either error."""

    threshold: float
    indifference: float
    error: float

    def decision(self, hits: int, trials: int) -> bool | None:
        """True: at least the threshold; False: at most; None: not yet decided."""
        above = min(1 - 1e-12, self.threshold + self.indifference)
        below = max(1e-12, self.threshold - self.indifference)
        ratio = hits * math.log(above / below) + (trials - hits) * math.log((1 - above) / (1 - below))
        limit = math.log((1 - self.error) / self.error)
        return True if ratio >= limit else False if ratio <= -limit else None
