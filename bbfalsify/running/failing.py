"""The meaning of a failed simulation: unknown, a violation, or the end of the run.

Whatever it means, a system of which the first simulations all fail in the same way is unusable, and the run ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bbfalsify.core.errors import SystemFailure
from bbfalsify.core.query import Answer, AnyQuery, Query
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.running.execution import OnFailure

_HOPELESS_AFTER = dict.fromkeys(SimulationStatus, 10) | {SimulationStatus.TIMED_OUT: 3}
"""Simulations that fail alike, with no good one before them, after which the system is unusable."""


class Failures:
    """Failures of one run: their meaning, and how many there were of each kind."""

    def __init__(self, on_failure: OnFailure, system: str, requirements: Sequence[str]) -> None:
        self.counts: dict[SimulationStatus, int] = {}
        self._on_failure = on_failure
        self._system, self._requirements = system, len(requirements)
        self._alike: list[Answer] | None = []

    def meaning(self, query: AnyQuery, answer: Answer) -> Answer:
        """A failed simulation has no judgements, unless the user says that failing is a violation."""
        if answer.ok or self._on_failure != "violation" or not isinstance(query, Query):
            return answer
        # The moment is unknown; at the latest it is the end of the stimulus.
        broken = Judgement(Verdict.VIOLATED, -math.inf, query.stimulus.duration)
        return replace(answer, judgements=(broken,) * self._requirements)

    def count(self, answer: Answer) -> None:
        """Raises SystemFailure where the run must not go on."""
        if answer.ok:
            self._alike = None
            return
        self.counts[answer.status] = self.counts.get(answer.status, 0) + 1
        if self._on_failure == "abort":
            raise SystemFailure(f"the system '{self._system}' failed ({answer.status}): {answer.message}")
        if self._on_failure == "violation" or self._alike is None:
            return
        self._alike.append(answer)
        if len({_way_of_failing(failed) for failed in self._alike}) > 1:
            self._alike = None
        elif len(self._alike) >= _HOPELESS_AFTER[answer.status]:
            raise SystemFailure(
                f"the first {len(self._alike)} simulations of the system '{self._system}' all failed alike "
                f"({answer.status}): {answer.message}"
            )


def _way_of_failing(answer: Answer) -> tuple[SimulationStatus, str]:
    """Messages differ in numbers; what an exception is called, or the kind of failure, does not."""
    return answer.status, answer.message.split(":")[0] if answer.status is SimulationStatus.RAISED else ""
