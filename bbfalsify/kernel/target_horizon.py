"""Find the last moment at which a target can be met, so that walks need not go on past it.

A clock that nothing assigns and that always runs at rate 1 tells the time.  `E<> done && t <= 60` then cannot be met
after time 60: a walk ends there, whatever depth it may have, and the steps saved are steps of other walks.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.analysis import Analysis
from bbfalsify.modelling.network.effects import places_of
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression, Kind, Read

_MIRRORED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "==": "=="}
_MARGIN = 1e-6
"""Walks go on a little longer, because their moments are rounded."""


def latest_moment(analysis: Analysis, *predicates: Expression | None) -> float:
    """Time after which none of the predicates (None: never holds) can hold; inf if it is unknown."""
    offsets = _true_time(analysis)
    latest = max((_latest(p, offsets) for p in predicates if p is not None), default=math.inf)
    return latest + _MARGIN * max(1.0, abs(latest)) if latest < math.inf else latest


def _true_time(analysis: Analysis) -> dict[int, float]:
    """Clocks that differ from the time by a constant, with their initial values."""
    network = analysis.network
    changed = {rate.slot for p in network.processes for location in p.locations for rate in location.rates}
    for process in network.processes:
        for edge in process.edges:
            for branch in edge.branches:
                changed |= {slot for store, slot in analysis.statements(branch.updates).writes if store == "r"}
    initial = network.initial_reals()
    return {slot: float(initial[slot]) for _, slot in analysis.clocks if slot not in changed}


def _latest(e: Expression, offsets: dict[int, float]) -> float:
    if isinstance(e, Constant):
        return math.inf if e.value else -math.inf
    if not isinstance(e, Binary):
        return math.inf
    if e.operator in ("&&", "||"):
        return (min if e.operator == "&&" else max)(_latest(e.left, offsets), _latest(e.right, offsets))
    if e.operator not in _MIRRORED:
        return math.inf
    operator, clock, bound = e.operator, e.left, e.right
    if isinstance(clock, Constant):
        operator, clock, bound = _MIRRORED[operator], bound, clock
    if operator in (">", ">=") or not isinstance(clock, Read) or not isinstance(bound, Constant):
        return math.inf
    places = places_of(clock) if clock.kind == Kind.CLOCK else frozenset()
    slots = [slot for _, slot in places]
    return float(bound.value) - offsets[slots[0]] if len(slots) == 1 and slots[0] in offsets else math.inf
