"""Unbounded and long-run values of a chain: sparse solves after a look at its graph.

States that cannot reach the goal, and those that surely do, are found in the graph; only the rest is solved.  The error
of a solution x of (I − P) x = b is bounded by ‖(I − P)⁻¹‖ · ‖residual‖; the norm is the largest expected number of
steps, one more solve.  The long run is that of the bottom components, weighted by the probabilities of ending in them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags, eye
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from bbfalsify.chains.uniformisation import Values

_UNIT = 2.0**-52


def embedded(rates: csr_matrix) -> csr_matrix:
    """Probabilities of the next jump; a state without transitions stays."""
    exits = np.asarray(rates.sum(axis=1)).ravel()
    scale = np.where(exits > 0, exits, 1.0)
    return (diags(1.0 / scale) @ rates + diags((exits == 0).astype(float))).tocsr()


def backward(rates: csr_matrix, goal: np.ndarray, through: np.ndarray | None = None) -> np.ndarray:
    """States that can reach the goal, all states before it in `through` (None: any)."""
    reversed_graph, found = rates.T.tocsr(), goal.copy()
    frontier = goal
    while frontier.any():
        before = (reversed_graph.T @ frontier.astype(float)) > 0
        frontier = before & ~found & (True if through is None else through)
        found |= frontier
    return found


def reach_probability(rates: csr_matrix, goal: np.ndarray) -> Values:
    """Probability of ever reaching the goal, from every state; goal states absorb."""
    possible = backward(rates, goal)
    certain = ~backward(rates, ~possible, ~goal)
    value = certain.astype(float)
    open_states = np.flatnonzero(possible & ~certain)
    errors = np.zeros(len(value))
    if len(open_states):
        jumps = embedded(rates)[open_states].tocsr()
        solved, error = _solve(jumps[:, open_states].tocsr(), jumps @ value)
        value[open_states], errors[open_states] = solved.clip(0.0, 1.0), error
    return Values(value, errors)


def expected_total(rates: csr_matrix, gain: np.ndarray, goal: np.ndarray, *, discrete: bool) -> Values:
    """Expected gain before the goal, infinite where the goal may never be reached.

    `gain` is per unit of time (per step of a discrete chain); goal states absorb.
    """
    sure = ~backward(rates, ~backward(rates, goal), ~goal)
    value = np.where(sure, 0.0, np.inf)
    errors = np.zeros(len(value))
    open_states = np.flatnonzero(sure & ~goal)
    if len(open_states):
        exits = np.asarray(rates.sum(axis=1)).ravel()[open_states]
        jumps = embedded(rates)[open_states].tocsr()
        right = gain[open_states] if discrete else gain[open_states] / exits
        value[open_states], errors[open_states] = _solve(jumps[:, open_states].tocsr(), right)
    return Values(value, errors)


def _solve(inner: csr_matrix, right: np.ndarray) -> tuple[np.ndarray, float]:
    """Solve (I − inner) x = right; return x and a bound of its error."""
    system = (eye(inner.shape[0], format="csr") - inner).tocsr()
    solver = splu(system.tocsc())
    solution = solver.solve(right)
    for _ in range(2):  # iterative refinement
        solution = solution + solver.solve(right - system @ solution)
    residual = np.abs(right - system @ solution).max(initial=0.0)
    size = np.abs(solution).max(initial=0.0)
    steps = np.abs(solver.solve(np.ones(len(right)))).max(initial=0.0)
    widest = int(np.diff(inner.indptr).max(initial=0)) + 2
    return solution, float(steps * (residual + widest * _UNIT * size * _UNIT) + widest * _UNIT * size)


@dataclass(frozen=True, eq=False)
class LongRun:
    components: tuple[np.ndarray, ...]
    """States of each bottom component."""
    distributions: tuple[np.ndarray, ...]
    """Their shares of the time in the long run."""


def long_run(rates: csr_matrix, *, discrete: bool) -> LongRun:
    """Find the bottom components, and the stationary distribution of each."""
    count, number = connected_components(rates, directed=True, connection="strong")
    source = np.repeat(np.arange(rates.shape[0]), np.diff(rates.indptr))
    leaves = np.zeros(count, bool)
    crossing = number[source] != number[rates.indices]
    leaves[number[source[crossing]]] = True
    components = tuple(np.flatnonzero(number == c) for c in np.flatnonzero(~leaves))
    return LongRun(components, tuple(_stationary(rates[c][:, c].tocsr(), discrete) for c in components))


def _stationary(rates: csr_matrix, discrete: bool) -> np.ndarray:
    size = rates.shape[0]
    if size == 1:
        return np.ones(1)
    exits = np.asarray(rates.sum(axis=1)).ravel()
    generator = (rates - (eye(size) if discrete else diags(exits))).T.tocsr()
    # Fix the first state's weight at 1 and solve for the others: no dense row, and a well-posed system.
    inner = generator[1:, 1:].tocsc()
    right = -generator[1:, 0].toarray().ravel()
    solver = splu(inner)
    others = solver.solve(right)
    others = others + solver.solve(right - inner @ others)
    weights = np.concatenate([[1.0], others.clip(min=0.0)])
    return weights / weights.sum()


def long_run_value(rates: csr_matrix, gain: np.ndarray, *, discrete: bool) -> Values:
    """Long-run average of a gain per unit of time, from every state."""
    found = long_run(rates, discrete=discrete)
    value, errors = np.zeros(rates.shape[0]), np.zeros(rates.shape[0])
    widest = int(np.diff(rates.indptr).max(initial=0)) + 2
    for states, shares in zip(found.components, found.distributions, strict=True):
        goal = np.zeros(rates.shape[0], bool)
        goal[states] = True
        average = float(shares @ gain[states])
        ends = reach_probability(rates, goal) if len(found.components) > 1 else Values(np.ones(len(value)), 0 * value)
        value += ends.values * average
        errors += ends.errors * abs(average) + ends.values * abs(average) * _UNIT * widest * len(states)
    return Values(value, errors)
