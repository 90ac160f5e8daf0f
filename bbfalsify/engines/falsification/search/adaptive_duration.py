"""Adaptive duration of the search's runs (Kiviriga, Paper D, section 5.2).

Short counterexamples are more probable and easier to debug.  After one is found, the next runs end at the time of its
certain violation; if they find nothing for a while, they become 10 % longer.  That time includes the look-ahead of the
formula, so a run cut there can still be judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

GROWTH = 1.1
PATIENCE = 22
"""Iterations beyond the average number per counterexample before runs become longer: two rounds of delays."""


@dataclass
class AdaptiveDuration:
    """Duration of the next runs, per requirement that is still searched for."""

    longest: float
    _limits: dict[int, float] = field(default_factory=dict)
    _found: dict[int, int] = field(default_factory=dict)
    _last: dict[int, int] = field(default_factory=dict)

    def limit(self, open_requirements: list[int]) -> float:
        """Duration that is long enough for each of them."""
        return max((self._limits.get(r, self.longest) for r in open_requirements), default=self.longest)

    def found(self, requirement: int, first_violation_time: float, iteration: int) -> None:
        self._limits[requirement] = min(first_violation_time, self.longest)
        self._found[requirement] = self._found.get(requirement, 0) + 1
        self._last[requirement] = iteration

    def waited(self, iteration: int) -> None:
        """Make runs longer after a batch, if nothing was found for longer than usual."""
        for requirement, limit in self._limits.items():
            usual = iteration / self._found[requirement] + PATIENCE
            if iteration - self._last[requirement] >= usual:
                self._limits[requirement] = min(limit * GROWTH, self.longest)
                self._last[requirement] = iteration
