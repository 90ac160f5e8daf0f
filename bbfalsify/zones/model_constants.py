"""Constants of a network that the widening of zones depends on: per location, and everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.effects import Place
from bbfalsify.modelling.network.expressions import Expression, Kind
from bbfalsify.modelling.network.network import Network, Variable
from bbfalsify.modelling.network.visit import Bounds, bounds
from bbfalsify.zones.bounds import UNKNOWN, ClockEffects, LowerUpper, include, join, per_location
from bbfalsify.zones.bounds import everywhere as joined
from bbfalsify.zones.zone_conditions import Case, Conditions


class ModelConstants:
    """Constants by clock; `written` are the places that some update writes, all others keep their first values."""

    def __init__(
        self,
        network: Network,
        conditions: Conditions,
        variables: dict[tuple[bool, int], Variable],
        written: set[Place],
        scale: int,
    ) -> None:
        self.network, self._conditions, self._variables = network, conditions, variables
        self._written, self._scale = written, scale

    def of_locations(
        self, edges: list, locations: list, guards: list, refusals: list, invariants: list,
        effects: list[list[ClockEffects]],
    ) -> list[LowerUpper]:  # fmt: skip
        """Constants that matter per location."""
        own: list[LowerUpper] = [{} for _ in locations]
        first, links = [], [[] for _ in self.network.processes]  # type: ignore[var-annotated]
        total = 0
        for process in self.network.processes:
            first.append(total)
            total += len(process.locations)
        for place, cases in zip(own, invariants, strict=True):
            include(place, cases, self._scale, self._interval)
        for (p, edge), *parts in zip(edges, guards, refusals, effects, strict=True):
            for cases in parts[:2]:
                include(own[first[p] + edge.source], cases, self._scale, self._interval)
            for branch, effect in zip(edge.branches, parts[2], strict=True):
                links[p].append((edge.source, branch.target, effect))
        found = []
        for p, process in enumerate(self.network.processes):
            found += per_location(own[first[p] : first[p] + len(process.locations)], links[p])
        return found

    def everywhere(
        self, asked: list[list[Case]], constants: list[LowerUpper], effects: list[list[ClockEffects]], timed: bool,
        measured: Mapping[int, tuple[int, int]] = MappingProxyType({}),
    ) -> LowerUpper:  # fmt: skip
        """Constants that matter everywhere: those of the query, `measured` ones, and all where clocks are copied."""
        least: LowerUpper = dict(measured)
        for cases in asked:
            include(least, cases, self._scale, self._interval)
        if timed:  # only upper bounds: whether the target is met by some moment
            least[self.network.real_count - 1] = -1, UNKNOWN
        flat = [effect for branches in effects for effect in branches]
        if any(effect.copies for effect in flat):
            join(least, joined([*constants, least], flat))
        return least

    def _interval(self, e: Expression) -> Bounds | None:
        return bounds(self._conditions.values(e), self._range_of)

    def _range_of(self, e: ex.Read | ex.Bound) -> Bounds | None:
        if not isinstance(e, ex.Read) or e.kind is Kind.CLOCK:
            return None
        variable = self._variables[e.kind.is_real, e.slot]
        first, count = e.slot, 1 if e.index is None else e.size
        store = "r" if e.kind.is_real else "i"
        if not any((store, slot) in self._written for slot in range(first, first + count)):
            values = (self.network.initial_reals() if e.kind.is_real else self.network.initial_integers())[first:][
                :count
            ]
            return min(values), max(values)
        if e.kind is Kind.BOOL:
            return 0, 1
        return None if e.kind.is_real else (variable.low, variable.high)
