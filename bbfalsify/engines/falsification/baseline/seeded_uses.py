"""Many uses under the profile's own law, described by the seeds of their walks; the worker makes the stimuli."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.trace import Stimulus, grid_times
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import WalkStatus
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
            ends = np.full(len(walks), usage.duration)
            made = held_stimuli(usage, walks.times, walks.edges, walks.steps, ends)
            return [stimulus if good else None for stimulus, good in zip(made, whole, strict=True)]
        with_values = usage.values.seeded({i: walks.walk(i) for i in range(len(self))}, self.seeds)
        return [usage.stimulus(with_values[i]) if good else None for i, good in enumerate(whole)]


def held_stimuli(
    usage: Usage, moments: np.ndarray, edges: np.ndarray, steps: np.ndarray, ends: np.ndarray
) -> Iterator[Stimulus]:
    """The same as `usage.stimulus` of each walk up to its end, for profiles that have held inputs only."""
    grid, count = grid_times(usage.duration, usage.period), len(steps)
    times = np.empty(count * (len(grid) + 1) + int(steps.sum()))
    offsets = np.empty(count + 1, np.int64)
    used = merged_times(grid, ends, moments, steps, times, offsets)
    times = times[:used]
    labels = usage.model.edge_action[edges]
    inputs: list[tuple[str, np.ndarray]] = []
    for name, (value_of, initial) in usage.held.items():
        values = np.empty(used)
        held_values(times, offsets, moments, steps, value_of[labels], float(initial), ends, values)
        inputs.append((name, values))
    within = (moments <= ends[:, None]) & (np.arange(moments.shape[1]) < steps[:, None])
    actions = [usage.model.actions[a] for a in range(len(usage.model.actions))]
    at, named = moments.tolist(), labels.tolist()
    constant = usage.values.values(None).parameters
    for i, (begin, end, n) in enumerate(
        zip(offsets[:-1].tolist(), offsets[1:].tolist(), within.sum(axis=1).tolist(), strict=True)
    ):
        events = tuple(zip(at[i][:n], [actions[a] for a in named[i][:n]], strict=True))
        yield Stimulus(times[begin:end], {name: values[begin:end] for name, values in inputs}, events, constant)
