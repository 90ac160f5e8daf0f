"""Pack what zones need of a network into flat tables, or say why it has no zone graph.

tables = zone_tables(network, Question(alive=expression))
tables.Z, tables.model, tables.clock_names
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.kernel.analysis import Analysis
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.model_tables import CompiledModel, compile_network
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.modelling.network.network import Network, Variable
from bbfalsify.modelling.network.visit import subexpressions
from bbfalsify.zones import zone_layout as at
from bbfalsify.zones.bounds import ClockEffects, LowerUpper
from bbfalsify.zones.condition_words import ConditionWords
from bbfalsify.zones.dbm import LARGEST
from bbfalsify.zones.model_constants import ModelConstants
from bbfalsify.zones.updates import clock_effects
from bbfalsify.zones.zone_conditions import Case, Conditions, NoZones
from bbfalsify.zones.zone_refusals import without_zones

MOST_PIECES = 512
_MEMORY_OF_PIECES = 1 << 22


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


@dataclass(frozen=True, eq=False)
class ZoneTables:
    network: Network
    model: CompiledModel
    Z: np.ndarray
    scale: int
    """Bounds are multiples of 1/scale."""
    clocks: tuple[str, ...]
    """Names of clocks 1 … n − 1; clock 0 is the constant 0."""
    slots: tuple[int, ...]
    """Their slots; −1 for the constant."""
    integers: tuple[int, ...]
    """Slots of the integers in a row."""
    work: int
    """Words of work space."""
    diagonal: str | None
    """A comparison of two clocks: zones are not widened then, and exploration may not end."""
    stopwatch: str | None = None
    """A clock that may stop: zones contain more states than can be reached then."""

    @property
    def size(self) -> int:
        return len(self.clocks) + 1


def zone_tables(network: Network, question: Question = Question()) -> ZoneTables:
    """Pack a network with a question about it; a UserError names everything that has no zones."""
    problems = without_zones(network)
    if problems:
        raise UserError(problems)
    if question.timed:
        measured = Variable("time", Kind.CLOCK, network.real_count)
        network = replace(network, variables=(*network.variables, measured), real_count=network.real_count + 1)
    return _Packer(network, question).tables()


class _Packer:
    def __init__(self, network: Network, question: Question) -> None:
        self.network, self.question = network, question
        self.model = compile_network(network)
        self.analysis = Analysis(network)
        self.conditions = Conditions(network.functions)
        self.compiler = Compiler(network, first_address=len(self.model.T))
        self.compiler.constants, self.compiler.sites = list(self.model.F), list(self.model.sites)
        self.problems: list[Problem] = []
        self.put = ConditionWords(self.analysis, self.compiler)
        self.words = self.put.words
        self.variables = {
            (v.kind.is_real, slot): v for v in network.variables for slot in range(v.slot, v.slot + v.size)
        }
        self.written = {
            place
            for process in network.processes for edge in process.edges for branch in edge.branches
            for place in self.analysis.statements(branch.updates).writes
        }  # fmt: skip

    # --- reading the model ---

    def tables(self) -> ZoneTables:
        edges = [(p, edge) for p, process in enumerate(self.network.processes) for edge in process.edges]
        locations = [(p, place) for p, process in enumerate(self.network.processes) for place in process.locations]
        guards, refusals = [], []
        for p, edge in edges:
            place = f"guard of an edge of '{self.network.processes[p].name}'"
            guards.append(self._cases(edge.guard, place, edge.line))
            heard = edge.channel is not None and not edge.sends and self.network.channels[edge.channel].broadcast
            refusals.append(self._cases(edge.guard, place, edge.line, negated=True) if heard else [])
        invariants = [
            self._cases(place.invariant, f"invariant of '{self.network.processes[p].name}.{place.name}'", place.line)
            for p, place in locations
        ]
        effects = [[self._effects(p, edge.line, branch.updates) for branch in edge.branches] for p, edge in edges]
        asked = self.question
        alive, dead = self._query_cases(asked.alive), self._query_cases(asked.dead)
        kept = self._query_cases(asked.kept) if asked.kept is not None else None
        if self.problems:
            raise UserError(self.problems)
        groups = [*guards, *refusals, *invariants, alive, dead, kept or []]
        self.scale = self._scale(groups)
        self._choose_clocks(groups)
        self.put.choose(self.number, self.scale)
        rates = self._rates()
        known = ModelConstants(self.network, self.conditions, self.variables, self.written, self.scale)
        constants = known.of_locations(edges, locations, guards, refusals, invariants, effects)
        least = known.everywhere([alive, dead, kept or []], constants, effects, asked.timed)
        if any(effect.copies for branch in effects for effect in branch):
            constants = [{} for _ in locations]
        self.words[at.Z_STOPWATCHES] = int(self.stopwatch is not None)
        self.words[at.Z_RATES] = self.put.add(self.put.add([len(row) // 2, *row]) for row in rates)
        return self._pack(guards, refusals, invariants, (alive, dead, kept), constants, least)

    def _cases(self, e: Expression | None, what: str, line: int | None, *, negated: bool = False) -> list[Case]:
        try:
            return self.conditions.cases(e, negated=negated)
        except NoZones as why:
            self.problems.append(Problem(f"the {what} has no zones: {why}.", self.network.file, line))
            return []

    def _query_cases(self, e: Expression | None) -> list[Case]:
        return [] if e is None else self._cases(e, "query", None)

    def _effects(self, p: int, line: int | None, updates: tuple[ex.Statement, ...]) -> ClockEffects:
        try:
            return clock_effects(self.conditions, self.network.functions, updates)
        except NoZones as why:
            name = self.network.processes[p].name
            self.problems.append(Problem(f"an update of '{name}' has no zones: {why}.", self.network.file, line))
            return ClockEffects()

    def _scale(self, groups: list[list[Case]]) -> int:
        """Least number that makes all constants whole."""
        values = [Fraction(r) for r in self.network.initial_reals()]
        for group in groups:
            for case in group:
                for atom in case.atoms:
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

    def _choose_clocks(self, groups: list[list[Case]]) -> None:
        """Number the clocks that something compares, and what they may be copied from."""
        used: set[int] = set()
        for group in groups:
            for case in group:
                for atom in case.atoms:
                    for clock in atom.clocks:
                        used |= set(clock.slots)
        copies = [
            copy
            for process in self.network.processes for edge in process.edges for branch in edge.branches
            for copy in clock_effects(self.conditions, self.network.functions, branch.updates).copies
        ]  # fmt: skip
        for _ in copies:
            for targets, sources, _plain in copies:
                used |= set(sources) if used & set(targets) else set()
        if self.question.timed:
            used.add(self.network.real_count - 1)
        self.slots = [-1, *sorted(used)]
        self.number = {slot: number for number, slot in enumerate(self.slots)}

    stopwatch: str | None = None

    def _rates(self) -> list[list[int]]:
        """Per location (clock, rate) of the clocks that matter; other rates than 0 and 1 are refused by name."""
        rows: list[list[int]] = []
        for process in self.network.processes:
            for location in process.locations:
                row: list[int] = []
                for rate in location.rates:
                    clock, e = self.number.get(rate.slot), rate.expression
                    if clock is None:
                        continue
                    value = e.value if isinstance(e, Constant) else None
                    if self.conditions.reads_clock(e) or value not in (None, 0, 1):
                        self.problems.append(Problem(
                            f"the clock '{self._name(rate.slot)}' has a rate other than 0 and 1 in '{process.name}."
                            f"{location.name}': zones know clocks that run or stand still. 'bbfalsify reach' searches "
                            "such models by random walks.", self.network.file, location.line,
                        ))  # fmt: skip
                        continue
                    if value != 1:
                        self.stopwatch = self._name(rate.slot)
                    code = self.compiler.number(e, "a rate") if value is None else None
                    row += [clock, (at.RATE_ONE if value == 1 else at.RATE_ZERO) if code is None else code]
                rows.append(row)
        if self.problems:
            raise UserError(self.problems)
        asked = self.question
        if self.stopwatch is not None and (asked.deadlocks or asked.bisimilar or asked.timed):
            what = "the fastest trace" if asked.timed else "deadlocks" if asked.deadlocks else "whole runs"
            raise UserError(Problem(
                f"'{self.stopwatch}' may stop, so zones contain more states than can be reached: queries about {what} "
                "cannot be decided by them. 'bbfalsify reach' looks for a trace by random walks.", self.network.file,
            ))  # fmt: skip
        return rows

    # --- packing ---

    def _pack(
        self, guards: list, refusals: list, invariants: list, asked: tuple, constants: list[LowerUpper],
        least: LowerUpper,
    ) -> ZoneTables:  # fmt: skip
        alive, dead, kept = asked
        words, n, network = self.words, len(self.slots), self.network
        processes = len(network.processes)
        integers = sorted(slot for store, slot in self.written if store == "i")
        words[at.Z_CLOCKS], words[at.Z_SCALE] = n, self.scale
        words[at.Z_WIDTH] = processes + len(integers)
        words[at.Z_INTEGERS], words[at.Z_INTEGER_COUNT] = self.put.add(integers), len(integers)
        words[at.Z_CLOCK_OF_SLOT] = self.put.add(self.number.get(slot, -1) for slot in range(network.real_count))
        words[at.Z_SLOT_OF_CLOCK] = self.put.add(self.slots)
        words[at.Z_GUARDS] = self.put.add(self.put.condition(cases, "a guard") for cases in guards)
        words[at.Z_REFUSALS] = self.put.add(self.put.condition(cases, "a guard") for cases in refusals)
        words[at.Z_INVARIANTS] = self.put.add(
            -1 if cases == [Case()] else self.put.condition(cases, "an invariant") for cases in invariants
        )
        words[at.Z_BOUNDS] = self.put.add(self.put.bounds(place) for place in constants)
        pairs = [least.get(slot, (-1, -1)) for slot in self.slots[1:]]
        words[at.Z_LEAST] = self.put.add([0, 0, *(value for pair in pairs for value in pair)])
        diagonal = self._diagonal([*guards, *refusals, *invariants, alive, dead, kept or []])
        words[at.Z_EXTRAPOLATION] = at.MAXIMUM if self.question.bisimilar else at.LOWER_UPPER
        if diagonal is not None:
            words[at.Z_EXTRAPOLATION] = at.NO_EXTRAPOLATION
        words[at.Z_ALIVE] = self.put.condition(alive, "the query") if alive else -1
        words[at.Z_DEAD] = self.put.condition(dead, "the query") if dead else -1
        words[at.Z_DEADLOCKS] = int(self.question.deadlocks)
        words[at.Z_KEPT] = -1 if kept is None else self.put.condition(kept, "the query")
        words[at.Z_TIME] = n - 1 if self.question.timed else 0
        words[at.Z_PIECES] = max(8, min(MOST_PIECES, _MEMORY_OF_PIECES // (n * n)))
        words[at.Z_MOVES] = words[at.Z_WIDTH] + n * n
        words[at.Z_DETAILS] = words[at.Z_MOVES] + 1 + 2 * processes
        words[at.Z_RECORD] = words[at.Z_DETAILS] + 1 + 2 * n * n + 3 * n
        model = replace(
            self.model,
            T=np.concatenate([self.model.T, np.array(self.compiler.code, np.int32)]),
            F=np.array(self.compiler.constants or [0.0], np.float64),
            sites=tuple(self.compiler.sites),
            codes=(*self.model.codes, *self.compiler.codes),
        )
        self._lay_out_work(n, processes)
        names = tuple(self._name(slot) for slot in self.slots[1:])
        return ZoneTables(
            network,
            model,
            np.array(words, np.int32),
            self.scale,
            names,
            tuple(self.slots),
            tuple(integers),
            self.work,
            diagonal,
            self.stopwatch,
        )

    def _lay_out_work(self, n: int, processes: int) -> None:
        edges = sum(len(p.edges) for p in self.network.processes)
        options = sum(len(e.branches) for p in self.network.processes for e in p.edges)
        place = 0
        for name, size in (
            (at.Z_PASSES, 1), (at.Z_SOURCES, n), (at.Z_SHIFTS, n), (at.Z_STOPPED, n), (at.Z_LOWER, 2 * n),
            (at.Z_UPPER, n), (at.Z_PARTIES, 6 * processes + 8), (at.Z_OPTIONS, 2 * options + 4),
            (at.Z_CELLS, 4 * edges + 8), (at.Z_ATOMS, 3 * self.put.atoms + 8),
        ):  # fmt: skip
            self.words[name] = place
            place += size
        self.work = place

    def _name(self, slot: int) -> str:
        variable = self.variables[True, slot]
        return variable.element_names()[slot - variable.slot] if variable.size > 1 else variable.name

    def _diagonal(self, groups: list[list[Case]]) -> str | None:
        for group in groups:
            for case in group:
                for atom in case.atoms:
                    if atom.diagonal:
                        names = [self._name(clock.slot) for clock in atom.clocks]
                        return f"{names[0]} - {names[1]}"
        return None
