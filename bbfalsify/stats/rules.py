"""Names and defaults of stopping rules, in a module of their own: `sequential` imports scipy."""

from __future__ import annotations

KINDS = ("sequence", "clopper_pearson", "fixed")
HALF_WIDTH = 0.005
"""Default of the wanted half width."""
