"""The states of a network in which nothing reads a clock, expanded by compiled code.

    system = UntimedSystem(network, "E<> deadlock")
    search(system, method="highway", width=8, seed=1)

A state is a row of bytes (`kernel/untimed_steps.py`).  Time may pass in such a network, but changes nothing: urgency
does not matter, committed locations and priorities do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.engines.searching.transition_system import Step
from bbfalsify.kernel import CompiledModel, compile_network
from bbfalsify.kernel import untimed_steps as kernel
from bbfalsify.kernel.added_code import with_code
from bbfalsify.kernel.target_search import most_candidates
from bbfalsify.kernel.walker import Walker, limits
from bbfalsify.logic.reach_query import ReachQuery, parse_query
from bbfalsify.modelling import Network
from bbfalsify.modelling.language.folding import FALSE
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.expressions import Kind
from bbfalsify.modelling.network.visit import expressions_of, reads_clock

FIRST_ROOM = 4096
"""Successors of one call; if there are more, the arrays grow."""


class UntimedSystem:
    """Transition system of an untimed network; with a query it knows its targets."""

    def __init__(self, network: Network, query: str | None = None) -> None:
        problems = list(timed_parts(network))
        if problems:
            raise UserError(problems)
        self.network = network
        self.query: ReachQuery | None = None if query is None else parse_query(query, network)
        self.model, goal = _with_target(compile_network(network), self.query)
        self._walker = Walker.of(self.model)
        self._fields = _fields(network)
        self._width = int(self._fields[::2].sum())
        branches = sum(len(edge.branches) for process in network.processes for edge in process.edges)
        self._model = self._walker.arrays
        self._fixed = (
            self._fields, np.zeros((1, len(network.processes)), np.int32),
            np.zeros((1, network.integer_count), np.int64),
            np.array([[float(v) for v in network.initial_reals()]]).reshape(1, -1), *limits(self.model), goal,
            np.zeros(2 * most_candidates(self.model), np.int64), np.zeros(3 * len(network.processes) + 6, np.int64),
            np.zeros(3 * branches + 3, np.int64), np.zeros(branches + 1),
        )  # fmt: skip
        """Arguments that are the same in every call: layout of a state, its arrays, target, scratch."""
        self._ends = self._room(FIRST_ROOM)
        self._found: set[bytes] = set()
        self._met: set[bytes] = set()
        self.target = self._found.__contains__
        self.met = self._met.__contains__

    def _room(self, rows: int) -> tuple[np.ndarray, ...]:
        return np.zeros((rows, self._width), np.uint8), np.zeros(rows, np.int64), np.zeros(rows, np.int8)

    def initial(self) -> Sequence[bytes]:
        network = self.network
        values = [*(p.initial for p in network.processes), *network.initial_integers()]
        return [self.packed(values)]

    def packed(self, values: Sequence[int]) -> bytes:
        """Pack the locations of all processes, then all integers."""
        fields = self._fields.reshape(-1, 2).tolist()
        return b"".join((int(v) - low).to_bytes(size, "little") for v, (size, low) in zip(values, fields, strict=True))

    def unpacked(self, state: bytes) -> list[int]:
        values, place = [], 0
        for size, low in self._fields.reshape(-1, 2).tolist():
            values.append(int.from_bytes(state[place : place + size], "little") + low)
            place += size
        return values

    def expand(self, states: Sequence[bytes]) -> list[list[bytes]]:
        """Return the successors of each state; targets among them satisfy `target` from now on."""
        ends, places = self._expanded(states)
        return [ends[first:last] for first, last in zip(places, places[1:], strict=False)]

    def successors(self, state: bytes) -> Sequence[Step]:
        ends, _ = self._expanded([state])
        edges = self._ends[1][: len(ends)].tolist()
        return [(self._label(e), end) for e, end in zip(edges, ends, strict=True)]

    def _label(self, edge: int) -> str:
        process, taken = self.model.edge(edge)
        name = self.network.processes[process].name
        return f"{name}: {taken.action}" if taken.channel is None else taken.action

    def _expanded(self, states: Sequence[bytes]) -> tuple[list[bytes], list[int]]:
        """Return all successors, and where those of each state begin, and the last ones end."""
        packed = np.frombuffer(bytearray().join(states), np.uint8).reshape(len(states), self._width)
        progress, status = np.zeros(kernel.P_SIZE, np.int64), np.zeros(len(states), np.int8)
        offsets = np.zeros(len(states), np.int64)
        with np.errstate(over="ignore"):
            while True:
                outcome = kernel.expand_untimed(
                    *self._model, packed, *self._fixed, *self._ends, offsets, status, progress
                )  # fmt: skip
                if outcome != kernel.NO_ROOM:
                    break
                self._grow()
        if outcome != kernel.DONE:
            here = self.describe(states[int(progress[kernel.P_ROW])])
            raise UserError(Problem(f"the model fails after {here}: {self._walker.error()}.", self.network.file))
        count, width = int(progress[kernel.P_ENDS]), self._width
        rows, _, hits = self._ends
        buffer = rows[:count].tobytes()
        ends = [buffer[i : i + width] for i in range(0, count * width, width)]
        if progress[kernel.P_HITS]:
            self._found.update(ends[i] for i in np.flatnonzero(hits[:count]).tolist())
        if progress[kernel.P_MET]:
            self._met.update(states[i] for i in np.flatnonzero(status).tolist())
        return ends, [0, *offsets.tolist()]

    def _grow(self) -> None:
        larger = self._room(4 * len(self._ends[0]))
        for old, new in zip(self._ends, larger, strict=True):
            new[: len(old)] = old
        self._ends = larger

    def describe(self, state: bytes) -> str:
        """Name a state by its locations, and by the integers that are not 0."""
        values = self.unpacked(state)
        processes = self.network.processes
        parts = [f"{p.name}.{p.locations[i].name}" for p, i in zip(processes, values, strict=False)]
        integers = values[len(processes) :]
        for variable in self.network.variables:
            if not variable.kind.is_real:
                held = integers[variable.slot : variable.slot + variable.size]
                parts += [f"{n} = {v}" for n, v in zip(variable.element_names(), held, strict=True) if v]
        return ", ".join(parts)


def _fields(network: Network) -> np.ndarray:
    """Per process and integer, the bytes it needs and its least value."""
    fields: list[tuple[int, int]] = [(_bytes(len(p.locations) - 1), 0) for p in network.processes]
    ranges = [(0, 0)] * network.integer_count
    for variable in network.variables:
        if not variable.kind.is_real:
            low, high = (0, 1) if variable.kind is Kind.BOOL else (variable.low, variable.high)
            ranges[variable.slot : variable.slot + variable.size] = [(low, high)] * variable.size
    fields += [(_bytes(high - low), low) for low, high in ranges]
    return np.array(fields, np.int64).reshape(-1)


def _bytes(largest: int) -> int:
    return max(1, (largest.bit_length() + 7) // 8)


def _with_target(model: CompiledModel, query: ReachQuery | None) -> tuple[CompiledModel, np.ndarray]:
    """Append the code of the target predicates to a model."""
    goal = np.full(kernel.GOAL_SIZE, -1, np.int64)
    if query is None:
        return model, goal
    predicates = [query.target(False), query.target(True)]
    distinct = [p for p in dict.fromkeys(predicates) if p != FALSE]
    model, places = with_code(model, [(p, "the query") for p in distinct], number=False)
    codes = dict(zip(distinct, places, strict=True))
    goal[:] = [codes.get(p, -1) for p in predicates]
    return model, goal


def timed_parts(network: Network) -> Iterator[Problem]:
    """Yield a problem for each part of a network that depends on time, or is not an integer."""
    instead = "a search that keeps every state needs a model without time; 'reach' and 'verify' take this one"
    for variable in network.variables:
        if variable.kind is Kind.DOUBLE:
            yield Problem(f"'{variable.name}' is a double; states are locations and integers here.", network.file)
    effects = EffectAnalysis(network.functions)
    for process in network.processes:
        for location in process.locations:
            if reads_clock(location.invariant, network.functions):
                where = f"the invariant of '{process.name}.{location.name}'"
                yield Problem(f"{where} reads a clock; {instead}.", network.file, location.line)
        for edge in process.edges:
            where = f"edge '{process.name}.{process.locations[edge.source].name} ({edge.action})'"
            written = [e for branch in edge.branches for e in (branch.weight, *expressions_of(branch.updates))]
            if any(reads_clock(e, network.functions) for e in (edge.guard, edge.weight, *written)):
                yield Problem(f"{where} reads a clock; {instead}.", network.file, edge.line)
            if any(effects.statements(branch.updates).random for branch in edge.branches):
                yield Problem(f"an update of {where} draws at random; write branches instead.", network.file, edge.line)
