"""The Markov chain of a network: its states, and the rates between them.

    chain = explore_chain(network)
    chain.matrix                     scipy CSR matrix: rates, and probabilities from states in which no time passes
    chain.values("failed")           an expression in every state

The semantics is that of the walks.  States in which no time passes (urgent or committed locations, urgent channels)
are kept here; a question decides when they are eliminated, because it may ask about them.  If no state lets time pass,
the chain is discrete: every transition is a step.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bbfalsify.chains.refusals import not_markov
from bbfalsify.chains.too_large import more_states_than, walks_for
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.kernel import CompiledModel, compile_network
from bbfalsify.kernel import exploration as kernel
from bbfalsify.kernel.added_code import with_code
from bbfalsify.kernel.layout import H_EDGES
from bbfalsify.kernel.walker import Walker, initial_state, limits
from bbfalsify.modelling import Network
from bbfalsify.modelling.network.expressions import Expression, Kind

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST_STATES = 20_000_000
AT_ONCE = 20_000
LARGE = 50_000
"""States after which walks look whether there are too many of them."""
"""States expanded before the caller is asked whether to go on."""
_SHARE_OF_MEMORY = 0.7
_VECTORS, _MATRICES = 16, 4
"""Numbers per state, and copies of the matrix, that an answer needs beside the exploration."""


@dataclass(frozen=True, eq=False)
class Chain:
    """A chain over the reachable states of a network; state 0 is the initial one."""

    model: CompiledModel
    locations: np.ndarray
    integers: np.ndarray
    reals: np.ndarray
    immediate: np.ndarray
    """True for states in which no time passes."""
    matrix: csr_matrix
    """Rates between states; a row of an immediate state has probabilities."""
    impulse: np.ndarray
    """Per state the sum over its transitions of rate (or probability) times the cost of the edges fired."""
    discrete: bool
    _values: dict[Expression, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def network(self) -> Network:
        return self.model.network

    @property
    def states(self) -> int:
        return len(self.immediate)

    @property
    def lasting(self) -> int:
        """Number of states that are left when immediate ones are eliminated."""
        return self.states if self.discrete else int((~self.immediate).sum())

    @property
    def transitions(self) -> int:
        return int(self.matrix.nnz)

    def values(self, expression: Expression) -> np.ndarray:
        """Evaluate an expression in every state, a condition as 0 and 1."""
        if expression not in self._values:
            self._values[expression] = _evaluate(self, expression)
        return self._values[expression]

    def cost_rates(self) -> np.ndarray:
        """Per state the sum of the cost rates of all locations."""
        total = np.zeros(self.states)
        for p, process in enumerate(self.network.processes):
            for number, location in enumerate(process.locations):
                if location.cost_rate is not None:
                    total += np.where(self.locations[:, p] == number, self.values(location.cost_rate), 0.0)
        return total

    def describe(self, state: int) -> str:
        """Name a state by its locations and integers."""
        here = zip(self.network.processes, self.locations[state], strict=True)
        names = [f"{process.name}.{process.locations[i].name}" for process, i in here]
        values = []
        for variable in self.network.variables:
            if not variable.kind.is_real:
                held = self.integers[state, variable.slot : variable.slot + variable.size]
                values += [f"{n} = {int(v)}" for n, v in zip(variable.element_names(), held, strict=True)]
        return ", ".join(names + values)


def explore_chain(
    network: Network, *, most_states: int = MOST_STATES, go_on: Callable[[int], bool] = lambda states: True
) -> Chain:
    """Find all states of a network and the rates between them, or raise a UserError that says why it has no chain."""
    problems = not_markov(network)
    if problems:
        raise UserError(problems)
    return _Explorer(compile_network(network), most_states, go_on).chain()


class _Explorer:
    """Arrays of an exploration, which grow on demand."""

    def __init__(self, model: CompiledModel, most_states: int, go_on: Callable[[int], bool]) -> None:
        self.model, self.network, self.most_states, self.go_on = model, model.network, most_states, go_on
        self.progress = np.zeros(kernel.P_SIZE, np.int64)
        numbers = self.network.integer_count + self.network.real_count
        self._width = len(self.network.processes) * 4 + numbers * 8 + 41
        """Bytes of a state, with its place in the table."""
        self._looked = False
        self.start = initial_state(model)
        self.wanted = np.zeros(max(1, self.network.real_count), np.int64)
        for variable in self.network.variables:
            if variable.kind is Kind.DOUBLE:
                self.wanted[variable.slot : variable.slot + variable.size] = 1
        self.locations = np.array(self.start[0], np.int32)
        self.integers, self.reals = np.array(self.start[1], np.int64), np.array(self.start[2], np.float64)
        self.kinds, self.impulse = np.zeros(1, np.int8), np.zeros(1)
        self.ends, self.rates = np.zeros(2, np.int64), np.zeros(1)
        self._grow(1024, 4096)

    def _grow(self, states: int, transitions: int) -> None:
        """Make room for so many states and transitions."""
        _require_memory(states * self._width + transitions * 24, f"room for {states:,} states")
        self.locations, self.integers, self.reals, self.kinds, self.impulse = (
            _longer(array, states) for array in (self.locations, self.integers, self.reals, self.kinds, self.impulse)
        )
        self.ends, self.rates = _longer(self.ends, 2 * transitions), _longer(self.rates, transitions)
        self.table = np.zeros(4 * states, np.int64)
        self._fill_table = bool(self.progress[kernel.P_STATES] > 0)

    def chain(self) -> Chain:
        model, edges = self.model, int(self.model.T[H_EDGES])
        walker, codes = self._with_costs()
        options = 2 + sum(len(e.branches) for p in self.network.processes for e in p.edges)
        scratch = (
            np.zeros(3 * edges + 3 * len(self.network.processes) + 8, np.int64), np.zeros(edges + 1),
            np.zeros(3 * options, np.int64), np.zeros(options),
        )  # fmt: skip
        outcome = kernel.NO_ROOM
        while outcome in (kernel.NO_ROOM, kernel.FULL):
            self._check_size()
            until = float(self.progress[kernel.P_NEXT] + AT_ONCE)
            if self._fill_table:
                with np.errstate(over="ignore"):
                    kernel.fill_table(
                        *walker.arrays, self.locations, self.integers, self.reals, *limits(model), self.wanted,
                        self.table, self.progress,
                    )  # fmt: skip
                self._fill_table = False
            with np.errstate(over="ignore"):
                outcome = kernel.explore(
                    *walker.arrays, self.locations, self.integers, self.reals, *limits(model), until, self.wanted,
                    codes, *scratch, self.table, self.ends, self.rates, self.impulse, self.kinds, self.progress,
                )  # fmt: skip
            if outcome == kernel.NO_ROOM:
                full = int(self.progress[kernel.P_STATES]) >= len(self.kinds)
                more = 4 if 4 * len(self.kinds) <= self.most_states else 2
                self._grow(len(self.kinds) * (more if full else 1), len(self.rates) * 3)
        if outcome != kernel.DONE:
            raise UserError(self._problem(outcome, walker))
        return self._finished()

    def _with_costs(self) -> tuple[Walker, np.ndarray]:
        """Make a walker of the model with the code of all edge costs, and the code's places by edge."""
        costs = [edge.cost for process in self.network.processes for edge in process.edges]
        model, codes = with_code(self.model, [(c, "the cost of an edge") for c in costs if c is not None], number=True)
        places = iter(codes)
        return Walker.of(model), np.array([-1 if c is None else next(places) for c in costs] or [-1], np.int64)

    def _check_size(self) -> None:
        states = int(self.progress[kernel.P_STATES])
        if states > self.most_states:
            raise UserError(
                f"the chain of '{self.network.name}' has more than {self.most_states:,} states; bound its integers, or "
                "estimate by simulation."
            )
        transitions = int(self.progress[kernel.P_TRANSITIONS])
        needed = 8 * _VECTORS * states + 16 * _MATRICES * transitions
        _require_memory(needed, f"an answer about the {states:,} states found so far")
        if states >= LARGE and not self._looked:
            self._looked = True
            self._look_ahead(states, transitions)
        if not self.go_on(states):
            raise KeyboardInterrupt

    def _look_ahead(self, states: int, transitions: int) -> None:
        """Refuse what will not fit, before it takes a minute and the memory."""
        free, each = free_memory(), self._width + 8 * _VECTORS + (24 + 16 * _MATRICES) * transitions / states
        fit = self.most_states if free is None else min(self.most_states, int(_SHARE_OF_MEMORY * free / each))
        if fit > states and more_states_than(self.network, fit):
            raise UserError(
                f"the chain of '{self.network.name}' has more than {fit:,} states, the most that "
                f"{'are allowed' if fit == self.most_states else 'fit into memory'} ({walks_for(fit):,} random walks "
                "ended in as many different states); bound its integers, or estimate by simulation."
            )

    def _problem(self, outcome: int, walker: Walker) -> Problem:
        culprit, file = int(self.progress[kernel.P_CULPRIT]), self.network.file
        if outcome == kernel.FAILED:
            return Problem(f"the model fails: {walker.error()}.", file)
        if outcome == kernel.NOT_MARKOV_EDGE:
            return Problem(f"the delays of {self.model.edge_text(culprit)} are not exponential.", file)
        process = self.network.processes[culprit]
        location = process.locations[int(self.locations[self.progress[kernel.P_NEXT], culprit])]
        where = f"location '{process.name}.{location.name}'"
        if outcome == kernel.BAD_RATE:
            return Problem(f"the rate of {where} is negative or infinite in a reachable state.", file, location.line)
        return Problem(f"the delay in {where} is not exponential.", file, location.line)

    def _finished(self) -> Chain:
        from scipy.sparse import coo_matrix

        states, count = (int(self.progress[i]) for i in (kernel.P_STATES, kernel.P_TRANSITIONS))
        kinds = self.kinds[:states]
        ends = self.ends[: 2 * count].reshape(-1, 2)
        matrix = coo_matrix((self.rates[:count], (ends[:, 0], ends[:, 1])), shape=(states, states)).tocsr()
        immediate = kinds != kernel.TANGIBLE
        chain = Chain(
            self.model, self.locations[:states], self.integers[:states], self.reals[:states], immediate, matrix,
            self.impulse[:states], bool(immediate.all()),
        )  # fmt: skip
        stuck = np.flatnonzero(kinds == kernel.STUCK)
        if len(stuck) and not chain.discrete:
            says = "time cannot pass and nothing can happen"
            raise UserError(Problem(f"{says} in the state {chain.describe(int(stuck[0]))}.", self.network.file))
        return chain


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    longer: np.ndarray = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _evaluate(chain: Chain, expression: Expression) -> np.ndarray:
    condition = expression.kind is Kind.BOOL
    model, [place] = with_code(chain.model, [(expression, "the query")], number=not condition)
    walker, numbers = Walker.of(model), np.zeros(chain.states)
    with np.errstate(over="ignore"):
        outcome = kernel.evaluate_states(
            *walker.arrays, chain.locations, chain.integers, chain.reals, *limits(model), place, int(not condition),
            numbers,
        )  # fmt: skip
    if outcome != kernel.DONE:
        raise UserError(Problem(f"the query fails in a reachable state: {walker.error()}.", chain.network.file))
    return numbers


def _require_memory(needed: int, what: str) -> None:
    """Refuse what does not fit into the memory that is free."""
    free = free_memory()
    if free is not None and needed > _SHARE_OF_MEMORY * free:
        raise UserError(
            f"the chain does not fit into memory: {what} takes {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are "
            "free. Bound the model's integers, or estimate by simulation."
        )


def free_memory() -> int | None:
    """Return the bytes that are free, or None where the system does not tell."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None
