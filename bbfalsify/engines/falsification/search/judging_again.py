"""Judge findings and some passing runs of a search again, at a tenth of the sampling period.

In dense time a sample holds until the next one.  A violation shorter than the period is missed; one that samples
exaggerate (a window without the sample that would satisfy it) is none.  Neither shows at the period itself, so:

    findings        each is executed again at a tenth of the period; if it holds there, it is an artefact of sampling
    passing runs    drawn at random, and those that came closest (`passing.py`); some may violate

If that matters, the search is repeated at the finer period before anything is estimated (`engine.py`).  Verdicts may
also change by chance, if the system draws random numbers or does not repeat.  So if any changes, the same runs are
repeated at the old period (a seedable system with other seeds); only more changes than those count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bbfalsify.core.query import Answer, Ask, Query
from bbfalsify.engines.falsification.finding import Finding, query_name
from bbfalsify.engines.falsification.search.passing import Passing
from bbfalsify.engines.falsification.search.search import Run, Search, findings_of
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.results.falsify_insights import SamplingCheck

NOTICED = 0.05
"""Smallest part of the violations that changes the numbers beyond their intervals."""
SHIFTED = 0.1
"""Part of the findings (but one in any case) that may have other actions: close to an action, either side is hit."""


@dataclass(frozen=True)
class Sampling:
    """Sampling periods at which a run may be judged."""

    finer: tuple[Usage, ...] = ()
    """The usage at a tenth, a hundredth, … of its period; empty if finer samples cannot change a verdict."""
    refinements: int = 0
    """Number of them that the run may change to."""
    given: bool = False
    """The user chose the period: artefacts stay on the list, and are marked."""
    random_system: bool = False
    """The system is seedable: it draws random numbers, perhaps as many as there are samples."""


@dataclass(frozen=True)
class Again:
    """The results of the second judgements."""

    check: SamplingCheck
    """The counts; which findings vanished stands here, since requirements have no names in the engine."""
    uncertain: bool
    """True if a single change may be chance."""
    vanished: list[Finding]
    violations: list[Finding]
    """Findings that are confirmed and passing runs that violate, as they are at the finer period."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A run of the search that is executed again."""

    name: str
    run: Run
    finding: Finding | None = None
    """The finding of the search; None for a passing run."""
    close: bool = False
    """A passing run that came closest; others are drawn."""

    def query(self, name: str, usage: Usage, seed_name: str | None) -> Query:
        return Query(name, usage.draft(self.run.walk, stop=self.run.stimulus.duration), seed_name=seed_name)

    def findings(self, usage: Usage, answer: Answer, level: int) -> list[Finding]:
        """Findings of this answer: a finding's own requirement, or those that a passing run had passed."""
        if not answer.violated:
            return []
        stimulus = usage.stimulus(self.run.walk, stop=self.run.stimulus.duration)
        again = replace(self.run, stimulus=stimulus, answer=answer)
        found = findings_of(usage, again, level)
        if self.finding is not None:
            return [f for f in found if f.requirement == self.finding.requirement]
        return [f for f in found if f.requirement not in self.run.answer.violated]

    def changed(self, answer: Answer, found: Sequence[Finding]) -> bool:
        """Tell whether the verdict, or the violating step, has changed; a simulation that failed does not count."""
        if self.finding is None:
            return bool(found)
        return bool(answer.judgements) and [f.actions for f in found] != [self.finding.actions]


def subjects_of(search: Search, passing: Passing, level: int, most: int, time: str = "") -> list[Subject]:
    """Choose what is judged again, at most so many: of few, half are findings, the others passing runs of both kinds.

    `level` is the number of refinements before, and `time` tells queries of one search apart.
    """
    findings = [
        Subject(
            f"again/{level}{time}/{f.requirement}/{f.name}",
            Run(f.iteration, f.walk, f.stimulus, Answer(f.simulation), f.choices),
            f,
        )
        for f in search.findings
        if f.walk is not None and f.iteration is not None  # findings from the store have no walk
    ]
    drawn, closest = (
        [Subject(f"again/{level}{time}/{run.iteration}", run, close=close) for run in runs]
        for runs, close in ((passing.drawn(), False), (passing.closest(), True))
    )
    passed = len(drawn) + len(closest)
    findings = findings[: max(most - passed, (most + 1) // 2, 0)]
    left = max(0, most - len(findings))
    drawn = drawn[: max((left + 1) // 2, left - len(closest))]
    return [*findings, *drawn, *closest[: left - len(drawn)]]


def judge_again(
    ask: Ask,
    usage: Usage,
    finer: Usage,
    subjects: Sequence[Subject],
    *,
    level: int,
    violating: int,
    random_system: bool,
) -> Again:
    """Execute runs at the finer period, and compare; `violating` runs of the search violate, of all."""
    findings = [s for s in subjects if s.finding is not None]
    drawn, closest = ([s for s in subjects if s.finding is None and s.close is close] for close in (False, True))
    queries = [s.query(s.name, finer, query_name(s.run.iteration)) for s in subjects]
    answers = ask(queries) if queries else []
    found = {s: s.findings(finer, answer, level + 1) for s, answer in zip(subjects, answers, strict=True)}
    changed = {s for s, answer in zip(subjects, answers, strict=True) if s.changed(answer, found[s])}
    vanished = [s.finding for s in findings if s.finding is not None and s in changed and not found[s]]
    by_chance = _by_chance(ask, usage, subjects) if changed else 0
    check = SamplingCheck(
        period=usage.period,
        finer=finer.period,
        findings=len(findings),
        not_confirmed=len(vanished),
        moved=sum(s in changed and bool(found[s]) for s in findings),
        passing=len(drawn),
        violating=sum(s in changed for s in drawn),
        closest=len(closest),
        closest_violating=sum(s in changed for s in closest),
        violations=violating,
        by_chance=by_chance,
    )
    uncertain = random_system or by_chance > 0
    check = replace(check, matters=_matters(check, uncertain), text=_text(check))
    return Again(check, uncertain, vanished, [finding for subject in subjects for finding in found[subject]])


def _matters(check: SamplingCheck, uncertain: bool) -> bool:
    """True if sampling changes verdicts; by two deviations more than chance, if chance does, too.

    Some of the runs closest to violating may always change: they count from `NOTICED` of all violations on.
    """
    certain = check.not_confirmed + check.violating
    if not uncertain:
        shifted = check.moved > max(1, SHIFTED * check.findings)
        return certain > 0 or shifted or check.closest_violating > NOTICED * check.violations
    changes = certain + check.moved + check.closest_violating
    return changes - check.by_chance > 2 * math.sqrt(changes + check.by_chance)


def _text(check: SamplingCheck) -> str:
    parts = [f"{check.not_confirmed} of {check.findings} findings not confirmed"] if check.findings else []
    parts += [f"{check.moved} by other actions"] if check.moved else []
    parts += [f"{check.violating} of {check.passing} passing runs violate"] if check.passing else []
    parts += [f"{check.closest_violating} of the {check.closest} that came closest violate"] if check.closest else []
    return f"judged again at samples every {check.finer:g} instead of {check.period:g}: {', '.join(parts)}"


def _by_chance(ask: Ask, usage: Usage, subjects: Sequence[Subject]) -> int:
    """Count the changes of a repetition at the old period (a random system draws again there)."""
    answers = ask([s.query(f"{s.name}/chance", usage, None) for s in subjects])
    return sum(s.changed(answer, s.findings(usage, answer, 0)) for s, answer in zip(subjects, answers, strict=True))
