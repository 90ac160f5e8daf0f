"""Dependency index of a network: which processes read what a branch writes, and what entering its target must check."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.analysis import (
    Analysis,
    Flow,
    Place,
    conjuncts,
    implies,
    plain_assignments,
    substituted,
)
from bbfalsify.kernel.guard_atoms import Split
from bbfalsify.kernel.value_intervals import Intervals
from bbfalsify.modelling.network.expressions import Expression
from bbfalsify.modelling.network.network import Branch, Edge, Network


class Dependencies:
    def __init__(self, network: Network, analysis: Analysis) -> None:
        self.network, self.analysis = network, analysis
        self.edges = [(p, edge) for p, process in enumerate(network.processes) for edge in process.edges]
        self.locations = [(p, loc) for p, process in enumerate(network.processes) for loc in process.locations]
        self.invariant_readers = self._invariant_readers()
        self.clock_guards: dict[Place, set[int]] = {}
        self._writes: dict[tuple[int, int], frozenset[Place]] = {}
        """Process and identity of a branch, which the network keeps → what firing it writes."""
        self._refreshed: dict[tuple[int, int], list[int]] = {}

    def _invariant_readers(self) -> dict[Place, set[int]]:
        """Map each place to the processes that have an invariant reading it."""
        readers: dict[Place, set[int]] = {}
        for p, location in self.locations:
            for place in self.analysis.expression(location.invariant).reads:
                readers.setdefault(place, set()).add(p)
        return readers

    def note_clock_guards(self, guards: list[Split]) -> None:
        """Map each clock, and each integer that bounds one, to the processes with such an atom in a guard."""
        readers: dict[Place, set[int]] = {}
        for (p, _), split in zip(self.edges, guards, strict=True):
            for place in {("r", slot) for slot, *_ in split.clock_atoms} | split.bound_reads:
                readers.setdefault(place, set()).add(p)
        self.clock_guards = readers

    def writes(self, process: int, branch: Branch) -> frozenset[Place]:
        if (process, id(branch)) not in self._writes:
            self._writes[process, id(branch)] = self.analysis.statements(branch.updates).writes | {("l", process)}
        return self._writes[process, id(branch)]

    def copied(self, process: int, edge: Edge) -> list[int]:
        """List what a check of the state entered needs: number and ranges (first, number) of integers, then clocks."""
        places: set[Place] = set()
        for branch in edge.branches:
            effects = self.analysis.statements(branch.updates)
            places |= effects.reads | effects.writes
            places |= self.analysis.expression(self.network.processes[process].locations[branch.target].invariant).reads
            for q in self.refreshed(process, branch):
                for location in self.network.processes[q].locations:
                    places |= self.analysis.expression(location.invariant).reads
        integers = ranges(slot for store, slot in places & self.written if store == "i")
        reals = sorted(slot for store, slot in places if store == "r")
        return [len(integers), *(word for pair in integers for word in pair), len(reals), *reals]

    @cached_property
    def written(self) -> frozenset[Place]:
        """The places that some update writes."""
        updates = [branch.updates for _, edge in self.edges for branch in edge.branches]
        return frozenset().union(*(self.analysis.statements(u).writes for u in updates))

    def refreshed(self, process: int, branch: Branch) -> list[int]:
        """Find other processes with an invariant that reads what the branch writes."""
        key = process, id(branch)
        if key not in self._refreshed:
            self._refreshed[key] = sorted(self.read_by(self.invariant_readers, process, branch) - {process})
        return self._refreshed[key]

    def read_by(self, readers: dict[Place, set[int]], process: int, branch: Branch) -> set[int]:
        return set().union(*[readers[place] for place in self.writes(process, branch) if place in readers])

    @cached_property
    def intervals(self) -> Intervals:
        return Intervals(self.network, self.written)

    def entry(self, process: int, edge: Edge, branch: Branch) -> int:
        """Find out whether and how firing must check the invariants of the state entered.

        The invariant of the location left and the guard hold when the edge fires.
        """
        writes = self.writes(process, branch)
        values = plain_assignments(self.analysis, branch.updates)
        locations = self.network.processes[process].locations
        target = locations[branch.target]
        kept = conjuncts(locations[edge.source].invariant) + conjuncts(edge.guard)

        def free(part: Expression, known: list[Expression]) -> bool:
            if not self.analysis.expression(part).reads & writes:
                return part in known or any(implies(other, part) for other in known)
            after = substituted(part, values)
            return after is not None and self.intervals.certainly_true(after)

        checked = [part for part in conjuncts(target.invariant) if not free(part, kept)]
        relevant = [target.invariant]
        for q in self.refreshed(process, branch):
            for location in self.network.processes[q].locations:
                parts = conjuncts(location.invariant)
                checked += [part for part in parts if not free(part, parts)]
                relevant.append(location.invariant)
        if not checked:
            return at.ENTRY_FREE
        worst = self.analysis.flow_of_statements(branch.updates)
        for invariant in relevant:
            if invariant is not None:
                worst = max(worst, self.analysis.flow(invariant))
        if worst == Flow.NUMERIC:
            return at.ENTRY_NUMERIC
        return at.ENTRY_AFFINE


def ranges(slots: Iterable[int]) -> list[tuple[int, int]]:
    """Join numbers to ranges (first, number)."""
    found: list[tuple[int, int]] = []
    for slot in sorted(slots):
        if found and sum(found[-1]) == slot:
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((slot, 1))
    return found
