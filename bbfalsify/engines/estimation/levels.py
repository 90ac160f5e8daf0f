"""Levels of a score: an integer expression over a model that rises on the way to the goal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.engines.estimation.path_sampler import PathSampler, Starts
from bbfalsify.kernel.exploration import DONE, evaluate_states
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.walker import Walker, limits
from bbfalsify.modelling import parse_expression
from bbfalsify.modelling.language.folding import make_binary
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind


class Levels:
    """The runs of a sampler, stopped at levels of a score."""

    def __init__(self, sampler: PathSampler, text: str) -> None:
        self.sampler = sampler
        self.score, _ = parse_expression(text, sampler.network, what=f"score '{text}'")
        if self.score.kind is not Kind.INT:
            raise UserError(f"score '{text}' must be an integer: levels are its values.")
        self._aiming: dict[int, PathSampler] = {}
        self._evaluating: dict[Expression, tuple[Walker, int]] = {}

    @property
    def first(self) -> int:
        """The score of the initial state."""
        return int(self.scores(self.sampler.start())[0])

    def reached(self, level: int) -> Expression:
        return make_binary(">=", self.score, Constant(level, Kind.INT), Kind.BOOL)

    def aiming_at(self, level: int) -> PathSampler:
        """Runs until the goal is met, or the level is reached."""
        if level not in self._aiming:
            goal = make_binary("||", self.sampler.path.goal, self.reached(level), Kind.BOOL)
            self._aiming[level] = self.sampler.aiming_at(goal)
        return self._aiming[level]

    def goal_met(self, states: Starts) -> np.ndarray:
        return self._evaluated(self.sampler.path.goal, states) != 0

    def scores(self, states: Starts) -> np.ndarray:
        return self._evaluated(self.score, states)

    def _evaluated(self, expression: Expression, states: Starts) -> np.ndarray:
        walker, place = self._compiled(expression)
        numbers = np.zeros(len(states))
        with np.errstate(over="ignore"):
            outcome = evaluate_states(
                *walker.arrays, np.ascontiguousarray(states.locations), np.ascontiguousarray(states.integers),
                np.ascontiguousarray(states.reals), *limits(walker.model), place, 1, numbers,
            )  # fmt: skip
        if outcome != DONE:
            raise UserError(f"the score fails: {walker.error()}.")
        return numbers

    def _compiled(self, expression: Expression) -> tuple[Walker, int]:
        """The model with the code of the expression, and where that begins."""
        if expression not in self._evaluating:
            model = self.sampler.model
            compiler = Compiler(model.network, first_address=len(model.T))
            compiler.constants, compiler.sites = list(model.F), list(model.sites)
            place = compiler.number(expression, "the score")
            model = replace(model, T=np.concatenate([model.T, np.array(compiler.code, np.int32)]),
                            F=np.array(compiler.constants or [0.0]), sites=tuple(compiler.sites))  # fmt: skip
            self._evaluating[expression] = Walker.of(model), place
        return self._evaluating[expression]
