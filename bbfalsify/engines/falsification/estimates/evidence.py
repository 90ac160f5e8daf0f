"""Traces of an estimation that were first violated in their last step, pass by pass.

They follow the word under the profile's law given the violation, so averages over them are averages over the users who
meet this counterexample: how their use depends on the profile's parameters, and when they meet it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.query import Answer
from bbfalsify.core.trace import Trace, thinned
from bbfalsify.core.verdict import Verdict
from bbfalsify.kernel import Walk

MOST_WALKS = 1000
"""Limit of violating traces kept per counterexample; more are thinned out evenly."""


@dataclass(frozen=True, eq=False)
class FanTrace:
    """One executed trace along the word, to be drawn beside the others."""

    query: str
    walk: Walk
    violated: bool
    """First violated in the last step: this is the counterexample's event."""
    first_violation_time: float
    trace: Trace | None
    """Thinned out, extremes kept; None if the answer came from the record of an interrupted run."""


@dataclass
class Evidence:
    walks: list[list[Walk]] = field(default_factory=list)
    """Per pass: violating traces."""
    times: list[np.ndarray] = field(default_factory=list)
    """Per pass: time of the first violation of each violating trace."""
    kept_times: list[np.ndarray] = field(default_factory=list)
    """Per pass: those of the traces in `walks`."""
    followers: list[Walk] = field(default_factory=list)
    """Traces of the first pass that had any, violating or not, for words without a violating trace."""
    passing: list[Walk] = field(default_factory=list)
    """Those of the same pass that violate nowhere; others may violate before the last step."""
    fan: list[FanTrace] = field(default_factory=list)
    """Violating and other traces of the first pass, for pictures."""

    @property
    def example(self) -> Walk | None:
        """One trace that violates; if none does, one that follows the word."""
        return next((walk for group in (*self.walks, self.followers) for walk in group), None)

    def add(
        self, walks: Sequence[Walk], answers: Sequence[Answer], violated: Sequence[bool], requirement: int, passes: int
    ) -> None:
        """Keep the traces of one of `passes` passes."""
        hits = np.flatnonzero(violated).tolist()
        kept = _evenly(hits, max(1, MOST_WALKS // passes))
        self.walks.append([walks[j] for j in kept])
        self.times.append(_violation_times(answers, hits, requirement))
        self.kept_times.append(_violation_times(answers, kept, requirement))
        if not self.followers:
            self.followers = list(walks[: MOST_WALKS // 10])
            judged = zip(walks, answers, strict=True)
            passing = [w for w, a in judged if a.ok and a.judgements[requirement].verdict is not Verdict.VIOLATED]
            self.passing = passing[: MOST_WALKS // 10]

    def keep_fan(
        self,
        names: Sequence[str],
        walks: Sequence[Walk],
        answers: Sequence[Answer],
        violated: Sequence[bool],
        requirement: int,
        most: int,
    ) -> None:
        """Keep at most so many traces for pictures, half violating and half others if there are enough of both."""
        hits, others = np.flatnonzero(violated).tolist(), np.flatnonzero(~np.asarray(violated, bool)).tolist()
        of_hits = min(len(hits), max(most - most // 2, most - len(others)))
        chosen = [*_evenly(hits, of_hits), *_evenly(others, most - of_hits)]
        for j in sorted(chosen):
            judgement = next(iter(answers[j].judgements[requirement : requirement + 1]), None)
            time = np.inf if judgement is None else judgement.first_violation_time
            trace = answers[j].trace
            thin = None if trace is None else thinned(trace)
            self.fan.append(FanTrace(names[j], walks[j], bool(violated[j]), time, thin))


def _violation_times(answers: Sequence[Answer], rows: list[int], requirement: int) -> np.ndarray:
    return np.array([answers[j].judgements[requirement].first_violation_time for j in rows])


def _evenly(rows: list[int], most: int) -> list[int]:
    """Select rows evenly, because neighbours may be alike (sorted particles, common ancestors)."""
    return rows if len(rows) <= most else [rows[i] for i in np.linspace(0, len(rows) - 1, most).astype(int).tolist()]
