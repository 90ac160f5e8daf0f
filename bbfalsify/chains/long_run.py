"""Unbounded and long-run values of a chain: sparse solves after a look at its graph.

States that cannot reach the goal, and those that surely do, are found in the graph; only the rest is solved.  The error
of a solution x of (I − P) x = b is at most (I − P)⁻¹ times its residual and the rounding of that, state by state, as
(I − P)⁻¹ has no negative entries: one more solve.  Where that leaves too few digits, because rates lie far apart, the
system is solved again without subtractions (`positive_elimination.py`).  The long run is that of the bottom components,
weighted by the probabilities of ending in them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags, eye
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import splu

from bbfalsify.chains.positive_elimination import MOST, relative_error, solve_positive, stationary_weights
from bbfalsify.chains.uniformisation import Values
from bbfalsify.core.errors import UserError

_UNIT = 2.0**-52
_ENOUGH = 1e-12
"""Relative error that is not improved."""


def embedded(rates: csr_matrix) -> csr_matrix:
    """Probabilities of the next jump; a state without transitions stays."""
    exits = np.asarray(rates.sum(axis=1)).ravel()
    scale = np.where(exits > 0, exits, 1.0)
    return (diags(1.0 / scale) @ rates + diags((exits == 0).astype(float))).tocsr()


def backward(rates: csr_matrix, goal: np.ndarray, through: np.ndarray | None = None) -> np.ndarray:
    """States that can reach the goal, all states before it in `through` (None: any)."""
    count, edges = len(goal), rates.tocoo()
    used = edges.data > 0 if through is None else (edges.data > 0) & through[edges.row]
    goals = np.flatnonzero(goal)
    # Edges turned round, and a state from which one comes to every goal.
    sources = np.concatenate([edges.col[used], np.full(len(goals), count)])
    targets = np.concatenate([edges.row[used], goals])
    graph = csr_matrix((np.ones(len(sources)), (sources, targets)), (count + 1, count + 1))
    found = np.zeros(count + 1, bool)
    found[breadth_first_order(graph, count, return_predecessors=False)] = True
    return found[:count]


def reach_probability(rates: csr_matrix, goal: np.ndarray) -> Values:
    """Probability of ever reaching the goal, from every state; goal states absorb."""
    possible = backward(rates, goal)
    certain = ~backward(rates, ~possible, ~goal)
    value = certain.astype(float)
    open_states = np.flatnonzero(possible & ~certain)
    errors = np.zeros(len(value))
    if len(open_states):
        jumps = embedded(rates)[open_states].tocsr()
        inner = jumps[:, open_states].tocsr()
        out = jumps[:, np.flatnonzero(~possible | certain)]
        solved, error = _solve(inner, np.asarray(out.sum(axis=1)).ravel(), jumps @ value)
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
        inner, away = jumps[:, open_states].tocsr(), np.asarray(jumps[:, np.flatnonzero(goal)].sum(axis=1)).ravel()
        value[open_states], errors[open_states] = _solve(inner, away, right)
    return Values(value, errors)


def _solve(inner: csr_matrix, away: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve (I − inner) x = right and bound the error of each number; `away` is the rest of the rows of `inner`."""
    solution, error = _by_factors((eye(inner.shape[0], format="csr") - inner).tocsr(), right)
    if (error <= _ENOUGH * np.abs(solution)).all() or inner.shape[0] > MOST:
        return _known(solution, error)
    sides = np.stack([right.clip(min=0.0), (-right).clip(min=0.0)], axis=1)
    exact = np.zeros(sides.shape)
    with np.errstate(over="ignore"):
        solve_positive(inner.toarray(), away.copy(), sides, exact)
        bound = relative_error(len(right)) * exact.sum(axis=1)
    better = ~(error <= bound)
    return _known(np.where(better, exact[:, 0] - exact[:, 1], solution), np.where(better, bound, error))


