"""Units of the entries of profiles and ports."""

from __future__ import annotations

from bbfalsify.records.yaml_node import Node


def unit_of(node: Node) -> str | None:
    """Read the unit of an entry; any text will do that the other side has, too (`campaigns/compatibility.py`)."""
    child = node.get("unit")
    return None if child is None else child.string()
