"""Many uses under the profile's own law, described by the seeds of their walks; the worker makes the stimuli."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.trace import Stimulus, grid_times
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walks, WalkStatus
from bbfalsify.kernel.held_samples import held_values, merged_times


@dataclass(frozen=True, eq=False)
class SeededUses:
    """`Drafts` of uses whose walks have these seeds."""

    usage: Usage
    seeds: np.ndarray

    def __len__(self) -> int:
        return len(self.seeds)

    def some(self, which: slice) -> SeededUses:
        return SeededUses(self.usage, self.seeds[which])

    def parts(self) -> list[np.ndarray]:
        return [self.seeds, np.array([self.usage.duration, self.usage.period])]

    def stimuli(self) -> list[Stimulus | None]:
        usage, walks = self.usage, self.usage.stochastic_walks(self.seeds)
        usage.check(walks)
        whole = (walks.status == WalkStatus.REACHED_END).tolist()
        if usage.only_held:
            made = held_stimuli(usage, walks)
            return [stimulus if good else None for stimulus, good in zip(made, whole, strict=True)]
        with_values = usage.values.seeded({i: walks.walk(i) for i in range(len(self))}, self.seeds)
        return [usage.stimulus(with_values[i]) if good else None for i, good in enumerate(whole)]


def held_stimuli(usage: Usage, walks: Walks) -> Iterator[Stimulus]:
    """The same as `usage.stimulus` of each walk, for profiles that have held inputs only."""
    grid, count = grid_times(usage.duration, usage.period), len(walks)
    times = np.empty(count * (len(grid) + 1) + int(walks.steps.sum()))
    offsets = np.empty(count + 1, np.int64)
    used = merged_times(grid, usage.duration, walks.times, walks.steps, times, offsets)
    times = times[:used]
    labels = usage.model.edge_action[walks.edges]
    inputs: list[tuple[str, np.ndarray]] = []
    for name, (value_of, initial) in usage.held.items():
        values = np.empty(used)
        held_values(times, offsets, walks.times, walks.steps, value_of[labels], float(initial), usage.duration, values)
        inputs.append((name, values))
    happened = ((walks.times <= usage.duration) & (np.arange(walks.times.shape[1]) < walks.steps[:, None])).sum(axis=1)
    actions = [usage.model.actions[a] for a in range(len(usage.model.actions))]
    moments, named = walks.times.tolist(), labels.tolist()
    constant = usage.values.values(None).parameters
    for i, (begin, end, n) in enumerate(
        zip(offsets[:-1].tolist(), offsets[1:].tolist(), happened.tolist(), strict=True)
    ):
        events = tuple(zip(moments[i][:n], [actions[a] for a in named[i][:n]], strict=True))
        yield Stimulus(times[begin:end], {name: values[begin:end] for name, values in inputs}, events, constant)
