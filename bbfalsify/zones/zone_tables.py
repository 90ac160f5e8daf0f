"""Pack what zones need of a network into flat tables, or say why it has no zone graph.

tables = zone_tables(network, Question(alive=expression))
tables.Z, tables.model, tables.clock_names
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.kernel.analysis import Analysis
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.model_tables import CompiledModel, compile_network
from bbfalsify.modelling.network.expressions import Constant, Kind
from bbfalsify.modelling.network.network import Network, Variable
from bbfalsify.zones import zone_layout as at
from bbfalsify.zones.bounds import UNKNOWN, LowerUpper
from bbfalsify.zones.bounds import everywhere as joined
from bbfalsify.zones.condition_words import ConditionWords
from bbfalsify.zones.model_conditions import ModelConditions, Question
from bbfalsify.zones.model_constants import ModelConstants
from bbfalsify.zones.zone_conditions import Atom, Case
from bbfalsify.zones.zone_refusals import without_zones

MOST_PIECES = 512
_MEMORY_OF_PIECES = 1 << 22


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
    constants: Mapping[int, int] = field(default_factory=dict)
    """Slot of a clock → largest constant that model and query compare it with, in steps; none for others."""
    measured: tuple[Atom, ...] = ()
    """Expressions of which the largest values are asked: left − right + bound."""

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
        self.read = ModelConditions(network, question)
        self.compiler = Compiler(network, first_address=len(self.model.T))
        self.compiler.constants, self.compiler.sites = list(self.model.F), list(self.model.sites)
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

    def tables(self) -> ZoneTables:
        read, asked = self.read, self.question
        self.scale = read.scale()
        self.slots = [-1, *read.used_clocks()]
        self.number = {slot: number for number, slot in enumerate(self.slots)}
        self.put.choose(self.number, self.scale)
        rates = self._rates()
        known = ModelConstants(self.network, read.conditions, self.variables, self.written, self.scale)
        constants = known.of_locations(
            read.edges, read.locations, read.guards, read.refusals, read.invariants, read.effects
        )  # fmt: skip
        compared = known.everywhere(read.of_query, constants, read.effects, asked.timed)
        least = known.everywhere(
            read.of_query, constants, read.effects, asked.timed, read.kept_exact(self.scale)
        )  # fmt: skip
        self.compared = {slot: max(pair) for slot, pair in joined([*constants, compared], ()).items()}
        if any(effect.copies for branch in read.effects for effect in branch):
            constants = [{} for _ in read.locations]
            self.compared = dict.fromkeys(self.compared, UNKNOWN)  # whatever is copied from them may be compared
        self.words[at.Z_STOPWATCHES] = int(self.stopwatch is not None)
        self.words[at.Z_RATES] = self.put.add(self.put.add([len(row) // 2, *row]) for row in rates)
        return self._pack(constants, least)

    stopwatch: str | None = None

    def _rates(self) -> list[list[int]]:
        """Per location (clock, rate) of the clocks that matter; other rates than 0 and 1 are refused by name."""
        rows, problems = list[list[int]](), list[Problem]()
        for process in self.network.processes:
            for location in process.locations:
                row: list[int] = []
                for rate in location.rates:
                    clock, e = self.number.get(rate.slot), rate.expression
                    if clock is None:
                        continue
                    value = e.value if isinstance(e, Constant) else None
                    if self.read.conditions.reads_clock(e) or value not in (None, 0, 1):
                        problems.append(Problem(
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
        if problems:
            raise UserError(problems)
        asked = self.question
        if self.stopwatch is not None and (asked.deadlocks or asked.bisimilar or asked.timed):
            what = "the fastest trace" if asked.timed else "deadlocks" if asked.deadlocks else "whole runs"
            raise UserError(Problem(
                f"'{self.stopwatch}' may stop, so zones contain more states than can be reached: queries about {what} "
                "cannot be decided by them. 'bbfalsify reach' looks for a trace by random walks.", self.network.file,
            ))  # fmt: skip
        return rows

    # --- packing ---

    def _pack(self, constants: list[LowerUpper], least: LowerUpper) -> ZoneTables:
        read = self.read
        words, n, network = self.words, len(self.slots), self.network
        processes = len(network.processes)
        integers = sorted(slot for store, slot in self.written if store == "i")
        words[at.Z_CLOCKS], words[at.Z_SCALE] = n, self.scale
        words[at.Z_WIDTH] = processes + len(integers)
        words[at.Z_INTEGERS], words[at.Z_INTEGER_COUNT] = self.put.add(integers), len(integers)
        words[at.Z_CLOCK_OF_SLOT] = self.put.add(self.number.get(slot, -1) for slot in range(network.real_count))
        words[at.Z_SLOT_OF_CLOCK] = self.put.add(self.slots)
        words[at.Z_GUARDS] = self.put.add(self.put.condition(cases, "a guard") for cases in read.guards)
        words[at.Z_REFUSALS] = self.put.add(self.put.condition(cases, "a guard") for cases in read.refusals)
        words[at.Z_INVARIANTS] = self.put.add(
            -1 if cases == [Case()] else self.put.condition(cases, "an invariant") for cases in read.invariants
        )
        words[at.Z_BOUNDS] = self.put.add(self.put.bounds(place) for place in constants)
        pairs = [least.get(slot, (-1, -1)) for slot in self.slots[1:]]
        words[at.Z_LEAST] = self.put.add([0, 0, *(value for pair in pairs for value in pair)])
        diagonal = next((self._difference(atom) for atom in read.atoms if atom.diagonal), None)
        words[at.Z_EXTRAPOLATION] = at.MAXIMUM if self.question.bisimilar else at.LOWER_UPPER
        if diagonal is not None:
            words[at.Z_EXTRAPOLATION] = at.NO_EXTRAPOLATION
        words[at.Z_ALIVE] = self.put.condition(read.alive, "the query") if read.alive else -1
        words[at.Z_DEAD] = self.put.condition(read.dead, "the query") if read.dead else -1
        words[at.Z_DEADLOCKS] = int(self.question.deadlocks)
        words[at.Z_KEPT] = -1 if read.kept is None else self.put.condition(read.kept, "the query")
        rows = [self.put.atom(atom, "the query") for atom in read.measured]
        words[at.Z_MEASURED] = self.put.add([len(rows), *(word for row in rows for word in row)])
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
            self.compared,
            tuple(read.measured),
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

    def _difference(self, atom: Atom) -> str:
        return " - ".join(self._name(clock.slot) for clock in atom.clocks)
