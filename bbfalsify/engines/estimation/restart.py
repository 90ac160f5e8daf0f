"""RESTART: runs are continued several times where they rise above a threshold (Villén-Altamirano 1991).

Region k holds the states at or above threshold k and below threshold k + 1.  A run that enters region k from below is
continued R_k times.  One of these goes on for ever; the others (retrials) end where they fall back below threshold k.
So a run in region k stands for 1 / (R_1 … R_k) of a plain run, and the estimate is unbiased whatever the R are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.estimation.levels import Levels
from bbfalsify.engines.estimation.path_sampler import PathSampler, Starts
from bbfalsify.modelling.language.folding import make_binary, make_unary
from bbfalsify.modelling.network.expressions import Kind

MOST_TRIALS = 2_000_000
"""Trials of one pass; more mean that the factors are too large."""
_RARE = 0.5


def thresholds(shares: list[tuple[int, float]]) -> list[tuple[int, int]]:
    """Thresholds with their numbers of trials, from the shares of a pilot: one for each halving, about 1/p trials."""
    split, reached = [], 1.0
    for level, share in shares[:-1]:
        reached *= share
        if 0 < reached <= _RARE:
            split.append((level, max(2, int(1 / reached))))
            reached = 1.0
    return split


def restart_pass(
    levels: Levels,
    split: list[tuple[int, int]],
    roots: int,
    rng: np.random.Generator,
    spend: Callable[[int], None],
    aims: dict[int, PathSampler],
) -> tuple[float, int, int]:
    """One pass from `roots` first runs: the estimate, runs made, distinct first runs that met the goal.

    `spend` is told the number of runs before they are made, and may raise BudgetSpent.  `aims` keeps what each region
    needs for the next pass.
    """
    places = np.array([level for level, _ in split], np.int64)
    factors = np.array([trials for _, trials in split], np.int64)
    weights = 1.0 / np.concatenate([[1.0], np.cumprod(factors.astype(float))])
    starts, rows = levels.sampler.start(), np.zeros(roots, np.int64)
    region, birth, line = np.zeros(roots, np.int64), np.zeros(roots, np.int64), np.arange(roots)
    value, runs, met_by = 0.0, 0, []
    while len(rows):
        states, alive = [], []
        for k in np.unique(region):
            mine = np.flatnonzero(region == k)
            spend(len(mine))
            runs += len(mine)
            if k not in aims:
                aims[k] = _leaving(levels, int(k), places)
            seeds = rng.integers(0, 2**64, size=len(mine), dtype=np.uint64)
            made = aims[k].runs(seeds, starts, rows[mine], ends=True)
            stopped = np.flatnonzero(made.met)
            ends = made.ends.chosen(stopped)
            goal = levels.goal_met(ends) if len(stopped) else np.zeros(0, bool)
            value += weights[k] * int(goal.sum())
            met_by.extend(line[mine[stopped[goal]]].tolist())
            states.append(ends.chosen(np.flatnonzero(~goal)))
            alive.append(mine[stopped[~goal]])
        ends, who = _joined(states), np.concatenate(alive)
        if not len(who):
            break
        if runs > MOST_TRIALS:  # what is still on its way would be missing in the estimate
            raise BudgetSpent(StopReason.BUDGET_SIMULATIONS)
        after = np.searchsorted(places, levels.scores(ends), side="right")
        starts, rows, region, birth, line = _continued(ends, region[who], after, birth[who], line[who], factors)
    return value / roots, runs, len(set(met_by))


def _continued(
    ends: Starts, before: np.ndarray, after: np.ndarray, birth: np.ndarray, line: np.ndarray, factors: np.ndarray
) -> tuple[Starts, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Trials that go on: originals, and retrials of every threshold that was crossed upwards."""
    lives = np.flatnonzero(after >= birth)
    rows, regions, births, lines = [lives], [after[lives]], [birth[lives]], [line[lives]]
    for k in range(1, len(factors) + 1):
        # Crossing several thresholds at once multiplies: the copies made at a lower one are copied at the next.
        crossing = [
            (row, region, born, from_line)
            for row, region, born, from_line in zip(rows, regions, births, lines, strict=True)
        ]
        for row, region, _, from_line in crossing:
            rises = np.flatnonzero((before[row] < k) & (region >= k))
            if len(rises):
                copies = np.repeat(rises, factors[k - 1] - 1)
                rows.append(row[copies])
                regions.append(region[copies])
                births.append(np.full(len(copies), k))
                lines.append(from_line[copies])
    return ends, np.concatenate(rows), np.concatenate(regions), np.concatenate(births), np.concatenate(lines)


def _leaving(levels: Levels, region: int, places: np.ndarray) -> PathSampler:
    """Runs until the goal is met, or the region is left."""
    goal = levels.sampler.path.goal
    if region < len(places):
        goal = make_binary("||", goal, levels.reached(int(places[region])), Kind.BOOL)
    if region > 0:
        below = make_unary("!", levels.reached(int(places[region - 1])), Kind.BOOL)
        goal = make_binary("||", goal, below, Kind.BOOL)
    return levels.sampler.aiming_at(goal)


def _joined(states: list[Starts]) -> Starts:
    return Starts(*(np.concatenate([getattr(one, name) for one in states])
                    for name in ("locations", "integers", "reals", "times", "steps")))  # fmt: skip
