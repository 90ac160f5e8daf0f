"""Answer a formula of CSL on a chain, state by state, with bounds of the numerical error.

An inner formula is true, false or undecided in a state.  Both readings of the undecided states bound the value of an
outer one, because every path probability grows with the sets it mentions.  A bound that lies inside the numerical error
of a value leaves the formula undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from bbfalsify.chains.chain import Chain
from bbfalsify.chains.elimination import Reduced, reduced
from bbfalsify.chains.long_run import backward, expected_total, long_run_value, reach_probability
from bbfalsify.chains.lumping import classes_of, lump_rates
from bbfalsify.chains.uniformisation import ERROR, Values, accumulated, powers, transient
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.logic import csl
from bbfalsify.modelling import parse_condition, parse_expression
from bbfalsify.modelling.network.expressions import Expression

RELATIVE = 1e-10
"""Small probabilities are computed again until the truncation error is below this share of them."""
LEAST = 1e-290


@dataclass(frozen=True)
class Answer:
    """The answer in the initial state."""

    query: str
    value: float | None
    """The number; None for a Boolean combination of bounds."""
    low: float
    high: float
    verdict: bool | None
    """For formulas with a bound; None: undecided."""
    asks_number: bool
    states: int
    """States in which time passes; all states of a discrete chain."""
    lumped: int
    """States of the largest chain solved."""
    discrete: bool

    @property
    def method(self) -> str:
        kind = "discrete chain" if self.discrete else "Markov chain"
        lumped = f", lumped to {self.lumped}" if 0 < self.lumped < self.states else ""
        return f"{kind} of {self.states} states{lumped}"

    def estimate(self) -> Estimate | None:
        if self.value is None:
            return None
        return Estimate(self.value, self.low, self.high, 1.0, self.method, 0)


def answer_csl(chain: Chain, query: str | csl.Formula, *, file: str | None = None, line: int | None = None) -> Answer:
    """Answer a query in the initial state."""
    formula = csl.parse_csl(query, file=file, line=line) if isinstance(query, str) else query
    solver = Solver(chain, file, line)
    text = query if isinstance(query, str) else ""
    if isinstance(formula, csl.Probability | csl.LongRunShare | csl.Reward):
        low, high, value = (float(v[0]) for v in solver.bounds(formula))
        verdict = None if formula.bound is None else formula.bound.verdict(low, high)
        asks = formula.bound is None
        return Answer(text, value, low, high, verdict, asks, chain.lasting, solver.lumped, chain.discrete)
    certain, possible = solver.truth(formula)
    verdict = True if certain[0] else None if possible[0] else False
    return Answer(text, None, math.nan, math.nan, verdict, False, chain.lasting, solver.lumped, chain.discrete)


def _clipped(found: Values) -> tuple[np.ndarray, np.ndarray]:
    return (found.values - found.errors).clip(0.0, 1.0), (found.values + found.errors).clip(0.0, 1.0)


class Solver:
    """Values of formulas in all states of one chain."""

    def __init__(self, chain: Chain, file: str | None = None, line: int | None = None) -> None:
        self.chain, self.file, self.line = chain, file, line
        self.lumped = 0

    # --- formulas ----------------------------------------------------------------------------------------------------

    def truth(self, formula: csl.Formula) -> tuple[np.ndarray, np.ndarray]:
        """States in which the formula certainly and possibly holds."""
        match formula:
            case csl.Condition(text):
                holds = self.chain.values(self._condition(text)) != 0
                return holds, holds
            case csl.Negation(operand):
                certain, possible = self.truth(operand)
                return ~possible, ~certain
            case csl.Junction(operator, left, right):
                combine = np.logical_and if operator == "and" else np.logical_or
                pairs = zip(self.truth(left), self.truth(right), strict=True)
                certain, possible = (combine(a, b) for a, b in pairs)
                return certain, possible
        if formula.bound is None:
            raise UserError(Problem("a question '=?' cannot stand inside another formula; give it a bound.", self.file))
        low, high, _ = self.bounds(formula)
        verdicts = [formula.bound.verdict(float(a), float(b)) for a, b in zip(low, high, strict=True)]
        return np.array([v is True for v in verdicts]), np.array([v is not False for v in verdicts])

    def _condition(self, text: str) -> Expression:
        return parse_condition(text, self.chain.network, {}, file=self.file, line=self.line)

    def bounds(self, formula: csl.Operator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lower bound, upper bound and value of an operator in every state."""
        match formula:
            case csl.Probability(path, _):
                return self._path(path)
            case csl.LongRunShare(operand, _):
                return self._both(self.truth(operand), self._share)
        return self._reward(formula)

    def _both(
        self, sets: tuple[np.ndarray, np.ndarray], value: Callable[[np.ndarray], Values]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value for the states that certainly and for those that possibly satisfy an inner formula."""
        first = value(sets[0])
        low, high = _clipped(first)
        if not np.array_equal(*sets):
            high = _clipped(value(sets[1]))[1]
        return low, high, first.values

    # --- paths -------------------------------------------------------------------------------------------------------

    def _path(self, path: csl.Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        self._whole_steps(path.low, path.high)
        if isinstance(path, csl.Globally):
            until = csl.Until(None, csl.Negation(path.operand), path.low, path.high)
            low, high, value = self._path(until)
            return 1.0 - high, 1.0 - low, 1.0 - value
        if isinstance(path, csl.Next):
            return self._both(self.truth(path.operand), lambda goal: self._next(goal, path.low, path.high))
        everywhere = np.ones(self.chain.states, bool)
        left = (everywhere, everywhere) if path.left is None else self.truth(path.left)
        right = self.truth(path.right)
        first = self.until(left[0], right[0], path.low, path.high)
        low, high = _clipped(first)
        if not (np.array_equal(*left) and np.array_equal(*right)):
            high = _clipped(self.until(left[1], right[1], path.low, path.high))[1]
        return low, high, first.values

    def _whole_steps(self, *times: float) -> None:
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

    def _next(self, goal: np.ndarray, low: float, high: float) -> Values:
        """P(the next state in which time passes is in the goal, and the jump happens in [low, high])."""
        small = reduced(self.chain, np.zeros(self.chain.states, bool))
        target = goal[small.kept].astype(float)
        if self.chain.discrete:
            inner = small.rates @ target if low <= 1 <= high else 0.0 * target
        else:
            exits = np.asarray(small.rates.sum(axis=1)).ravel()
            scale = np.where(exits > 0, exits, 1.0)
            with np.errstate(over="ignore", invalid="ignore"):
                window = np.exp(-exits * low) - (np.exp(-exits * high) if high < math.inf else 0.0)
            inner = np.where(exits > 0, small.rates @ target / scale * window, 0.0)
        self.lumped = max(self.lumped, len(small.kept))
        return Values(small.arrive @ inner, small.arrive @ (np.abs(inner) * 1e-14))

    # --- long run and rewards ----------------------------------------------------------------------------------------

    def _share(self, goal: np.ndarray) -> Values:
        return self._long_run(goal.astype(float))

    def _long_run(self, gain: np.ndarray, impulse: bool = False) -> Values:
        small = reduced(self.chain, np.zeros(self.chain.states, bool))
        inner_gain = gain[small.kept] + (small.impulse if impulse else 0.0)
        inner = self._lumped(
            small, [inner_gain],
            lambda rates, value, _: long_run_value(rates, value, discrete=self.chain.discrete), inner_gain,
        )  # fmt: skip
        return Values(small.arrive @ inner.values, small.arrive @ inner.errors)

    def _reward(self, formula: csl.Reward) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        gain, impulse = self._gains(formula.name)
        if (gain < 0).any():
            raise UserError(Problem(f"the reward '{formula.name}' is negative in a reachable state.", self.file))
        self._whole_steps(formula.time)
        if formula.kind == "until" and formula.until is not None:
            sets = self.truth(formula.until)
            ways = [self._until_goal(gain, impulse, goal) for goal in dict.fromkeys(map(_frozen, sets))]
            lows, highs = zip(*((w.values - w.errors, w.values + w.errors) for w in ways), strict=True)
            return np.minimum.reduce(lows), np.maximum.reduce(highs), ways[0].values
        if formula.kind == "long run":
            found = self._long_run(gain, impulse)
        else:
            found = self._over_time(gain, impulse, formula)
        return found.values - found.errors, found.values + found.errors, found.values

    def _gains(self, name: str) -> tuple[np.ndarray, bool]:
        """The reward per unit of time in every state, and whether the costs of edges count."""
        if name == "cost":
            return self.chain.cost_rates(), True
        if name == "time":
            return np.ones(self.chain.states), False
        network = self.chain.network
        expression, _ = parse_expression(name, network, what=f"reward '{name}'")
        return self.chain.values(expression), False

    def _until_goal(self, gain: np.ndarray, impulse: bool, frozen: tuple[bytes, int]) -> Values:
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
        return self._until_goal(np.ones(self.chain.states), False, _frozen(goal))

    def long_run_cost(self) -> Values:
        """Cost per unit of time in the long run, from every state."""
        return self._long_run(self.chain.cost_rates(), impulse=True)

    def _over_time(self, gain: np.ndarray, impulse: bool, formula: csl.Reward) -> Values:
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


def _frozen(goal: np.ndarray) -> tuple[bytes, int]:
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
