"""Many uses that follow given walks, asked for at once; the worker makes the stimuli."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.query import Answer, AskUses, UsesQuery
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import VERDICTS, Judgement, SimulationStatus
from bbfalsify.engines.falsification.baseline.seeded_uses import held_stimuli
from bbfalsify.engines.falsification.usage import Usage, WalkDraft
from bbfalsify.kernel import Walk


@dataclass(frozen=True, eq=False)
class WalkUses:
    """`Drafts` of uses with these walks, each up to its stop (None: to the end of the duration)."""

    usage: Usage
    walks: Sequence[Walk]
    stops: Sequence[float | None]

    def __len__(self) -> int:
        return len(self.walks)

    def some(self, which: slice) -> WalkUses:
        return WalkUses(self.usage, self.walks[which], self.stops[which])

    def parts(self) -> list[np.ndarray]:
        pairs = zip(self.walks, self.stops, strict=True)
        return [part for walk, stop in pairs for part in WalkDraft(self.usage, walk, stop).parts()]

    def stimuli(self) -> list[Stimulus | None]:
        if self.usage.only_held and self.walks:
            return list(self._held())
        return [self.usage.stimulus(walk, stop=stop) for walk, stop in zip(self.walks, self.stops, strict=True)]

    def _held(self) -> Iterator[Stimulus]:
        """All of them in one compiled call."""
        steps = np.array([walk.steps for walk in self.walks])
        times = np.zeros((len(steps), max(1, steps.max())))
        edges = np.zeros(times.shape, np.int64)
        for row, walk in enumerate(self.walks):
            times[row, : walk.steps], edges[row, : walk.steps] = walk.times, walk.edges
        whole = self.usage.duration
        ends = np.array([whole if stop is None else min(stop, whole) for stop in self.stops])
        return held_stimuli(self.usage, times, edges, steps, ends)


def asked_at_once(ask_uses: AskUses | None, prefix: str, first: int, uses: WalkUses) -> list[Answer] | None:
    """The answers to uses that are executed in one call; None where they have to be asked for one by one."""
    found = None if ask_uses is None or not len(uses) else ask_uses(UsesQuery(prefix, first, uses))
    if found is None:
        return None
    columns = (column.tolist() for column in (found.verdicts, found.robustness, found.moments))
    return [
        Answer(SimulationStatus.OK, tuple(Judgement(VERDICTS[v], r, m) for v, r, m in zip(*use, strict=True)))
        for use in zip(*columns, strict=True)
    ]
