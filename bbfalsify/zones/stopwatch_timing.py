"""Moments of a run in which clocks stop: a linear program.

The value of a clock is a sum of delays, those in which it ran since it was set.  So what the zones along a path require
is linear in the moments.  Strict bounds are kept by a common distance, which is made as large as possible.  The program
is solved in floating point; the exact interpreter decides whether its solution, rounded to fractions, is a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from bbfalsify.zones.dbm import INFINITE
from bbfalsify.zones.workspace import Details
from bbfalsify.zones.zone_tables import ZoneTables

SMALLEST = 1e-7
"""A common distance below this is none."""
_DENOMINATOR = 10_000
Value = dict[int, int]
"""Value of a clock as a sum of moments, each with a factor; CONSTANT is 1."""
CONSTANT = -1


class _Program:
    """Inequalities over the moments 1 … count − 1 (moment 0 is 0) and the distance."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rows: dict[tuple[tuple[int, int], ...], int] = {}
        """Left side → least bound, packed as in a matrix."""

    def at_most(self, left: Value, bound: int) -> None:
        bound -= 2 * left.get(CONSTANT, 0)
        key = tuple(sorted((moment, factor) for moment, factor in left.items() if moment > 0 and factor != 0))
        self.rows[key] = min(bound, self.rows.get(key, bound))

    def solved(self, scale: int) -> list[Fraction] | None:
        from scipy.optimize import linprog
        from scipy.sparse import coo_matrix

        if any(bound < 1 for key, bound in self.rows.items() if not key):
            return None
        rows = [(key, bound) for key, bound in self.rows.items() if key]
        entries = [(row, moment - 1, factor) for row, (key, _) in enumerate(rows) for moment, factor in key]
        strict = [row for row, (_, bound) in enumerate(rows) if bound & 1 == 0]
        last = self.count - 1  # column of the distance
        entries += [(row, last, 1) for row in strict]
        places, columns, factors = zip(*entries, strict=True)
        matrix = coo_matrix((factors, (places, columns)), shape=(len(rows), self.count))
        limits = np.array([bound >> 1 for _, bound in rows], float)
        goal = np.zeros(self.count)
        goal[last] = -1.0
        found = linprog(goal, A_ub=matrix.tocsr(), b_ub=limits, bounds=[(0, None)] * last + [(0, 1)], method="highs")
        if not found.success or (strict and found.x[last] < SMALLEST):
            return None
        return [Fraction(float(x)).limit_denominator(_DENOMINATOR) / scale for x in found.x[:last]]


def moments_with_stops(
    tables: ZoneTables, steps: Sequence[Details], end: np.ndarray, passes: bool, stopped: Sequence[int]
) -> list[Fraction] | None:
    """Moments of all steps and of the end; None if there are none."""
    count = len(steps) + 2  # moment 0 is the beginning, moment i + 1 that of step i
    program = _Program(count)
    reals = tables.network.initial_reals()
    values: list[Value] = [{}, *({CONSTANT: int(reals[slot] * tables.scale)} for slot in tables.slots[1:])]
    for now in range(1, count):
        program.at_most({now - 1: 1, now: -1}, 1)  # they are in this order
        if not passes:
            program.at_most({now: 1, now - 1: -1}, 1)
        for clock in range(1, tables.size):
            if not stopped[clock]:
                values[clock] = _sum(values[clock], {now: 1, now - 1: -1})
        if now == count - 1:
            _require(program, end, values)
            break
        step = steps[now - 1]
        _require(program, step.firing, values)
        values = [
            _sum(values[source] if source else {}, {CONSTANT: shift})
            for source, shift in zip(step.sources, step.shifts, strict=True)
        ]
        _require(program, step.entered, values)
        passes, stopped = step.passes, step.stopped
    return program.solved(tables.scale)


def _sum(a: Value, b: Value, sign: int = 1) -> Value:
    found = dict(a)
    for key, value in b.items():
        found[key] = found.get(key, 0) + sign * value
    return found


def _require(program: _Program, zone: np.ndarray, values: list[Value]) -> None:
    for i, j in zip(*np.nonzero(zone != INFINITE), strict=True):
        if i != j:
            program.at_most(_sum(values[i], values[j], -1), int(zone[i, j]))
