"""Rare events of models by importance splitting over the levels of a score, in three variants.

fixed_effort    level := score of the initial state                                   (Garvels 2000)
                repeat
                    from the states in which level was reached, n runs until goal, or score > level
                    p := share of the runs that succeed; level := level + 1
                until every success has met the goal
                P(goal) ≈ product of the p
adaptive        the same, but level := the highest that a fifth of some probing runs reach; n others, from the same
                states, then count                                                    (Cérou and Guyader 2007)
restart         a run that rises to level k is continued R_k times; all but one of the copies end where they
                fall below it; each meeting of the goal counts 1 / (R_1 … R_k)        (Villén-Altamirano 1991)

A success that has met the goal stays one on all higher levels.  Passes are independent.  Each is unbiased (adaptive,
because runs that chose a level do not count for it), so Student's interval over passes, on the logarithm's scale and
with the upper limit of a gamma law, is honest as long as passes do not die out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.estimate import NONE_SEEN, NOT_ESTIMATED, Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.estimation.levels import Levels
from bbfalsify.engines.estimation.path_sampler import PathSampler, Runs, Starts
from bbfalsify.engines.estimation.plain_rule import MOST_RUNS
from bbfalsify.engines.estimation.restart import restart_pass, thresholds
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.stats.intervals import clopper_pearson, skewed_interval

MOST_LEVELS = 10_000
FEW_ROOTS = 20
ENOUGH = 0.2
"""Share of the probing runs that must reach the next level of an adaptive pass."""
PROBES = 20
"""Fewest probing runs."""


@dataclass
class Pass:
    value: float = 1.0
    levels: int = 0
    runs: int = 0
    roots: int = 0
    """Distinct first runs from which the successes descend."""
    shares: list[tuple[int, float]] = field(default_factory=list)
    """Each level with the share of the runs that reached it."""


@dataclass(frozen=True)
class PassPlan:
    """How many passes are made."""

    passes: int
    go_on: Callable[[], bool]
    relative: float | None = None
    """Wanted half width as a share of the value; None: as many passes as said, whatever the width."""
    most_runs: int = MOST_RUNS


@dataclass
class Passes:
    """Independent passes of splitting, and what they say together."""

    particles: int
    confidence: float
    done: list[Pass] = field(default_factory=list)
    stopped: str | None = None
    pilot_runs: int = 0
    independent_roots: bool = False
    """What descends from different first runs stays different: they bound the variance from below."""

    def make(self, plan: PassPlan, one: Callable[[int], Pass]) -> None:
        """Make passes; with a relative precision twice as many, again and again, until it is reached."""
        count = plan.passes
        while self.stopped is None and len(self.done) < count:
            self._make(count, one, plan.go_on)
            if self.stopped is None and plan.relative is not None and not self._precise(plan.relative):
                fit = len(self.done) * plan.most_runs // max(1, sum(one.runs for one in self.done))
                count = min(2 * len(self.done), fit)
                if count <= len(self.done):
                    self.stopped = f"stopped after {len(self.done)} passes, before the precision was reached"

    def _make(self, count: int, one: Callable[[int], Pass], go_on: Callable[[], bool]) -> None:
        for number in range(len(self.done), count):
            if number >= 2 and not go_on():
                self.stopped = f"the time was up after {number} passes"
                break
            try:
                self.done.append(one(number))
            except BudgetSpent as spent:
                self.stopped = f"stopped in pass {number + 1} ({spent.reason.value})"
                break

    def _precise(self, relative: float) -> bool:
        values = np.array([one.value for one in self.done])
        if not values.any():
            return True  # more passes would hardly find what none has found; the warning says what to change
        low, high = self._interval(values)
        return bool(high - low <= 2 * relative * values.mean())

    def _interval(self, values: np.ndarray) -> tuple[float, float]:
        """Student's over the passes, for skewed ones.

        The sum of n independent numbers of which only a share q is positive has a relative variance of at least
        (1 − q) / (q n): passes of few roots often agree better than that, and covered in 93 % instead of 95 %.
        """
        hits = sum(one.roots for one in self.done) if self.independent_roots else 0
        runs = self.particles * len(self.done)
        if values.min() == 1.0:  # all of the first, independent runs
            return clopper_pearson(runs, runs, self.confidence)
        least = 1 / hits - 1 / runs if hits else 0.0
        return skewed_interval(values, self.confidence, max(0.0, least))

    @property
    def roots(self) -> int:
        """The fewest distinct first runs of a pass that met the goal."""
        return min((one.roots for one in self.done if one.value > 0), default=0)

    def estimate(self, variant: str) -> Estimate:
        if len(self.done) < 2:
            made = self.pilot_runs + sum(one.runs for one in self.done)
            return Estimate(1.0, 0.0, 1.0, self.confidence, NOT_ESTIMATED, made)
        values = np.array([one.value for one in self.done])
        runs = self.pilot_runs + sum(one.runs for one in self.done)
        levels = max(one.levels for one in self.done)
        method = (
            f"splitting, {variant.replace('_', ' ')}, {levels} level{'s' * (levels != 1)}, t over {len(values)} passes"
        )
        if not values.any():
            return Estimate(0.0, 0.0, 1.0, self.confidence, f"{method}, {NONE_SEEN}", runs, none_seen=True)
        low, high = self._interval(values)
        return Estimate(float(values.mean()), max(0.0, low), min(1.0, high), self.confidence, method, runs)

    def warnings(self) -> list[str]:
        said = [] if self.stopped is None else [self.stopped]
        if len(self.done) < 2:
            return said
        dead = sum(one.value == 0.0 for one in self.done)
        if dead == len(self.done):
            said.append("no pass reached the goal: nothing is known; does the score rise on the way to it?")
        elif dead:
            said.append(f"{dead} of {len(self.done)} passes died out: the interval is too narrow; use more particles")
        if 0 < self.roots < FEW_ROOTS:
            said.append(f"only {self.roots} of {self.particles} first runs have descendants: use more particles")
        return said


@dataclass
class Splitting:
    sampler: PathSampler
    settings: EstimateSettings
    seeds: SeedTree
    go_on: Callable[[], bool]

    def __post_init__(self) -> None:
        self.passes = Passes(self.settings.particles, self.settings.confidence)
        self._left = self.settings.runs or MOST_RUNS

    def estimate(self) -> Estimate:
        """The probability of the goal, from independent passes; what is cut off by the budget does not count."""
        self._levels = Levels(self.sampler, self.settings.score or "")
        one: Callable[[int], Pass]
        if self.settings.splitting == "restart":
            try:
                pilot = self._one(self.seeds.child("pilot").rng())
            except BudgetSpent as spent:
                self.passes.stopped = f"stopped in the pilot pass ({spent.reason.value})"
                return self._counted()
            self.passes.independent_roots = True
            split = thresholds(pilot.shares)
            aims: dict[int, PathSampler] = {}

            def one(number: int) -> Pass:
                rng = self.seeds.child("pass", number).rng()
                particles = self.settings.particles
                value, runs, roots = restart_pass(self._levels, split, particles, rng, self._spend, aims)
                return Pass(value, len(split), runs, roots)

        else:

            def one(number: int) -> Pass:
                return self._one(self.seeds.child("pass", number).rng())

        settings = self.settings
        plan = PassPlan(settings.passes, self.go_on, settings.relative, settings.runs or MOST_RUNS)
        self.passes.make(plan, one)
        return self._counted()

    def _counted(self) -> Estimate:
        """The estimate, with all runs that were made, also for a pilot or a pass that was cut off."""
        made = (self.settings.runs or MOST_RUNS) - self._left
        return replace(self.passes.estimate(self.settings.splitting), samples=made)

    def warnings(self) -> list[str]:
        said, done = self.passes.warnings(), [one for one in self.passes.done if one.value > 0]
        # The last level is the goal itself, which RESTART does not count.
        if done and max(one.levels for one in done) <= (self.settings.splitting != "restart"):
            said.append(
                "no run was stopped before the goal, so this is plain simulation: does the score rise on the way?"
            )
        return said

    def _one(self, rng: np.random.Generator) -> Pass:
        done, count = Pass(), self.settings.particles
        starts, roots = self.sampler.start(), np.arange(count)
        rows = np.zeros(count, np.int64)
        level = self._levels.first
        while done.levels < MOST_LEVELS:
            done.levels += 1
            level += 1
            if self.settings.splitting == "adaptive":
                level = self._probed(level, starts, rows, rng, done)
            made = self._until(level, starts, rows, rng, done)
            successes = np.flatnonzero(made.met)
            done.value *= len(successes) / count
            done.shares.append((level, len(successes) / count))
            if len(successes) == 0:
                return done
            ends, lines = made.ends.chosen(successes), roots[successes]
            if self._levels.goal_met(ends).all():
                done.roots = len(np.unique(lines))
                return done
            # Systematic: every success goes on nearly equally often.
            picks = np.floor((np.arange(count) + rng.random()) * len(successes) / count).astype(np.int64)
            starts, rows, roots = ends, picks, lines[picks]
        return done

    def _spend(self, runs: int) -> None:
        if not self.go_on():
            raise BudgetSpent(StopReason.BUDGET_TIME)
        if runs > self._left:
            raise BudgetSpent(StopReason.BUDGET_SIMULATIONS)
        self._left -= runs

    def _until(self, level: int, starts: Starts, rows: np.ndarray, rng: np.random.Generator, done: Pass) -> Runs:
        """A run from each of these states, until it reaches the level."""
        self._spend(len(rows))
        done.runs += len(rows)
        seeds = rng.integers(0, 2**64, size=len(rows), dtype=np.uint64)
        return self._levels.aiming_at(level).runs(seeds, starts, rows, ends=True)

    def _probed(self, level: int, starts: Starts, rows: np.ndarray, rng: np.random.Generator, done: Pass) -> int:
        """The level, or the highest of further ones that enough of the probing runs reach."""
        some = rng.choice(rows, max(PROBES, len(rows) // 4))
        step = 1
        while True:
            made = self._until(level + step, starts, some, rng, done)
            if made.met.mean() < ENOUGH:
                return level + step // 2
            if self._levels.goal_met(made.ends.chosen(np.flatnonzero(made.met))).all():
                return level + step
            step *= 2
