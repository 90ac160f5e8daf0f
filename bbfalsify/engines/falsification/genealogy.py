"""Particles and their ancestors: what both splitting estimators record, level by level.

Every particle of a level knows its parent in the level before, when its transition fired and the state it entered.
Tracing back from the last level gives the traces that follow the whole word (Γ in equation D.6).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bbfalsify.kernel import Particles, StepResult, Walk, WalkStatus


@dataclass
class Genealogy:
    start: Particles
    _parents: list[np.ndarray] = field(default_factory=list)
    _edges: list[np.ndarray] = field(default_factory=list)
    _branches: list[np.ndarray] = field(default_factory=list)
    _states: list[Particles] = field(default_factory=list)

    def append(self, parents: np.ndarray, step: StepResult, kept: np.ndarray) -> None:
        """Add a level: particle j of it is `step`'s particle kept[j], a child of `parents[kept[j]]`."""
        self._parents.append(parents[kept])
        self._edges.append(step.edge[kept])
        self._branches.append(step.branch[kept])
        self._states.append(step.particles.take(kept))

    @property
    def particles(self) -> Particles:
        """The newest level."""
        return self._states[-1] if self._states else self.start

    @property
    def size(self) -> int:
        return len(self.particles.time)

    def walks(self) -> list[Walk]:
        """One walk per particle of the newest level, from the initial state on."""
        rows = np.arange(self.size)
        lineage = []
        for level in reversed(range(len(self._states))):
            lineage.append((level, rows))
            rows = self._parents[level][rows]
        lineage.reverse()
        states = [(self.start, rows)] + [(self._states[level], r) for level, r in lineage]
        times = np.stack([self._states[level].time[r] for level, r in lineage], axis=1)
        edges, branches = (
            np.stack([record[level][r] for level, r in lineage], axis=1) for record in (self._edges, self._branches)
        )
        locations, integers, reals = (
            np.stack([getattr(p, name)[r] for p, r in states], axis=1) for name in ("locations", "integers", "reals")
        )
        return [
            Walk(
                WalkStatus.REACHED_END, times[j], edges[j], locations[j], integers[j], reals[j], branches=branches[j]
            )
            for j in range(self.size)
        ]
