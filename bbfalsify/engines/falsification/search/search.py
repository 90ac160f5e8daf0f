"""A search, whatever makes its runs: what it has found, when it stops, and the search for the first counterexamples.

    while not stopped:
        runs = source.runs(batch)       accelerated walks (`accelerator.py`), proposals of a guide (`guided.py`)
        read each run: new keys are findings, and are confirmed at once

The search for the probable ones (`probable.py`) has several sources, and stops by the same rules: every list is
settled, the violations show as many failure modes as are wanted (`distinct_modes.py`), or the budget of simulations or
time is spent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from bbfalsify.core.choices import ChoiceSequence
from bbfalsify.core.query import Answer, AnyQuery, Ask
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.falsification.coverage import Visits
from bbfalsify.engines.falsification.estimates.self_check import PlainWalks
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.search.distinct_modes import DistinctModes
from bbfalsify.engines.falsification.search.passing import Passing
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk
from bbfalsify.results.falsify_insights import Convergence


@dataclass(frozen=True)
class Run:
    """One simulation of the search."""

    iteration: int
    walk: Walk
    stimulus: Stimulus
    answer: Answer
    choices: ChoiceSequence | None = None
    """All choices of the run, if a guide asked for it."""


@dataclass
class Search:
    """Results of a search so far, updated in place, so that an interrupted search keeps them."""

    findings: list[Finding] = field(default_factory=list)
    iterations: int = 0
    """Walks so far."""
    beside: int = 0
    """Simulations beside those of the walks: confirmations, cuts of failing ones, checks of exact moments."""
    zeno_walks: int = 0
    visits: Visits = field(default_factory=Visits)
    """Parts of the profile that the walks have used."""
    plain: PlainWalks = field(default_factory=PlainWalks)
    """Walks that follow the profile's own law, and the keys that they met."""
    statuses: dict[str, int] = field(default_factory=dict)
    best_robustness: list[float] = field(default_factory=list)
    judged: list[int] = field(default_factory=list)
    """Per requirement: simulations that ended well and were judged."""
    vacuous: list[int] = field(default_factory=list)
    """Per requirement: those in which its trigger never occurred."""
    first_failure: str = ""
    """Message of the first simulation that failed."""
    stopped: StopReason | None = None
    known: list[set[tuple[str, ...]]] = field(default_factory=list)
    """Per requirement: the keys found so far."""
    remembered: list[set[tuple[str, ...]]] = field(default_factory=list)
    """Per requirement: the keys among `findings` before the search began, which it does not search for."""
    convergence: list[tuple[Convergence, ...]] = field(default_factory=list)
    """Per requirement: growth of the list in a search for probable ones."""
    further: list[list[tuple[Finding, float]]] = field(default_factory=list)
    """Per requirement: findings of a search for probable ones that are not on its list, with their rough masses."""
    carried: list[Finding] = field(default_factory=list)
    """Violations known from a search at a longer sampling period; this one begins with them."""
    passing: Passing | None = None
    """Some of the passing runs, if they will be judged again."""
    notes: list[str] = field(default_factory=list)
    """Notes that a reader needs."""
    apart: list[set[tuple[str, ...]]] = field(default_factory=list)
    """Per requirement: keys on the list that are possible only at exact moments, which take no place."""
    possible: int | None = None
    """Number of keys that a use can have, if it is at most that of the counterexamples wanted."""
    improved: list[int] = field(default_factory=list)
    """Per requirement: the iteration of its last new key."""
    modes: DistinctModes | None = None
    """Counts failure modes, if so many of them end the search."""
    kept: int = 0
    """Simulations that confirmations of what was found will take."""
    tries: int | None = None
    """Confirmations of each finding, where the budget has no room for as many as are wanted."""
    limit: float = math.inf
    """Simulations that it may execute by now; more when what it has found was judged again."""
    pause: float = math.inf
    """Simulations after which it pauses, at the end of a turn."""

    def begin(self, requirements: int) -> None:
        self.kept = 0
        self.best_robustness = [np.inf] * requirements
        self.judged, self.vacuous = [0] * requirements, [0] * requirements
        self.improved = [self.iterations] * requirements
        self.known, self.apart = [set() for _ in range(requirements)], [set() for _ in range(requirements)]
        self.remembered = [{f.actions for f in self.findings if f.requirement == r} for r in range(requirements)]

    def read(self, usage: Usage, run: Run, wanted: int) -> Iterator[Finding]:
        """Count an answer, and yield a finding for each requirement that it violates with a new key."""
        for finding in self.violations(usage, run):
            other = self.modes is not None and self.modes.is_other(finding.requirement, run)
            if self.add(finding, wanted + self.further_places if other else wanted):
                yield finding

    @property
    def further_places(self) -> int:
        """Places that a full list has for other failure modes."""
        return 0 if self.modes is None else self.modes.wanted

    @property
    def shows_modes(self) -> bool:
        """True if the violations show as many failure modes as are wanted."""
        return self.modes is not None and all(map(self.modes.shown, range(len(self.known))))

    def add(self, finding: Finding, wanted: int) -> bool:
        """Put a finding on the list, unless its key is there or the list is full."""
        known = self.known[finding.requirement]
        if self.is_new(finding) and len(known) < wanted:
            known.add(finding.actions)
            self.findings.append(finding)
            self.improved[finding.requirement] = finding.iteration or 0
            return True
        return False

    def is_new(self, finding: Finding) -> bool:
        """Tell whether nothing was found with this key before."""
        found = self.known, self.remembered, self.apart
        return not any(finding.actions in keys[finding.requirement] for keys in found)

    def set_apart(self, finding: Finding) -> None:
        """Free the place of a finding that is possible only at exact moments; it stays on the list."""
        finding.exact_moments = True
        self.known[finding.requirement].discard(finding.actions)
        self.apart[finding.requirement].add(finding.actions)

    @property
    def spent(self) -> int:
        """Everything that the search has executed; a zeno walk counts, too."""
        return self.iterations + self.beside

    def counting(self, ask: Ask) -> Ask:
        """Count what is asked beside the walks."""

        def counted(queries: Sequence[AnyQuery]) -> Sequence[Answer]:
            self.beside += len(queries)
            return ask(queries)

        return counted

    def report(self, finding: Finding, listener: Listener) -> None:
        """Tell the listener about a finding; its confirmation counts."""
        listener.found(finding)
        self.beside += 0 if finding.confirmation is None else finding.confirmation.tries

    def has_all(self, requirement: int) -> bool:
        """True if every key that a use can have is found."""
        found = self.known[requirement] | self.remembered[requirement] | self.apart[requirement]
        return self.possible is not None and len(found) >= self.possible

    def violations(self, usage: Usage, run: Run) -> Iterator[Finding]:
        """Count an answer, and yield a finding for each requirement that it violates."""
        answer = run.answer
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        if answer.message and not self.first_failure:
            self.first_failure = answer.message
        for number, judgement in enumerate(answer.judgements):
            self.best_robustness[number] = min(self.best_robustness[number], judgement.robustness)
            self.judged[number] += 1
            self.vacuous[number] += judgement.vacuous
        if self.passing is not None:
            self.passing.add(run)
        if self.modes is not None:
            self.modes.add(run)
        yield from findings_of(usage, run)

    def drop(self, findings: Sequence[Finding]) -> None:
        """Take findings off the list."""
        for finding in findings:
            self.known[finding.requirement].discard(finding.actions)
        self.findings[:] = [finding for finding in self.findings if finding not in findings]

    def restart(self, carried: Sequence[Finding]) -> None:
        """Drop the findings: the next search, at a shorter sampling period, begins with these violations."""
        self.findings[:] = [finding for finding in self.findings if finding.iteration is None]
        self.carried, self.stopped = list(carried), None
        self.plain = PlainWalks()  # what they met at the longer period says nothing about the shorter one


