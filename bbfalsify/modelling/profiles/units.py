"""Units of the entries of profiles and ports."""

from __future__ import annotations

from bbfalsify.core.units import unit_problem
from bbfalsify.records.yaml_node import Node


def unit_of(node: Node) -> str | None:
    """Read and check the unit of an entry."""
    child = node.get("unit")
    unit = None if child is None else child.string()
    if child is not None and unit is not None:
        problem = unit_problem(unit, file=child.place.file, line=child.place.line)
        if problem is not None:
            child.problems.append(problem)
    return unit
