"""Convert walks over a user profile to inputs of the system under test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.trace import Stimulus, sample_times
from bbfalsify.engines.falsification.values import ValueSpace
from bbfalsify.kernel import CompiledModel, Sampler, Walk, Walks, WalkStatus, stochastic_walks
from bbfalsify.modelling import ComputedInput, HeldInput, Profile

STUCK = {
    WalkStatus.DEADLOCK: "deadlocks: no action can ever happen again",
    WalkStatus.TIMELOCK: "is stuck: time cannot pass and no action is possible",
}
FEW_SAMPLES = 500
"""Number of samples above which a stimulus is larger than its walk."""
MOST_REGULAR = 4_000
"""Samples of a computed input at regular times, to look at."""
FIRST_STEPS = 20_000
"""Transitions after which a walk that has not reached the horizon is looked at: is it long, or zeno?"""
MAX_STEPS = 1_000_000
"""Number of transitions before the horizon above which a walk counts as zeno."""
MOST_BYTES = 1 << 30
"""Memory of the walks of a batch."""


def walks_to_the_end(model: CompiledModel, walk: Callable[[int], Walks], count: int, duration: float) -> Walks:
    """Make `count` walks by `walk(max_steps)`, with as many transitions as they need to reach the duration.

    A walk is a function of its seed, so one that needs more transitions is walked again, with the same beginning.  One
    whose time hardly moves would need more than `MAX_STEPS`: it is zeno, and stays as it is.
    """
    walks = walk(FIRST_STEPS)
    unfinished = walks.status == WalkStatus.STEP_LIMIT
    if not unfinished.any():
        return walks
    reached = walks.times[unfinished, FIRST_STEPS - 1]
    # Twice as many as the walk's pace so far says; a pace can change.
    needed = 2.0 * FIRST_STEPS * duration / np.maximum(reached, duration * FIRST_STEPS / MAX_STEPS / 2.0)
    network = model.network
    row = 16 + 4 * len(network.processes) + 8 * (network.integer_count + network.real_count)
    long = needed[needed < 2.0 * MAX_STEPS]
    if not len(long):
        return walks
    return walk(int(min(long.max(), MAX_STEPS, max(FIRST_STEPS, MOST_BYTES // (row * count)))))


@dataclass(frozen=True)
class Usage:
    """The profile, its compiled model, and the duration and sampling period of signals.

    Events reach the system at their exact times: the samples are the grid of `period` together with the event times.
    """

    profile: Profile
    model: CompiledModel
    duration: float
    period: float
    held: dict[str, tuple[np.ndarray, float]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        # For each held input: the value each action sets, NaN if the action does not change it.
        for i in self.profile.inputs:
            if isinstance(i, HeldInput):
                values = dict(i.values)
                self.held[i.name] = (np.array([values.get(a, np.nan) for a in self.model.actions]), i.initial)

    @cached_property
    def _computed(self) -> tuple[ComputedInput, ...]:
        return tuple(i for i in self.profile.inputs if isinstance(i, ComputedInput))

    @cached_property
    def values(self) -> ValueSpace:
        """The parameters and signals that the profile draws by a law."""
        return ValueSpace(self.profile, self.duration)

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.model, [(i.expression, i.frame_size) for i in self._computed])

    def stochastic_walks(self, seeds: np.ndarray) -> Walks:
        """Walks under the profile's own law, to the end of the duration."""

        def walk(max_steps: int) -> Walks:
            return stochastic_walks(self.model, seeds, until=self.duration, max_steps=max_steps)

        return walks_to_the_end(self.model, walk, len(seeds), self.duration)

    def stimulus(self, walk: Walk, *, stop: float | None = None) -> Stimulus:
        """Make the input of this walk, up to `stop` (default: the whole duration)."""
        stop = self.duration if stop is None else min(stop, self.duration)
        run = self.values.values(walk.values)
        times = sample_times(stop, self.period, np.append(walk.times, run.moments) if run.curves else walk.times)
        labels = self.model.edge_action[walk.edges]
        happened = walk.times <= stop
        inputs: dict[str, np.ndarray] = {}
        for name, (value_of, initial) in self.held.items():
            values = value_of[labels]
            sets = happened & ~np.isnan(values)
            levels = np.concatenate([[initial], values[sets]])
            inputs[name] = levels[np.searchsorted(walk.times[sets], times, side="right")]
        if self._computed:
            rows = self._sampler.sample(walk, times)
            inputs.update(zip((i.name for i in self._computed), rows, strict=True))
        inputs.update(run.signals(times))
        actions = [self.model.actions[a] for a in labels[happened].tolist()]
        events = tuple(zip(walk.times[happened].tolist(), actions, strict=True))
        return Stimulus(times, inputs, events, run.parameters)

    def computed_values(self, walk: Walk, *, start: float = 0.0) -> dict[str, np.ndarray]:
        """Values of the computed inputs at the start of a walk, which is at this time, and right after each action."""
        if not self._computed:
            return {}
        rows = self._sampler.sample(walk, np.concatenate([[start], walk.times]), start=start)
        return dict(zip((i.name for i in self._computed), rows, strict=True))

    @property
    def regular_step(self) -> float:
        """Time between regular samples of computed inputs, MOST_REGULAR of them at most."""
        return max(self.period, self.duration / MOST_REGULAR)

    def computed_signals(self, walk: Walk, every: int = 1) -> dict[str, np.ndarray]:
        """The computed inputs at regular times to the end of a walk, or `every` so many of these."""
        if not self._computed:
            return {}
        end = min(self.duration, float(walk.times[-1])) if walk.steps else self.duration
        count = int(end / self.regular_step + 1e-9) + 1
        rows = self._sampler.sample(walk, self.regular_step * np.arange(0, count, every))
        return dict(zip((i.name for i in self._computed), rows, strict=True))

    def draft(self, walk: Walk, *, stop: float | None = None) -> Stimulus | WalkDraft:
        """Describe the input for workers to make if that is costly; make few samples of held inputs at once."""
        return WalkDraft(self, walk, stop) if self.makes_drafts else self.stimulus(walk, stop=stop)

    @cached_property
    def only_held(self) -> bool:
        """True if actions alone set the inputs: nothing is computed or drawn."""
        return not self._computed and not self.values.width and not self.profile.signals

    @property
    def makes_drafts(self) -> bool:
        """True if queries refer to this usage, so that workers need it: samples are costly to make or to send."""
        return bool(self._computed) or self.duration / self.period > FEW_SAMPLES

    def warm_up(self) -> None:
        """Load compiled code that `stimulus` needs, before time is measured."""
        if self._computed:
            self._sampler.warm_up()

    def check(self, walks: Walks) -> None:
        """Refuse a profile in which a walk got stuck or failed, with the place; such a profile describes no usage."""
        for i in np.flatnonzero(np.isin(walks.status, [*STUCK, WalkStatus.RUNTIME_ERROR])):
            self.check_walk(walks.walk(int(i)))
        if len(walks.status) and np.all(walks.status == WalkStatus.STEP_LIMIT):
            reached = float(walks.times.max(initial=0.0))
            raise UserError(
                Problem(
                    f"the profile is zeno, or the horizon too long: {int(walks.steps.max())} transitions brought time "
                    f"only to {reached:g} of {self.duration:g}. Give some edge of each cycle a guard that needs time "
                    "to pass.",
                    file=self.profile.file,
                )
            )

    def check_walk(self, walk: Walk) -> None:
        """Refuse a profile in which this walk got stuck or failed."""
        if walk.status not in STUCK and walk.status is not WalkStatus.RUNTIME_ERROR:
            return
        why = STUCK.get(walk.status) or f"fails: {walk.error}"
        raise UserError(
            Problem(
                f"the profile {why}, after {_shorten(walk.actions(self.model))} at time "
                f"{walk.times[-1] if len(walk.times) else 0.0:g} in {self._where(walk)}. "
                "Every location a user can reach needs an action that ends the stay; for a user who is done, "
                "add a self-loop.",
                file=self.profile.file,
            )
        )

    def _where(self, walk: Walk) -> str:
        processes = self.model.network.processes
        names = [f"{p.name}.{p.locations[int(at)].name}" for p, at in zip(processes, walk.locations[-1], strict=True)]
        return ", ".join(names)


@dataclass(frozen=True, eq=False)
class WalkDraft:
    """Compact description of the stimulus of a walk; the worker expands it (a `Draft`)."""

    usage: Usage
    walk: Walk
    stop: float | None

    def stimulus(self) -> Stimulus:
        return self.usage.stimulus(self.walk, stop=self.stop)

    def parts(self) -> list[np.ndarray]:
        stop = self.usage.duration if self.stop is None else self.stop
        values = [] if self.walk.values is None else [self.walk.values]
        return [self.walk.times, self.walk.edges, self.walk.reals, *values, np.array([stop])]


def _shorten(actions: tuple[str, ...], limit: int = 8) -> str:
    if not actions:
        return "no action"
    shown = actions if len(actions) <= limit else ("…", *actions[-limit:])
    return " ".join(shown)
