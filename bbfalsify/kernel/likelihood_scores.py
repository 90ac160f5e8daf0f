"""Compute scores and likelihood ratios of recorded walks with respect to the profile's parameters.

Given the states it passed, a walk's density is a product over its steps, and each parameter enters in one place:

    choice     w/Σw          the winner's edge among its enabled output edges; the edge's branch among all branches
    race       λ·exp(−λ·a)   an exponential component that wins after `a` time units in which it had an enabled output
               exp(−λ·a)     one that loses

so the derivative of its logarithm with respect to the logarithm of a parameter (the *score*) is a sum of

    1{taken} − w/Σw    and    1{won} − λ·a

and multiplying a parameter by f changes the logarithm of the density by a sum of 1{taken}·ln f − ln(1 + (f − 1)·w/Σw)
and 1{won}·ln f − (f − 1)·λ·a, exactly.  Laws that no parameter enters (uniform delays, urgency, random updates, the
choice among receivers) cancel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.firing import weight_of
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import entry_point, inlined
from bbfalsify.kernel.ode import advance, values_at
from bbfalsify.kernel.races import component_windows, covers, exponential_rate, own_bound, urgent_moment, weight_at
from bbfalsify.kernel.refreshing import load_state, refresh
from bbfalsify.kernel.walk_frame import global_deadline
from bbfalsify.kernel.walk_results import Walk
from bbfalsify.kernel.walker import Walker, limits
from bbfalsify.modelling import Parameter


@inlined
def choice(scores, logarithms, factors, row, code, chosen, share):
    """Add an option with this share of the weights, chosen (1) or not (0)."""
    if code >= 0:
        scores[row, code] += chosen - share
        for f in range(len(factors)):
            change = chosen * math.log(factors[f]) - math.log1p((factors[f] - 1.0) * share)
            logarithms[row, code * len(factors) + f] += change


@inlined
def waiting(scores, logarithms, factors, row, code, won, expected):
    """Add an exponential wait of `expected` (rate times time) that ended with a win (1) or was cut short (0)."""
    if code >= 0:
        scores[row, code] += won - expected
        for f in range(len(factors)):
            logarithms[row, code * len(factors) + f] += won * math.log(factors[f]) - (factors[f] - 1.0) * expected


@inlined
def enabled_time(T, X, count, until):
    """Compute the time up to `until` in which some window of the (sorted) buffer was open."""
    total = 0.0
    reached = X[X_NOW]
    for k in range(count):
        low = max(X[T[H_X_WINDOWS] + 5 * k], reached)
        high = min(X[T[H_X_WINDOWS] + 5 * k + 2], until)
        if high > low:
            total += high - low
            reached = high
    return total


@inlined
def score_edges(T, F, S, X, R, count, e, t, edge_codes, factors, row, scores, logarithms):
    """Add the winner's choice among its enabled output edges."""
    timed = T[H_FLAGS] & FLAG_TIMED_WEIGHTS
    if timed:
        values_at(T, F, S, X, R, t)
    total = 0.0
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        if covers(X, w, t):
            code = T[T[H_EDGE_TABLE] + EDGE_WIDTH * int(X[w + 4]) + E_WEIGHT]
            total += weight_at(T, F, S, X, R, code, t, timed)
    if total <= 0.0:  # the draw was rounded out of every window: then it was no choice
        return
    for k in range(count):
        w = T[H_X_WINDOWS] + 5 * k
        if covers(X, w, t):
            g = int(X[w + 4])
            share = weight_at(T, F, S, X, R, T[T[H_EDGE_TABLE] + EDGE_WIDTH * g + E_WEIGHT], t, timed) / total
            choice(scores, logarithms, factors, row, edge_codes[g], 1.0 if g == e else 0.0, share)


