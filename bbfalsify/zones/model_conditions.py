"""Conditions of a network and of a question about it, split into cases: guards, invariants, targets, what is measured.

Everything that has no zones is collected in one UserError.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.network.visit import subexpressions
from bbfalsify.zones.bounds import UNKNOWN, ClockEffects, LowerUpper, join
from bbfalsify.zones.dbm import LARGEST
from bbfalsify.zones.updates import clock_effects
from bbfalsify.zones.zone_conditions import Atom, Case, Conditions, NoZones, slots_of


@dataclass(frozen=True)
class Question:
    """Conditions about the states of a network."""

    alive: Expression | None = None
    """Target in states from which something can fire; None: never."""
    dead: Expression | None = None
    """Target in deadlocks."""
    deadlocks: bool = False
    """Tell the two apart; else `alive` is for all states."""
    kept: Expression | None = None
    """Condition that runs must keep; states without it are not entered."""
    bisimilar: bool = False
    """Widen only to states from which the same can happen: needed where the absence of transitions matters."""
    timed: bool = False
    """Add a clock that measures the time: states that are only later are covered by earlier ones."""
    measured: tuple[Expression, ...] = ()
    """Expressions of which the largest values are asked (in the states that satisfy `alive`)."""
    horizon: int = 0
    """Clocks that are measured are not widened up to here."""


class ModelConditions:
    """The cases of every condition; `groups` are all of them."""

    def __init__(self, network: Network, asked: Question) -> None:
        self.network, self.asked = network, asked
        self.conditions = Conditions(network.functions)
        self._problems: list[Problem] = []
        processes = network.processes
        self.edges = [(p, edge) for p, process in enumerate(processes) for edge in process.edges]
        self.locations = [(p, place) for p, process in enumerate(processes) for place in process.locations]
        self.guards: list[list[Case]] = []
        self.refusals: list[list[Case]] = []
        """Of edges that receive broadcasts: the guard does not hold."""
        for p, edge in self.edges:
            place = f"guard of an edge of '{processes[p].name}'"
            self.guards.append(self._cases(edge.guard, place, edge.line))
            heard = edge.channel is not None and not edge.sends and network.channels[edge.channel].broadcast
            self.refusals.append(self._cases(edge.guard, place, edge.line, negated=True) if heard else [])
        self.invariants = [
            self._cases(place.invariant, f"invariant of '{processes[p].name}.{place.name}'", place.line)
            for p, place in self.locations
        ]
        self.effects = [
            [self._effects(p, edge.line, branch.updates) for branch in edge.branches] for p, edge in self.edges
        ]
        self.alive, self.dead = self._query_cases(asked.alive), self._query_cases(asked.dead)
        self.kept = self._query_cases(asked.kept) if asked.kept is not None else None
        self.measured = [atom for e in asked.measured for atom in self._measured(e)]
        if self._problems:
            raise UserError(self._problems)
        compared = [Case(atoms=(atom,)) for atom in self.measured]
        self.groups = [*self.guards, *self.refusals, *self.invariants, *self.of_query, compared]

    @property
    def of_query(self) -> list[list[Case]]:
        return [self.alive, self.dead, self.kept or []]

    @property
    def atoms(self) -> Iterator[Atom]:
        return (atom for group in self.groups for case in group for atom in case.atoms)

    def _cases(self, e: Expression | None, what: str, line: int | None, *, negated: bool = False) -> list[Case]:
        try:
            return self.conditions.cases(e, negated=negated)
        except NoZones as why:
            self._problems.append(Problem(f"the {what} has no zones: {why}.", self.network.file, line))
            return []

    def _query_cases(self, e: Expression | None) -> list[Case]:
        return [] if e is None else self._cases(e, "query", None)

    def _measured(self, e: Expression) -> list[Atom]:
        """The clocks and the data of an expression: left − right + bound; none if it is no such sum."""
        try:
            return [self.conditions.measured(e)]
        except NoZones as why:
            self._problems.append(Problem(f"an expression of the query has no zones: {why}.", self.network.file, None))
            return []

    def kept_exact(self, scale: int) -> LowerUpper:
        """Constants up to which clocks that are measured are not widened."""
        found: LowerUpper = {}
        for atom in self.measured:
            join(found, {slot: (min(self.asked.horizon * scale, UNKNOWN), -1) for slot in slots_of(atom.left)})
            join(found, {slot: (-1, UNKNOWN) for slot in slots_of(atom.right)})
        return found

    def _effects(self, p: int, line: int | None, updates: tuple[ex.Statement, ...]) -> ClockEffects:
        try:
            return clock_effects(self.conditions, self.network.functions, updates)
        except NoZones as why:
            name = self.network.processes[p].name
            self._problems.append(Problem(f"an update of '{name}' has no zones: {why}.", self.network.file, line))
            return ClockEffects()

    def scale(self) -> int:
        """Least number that makes all constants whole."""
        values = [Fraction(r) for r in self.network.initial_reals()]
        for atom in self.atoms:
            values += [Fraction(e.value) for e in subexpressions(atom.bound) if isinstance(e, Constant)]
        for process in self.network.processes:
            for edge in process.edges:
                for branch in edge.branches:
                    for statement in branch.updates:
                        if isinstance(statement, ex.Assign) and statement.target.kind is Kind.CLOCK:
                            parts = subexpressions(statement.value)
                            values += [Fraction(e.value) for e in parts if isinstance(e, Constant)]
        scale = lcm(*(value.denominator for value in values))
        largest = max((abs(value) for value in values), default=Fraction(0))
        if scale * largest >= LARGEST:
            raise UserError(Problem(
                f"clocks are compared with constants up to {float(largest):g}, in steps of 1/{scale}: zones have room "
                f"for {LARGEST} steps. Use another unit of time.", self.network.file,
            ))  # fmt: skip
        return scale

    def used_clocks(self) -> list[int]:
        """Slots of the clocks that something compares, and of what they may be copied from."""
        used = {slot for atom in self.atoms for clock in atom.clocks for slot in clock.slots}
        copies = [copy for branches in self.effects for effect in branches for copy in effect.copies]
        for _ in copies:
            for targets, sources, _plain in copies:
                used |= set(sources) if used & set(targets) else set()
        if self.asked.timed:
            used.add(self.network.real_count - 1)
        return sorted(used)
