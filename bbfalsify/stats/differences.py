"""The difference of two estimates, from their intervals alone.

The square-and-add rule (MOVER; Zou and Donner, "Construction of confidence limits about effect measures", Statistics in
Medicine 27, 2008): each limit of the difference is as far from it as the two distances that add up to it, squared,
summed and rooted.  It asks for nothing but two intervals at the same confidence, of whatever method, and keeps their
asymmetry.  It supposes independent estimates; positively correlated ones (two runs with one seed) make it cautious.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from bbfalsify.core.estimate import Estimate

METHOD = "square-and-add of two intervals"


def difference(old: Estimate, new: Estimate, comparisons: int = 1) -> Estimate | None:
    """New minus old, with an interval; None where the intervals have different confidence, or there is none.

    Of several comparisons some would stand out by chance: for so many, the confidence is that of all together
    (Bonferroni; the half widths grow as those of a normal law would).
    """
    if old.samples == 0 or new.samples == 0 or not math.isclose(old.confidence, new.confidence):
        return None
    doubt, normal = 1 - new.confidence, NormalDist()
    wider = normal.inv_cdf(1 - doubt / (2 * comparisons)) / normal.inv_cdf(1 - doubt / 2)
    value = new.value - old.value
    low = value - wider * math.hypot(new.value - new.low, old.high - old.value)
    high = value + wider * math.hypot(new.high - new.value, old.value - old.low)
    method = METHOD if comparisons == 1 else f"{METHOD}, Bonferroni for {comparisons} comparisons"
    return Estimate(value, low, high, new.confidence, method, min(old.samples, new.samples))


def explained(shift: Estimate) -> bool:
    """Whether the two intervals explain the difference: no difference lies within its own."""
    return shift.low <= 0 <= shift.high
