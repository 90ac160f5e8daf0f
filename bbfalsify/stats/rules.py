"""Names and defaults of stopping rules, in a module of their own: `sequential` imports scipy."""

from __future__ import annotations

KINDS = ("sequence", "clopper_pearson", "fixed")
HALF_WIDTH = 0.005
"""The wanted half width where neither an absolute nor a relative one was asked for."""
