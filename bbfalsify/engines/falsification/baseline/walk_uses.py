"""Many uses that follow given walks, asked for at once; the worker makes the stimuli."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.trace import Stimulus
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
        return [self.usage.stimulus(walk, stop=stop) for walk, stop in zip(self.walks, self.stops, strict=True)]
