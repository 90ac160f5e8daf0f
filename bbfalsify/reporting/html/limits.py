"""Thresholds and windows of a formula, to be drawn into the signals that it speaks about.

`always[0:20](T <= 75)` gives T the limit 75 from 0 to 20.  Only comparisons of one signal with a number have a place in
its panel; where a window lies inside another one, it moves along, and the limit is drawn over all its places.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bbfalsify.logic.stl.formula import Condition


def limits_of(condition: Condition, end: float) -> dict[str, list[dict[str, Any]]]:
    """Signal → its limits: value, operator, first and last time."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, limit in _limits(condition, 0.0, 0.0, end):
        if limit not in found.setdefault(name, []):
            found[name].append(limit)
    return found


def _limits(node: Condition, start: float, last: float, end: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """Limits of a condition that is asked about between two times."""
    from bbfalsify.logic.stl.formula import Compare, Number, Reach, Signal, Window, children

    if isinstance(node, Compare):
        sides = [(node.left, node.right, node.operator), (node.right, node.left, _turned(node.operator))]
        for signal, number, operator in sides:
            if isinstance(signal, Signal) and isinstance(number, Number) and math.isfinite(number.value):
                yield signal.name, _limit(operator, number.value, start, min(last, end))
        return
    if isinstance(node, Window | Reach):
        if node.operator in ("always", "eventually", "until"):
            start, last = start + node.lower, last + node.upper
        else:
            start, last = start - node.upper, last - node.lower
        start, last = min(max(0.0, start), end), min(max(0.0, last), end)
    for child in children(node):
        yield from _limits(child, start, last, end)


def _limit(operator: str, value: float, start: float, last: float) -> dict[str, Any]:
    text = f"{_SIGNS.get(operator, operator)} {value:g}"
    return {"at": value, "operator": operator, "text": text, "from": start, "to": last}


_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}


def _turned(operator: str) -> str:
    return operator.translate(str.maketrans("<>", "><"))
