"""One answer out of several: for systems that do not always answer in the same way.

Each query is executed n times with the same seed.  Where more than half of the answers agree, that is the answer;
where they do not, the status is NON_DETERMINISTIC and the message quotes both, because a system that answers in two
ways is a finding of its own, and believing one of them would mean to learn or rank nonsense.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bbfalsify.core.query import Answer, AnyQuery, UsesQuery
from bbfalsify.core.verdict import SimulationStatus

_TOLERANCE = 1e-9
_SHOWN = 12


def ballots(queries: Sequence[AnyQuery], votes: int) -> list[AnyQuery]:
    """Each query `votes` times, one after the other; the repetitions have names of their own and the same seed."""
    if votes == 1:
        return list(queries)
    return [
        query if i == 1 else replace(query, name=f"{query.name}/vote/{i}", seed_name=query.seed_name or query.name)
        for query in queries
        if not isinstance(query, UsesQuery)  # votes are for single uses
        for i in range(1, votes + 1)
    ]


@dataclass
class Poll:
    """Elections so far."""

    votes: int
    queries: int = 0
    """Elected so far."""
    disagreements: int = 0
    """Queries whose answers were not all alike."""
    first: str = field(default="")
    """Answers of the first of them."""

    def count(self, query: AnyQuery, answer: Answer) -> None:
        """Count an elected answer, of this run or of the recorded part of it."""
        self.queries += 1
        if answer.dissent:
            self.disagreements += 1
            self.first = self.first or f"{query.name}: {answer.dissent}"

    def notes(self) -> list[str]:
        """Notes about a system that did not always answer alike."""
        if not self.disagreements:
            return []
        return [
            f"{self.disagreements:,} of {self.queries:,} simulations, each executed {self.votes} times, were answered "
            f"in several ways; the first: {self.first}"
        ]


def elect(answers: Sequence[Answer]) -> Answer:
    """Return the answer of the majority; of one vote, that answer."""
    if len(answers) == 1:
        return answers[0]
    groups: list[list[Answer]] = []
    for answer in answers:
        for group in groups:
            if alike(group[0], answer):
                group.append(answer)
                break
        else:
            groups.append([answer])
    if len(groups) == 1:
        return answers[0]
    groups.sort(key=len, reverse=True)
    said = "; ".join(f"{len(g)} of {len(answers)}: {describe(g[0])}" for g in groups)
    if 2 * len(groups[0]) > len(answers):
        return replace(groups[0][0], dissent=said)
    seconds = sum(a.seconds for a in answers)
    return Answer(SimulationStatus.NON_DETERMINISTIC, message=said, seconds=seconds, dissent=said)


def alike(one: Answer, other: Answer) -> bool:
    """True where status and symbols are the same, and judgements up to rounding."""
    if one.status is not other.status or one.symbols != other.symbols or len(one.judgements) != len(other.judgements):
        return False
    return all(
        a.verdict is b.verdict
        and _close(a.robustness, b.robustness)
        and _close(a.first_violation_time, b.first_violation_time)
        for a, b in zip(one.judgements, other.judgements, strict=True)
    )


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def describe(answer: Answer) -> str:
    if not answer.ok:
        return f"{answer.status.value.replace('_', ' ')} ({answer.message})" if answer.message else answer.status.value
    if answer.symbols:
        return " ".join(answer.symbols if len(answer.symbols) <= _SHOWN else ("…", *answer.symbols[-_SHOWN:]))
    return ", ".join(f"{j.verdict.value} with robustness {j.robustness:.6g}" for j in answer.judgements) or "an answer"
