"""Judge again, at a tenth of the sampling period, what a search found and a few of the runs that it saw pass.

In dense time a sample holds until the next one.  A violation shorter than the period is missed; one that samples
exaggerate (a window without the sample that would satisfy it) is none.  Neither shows at the period itself, so:

    findings        each is executed again at a tenth of the period; where it holds there, it is an artefact of sampling
    passing runs    drawn at random, and those that came closest (`passing.py`); some may violate

Where that matters, the search is repeated at the finer period, with what is known there, before anything is
estimated (`engine.py`).  Verdicts may also change by chance: of a system that draws random numbers, or that does not
repeat.  So where any changes, the same runs are repeated at the old period (a seedable system with other seeds); only
more changes than those count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bbfalsify.core.query import Answer, Ask, Query
from bbfalsify.engines.falsification.accelerator import Finding, Run, Search, findings_of, query_name
from bbfalsify.engines.falsification.usage import Usage

Key = tuple[str, ...]
NOTICED = 0.05
"""A smaller part of the violations than this does not change the numbers beyond their intervals."""


@dataclass(frozen=True)
class Sampling:
    """How densely a run may be judged."""

    finer: tuple[Usage, ...] = ()
    """The usage at a tenth, a hundredth, … of its period; empty where finer samples cannot change a verdict."""
    refinements: int = 0
    """How many of them the run may go over to."""
    given: bool = False
    """The user chose the period: artefacts stay on the list, and are marked."""
    random_system: bool = False
    """The system is seedable: it draws random numbers, perhaps as many as there are samples."""


@dataclass(frozen=True)
class Check:
    """How many verdicts changed at the finer period."""

    period: float
    finer: float
    findings: int
    vanished: tuple[tuple[int, Key], ...]
    """Requirement and actions of the findings that hold."""
    moved: int
    """Findings that violate in another step, so that their actions change."""
    passing: int
    """Passing runs drawn at random; those that came closest are counted beside them."""
    violating: int
    closest: int
    closest_violating: int
    violations: int = 0
    """Violating runs of the search, to compare with."""
    random_system: bool = False
    by_chance: int = 0
    """Changes when the same runs are repeated at the old period, where any changed at the finer one."""

    @property
    def changes(self) -> int:
        return len(self.vanished) + self.moved + self.violating + self.closest_violating

    @property
    def uncertain(self) -> bool:
        """Whether a single change may be chance."""
        return self.random_system or self.by_chance > 0

    @property
    def matters(self) -> bool:
        """Whether sampling changes verdicts; where chance does, too, by two deviations more.

        Of the runs closest to violating, some may always change: they count from `NOTICED` of all violations on.
        """
        if not self.uncertain:
            certain = len(self.vanished) + self.moved + self.violating
            return certain > 0 or self.closest_violating > NOTICED * self.violations
        return self.changes - self.by_chance > 2 * math.sqrt(self.changes + self.by_chance)

    def __str__(self) -> str:
        parts = [f"{len(self.vanished)} of {self.findings} findings not confirmed"] if self.findings else []
        parts += [f"{self.moved} by other actions"] if self.moved else []
        parts += [f"{self.violating} of {self.passing} passing runs violate"] if self.passing else []
        parts += [f"{self.closest_violating} of the {self.closest} next to violating do"] if self.closest else []
        return f"judged again at samples every {self.finer:g} instead of {self.period:g}: {', '.join(parts)}"

    def as_json(self) -> dict[str, Any]:
        plain = (
            "period", "finer", "findings", "moved", "passing", "violating", "closest", "closest_violating",
            "violations",
        )  # fmt: skip
        vanished = [{"requirement": number, "actions": list(actions)} for number, actions in self.vanished]
        return {
            **{name: getattr(self, name) for name in plain},
            "not_confirmed": len(self.vanished),
            "artefacts": vanished,
            "by_chance": self.by_chance,
            "matters": self.matters,
            "text": str(self),
        }


@dataclass
class Again:
    """What the second judgements say."""

    check: Check
    vanished: list[Finding] = field(default_factory=list)
    violations: list[Finding] = field(default_factory=list)
    """Findings that are confirmed and passing runs that violate, as they are at the finer period."""


@dataclass(frozen=True, eq=False)
class _Repeated:
    """One run at both periods."""

    run: Run
    finding: Finding | None
    """What the search found in it; None for a passing run."""
    answer: Answer
    """At the finer period."""
    found: list[Finding]

    @property
    def same(self) -> Finding | None:
        """The violation at the finer period of the requirement that the finding violates."""
        return next((f for f in self.found if f.requirement == self.finding.requirement), None)

    @property
    def new(self) -> list[Finding]:
        """Violations of requirements that the run passed before."""
        passed = set(range(len(self.run.answer.judgements))) - set(self.run.answer.violated)
        return [f for f in self.found if f.requirement in passed]


def judge_again(ask: Ask, usage: Usage, finer: Usage, search: Search, *, level: int, random_system: bool) -> Again:
    """Execute at the finer period what the search found and some of what it passed; compare.

    `level`: how often the period was refined before.
    """
    name = f"again/{level}"
    findings = [f for f in search.findings if f.walk is not None and f.iteration is not None]
    drawn, closest = search.passing.drawn(), search.passing.closest()
    runs = [Run(f.iteration, f.walk, f.stimulus, Answer(f.status)) for f in findings] + drawn + closest
    names = [f"{name}/{f.requirement}/{f.name}" for f in findings] + [f"{name}/{r.iteration}" for r in drawn + closest]
    queries = [
        Query(n, finer.draft(r.walk, stop=r.stimulus.duration), seed_name=query_name(r.iteration))
        for n, r in zip(names, runs, strict=True)
    ]
    subjects = [*findings, *[None] * (len(drawn) + len(closest))]
    repeated = [
        _Repeated(run, finding, answer, _found(finer, run, answer, level + 1))
        for run, finding, answer in zip(runs, subjects, ask(queries) if queries else [], strict=True)
    ]
    again = _compare(usage, finer, repeated, len(findings), len(drawn))
    check = replace(again.check, violations=search.passing.violating, random_system=random_system)
    again.check = _with_chance(ask, usage, check, repeated, names) if check.changes else check
    return again


def _found(usage: Usage, run: Run, answer: Answer, level: int) -> list[Finding]:
    if not answer.violated:
        return []
    stimulus = usage.stimulus(run.walk, stop=run.stimulus.duration)
    return list(findings_of(usage, Run(run.iteration, run.walk, stimulus, answer), level))


def _compare(usage: Usage, finer: Usage, repeated: Sequence[_Repeated], findings: int, drawn: int) -> Again:
    # A simulation that failed says nothing about sampling.
    vanished = [r.finding for r in repeated[:findings] if r.answer.judgements and r.same is None]
    moved = sum(r.same is not None and r.same.actions != r.finding.actions for r in repeated[:findings])
    by_chance, close = repeated[findings : findings + drawn], repeated[findings + drawn :]
    check = Check(
        usage.period,
        finer.period,
        findings,
        tuple((f.requirement, f.actions) for f in vanished),
        moved,
        drawn,
        sum(bool(r.new) for r in by_chance),
        len(close),
        sum(bool(r.new) for r in close),
    )
    confirmed = [r.same for r in repeated[:findings] if r.same is not None]
    return Again(check, vanished, confirmed + [f for r in repeated[findings:] for f in r.new])


def _with_chance(ask: Ask, usage: Usage, check: Check, repeated: Sequence[_Repeated], names: Sequence[str]) -> Check:
    """The same runs at the old period (a random system with other seeds): what changes there, changes by chance."""
    queries = [
        Query(f"{name}/chance", usage.draft(r.run.walk, stop=r.run.stimulus.duration))  # a seed of its own
        for name, r in zip(names, repeated, strict=True)
    ]
    changes = 0
    for r, answer in zip(repeated, ask(queries), strict=True):
        other = replace(r, answer=answer, found=_found(usage, r.run, answer, 0))
        if r.finding is None:
            changes += bool(other.new)
        elif answer.judgements:
            changes += other.same is None or other.same.actions != r.finding.actions
    return replace(check, by_chance=changes)
