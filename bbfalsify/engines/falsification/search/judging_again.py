"""Judge findings and some passing runs of a search again, at a tenth of the sampling period.

In dense time a sample holds until the next one.  A violation shorter than the period is missed; one that samples
exaggerate (a window without the sample that would satisfy it) is none.  Neither shows at the period itself, so:

    findings        each is executed again at a tenth of the period; if it holds there, it is an artefact of sampling
    passing runs    drawn at random, and those that came closest (`passing.py`); some may violate

This is done several times along a search, each subject once (`searches.py`).  If it matters, the search is repeated at
the finer period before anything is estimated.  Verdicts may also change by chance, if the system draws random numbers
or does not repeat.  So as soon as any changes, the same runs are repeated at the old period (a seedable system with
other seeds); only more changes than those count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

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
    """The results of the second judgements of a search so far."""

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


@dataclass(eq=False)
class SecondJudgements:
    """The runs of a search at one period that are judged again at the next finer one."""

    usage: Usage
    finer: Usage
    level: int
    """Number of refinements before."""
    random_system: bool
    found: dict[Subject, list[Finding]] = field(default_factory=dict)
    """What each subject violates at the finer period."""
    changed: set[Subject] = field(default_factory=set)
    repeated: set[Subject] = field(default_factory=set)
    """Those executed again at the old period."""
    by_chance: int = 0

    @property
    def waiting(self) -> int:
        """Simulations that would repeat what was judged so far."""
        return len(self.found) - len(self.repeated)

    def subjects(self, search: Search, passing: Passing, most: int) -> list[Subject]:
        """Choose what is judged now, at most so many: of few, half are findings, the others passing runs of both kinds.

        Nothing is judged twice.
        """
        known = {subject.name for subject in self.found}
        findings = [
            Subject(
                f"again/{self.level}/{f.requirement}/{f.name}",
                Run(f.iteration, f.walk, f.stimulus, Answer(f.simulation), f.choices),
                f,
            )
            for f in search.findings
            if f.walk is not None and f.iteration is not None  # findings from the store have no walk
        ]
        findings = [subject for subject in findings if subject.name not in known]
        drawn, closest = (
            [
                Subject(name, run, close=close)
                for run in runs
                if (name := f"again/{self.level}/{run.iteration}") not in known
            ]
            for runs, close in ((passing.drawn(), False), (passing.closest(), True))
        )
        passed = len(drawn) + len(closest)
        findings = findings[: max(most - passed, (most + 1) // 2, 0)]
        left = max(0, most - len(findings))
        drawn = drawn[: max((left + 1) // 2, left - len(closest))]
        return [*findings, *drawn, *closest[: left - len(drawn)]]

    def judge(self, ask: Ask, subjects: Sequence[Subject], violating: int) -> Again:
        """Execute runs at the finer period, and compare; `violating` runs of the search violate, of all."""
        queries = [s.query(s.name, self.finer, query_name(s.run.iteration)) for s in subjects]
        for subject, answer in zip(subjects, ask(queries) if queries else (), strict=True):
            self.found[subject] = subject.findings(self.finer, answer, self.level + 1)
            if subject.changed(answer, self.found[subject]):
                self.changed.add(subject)
        if self.changed:
            self._repeat(ask)
        return self._results(violating)

    def _repeat(self, ask: Ask) -> None:
        """Count the changes of a repetition at the old period (a random system draws again there)."""
        subjects = [subject for subject in self.found if subject not in self.repeated]
        self.repeated.update(subjects)
        answers = ask([s.query(f"{s.name}/chance", self.usage, None) for s in subjects]) if subjects else ()
        pairs = zip(subjects, answers, strict=True)
        self.by_chance += sum(s.changed(answer, s.findings(self.usage, answer, 0)) for s, answer in pairs)

    def _results(self, violating: int) -> Again:
        findings = [s for s in self.found if s.finding is not None]
        drawn, closest = ([s for s in self.found if s.finding is None and s.close is close] for close in (False, True))
        vanished = [s.finding for s in findings if s.finding is not None and s in self.changed and not self.found[s]]
        check = SamplingCheck(
            period=self.usage.period,
            finer=self.finer.period,
            findings=len(findings),
            not_confirmed=len(vanished),
            moved=sum(s in self.changed and bool(self.found[s]) for s in findings),
            passing=len(drawn),
            violating=sum(s in self.changed for s in drawn),
            closest=len(closest),
            closest_violating=sum(s in self.changed for s in closest),
            violations=violating,
            by_chance=self.by_chance,
        )
        uncertain = self.random_system or self.by_chance > 0
        check = replace(check, matters=_matters(check, uncertain), text=_text(check))
        return Again(check, uncertain, vanished, [finding for found in self.found.values() for finding in found])


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
