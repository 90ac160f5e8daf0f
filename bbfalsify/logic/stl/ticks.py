"""Ticks, in which dense time is counted: `dense.py` says why.

The loops give the correctly rounded powers of ten, everywhere the same; compiled code calls the same function.
"""

from __future__ import annotations

FARTHEST = 4e15
"""Largest bound, a hundred thousand traces away, so that ticks stay exact in doubles and keys in 64 bits."""


def ticks_per_unit(span: float) -> float:
    """Number of ticks per unit of time of a trace of this length: a power of ten."""
    scale = 1e9
    if span > 0.0:
        scale = 1.0
        while span * scale >= 1e10:
            scale /= 10.0
        while span * scale < 1e9 and scale < 1e22:
            scale *= 10.0
    return scale
