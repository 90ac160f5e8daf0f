"""Random runs of a model that are judged by a path."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.engines.estimation.questions import Path
from bbfalsify.kernel import CompiledModel, compile_network
from bbfalsify.kernel import path_walks as kernel
from bbfalsify.kernel.races import refuse_handshakes
from bbfalsify.kernel.target_search import Target
from bbfalsify.kernel.tilts import Tilts
from bbfalsify.kernel.walker import Walker, error_message, initial_state, limits
from bbfalsify.modelling import Network
from bbfalsify.modelling.network.expressions import Expression


@dataclass(frozen=True, eq=False)
class Starts:
    """States from which runs go on."""

    locations: np.ndarray
    integers: np.ndarray
    reals: np.ndarray
    times: np.ndarray
    steps: np.ndarray
    """Steps that were made to come there."""

    def __len__(self) -> int:
        return len(self.times)

    def chosen(self, rows: np.ndarray) -> Starts:
        return Starts(self.locations[rows], self.integers[rows], self.reals[rows], self.times[rows], self.steps[rows])


@dataclass(frozen=True, eq=False)
class Runs:
    met: np.ndarray
    """Runs that met the goal."""
    endless: int
    """Runs that made too many steps to be judged."""
    ends: Starts
    """States in which the goal was met; rows of other runs have no meaning."""
    bins: np.ndarray
    """How often each run fell into the bins of its tilts."""
    steps: int
    """Steps of all runs together, with those made to come to their starts."""


class PathSampler:
    """Runs of one model, judged by one path."""

    def __init__(self, network: Network, path: Path, most_steps: int) -> None:
        self.model: CompiledModel = compile_network(network)
        refuse_handshakes(self.model)
        self.network, self.path, self.most_steps = network, path, most_steps
        self._compile(path.goal)

    def _compile(self, goal: Expression) -> None:
        target = Target(self.model, goal)
        self.goal = target.goal
        extended, self.avoid = target.model, np.full_like(target.goal, -1)
        if self.path.avoid is not None:
            second = Target(extended, self.path.avoid)
            extended, self.avoid = second.model, second.goal
        self.walker = Walker.of(extended)
        self.tilts: Tilts | None = None

    def aiming_at(self, goal: Expression) -> PathSampler:
        """The same runs, judged by another goal."""
        other = copy(self)
        other._compile(goal)
        return other

    def limited(self, limit: float) -> PathSampler:
        """The same runs with another limit."""
        other = copy(self)
        other.path = replace(self.path, limit=limit)
        return other

    def tilted(self, tilts: Tilts | None) -> PathSampler:
        """Runs whose random numbers have other laws, judged as before."""
        other = copy(self)
        other.walker, other.tilts = Walker.of(self.walker.model, tilts=tilts), tilts
        return other

    def start(self) -> Starts:
        return Starts(*initial_state(self.model), np.zeros(1), np.zeros(1, np.int64))

    def runs(self, seeds: np.ndarray, starts: Starts, rows: np.ndarray, *, ends: bool = False) -> Runs:
        """One run per seed, run i from state rows[i]; with `ends` the states in which they met the goal."""
        count, path, network = len(seeds), self.path, self.network
        status, moments = np.zeros(count, np.int8), np.zeros(count)
        errors = np.zeros((count, 3), np.int64)
        room = count if ends else 0
        locations = np.zeros((room, len(network.processes)), np.int32)
        integers = np.zeros((room, network.integer_count), np.int64)
        reals = np.zeros((room, network.real_count))
        tilted = self.tilts.size if self.tilts is not None else 0
        bins = np.zeros((count if tilted else 0, tilted), np.uint64)
        with np.errstate(over="ignore"):
            kernel.path_batch(
                *self.walker.arrays, np.ascontiguousarray(starts.locations), np.ascontiguousarray(starts.integers),
                np.ascontiguousarray(starts.reals), np.ascontiguousarray(starts.times),
                np.ascontiguousarray(rows, np.int64), *limits(self.model), np.ascontiguousarray(seeds, np.uint64),
                math.inf if path.counted else path.limit, int(path.limit) if path.counted else self.most_steps,
                path.counted, self.goal, self.avoid, status, moments, np.ascontiguousarray(starts.steps), errors,
                locations, integers, reals, bins,
            )  # fmt: skip
        failed = np.flatnonzero(status == kernel.FAILED)
        if len(failed):
            said = error_message(self.walker.model, *(int(v) for v in errors[failed[0]]))
            raise UserError(Problem(f"the model fails in a run: {said}.", network.file))
        stuck = np.flatnonzero(status == kernel.STUCK)
        if len(stuck):
            steps, at = int(errors[stuck[0], 0]), moments[stuck[0]]
            says = f"a run made {steps} steps, the later ones all at time {at:g}: an endless loop without delay"
            raise UserError(
                Problem(f"{says}; give a location on it a rate (or allow more steps with --steps).", network.file)
            )
        met = status == kernel.MET
        after = Starts(locations, integers, reals, moments, errors[:, 0].copy())
        return Runs(met, int((status == kernel.ENDLESS).sum()), after, bins, int(errors[:, 0].sum()))