def findings_of(usage: Usage, run: Run, refined: int = 0) -> Iterator[Finding]:
    """Yield a finding for each requirement that the run violates."""
    walk = run.walk
    for number in run.answer.violated:
        judgement = run.answer.judgements[number]
        steps = violating_step(walk.times, judgement.first_violation_time)
        word = tuple(zip(walk.times.tolist(), walk.actions(usage.model), strict=True))
        actions = tuple(action for _, action in word[:steps])
        found = (number, actions, word, run.stimulus, judgement, run.answer.status, run.iteration)
        yield Finding(*found, walk=walk, refined=refined, choices=run.choices)


class Listener(Protocol):
    def found(self, finding: Finding) -> None:
        """A key that is new on the list; called after the batch that found it."""

    def advanced(self, search: Search, masses: Sequence[float]) -> None:
        """A round of a search for probable counterexamples is over; the lists have these masses, roughly estimated."""


@dataclass(frozen=True)
class WalkPlan:
    """Number and kind of the walks of a search."""

    wanted: int
    """Counterexamples per requirement."""
    simulations: int
    """All that the search may execute (`Search.spent`), within its momentary limit."""
    batch: int
    """Queries per batch."""
    delays: str = "cycle"
    guiding: bool = False
    adaptive_duration: bool = False
    patience: int = 0
    """Simulations without a new key after which a list that cannot be filled is complete."""
    confirmations: int = 3
    """Simulations that confirm a finding."""
    cut_short: bool = False
    """Simulations may end before the use does; a finding takes one more, to its end."""

    def settled(self, search: Search, requirement: int) -> bool:
        """True if a requirement has its counterexamples, or some of few words and no other was found for long.

        Where failure modes end the search, these decide.
        """
        if search.modes is not None:
            return search.modes.shown(requirement)
        known = len(search.known[requirement])
        if known >= self.wanted or search.has_all(requirement):
            return True
        return (
            known > 0
            and search.possible is not None
            and search.iterations - search.improved[requirement] >= self.patience > 0
        )

    def next(self, search: Search, count: int) -> range:
        """Numbers for the next walks, at most so many, as far as the budget goes."""
        first = search.iterations + 1
        search.iterations += max(0, min(count, self.left(search)))
        return range(first, search.iterations + 1)

    @property
    def per_finding(self) -> int:
        """Simulations that a finding costs: its confirmations, and its whole use."""
        return self.confirmations + self.cut_short

    def left(self, search: Search) -> int:
        """Simulations that the search may execute by now."""
        return int(min(self.simulations, search.limit)) - search.spent

    def with_room(self, left: int, places: int, requirements: int) -> int:
        """Number of walks, so that with what they may find, one per requirement at most, no budget is exceeded."""
        return max(left - self.per_finding * places, left // (1 + self.per_finding * requirements), 0)

    def careful_batch(self, search: Search) -> int:
        """Walks of the next batch, fewer if there would be no room for the confirmations of what they may find."""
        wanted = self.wanted + search.further_places
        places = sum(wanted - len(known) for known in search.known)
        return min(self.batch, self.with_room(self.left(search), places, len(search.known)))

    def spare(self, search: Search) -> int:
        """Simulations that are left beside the confirmations of what was found, and of what one run may bring."""
        return max(0, self.left(search) - search.kept - self.per_finding * len(search.known))


class Source(Protocol):
    """Makes the runs of a search."""

    def runs(self, count: int, missing: Sequence[int]) -> Iterable[Run]:
        """Make and execute at most so many runs for the requirements that miss counterexamples."""

    def whole(self, run: Run) -> Run:
        """Execute a run to the end of the use, if its simulation ended before and it violates with a new key."""

    def found(self, finding: Finding) -> bool:
        """Learn of a new finding; return whether it is possible only at exact moments, and takes no place."""


def turns(
    search: Search, plan: WalkPlan, settled: Callable[[int], bool], out_of_time: Callable[[], bool]
) -> Iterator[list[int]]:
    """Yield the requirements that are not settled, turn by turn, until none is left or the budget is spent.

    A search that pauses has not stopped.
    """
    while search.stopped is None and search.spent < search.pause:
        missing = [requirement for requirement in range(len(search.known)) if not settled(requirement)]
        if not missing:
            search.stopped = StopReason.MODES_SHOWN if search.shows_modes else StopReason.COMPLETED
        elif plan.left(search) <= 0:
            search.stopped = StopReason.BUDGET_SIMULATIONS
        elif out_of_time():
            search.stopped = StopReason.BUDGET_TIME
        else:
            yield missing


@dataclass
class FirstSearch:
    """Search until every requirement has its distinct counterexamples, or the source has nothing left to try."""

    usage: Usage
    search: Search
    plan: WalkPlan
    source: Source
    listener: Listener

    def begin(self, requirements: int) -> None:
        search = self.search
        if not self.usage.profile.has_actions:
            search.possible = 1  # a use without actions has one key, also where one counterexample is wanted
        search.begin(requirements)
        for finding in search.carried:
            if search.add(finding, self.plan.wanted):
                search.report(finding, self.listener)

    def go_on(self, out_of_time: Callable[[], bool] = lambda: False) -> None:
        """Search until it stops or pauses."""
        search, plan = self.search, self.plan
        for missing in turns(search, plan, lambda requirement: plan.settled(search, requirement), out_of_time):
            batch, before = plan.careful_batch(search), search.iterations
            found = []
            for run in self.source.runs(batch, missing) if batch else ():
                for finding in search.read(self.usage, self.source.whole(run), plan.wanted):
                    search.report(finding, self.listener)
                    found.append(finding)
            for finding in found:  # these tests take what is left when all are confirmed
                if self.source.found(finding):
                    search.set_apart(finding)
            if search.iterations == before:
                search.stopped = StopReason.COMPLETED if batch else StopReason.BUDGET_SIMULATIONS
