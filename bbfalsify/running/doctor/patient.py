"""A system under examination: its uses, and the findings of the doctor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bbfalsify.core.query import Answer, AnyQuery, WordQuery
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.running.driver import Driver

Use = Callable[[Sequence[AnyQuery], str], list[Answer]]
"""Use the system in a certain way (see `Probe`)."""


@dataclass
class Examination:
    """Findings of the doctor; costs in seconds."""

    system: str
    kind: str
    capabilities: dict[str, Any]
    checks: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    reset_s: float | None = None
    step_s: float | None = None
    uses: int = 0

    @property
    def healthy(self) -> bool:
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "healthy": self.healthy}


@dataclass
class Patient:
    driver: Driver
    report: Examination

    def use(self, queries: Sequence[AnyQuery]) -> list[Answer]:
        """Answers; those that failed are problems, told once per way of failing.

        Where the first two reach the time limit, the others are not asked.
        """
        answers: list[Answer] = []
        for some in filter(None, (queries[:2], queries[2:])):
            answers += self.driver.rerun(some)
            if all(answer.status is SimulationStatus.TIMED_OUT for answer in answers):
                break
        queries = queries[: len(answers)]
        self.report.uses += len(answers)
        failures: dict[str, list[str]] = {}
        for query, answer in zip(queries, answers, strict=True):
            if not answer.ok:
                why = f"{answer.status.value.replace('_', ' ')}, {answer.message}"
                failures.setdefault(why, []).append(_shown(query))
        for why, shown in failures.items():
            uses = list(dict.fromkeys(shown))
            several = len(uses) > 1 and len(shown) == len(answers)
            self.problem(f"{'in every use' if several else ', '.join(uses)}: {why}")
        return answers

    def problem(self, text: str) -> None:
        if text not in self.report.problems:
            self.report.problems.append(text)

    def check(self, what: str, differences: Iterable[str]) -> None:
        """One promise: kept, or broken with the first difference as evidence."""
        first = next(iter(differences), None)
        if first is None:
            self.report.checks.append(what)
        else:
            self.problem(f"not so: {what}. {first}")


def _shown(query: AnyQuery) -> str:
    return f"'{' '.join(query.word)}'" if isinstance(query, WordQuery) else f"with {query.name.rpartition('/')[2]}"