def _by_factors(system: csr_matrix, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve by sparse factors and bound the errors, for an inverse without negative entries; infinite if unknown."""
    widest = int(np.diff(system.indptr).max(initial=0)) + 4
    sizes = abs(system)
    with np.errstate(all="ignore"):
        try:
            solver = splu(system.tocsc())
        except RuntimeError:  # singular, up to rounding
            return np.zeros(len(right)), np.full(len(right), np.inf)
        solution = solver.solve(right)
        for _ in range(2):  # iterative refinement
            solution = solution + solver.solve(right - system @ solution)
        residual = np.abs(right - system @ solution) + widest * _UNIT * (sizes @ np.abs(solution) + np.abs(right))
        error = solver.solve(residual)
        # The system times this error is at least half of the residual, so twice the error is a bound.
        missing = np.abs(system @ error - residual) + widest * _UNIT * (sizes @ np.abs(error))
        confirmed = np.isfinite(solution).all() and (error >= 0).all() and (missing <= residual / 2).all()
    return (solution, 2 * error) if confirmed else (np.zeros(len(right)), np.full(len(right), np.inf))


def _known(solution: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not (np.isfinite(solution) & np.isfinite(error)).all():
        raise UserError("the rates of this chain lie so far apart that floating-point numbers cannot hold its answer.")
    return solution, error


@dataclass(frozen=True, eq=False)
class LongRun:
    components: tuple[np.ndarray, ...]
    """States of each bottom component."""
    distributions: tuple[np.ndarray, ...]
    """Their shares of the time in the long run."""
    errors: tuple[np.ndarray, ...]


def long_run(rates: csr_matrix) -> LongRun:
    """Find the bottom components, and the stationary distribution of each."""
    count, number = connected_components(rates, directed=True, connection="strong")
    source = np.repeat(np.arange(rates.shape[0]), np.diff(rates.indptr))
    leaves = np.zeros(count, bool)
    crossing = number[source] != number[rates.indices]
    leaves[number[source[crossing]]] = True
    components = tuple(np.flatnonzero(number == c) for c in np.flatnonzero(~leaves))
    found = [_stationary(rates[c][:, c].tocsr()) for c in components]
    return LongRun(components, tuple(shares for shares, _ in found), tuple(errors for _, errors in found))


def _stationary(rates: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the time in the long run, and bounds of their errors."""
    size = rates.shape[0]
    if size == 1:
        return np.ones(1), np.zeros(1)
    if size <= MOST:
        weights = np.zeros(size)
        stationary_weights(rates.toarray(), weights)
        shares = weights / weights.sum()
        return shares, 2 * relative_error(size) * shares
    exits = np.asarray(rates.sum(axis=1)).ravel() - rates.diagonal()
    flows = (diags(exits + rates.diagonal()) - rates).T.tocsr()
    weights, errors = np.ones(size), np.zeros(size)
    for _ in range(3):  # the others relative to the heaviest state: relative to a rare one they would lose their digits
        heaviest = int(weights.argmax())
        rest = np.flatnonzero(np.arange(size) != heaviest)
        weights[heaviest], errors[heaviest] = 1.0, 0.0
        inner, right = flows[rest][:, rest].tocsr(), -flows[rest, heaviest].toarray().ravel()
        weights[rest], errors[rest] = _known(*_by_factors(inner, right))
        if weights.argmax() == heaviest:
            break
    total = weights.sum()
    return weights.clip(min=0.0) / total, (errors + weights.clip(min=0.0) * (errors.sum() / total)) / total


def long_run_value(rates: csr_matrix, gain: np.ndarray, *, discrete: bool) -> Values:
    """Long-run average of a gain per unit of time, from every state."""
    found = long_run(rates)
    value, errors = np.zeros(rates.shape[0]), np.zeros(rates.shape[0])
    widest = int(np.diff(rates.indptr).max(initial=0)) + 2
    for states, shares, doubt in zip(found.components, found.distributions, found.errors, strict=True):
        goal = np.zeros(rates.shape[0], bool)
        goal[states] = True
        average = float(shares @ gain[states])
        ends = reach_probability(rates, goal) if len(found.components) > 1 else Values(np.ones(len(value)), 0 * value)
        value += ends.values * average
        size = np.abs(gain[states])
        wrong = float(doubt @ size + (len(states) + widest) * _UNIT * (shares @ size))
        errors += ends.errors * (abs(average) + wrong) + ends.values * wrong
    return Values(value, errors)
