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

from bbfalsify.chains.chain import Chain
from bbfalsify.chains.measures import Measures, frozen
from bbfalsify.chains.uniformisation import Values
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.logic import csl
from bbfalsify.modelling import parse_condition, parse_expression
from bbfalsify.modelling.network.expressions import Expression


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
        value = min(max(value, low), high)
        verdict = None if formula.bound is None else formula.bound.verdict(low, high)
        asks = formula.bound is None
        return Answer(text, value, low, high, verdict, asks, chain.lasting, solver.lumped, chain.discrete)
    certain, possible = solver.truth(formula)
    verdict = True if certain[0] else None if possible[0] else False
    return Answer(text, None, math.nan, math.nan, verdict, False, chain.lasting, solver.lumped, chain.discrete)


def _clipped(found: Values) -> tuple[np.ndarray, np.ndarray]:
    return (found.values - found.errors).clip(0.0, 1.0), (found.values + found.errors).clip(0.0, 1.0)


class Solver(Measures):
    """Values of formulas in all states of one chain."""

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
                return self._both(self.truth(operand), lambda goal: self.long_run(goal.astype(float)))
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
        self.check_steps(path.low, path.high)
        if isinstance(path, csl.Globally):
            until = csl.Until(None, csl.Negation(path.operand), path.low, path.high)
            low, high, value = self._path(until)
            return 1.0 - high, 1.0 - low, 1.0 - value
        if isinstance(path, csl.Next):
            return self._both(self.truth(path.operand), lambda goal: self.next(goal, path.low, path.high))
        everywhere = np.ones(self.chain.states, bool)
        left = (everywhere, everywhere) if path.left is None else self.truth(path.left)
        right = self.truth(path.right)
        first = self.until(left[0], right[0], path.low, path.high)
        low, high = _clipped(first)
        if not (np.array_equal(*left) and np.array_equal(*right)):
            high = _clipped(self.until(left[1], right[1], path.low, path.high))[1]
        return low, high, first.values

    # --- long run and rewards ----------------------------------------------------------------------------------------

    def _reward(self, formula: csl.Reward) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        gain, impulse = self._gains(formula.name)
        if (gain < 0).any():
            raise UserError(Problem(f"the reward '{formula.name}' is negative in a reachable state.", self.file))
        self.check_steps(formula.time)
        if formula.kind == "until" and formula.until is not None:
            sets = self.truth(formula.until)
            ways = [self.until_goal(gain, impulse, goal) for goal in dict.fromkeys(map(frozen, sets))]
            lows, highs = zip(*((w.values - w.errors, w.values + w.errors) for w in ways), strict=True)
            return np.minimum.reduce(lows), np.maximum.reduce(highs), ways[0].values
        if formula.kind == "long run":
            found = self.long_run(gain, impulse)
        else:
            found = self.over_time(gain, impulse, formula)
        return (found.values - found.errors).clip(min=0.0), found.values + found.errors, found.values

    def _gains(self, name: str) -> tuple[np.ndarray, bool]:
        """The reward per unit of time in every state, and whether the costs of edges count."""
        if name == "cost":
            return self.chain.cost_rates(), True
        if name == "time":
            return np.ones(self.chain.states), False
        network = self.chain.network
        expression, _ = parse_expression(name, network, what=f"reward '{name}'")
        return self.chain.values(expression), False
