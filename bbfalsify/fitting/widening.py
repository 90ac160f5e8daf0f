"""Widen guessed bounds of a profile that a log does not keep, before bounds are fitted.

A bound that somebody guessed may be too narrow.  Where a log does not fit the profile, it is followed with every guard
`clock >= number` and every invariant `clock <= number` open; delays that it shows then say which of them to widen, and
how far.  All else of the structure has to fit as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bbfalsify.core.errors import UserError
from bbfalsify.fitting.log_events import Log
from bbfalsify.fitting.log_replay import LogFollower
from bbfalsify.fitting.profile_writer import ProfileDraft
from bbfalsify.fitting.stays import Observations
from bbfalsify.fitting.structure import LocationAt, Structure, compared_clock, with_bound
from bbfalsify.fitting.waiting_times import outward, stays_by_location
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression
from bbfalsify.records.documents import KeyPath

LOWER, UPPER = (">=", ">"), ("<=", "<")


@dataclass(frozen=True)
class Bound:
    """A comparison of a clock with a number, where it is written."""

    path: KeyPath
    """The edge or location."""
    name: str
    location: LocationAt
    """The location, or the edge's source."""
    copies: tuple[tuple[int, int], ...]
    """Process and number of each edge that the file's edge has become; empty for a location."""
    clock: int
    value: float

    @property
    def key(self) -> str:
        return "guard" if self.copies else "invariant"

    def text(self, data: Any) -> str:
        for part in self.path:
            data = data[part]
        return str(data[self.key])

    def change(self, data: Any, value: str) -> None:
        for part in self.path:
            data = data[part]
        data[self.key] = with_bound(data[self.key], value) or data[self.key]


@dataclass(frozen=True)
class Widened:
    """A structure through which the log can be followed, and how it came about."""

    structure: Structure
    seen: Observations
    bounds: tuple[tuple[Bound, str, float], ...]
    """Each widened bound with its text as given, and the delay that asked for it."""

    def notes(self, fitted: ProfileDraft) -> list[str]:
        """Say which bounds are wider than given; the fit has moved them since."""
        return [
            f"{bound.name}: '{before}' was too narrow for the log, which has a delay of {delay:.6g}; "
            f"widened to '{bound.text(fitted.data)}'"
            for bound, before, delay in self.bounds
        ]


def widen(given: Structure, log: Log, tolerance: float) -> Widened | None:
    """Return the structure with bounds as wide as the log asks for; None if that does not help."""
    bounds = list(_bounds(given))
    longest = max((float(s.end) - float(s.start or 0) for s in log.sessions), default=0.0)
    opened = given.data()
    for bound in bounds:
        bound.change(opened, "0" if bound.copies else outward(10 * (longest + bound.value) + 1, up=True))
    try:
        free = _parsed(given, opened)
        seen = LogFollower(free.profile.network, tolerance=tolerance).follow(log)
        data, moved = given.data(), []
        for bound in bounds:
            delay = _extreme(free, seen, bound)
            beyond = 0.0 if delay is None else bound.value - delay if bound.copies else delay - bound.value
            if delay is not None and beyond > tolerance:
                moved.append((bound, bound.text(data), delay))
                bound.change(data, outward(delay, up=not bound.copies))
        wider = _parsed(given, data)
        seen = LogFollower(wider.profile.network, tolerance=tolerance).follow(log)
    except UserError:
        return None
    return Widened(wider, seen, tuple(moved))


def _parsed(given: Structure, data: dict[str, Any]) -> Structure:
    return Structure.parse(ProfileDraft(data, []).text, given.document.file)


def _bounds(given: Structure) -> Iterator[Bound]:
    """Yield the bounds of all locations and edges; those whose copies have different numbers are left out."""
    network = given.profile.network
    found: dict[tuple[KeyPath, str], set[tuple[int, float] | None]] = {}
    places: dict[tuple[KeyPath, str], LocationAt] = {}
    copies: dict[tuple[KeyPath, str], list[tuple[int, int]]] = {}
    for number, process in enumerate(network.processes):
        for index, location in enumerate(process.locations):
            at = given.location_at(number, index)
            key = given.location_path(at), ".".join(at)
            found.setdefault(key, set()).add(_compared(location.invariant, UPPER))
            places[key] = at
        for index, edge in enumerate(process.edges):
            at, edge_at = given.location_at(number, edge.source), given.edge_at(number, index)
            target = process.locations[edge.branches[0].target].name
            key = given.edge_path(edge_at), f"{'.'.join(at)} -> {target} ({edge.action})"
            found.setdefault(key, set()).add(_compared(edge.guard, LOWER))
            places[key] = at
            copies.setdefault(key, []).append((number, index))
    for key, values in found.items():
        [compared, *others] = values
        if compared is not None and not others:
            yield Bound(*key, places[key], tuple(copies.get(key, ())), *compared)


def _compared(expression: Expression | None, operators: tuple[str, ...]) -> tuple[int, float] | None:
    """The clock and the number with which it is compared."""
    clock = compared_clock(expression, operators)
    if clock is None or not isinstance(expression, Binary) or not isinstance(expression.right, Constant):
        return None
    return clock, float(expression.right.value)


def _extreme(given: Structure, seen: Observations, bound: Bound) -> float | None:
    """The value of the clock in the log that asks most of the bound; None if the log does not tell."""
    stays = stays_by_location(given, seen)[bound.location]
    if not bound.copies:
        return max((stay.clocks[bound.clock] + stay.delay for stay in stays), default=None)
    if any(stay.clocks[bound.clock] for stay in stays):  # an action's delay is not the value of the clock then
        return None
    least = min((delay for copy in bound.copies for delay in seen.delays.get(copy, [])), default=math.inf)
    return least if math.isfinite(least) else None
