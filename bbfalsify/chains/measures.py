"""Probabilities and expectations of sets of states of a chain, from every state, with bounds of the numerical error."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix

from bbfalsify.chains.chain import Chain
from bbfalsify.chains.elimination import Reduced, reduced
from bbfalsify.chains.long_run import backward, expected_total, long_run_value, reach_probability
from bbfalsify.chains.lumping import classes_of, lump_rates
from bbfalsify.chains.uniformisation import ERROR, Values, accumulated, powers, transient
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.logic import csl

RELATIVE = 1e-10
"""Small probabilities are computed again until the truncation error is below this share of them."""
LEAST = 1e-290


class Measures:
    """Numbers of one chain."""

    def __init__(self, chain: Chain, file: str | None = None, line: int | None = None) -> None:
        """`file` and `line` are the place of the query, for messages."""
        self.chain, self.file, self.line = chain, file, line
        self.lumped = 0
        """States of the largest chain solved."""

    def check_steps(self, *times: float) -> None:
        if self.chain.discrete and any(t != math.inf and t != int(t) for t in times):
            raise UserError(
                Problem("in this model nothing takes time: bounds count steps and must be whole.", self.file, self.line)
            )

    def until(self, left: np.ndarray, right: np.ndarray, low: float, high: float) -> Values:
        """P(left U[low, high] right) in every state."""
        absorbing = right | ~left
        after = self._arriving(absorbing, right.astype(float), high - low)
        if low == 0:
            return after
        inside = np.where(left, after.values, 0.0)
        before = self._arriving(~left, inside, low)
        return Values(before.values, before.errors + float(after.errors.max(initial=0.0)))

    def _arriving(self, absorbing: np.ndarray, value: np.ndarray, time: float) -> Values:
        """Expected value after `time` in the chain whose absorbing states keep theirs; inf: of ever having one."""
        small = reduced(self.chain, absorbing)

        def solve(rates: csr_matrix, inner: np.ndarray, first: np.ndarray) -> Values:
            if time == math.inf:
                return reach_probability(rates, inner > 0)
            if self.chain.discrete:
                return powers(rates, inner, int(time))
            possible = bool(backward(rates, inner > 0)[first].any())
            return _precisely(lambda error: transient(rates, inner, time, error=error), first, possible)

        inner = self._lumped(small, [value[small.kept], absorbing[small.kept]], solve, value[small.kept])
        return Values(small.arrive @ inner.values, small.arrive @ inner.errors)

    def _lumped(
        self,
        small: Reduced,
        classes: list[np.ndarray],
        solve: Callable[[csr_matrix, np.ndarray, np.ndarray], Values],
        value: np.ndarray,
    ) -> Values:
        """Solve on the chain lumped by `classes`, and give every state the value of its block.

        `solve` gets the rates and values of the blocks, and the blocks in which the chain starts.
        """
        quotient = lump_rates(small.rates, classes_of(*classes, size=len(small.kept)), discrete=self.chain.discrete)
        self.lumped = max(self.lumped, quotient.states)
        found = solve(quotient.rates, value[quotient.first], quotient.blocks[small.arrive[0].indices])
        return Values(found.values[quotient.blocks], found.errors[quotient.blocks])

    def next(self, goal: np.ndarray, low: float, high: float) -> Values:
        """P(the next state in which time passes is in the goal, and the jump happens in [low, high]).

        A jump may lead back into the same state.
        """
        small = reduced(self.chain, np.zeros(self.chain.states, bool))
        target = goal[small.kept].astype(float)
        if self.chain.discrete:
            inner = small.rates @ target if low <= 1 <= high else 0.0 * target
        else:
            exits = np.asarray(small.rates.sum(axis=1)).ravel() + small.again
            scale = np.where(exits > 0, exits, 1.0)
            window = np.exp(-exits * low) * -np.expm1(-scale * (high - low))
            inner = (small.rates @ target + small.again * target) / scale * window
        self.lumped = max(self.lumped, len(small.kept))
        return Values(small.arrive @ inner, small.arrive @ (np.abs(inner) * 1e-14))

    def long_run(self, gain: np.ndarray, impulse: bool = False) -> Values:
        small = reduced(self.chain, np.zeros(self.chain.states, bool))
        inner_gain = gain[small.kept] + (small.impulse if impulse else 0.0)
        inner = self._lumped(
            small, [inner_gain],
            lambda rates, value, _: long_run_value(rates, value, discrete=self.chain.discrete), inner_gain,
        )  # fmt: skip
        return Values(small.arrive @ inner.values, small.arrive @ inner.errors)

    def until_goal(self, gain: np.ndarray, impulse: bool, frozen: tuple[bytes, int]) -> Values:
        goal = np.frombuffer(frozen[0], bool)
        small = reduced(self.chain, goal)
        inner_gain = gain[small.kept] + (small.impulse if impulse else 0.0)
        inner_goal = goal[small.kept]
        inner_gain = np.where(inner_goal, 0.0, inner_gain)

        quotient = lump_rates(
            small.rates, classes_of(inner_gain, inner_goal, size=len(small.kept)), discrete=self.chain.discrete
        )
        self.lumped = max(self.lumped, quotient.states)
        found = expected_total(
            quotient.rates, inner_gain[quotient.first], inner_goal[quotient.first], discrete=self.chain.discrete
        )
        spread = _mixed(small, found.values[quotient.blocks]) + (small.before if impulse else 0.0)
        return Values(spread, _mixed(small, found.errors[quotient.blocks]))

    def expected_time(self, goal: np.ndarray) -> Values:
        """Mean time until the goal, from every state."""
        return self.until_goal(np.ones(self.chain.states), False, frozen(goal))

    def long_run_cost(self) -> Values:
        """Cost per unit of time in the long run, from every state."""
        return self.long_run(self.chain.cost_rates(), impulse=True)

    def over_time(self, gain: np.ndarray, impulse: bool, formula: csl.Reward) -> Values:
        small = reduced(self.chain, np.zeros(self.chain.states, bool))
        at_once = impulse and formula.kind == "up to"
        inner_gain = gain[small.kept] + (small.impulse if at_once else 0.0)

        def solve(rates: csr_matrix, value: np.ndarray, first: np.ndarray) -> Values:
            if not self.chain.discrete:
                law = accumulated if formula.kind == "up to" else transient
                return law(rates, value, formula.time)
            if formula.kind == "at":
                return powers(rates, value, int(formula.time))
            total, current = np.zeros(len(value)), value.astype(float)
            for _ in range(int(formula.time)):
                total, current = total + current, rates @ current
            return Values(total, np.abs(total) * 1e-15 * (formula.time + 8))

        inner = self._lumped(small, [inner_gain], solve, inner_gain)
        spread = small.arrive @ inner.values + (small.before if at_once else 0.0)
        return Values(spread, small.arrive @ inner.errors)


def frozen(goal: np.ndarray) -> tuple[bytes, int]:
    return goal.tobytes(), len(goal)


def _mixed(small: Reduced, values: np.ndarray) -> np.ndarray:
    """arrive @ values, where 0 · ∞ is 0."""
    infinite = np.isinf(values)
    mixed = small.arrive @ np.where(infinite, 0.0, values)
    return np.where(small.arrive @ infinite.astype(float) > 0, np.inf, mixed)


def _precisely(solve: Callable[[float], Values], first: np.ndarray, possible: bool) -> Values:
    """Solve again with a smaller truncation error while that is not small beside the values in the first states.

    `possible`: the graph says that some of these values is positive, however small.
    """
    error = ERROR
    while True:
        found = solve(error)
        positive = found.values[first][found.values[first] > 0]
        smallest = float(positive.min()) if len(positive) else 0.0
        if error <= LEAST or error <= RELATIVE * smallest or (smallest == 0.0 and not possible):
            return found
        error = max(LEAST, RELATIVE * smallest / 10 if smallest else error**2)
