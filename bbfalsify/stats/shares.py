"""What share of a probability is accounted for by a part of it, from two independent estimates."""

from __future__ import annotations

from bbfalsify.core.estimate import Estimate


def share_explained(part: Estimate, whole: Estimate) -> Estimate:
    """P(part) / P(whole), where the part's event is contained in the whole's.

    Division of intervals: both hold together with confidence at least 1 - (α₁ + α₂), which is what is reported.  The
    share is at most 1 by containment; a whole whose lower limit is 0 says nothing more.
    """
    low = min(1.0, part.low / whole.high) if whole.high > 0 else 0.0
    high = min(1.0, part.high / whole.low) if whole.low > 0 else 1.0
    value = min(high, max(low, part.value / whole.value if whole.value > 0 else 1.0))
    confidence = max(0.0, part.confidence + whole.confidence - 1)
    method = "quotient of intervals"
    if whole.low == 0.0:
        method += ", lower bound (the whole is known from above only)"
    return Estimate(value, low, high, confidence, method, part.samples + whole.samples)
