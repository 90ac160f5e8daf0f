"""Record particles and their ancestors, level by level, for both splitting estimators.

Every particle of a level has its parent in the level before, the time of its transition and the state entered.  Tracing
back from the last level gives the traces that follow the whole word (Γ in equation D.6); tracing back from a particle
without children gives the word of a killed one (needed by equation D.8).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.kernel import Particles, StepResult, Walk, WalkStatus


@dataclass
class Genealogy:
    """Particles by level: level 0 is the start, level k has those that made k steps.  A particle is a row."""

    start: Particles
    _parents: list[np.ndarray] = field(default_factory=list)
    _edges: list[np.ndarray] = field(default_factory=list)
    _branches: list[np.ndarray] = field(default_factory=list)
    _states: list[Particles] = field(default_factory=list)

    def append(self, parents: np.ndarray, step: StepResult, kept: np.ndarray) -> None:
        """Add a level: particle j of it is `step`'s particle kept[j], a child of `parents[kept[j]]`."""
        if step.errors:
            raise UserError(f"the profile fails: {next(iter(step.errors.values()))}")
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
        return len(self.particles)

    @property
    def levels(self) -> int:
        return len(self._states)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of particles of levels 1, 2, …."""
        return tuple(len(s) for s in self._states)

    def lineage(self, level: int, rows: np.ndarray) -> list[np.ndarray]:
        """Rows of the ancestors of these particles in levels 0, 1, …, `level` (the particles themselves)."""
        found = [rows]
        for parents in reversed(self._parents[:level]):
            found.append(parents[found[-1]])
        return found[::-1]

    def founders(self) -> list[np.ndarray]:
        """For every level from 1 on, the row in level 1 of the ancestor of each particle."""
        found: list[np.ndarray] = []
        for parents in self._parents:
            found.append(found[-1][parents] if found else np.arange(len(parents)))
        return found

    def childless(self, level: int) -> np.ndarray:
        """Rows of a level without descendants in the next one; all rows of the newest level."""
        alive = np.zeros(len(self._states[level - 1]), dtype=bool)
        if level < self.levels:
            alive[self._parents[level]] = True
        return np.flatnonzero(~alive)

    def walks(self, level: int | None = None, rows: np.ndarray | None = None) -> list[Walk]:
        """Make the walks from the initial state to these particles; by default to all of the newest level."""
        level = self.levels if level is None else level
        rows = np.arange(self.size) if rows is None else rows
        if not level or not len(rows):
            return []
        lineage = self.lineage(level, rows)
        states = [(state, at) for state, at in zip([self.start, *self._states], lineage, strict=False)]
        times = np.stack([state.time[at] for state, at in states[1:]], axis=1)
        edges, branches = (
            np.stack([numbers[at] for numbers, at in zip(record, lineage[1:], strict=False)], axis=1)
            for record in (self._edges, self._branches)
        )
        locations, integers, reals = (
            np.stack([getattr(state, name)[at] for state, at in states], axis=1)
            for name in ("locations", "integers", "reals")
        )
        return [
            Walk(WalkStatus.REACHED_END, times[j], edges[j], locations[j], integers[j], reals[j], branches=branches[j])
            for j in range(len(rows))
        ]


@dataclass(frozen=True, eq=False)
class Split:
    """One pass along a word: estimates of its prefixes' cylinders, and the particles that followed them.

    A pass that lost all its particles stops there: the cylinders from that level on are 0, and it has no traces.
    """

    cylinders: tuple[float, ...]
    """C_k estimates the probability that a run follows the first k actions."""
    family: Genealogy

    @property
    def cylinder(self) -> float:
        return self.cylinders[-1]

    @property
    def complete(self) -> bool:
        return self.family.levels == len(self.cylinders)

    def walks(self) -> list[Walk]:
        """The traces that follow the whole word."""
        return self.family.walks() if self.complete else []
