"""A user profile made executable: walks over it, and the inputs they mean for the system under test."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.trace import Stimulus, sample_times
from bbfalsify.kernel import CompiledModel, Sampler, Walk, Walks, WalkStatus
from bbfalsify.modelling import ComputedInput, HeldInput, Profile

STUCK = {
    WalkStatus.DEADLOCK: "deadlocks: no action can ever happen again",
    WalkStatus.TIMELOCK: "is stuck: time cannot pass and no action is possible",
}
FEW_SAMPLES = 500
"""A stimulus of more samples is heavier than the walk it is made from."""
MAX_STEPS = 20_000
"""A walk with more transitions than this before the horizon is taken for zeno."""


@dataclass(frozen=True)
class Usage:
    """The profile, its compiled model, how long signals last and how densely they are sampled.

    Events reach the system at their exact times: the samples are the grid of `period` together with the event times.
    """

    profile: Profile
    model: CompiledModel
    duration: float
    period: float
    _held: dict[str, tuple[np.ndarray, float]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        # For each held input: the value each action sets, NaN where the action leaves it alone.
        for i in self.profile.inputs:
            if isinstance(i, HeldInput):
                values = dict(i.values)
                self._held[i.name] = (np.array([values.get(a, np.nan) for a in self.model.actions]), i.initial)

    @cached_property
    def _computed(self) -> tuple[ComputedInput, ...]:
        return tuple(i for i in self.profile.inputs if isinstance(i, ComputedInput))

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.model, [(i.expression, i.frame_size) for i in self._computed])

    def stimulus(self, walk: Walk, *, stop: float | None = None) -> Stimulus:
        """The input that this walk means, up to `stop` (default: the whole duration)."""
        stop = self.duration if stop is None else min(stop, self.duration)
        times = sample_times(stop, self.period, walk.times)
        labels = self.model.edge_action[walk.edges]
        happened = walk.times <= stop
        inputs: dict[str, np.ndarray] = {}
        for name, (value_of, initial) in self._held.items():
            values = value_of[labels]
            sets = happened & ~np.isnan(values)
            levels = np.concatenate([[initial], values[sets]])
            inputs[name] = levels[np.searchsorted(walk.times[sets], times, side="right")]
        if self._computed:
            rows = self._sampler.sample(walk, times)
            inputs.update(zip((i.name for i in self._computed), rows, strict=True))
        actions = [self.model.actions[a] for a in labels[happened].tolist()]
        return Stimulus(times, inputs, tuple(zip(walk.times[happened].tolist(), actions, strict=True)))

    def draft(self, walk: Walk, *, stop: float | None = None) -> Stimulus | WalkDraft:
        """The same, to be made by whoever needs it where that is work; few samples of held inputs are made at once."""
        return WalkDraft(self, walk, stop) if self.makes_drafts else self.stimulus(walk, stop=stop)

    @property
    def makes_drafts(self) -> bool:
        """Whether queries refer to this usage, so that workers have to know it: where samples are work, or weight."""
        return bool(self._computed) or self.duration / self.period > FEW_SAMPLES

    def warm_up(self) -> None:
        """Load compiled code that `stimulus` needs, before somebody measures time."""
        if self._computed:
            self._sampler.warm_up()

    def check(self, walks: Walks) -> None:
        """Refuse a profile in which a walk got stuck or failed, naming where; such a profile describes no usage."""
        for i in np.flatnonzero(np.isin(walks.status, [*STUCK, WalkStatus.RUNTIME_ERROR])):
            walk = walks.walk(int(i))
            status = WalkStatus(int(walks.status[i]))
            why = STUCK.get(status) or f"fails: {walk.error}"
            raise UserError(
                Problem(
                    f"the profile {why}, after {_shorten(walk.actions(self.model))} at time "
                    f"{walk.times[-1] if len(walk.times) else 0.0:g} in {self._where(walk)}. "
                    "Every location a user can reach needs an action that ends the stay; for a user who is done, "
                    "add a self-loop.",
                    file=self.profile.file,
                )
            )
        if len(walks.status) and np.all(walks.status == WalkStatus.STEP_LIMIT):
            reached = float(walks.times.max(initial=0.0))
            raise UserError(
                Problem(
                    f"the profile is zeno, or the horizon too long: {MAX_STEPS} transitions brought time only to "
                    f"{reached:g} of {self.duration:g}. Give some edge of each cycle a guard that needs time to pass.",
                    file=self.profile.file,
                )
            )

    def _where(self, walk: Walk) -> str:
        processes = self.model.network.processes
        names = [f"{p.name}.{p.locations[int(at)].name}" for p, at in zip(processes, walk.locations[-1], strict=True)]
        return ", ".join(names)


@dataclass(frozen=True, eq=False)
class WalkDraft:
    """The stimulus of a walk, not yet made (a `Draft`)."""

    usage: Usage
    walk: Walk
    stop: float | None

    def stimulus(self) -> Stimulus:
        return self.usage.stimulus(self.walk, stop=self.stop)

    def parts(self) -> list[np.ndarray]:
        stop = self.usage.duration if self.stop is None else self.stop
        return [self.walk.times, self.walk.edges, self.walk.reals, np.array([stop])]


def _shorten(actions: tuple[str, ...], limit: int = 8) -> str:
    if not actions:
        return "no action"
    shown = actions if len(actions) <= limit else ("…", *actions[-limit:])
    return " ".join(shown)
