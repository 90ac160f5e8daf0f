"""Rare events by importance splitting with fixed effort (Garvels 2000; Paper D uses the same idea on words).

    level := score of the initial state
    repeat
        from the states in which level was reached, n runs until goal, or score > level
        p := share of the runs that succeed; level := level + 1
    until every success has met the goal
    P(goal) ≈ product of the p

A success that has met the goal stays one on all higher levels.  Each pass is independent of the others and unbiased, so
Student's interval over passes, on the logarithm's scale, is honest as long as passes do not die out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.path_sampler import PathSampler, Starts
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.kernel.exploration import DONE, evaluate_states
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.walker import Walker, limits
from bbfalsify.modelling import parse_expression
from bbfalsify.modelling.language.folding import make_binary
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.stats.intervals import t_interval

MOST_LEVELS = 10_000
FEW_ROOTS = 20


@dataclass
class Pass:
    value: float = 1.0
    levels: int = 0
    runs: int = 0
    roots: int = 0
    """Distinct first runs from which the successes descend."""


@dataclass
class Splitting:
    sampler: PathSampler
    settings: EstimateSettings
    seeds: SeedTree
    go_on: Callable[[], bool]
    passes: list[Pass] = field(default_factory=list)
    stopped: str | None = None

    def estimate(self) -> Estimate:
        """The probability of the goal, from independent passes."""
        network, text = self.sampler.network, self.settings.score or ""
        self.score, _ = parse_expression(text, network, what=f"score '{text}'")
        if self.score.kind is not Kind.INT:
            raise UserError(f"score '{text}' must be an integer: levels are its values.")
        self._levels: dict[int, PathSampler] = {}
        self._final = self.sampler.aiming_at(self.sampler.path.goal)
        for number in range(self.settings.passes):
            if number >= 2 and not self.go_on():
                self.stopped = f"the time was up after {number} passes"
                break
            self.passes.append(self._one(self.seeds.child("pass", number).rng()))
        values = np.array([one.value for one in self.passes])
        runs = sum(one.runs for one in self.passes)
        confidence = self.settings.confidence
        if not values.any():
            low, high, value = 0.0, 1.0, 1.0
        else:
            value = float(values.mean())
            low, high = t_interval(values, confidence)
            low, high = max(0.0, low), min(1.0, high)
        levels = max(one.levels for one in self.passes)
        method = f"splitting, fixed effort, {levels} levels, t over {len(values)} passes"
        return Estimate(value, low, high, confidence, method, runs)

    def warnings(self) -> list[str]:
        said = [] if self.stopped is None else [self.stopped]
        dead = sum(one.value == 0.0 for one in self.passes)
        if dead == len(self.passes):
            said.append("no pass reached the goal: nothing is known; does the score rise on the way to it?")
        elif dead:
            said.append(f"{dead} of {len(self.passes)} passes died out: the interval is too narrow; use more particles")
        roots = min((one.roots for one in self.passes if one.value > 0), default=0)
        if 0 < roots < FEW_ROOTS:
            said.append(f"only {roots} of {self.settings.particles} first runs have descendants: use more particles")
        return said

    def _one(self, rng: np.random.Generator) -> Pass:
        done, count = Pass(), self.settings.particles
        starts, roots = self.sampler.start(), np.arange(count)
        rows = np.zeros(count, np.int64)
        level = int(self._scores(starts)[0])
        while done.levels < MOST_LEVELS:
            level += 1
            done.levels += 1
            made = self._aiming_above(level).runs(
                rng.integers(0, 2**64, size=count, dtype=np.uint64), starts, rows, ends=True
            )
            done.runs += count
            successes = np.flatnonzero(made.met)
            done.value *= len(successes) / count
            if len(successes) == 0:
                return done
            ends, lines = made.ends.chosen(successes), roots[successes]
            if self._all_met(ends):
                done.roots = len(np.unique(lines))
                return done
            # Systematic: every success goes on nearly equally often.
            picks = np.floor((np.arange(count) + rng.random()) * len(successes) / count).astype(np.int64)
            starts, rows, roots = ends, picks, lines[picks]
        return done

    def _aiming_above(self, level: int) -> PathSampler:
        if level not in self._levels:
            reached = make_binary(">=", self.score, Constant(level, Kind.INT), Kind.BOOL)
            goal = make_binary("||", self.sampler.path.goal, reached, Kind.BOOL)
            self._levels[level] = self.sampler.aiming_at(goal)
        return self._levels[level]

    def _all_met(self, ends: Starts) -> bool:
        return bool(self._evaluated(self.sampler.path.goal, ends).all())

    def _scores(self, states: Starts) -> np.ndarray:
        return self._evaluated(self.score, states)

    def _evaluated(self, expression: Expression, states: Starts) -> np.ndarray:
        from dataclasses import replace

        model = self.sampler.model
        compiler = Compiler(model.network, first_address=len(model.T))
        compiler.constants, compiler.sites = list(model.F), list(model.sites)
        place = compiler.number(expression, "the score")
        model = replace(model, T=np.concatenate([model.T, np.array(compiler.code, np.int32)]),
                        F=np.array(compiler.constants or [0.0]), sites=tuple(compiler.sites))  # fmt: skip
        walker, numbers = Walker.of(model), np.zeros(len(states))
        with np.errstate(over="ignore"):
            outcome = evaluate_states(
                *walker.arrays, np.ascontiguousarray(states.locations), np.ascontiguousarray(states.integers),
                np.ascontiguousarray(states.reals), *limits(model), place, 1, numbers,
            )  # fmt: skip
        if outcome != DONE:
            raise UserError(f"the score fails: {walker.error()}.")
        return numbers