@inlined
def score_branches(T, F, S, X, R, e, taken, branch_codes, factors, row, scores, logarithms):
    """Add the choice among the branches of the edge; weights are those before the updates."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    first = T[edge + E_BRANCHES]
    total = 0.0
    for b in range(T[edge + E_BRANCH_COUNT]):
        total += weight_of(T, F, S, X, R, T[first + BRANCH_WIDTH * b + B_WEIGHT])
    for b in range(T[edge + E_BRANCH_COUNT]):
        share = weight_of(T, F, S, X, R, T[first + BRANCH_WIDTH * b + B_WEIGHT]) / total
        code = branch_codes[(first - T[H_BRANCH_TABLE]) // BRANCH_WIDTH + b]
        choice(scores, logarithms, factors, row, code, 1.0 if b == taken else 0.0, share)


@entry_point
def score_batch(
    T, F, S, X, R, states_locations, states_integers, states_reals, states_time, largest, ode_step, chosen_edges,
    chosen_branches, moments, rows, edge_codes, branch_codes, location_codes, factors, scores, logarithms,
):  # fmt: skip
    """Add the scores of steps from these states, which fired at `moments`, to their rows."""
    for m in range(len(states_time)):
        time = states_time[m]
        load_state(T, F, S, X, R, states_locations, states_integers, states_reals, m, time, largest, ode_step)
        refresh(T, F, S, X, R, False)
        deadline, strict = global_deadline(T, F, S, X, R)
        e = chosen_edges[m]
        t = moments[m]
        row = rows[m]
        winner = T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_PROCESS]
        for p in range(T[H_PROCESSES]):
            here = S[T[H_S_LOCATIONS] + p]
            if T[T[H_LOCATION_TABLE] + LOCATION_WIDTH * here + L_OUTPUTS] == 0:
                continue
            if p != winner and location_codes[here] < 0:
                continue
            count = component_windows(T, F, S, X, R, p, deadline, strict)
            # Where time stands still, no component waits.
            if location_codes[here] >= 0 and deadline > time and own_bound(T, S, X, p) == math.inf:
                expected = exponential_rate(T, F, S, X, R, p) * enabled_time(T, X, count, t)
                won = 1.0 if p == winner and t < urgent_moment(T, S, X, count) else 0.0
                waiting(scores, logarithms, factors, row, location_codes[here], won, expected)
            if p == winner:
                score_edges(T, F, S, X, R, count, e, t, edge_codes, factors, row, scores, logarithms)
        if T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_BRANCH_COUNT] > 1:
            advance(T, F, S, X, R, t)  # weights of branches are those at the moment of firing
            score_branches(T, F, S, X, R, e, chosen_branches[m], branch_codes, factors, row, scores, logarithms)


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of n walks: one row each, one column per parameter."""

    scores: np.ndarray
    """[n, parameters]: derivative of the logarithm of the density by the logarithm of the parameter."""
    logarithms: np.ndarray
    """[n, parameters, factors]: change of that logarithm where the parameter is multiplied by the factor."""


def score_walks(
    model: CompiledModel, walks: Sequence[Walk], parameters: Sequence[Parameter], factors: Sequence[float] = ()
) -> Scores:
    """Compute the scores of walks drawn step by step (by particles, with their branches recorded)."""
    multipliers = np.array(factors, np.float64)
    scores = np.zeros((len(walks), len(parameters)))
    logarithms = np.zeros((len(walks), len(parameters) * len(multipliers)))
    steps = np.array([walk.steps for walk in walks], np.int64)
    if steps.sum() and parameters:
        branches = [walk.branches for walk in walks if walk.branches is not None]
        starts = [np.concatenate([[0.0], walk.times[:-1]]) for walk in walks]
        with np.errstate(over="ignore"):
            score_batch(
                *Walker.of(model).arrays, _joined([w.locations[:-1] for w in walks], np.int32),
                _joined([w.integers[:-1] for w in walks], np.int64), _joined([w.reals[:-1] for w in walks], np.float64),
                _joined(starts, np.float64), *limits(model), _joined([w.edges for w in walks], np.int32),
                _joined(branches, np.int32), _joined([w.times for w in walks], np.float64),
                np.repeat(np.arange(len(walks)), steps), *_codes(model, parameters), multipliers, scores, logarithms,
            )  # fmt: skip
    return Scores(scores, logarithms.reshape(len(walks), len(parameters), len(multipliers)))


def _joined(parts: Sequence[np.ndarray], kind: type) -> np.ndarray:
    return np.ascontiguousarray(np.concatenate(parts), kind)


def _codes(model: CompiledModel, parameters: Sequence[Parameter]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Map edge, branch and location numbers to the column of their parameter, or −1."""
    T, network = model.T, model.network
    branch_count = sum(len(e.branches) for p in network.processes for e in p.edges)
    location_count = sum(len(p.locations) for p in network.processes)
    edges, branches, locations = (
        np.full(n, -1, np.int64) for n in (len(model.edge_action), branch_count, location_count)
    )
    for column, parameter in enumerate(parameters):
        if parameter.edge is None:
            locations[T[T[H_FIRST_LOCATION] + parameter.process] + parameter.location] = column
            continue
        edge = model.edge_number(parameter.process, parameter.edge)
        if parameter.branch is None:
            edges[edge] = column
        else:
            first = T[T[H_EDGE_TABLE] + EDGE_WIDTH * edge + E_BRANCHES]
            branches[(first - T[H_BRANCH_TABLE]) // BRANCH_WIDTH + parameter.branch] = column
    return edges, branches, locations
