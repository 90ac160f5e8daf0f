"""Largest constants that a clock is compared with from below and from above, per location.

In a location only those constants matter that a clock can meet before it is set again (Behrmann, Bouyer, Larsen,
Pelánek: Lower and upper bounds in zone-based abstractions of timed automata, 2006).  Each process is analysed on its
own: a state has the largest constants of its locations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.visit import Bounds
from bbfalsify.zones.dbm import LARGEST
from bbfalsify.zones.zone_conditions import Atom, Case

UNKNOWN = LARGEST
"""A constant as large as any bound, where none can be derived: such a clock is widened only beyond it."""

LowerUpper = dict[int, tuple[int, int]]
"""Slot of a clock → largest constants; −1: none."""
Interval = Callable[[ex.Expression], Bounds | None]
"""Contains every value of an expression; None: not known."""


@dataclass
class ClockEffects:
    """Effects of the updates of one branch on clocks."""

    reset: set[int] = field(default_factory=set)
    """Slots that are always set to a value without clocks."""
    copies: list[tuple[range, range, bool]] = field(default_factory=list)
    """Slots that may be assigned, slots that may be the source, whether nothing is added."""


def include(found: LowerUpper, cases: Iterable[Case], scale: int, interval: Interval) -> None:
    """Add the constants of some cases."""
    for case in cases:
        for atom in case.atoms:
            _include_atom(found, atom, scale, interval)


def _include_atom(found: LowerUpper, atom: Atom, scale: int, interval: Interval) -> None:
    low, high = _limits(interval(atom.bound), scale)
    largest = max(abs(low), abs(high))
    for clock, from_below, from_above in (
        (atom.left, largest if atom.diagonal else -1, largest if atom.diagonal else max(high, 0)),
        (atom.right, largest if atom.diagonal else max(-low, 0), largest if atom.diagonal else -1),
    ):
        for slot in clock.slots if clock is not None else ():
            lower, upper = found.get(slot, (-1, -1))
            found[slot] = max(lower, from_below), max(upper, from_above)


def _limits(interval: Bounds | None, scale: int) -> tuple[int, int]:
    if interval is None or max(-interval[0], interval[1]) * scale >= UNKNOWN:
        return -UNKNOWN, UNKNOWN
    return math.floor(Fraction(interval[0]) * scale), math.ceil(Fraction(interval[1]) * scale)


def join(found: LowerUpper, other: LowerUpper, without: Iterable[int] = ()) -> bool:
    """Take the larger constants; return True if some grew."""
    grew = False
    for slot, (lower, upper) in other.items():
        if slot in without:
            continue
        before = found.get(slot, (-1, -1))
        after = max(before[0], lower), max(before[1], upper)
        if after != before:
            found[slot], grew = after, True
    return grew


def per_location(own: list[LowerUpper], edges: Iterable[tuple[int, int, ClockEffects]]) -> list[LowerUpper]:
    """Constants that matter in each location of a process, from those used in it and its edges (source, target)."""
    matter = [dict(constants) for constants in own]
    arriving: list[list[tuple[int, ClockEffects]]] = [[] for _ in own]
    for source, target, effects in edges:
        arriving[target].append((source, effects))
    grown = dict.fromkeys(range(len(own)))  # locations whose constants the ones before them have not seen
    while grown:
        target, _ = grown.popitem()
        for source, effects in arriving[target]:
            if join(matter[source], matter[target], effects.reset):
                grown[source] = None
    return matter


def everywhere(all_locations: Iterable[LowerUpper], effects: Iterable[ClockEffects]) -> LowerUpper:
    """Constants that hold in all locations, for models that copy clocks: sources need those of the copies."""
    found: LowerUpper = {}
    for constants in all_locations:
        join(found, constants)
    copies = [copy for effect in effects for copy in effect.copies]
    for _ in range(1 + len(copies)):
        for targets, sources, plain in copies:
            pairs = [found.get(slot, (-1, -1)) for slot in targets]
            largest = max(lower for lower, _ in pairs), max(upper for _, upper in pairs)
            if max(largest) >= 0:  # what is added moves the constant by an amount that is not followed
                join(found, dict.fromkeys(sources, largest if plain else (UNKNOWN, UNKNOWN)))
    return found
