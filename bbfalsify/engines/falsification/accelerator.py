"""Find counterexamples by the randomized accelerator (Kiviriga, Paper D, Algorithm 4).

Random walks over the user profile *ignore* its probabilities: each step picks one of the eventually enabled transitions
uniformly (RET), then a delay at or between the bounds of its window, by the cycle of eleven distributions of table B.3,
one per walk (default), or the two points of equation D.3.  Rare usage occurs about as often as common usage; its
probability is estimated afterwards (`conditional.py`, `splitting.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from bbfalsify.core.choices import ChoiceSequence
from bbfalsify.core.query import Answer, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.falsification.coverage import Visits
from bbfalsify.engines.falsification.exact_moments import only_at_exact_moments
from bbfalsify.engines.falsification.finding import Finding, query_name
from bbfalsify.engines.falsification.guiding import AdaptiveDuration, promising_actions
from bbfalsify.engines.falsification.instants import moment_ends, violating_step
from bbfalsify.engines.falsification.passing import Passing
from bbfalsify.engines.falsification.self_check import PlainWalks
from bbfalsify.engines.falsification.usage import Usage, walks_to_the_end
from bbfalsify.kernel import Walk, Walks, WalkStatus, accelerated_walks
from bbfalsify.results.falsify_insights import Convergence

CYCLE = 11
"""Table B.3 has eleven delay distributions, used one after the other."""
TWO_POINTS = -1
"""The kernel's code for equation D.3: lower or upper bound, each with probability one half."""


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

    def begin(self, requirements: int) -> None:
        self.best_robustness = [np.inf] * requirements
        self.judged, self.vacuous = [0] * requirements, [0] * requirements
        self.improved = [self.iterations] * requirements
        self.known, self.apart = [set() for _ in range(requirements)], [set() for _ in range(requirements)]
        self.remembered = [{f.actions for f in self.findings if f.requirement == r} for r in range(requirements)]

    def read(self, usage: Usage, run: Run, wanted: int) -> Iterator[Finding]:
        """Count an answer, and yield a finding for each requirement that it violates with a new key."""
        for finding in self.violations(usage, run):
            if self.add(finding, wanted):
                yield finding

    def add(self, finding: Finding, wanted: int) -> bool:
        """Put a finding on the list, unless its key is there or the list is full."""
        known = self.known[finding.requirement]
        elsewhere = self.remembered[finding.requirement] | self.apart[finding.requirement]
        new = finding.actions not in known and finding.actions not in elsewhere
        if new and len(known) < wanted:
            known.add(finding.actions)
            self.findings.append(finding)
            self.improved[finding.requirement] = finding.iteration or 0
            return True
        return False

    def set_apart(self, finding: Finding) -> None:
        """Free the place of a finding that is possible only at exact moments; it stays on the list."""
        finding.exact_moments = True
        self.known[finding.requirement].discard(finding.actions)
        self.apart[finding.requirement].add(finding.actions)

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
    """Number and kind of the accelerated walks of a search."""

    wanted: int
    """Counterexamples per requirement."""
    simulations: int
    batch: int
    """Queries per batch."""
    delays: str = "cycle"
    guiding: bool = False
    adaptive_duration: bool = False
    patience: int = 0
    """Simulations without a new key after which a list that cannot be filled is complete."""

    def settled(self, search: Search, requirement: int) -> bool:
        """True if a requirement has its counterexamples, or some of few words and no other was found for long."""
        known = len(search.known[requirement])
        if known >= self.wanted or search.has_all(requirement):
            return True
        return (
            known > 0
            and search.possible is not None
            and search.iterations - search.improved[requirement] >= self.patience > 0
        )


@dataclass
class Accelerator:
    """Execution of accelerated walks, one after the other."""

    ask: Ask
    usage: Usage
    search: Search
    seeds: np.ndarray
    """One word per walk."""
    plan: WalkPlan
    made: int = 0
    """Walks so far."""

    def runs(self, iterations: Sequence[int], until: float) -> Iterator[Run]:
        """Make and execute the next walks; walks that stood still are left out."""
        numbers = np.arange(self.made, self.made + len(iterations))
        self.made += len(iterations)
        rows = numbers % CYCLE if self.plan.delays == "cycle" else np.full(len(numbers), TWO_POINTS)
        # The answer to each first walk of a pair guides the second, so the first ones are executed before.
        positions = np.arange(len(numbers))
        turns = [positions[::2], positions[1::2]] if self.plan.guiding else [positions]
        preferences: dict[int, np.ndarray | None] = {}
        for turn in turns:
            walks = self._walk(numbers, rows, turn, until, preferences)
            walks = self.usage.values.accelerated(walks, self.seeds[numbers], rows)
            stimuli = {i: self.usage.stimulus(walk, stop=until) for i, walk in walks.items()}
            outliers = self.plan.guiding and turn is turns[0]
            names = {i: query_name(iterations[i]) for i in walks}
            answers = self.ask([Query(names[i], stimuli[i], outliers=outliers) for i in walks])
            for i, answer in zip(walks, answers, strict=True):
                run = shortest_failing(self.ask, self.usage, Run(iterations[i], walks[i], stimuli[i], answer))
                preferences[i + 1] = promising_actions(self.usage.model, run.walk, run.answer.judgements)
                yield run

    def _walk(
        self,
        numbers: np.ndarray,
        rows: np.ndarray,
        turn: np.ndarray,
        until: float,
        preferences: dict[int, np.ndarray | None],
    ) -> dict[int, Walk]:
        """Make the walks at these positions; those that prefer the same actions are made together."""
        groups: dict[bytes, list[int]] = {}
        for i in turn.tolist():
            preferred = preferences.get(i)
            groups.setdefault(b"" if preferred is None else preferred.tobytes(), []).append(i)
        made: dict[int, Walk] = {}
        for members in groups.values():
            walks = self._accelerated(numbers[members], rows[members], until, preferences.get(members[0]))
            made |= {members[i]: walk for i, walk in moving(self.usage, self.search, walks)}
        return dict(sorted(made.items()))

    def _accelerated(self, numbers: np.ndarray, rows: np.ndarray, until: float, preferred: np.ndarray | None) -> Walks:
        model, shares = self.usage.model, rows.astype(np.int32)

        def walk(max_steps: int) -> Walks:
            seeds = self.seeds[numbers]
            return accelerated_walks(model, seeds, shares, until=until, max_steps=max_steps, preferred=preferred)

        return walks_to_the_end(model, walk, len(numbers), until)


def moving(usage: Usage, search: Search, walks: Walks) -> Iterator[tuple[int, Walk]]:
    """Yield the walks that reached the end; one that always takes lower bounds may be zeno and is only counted."""
    usage.check(walks)
    reached = np.flatnonzero(walks.status == WalkStatus.REACHED_END)
    search.zeno_walks += len(walks) - len(reached)
    search.visits.add(usage.model, walks)
    for i in reached.tolist():
        yield i, walks.walk(i)


def accelerate(
    ask: Ask,
    usage: Usage,
    search: Search,
    plan: WalkPlan,
    *,
    requirements: int,
    seeds: SeedTree,
    listener: Listener,
    out_of_time: Callable[[], bool] = lambda: False,
) -> None:
    """Walk, simulate and judge until every requirement has its distinct counterexamples or the budget is spent."""
    search.begin(requirements)
    for finding in search.carried:
        if search.add(finding, plan.wanted):
            listener.found(finding)
    duration = AdaptiveDuration(usage.duration)
    accelerator = Accelerator(ask, usage, search, seeds.words(plan.simulations), plan)
    while search.stopped is None:
        missing = [r for r in range(requirements) if not plan.settled(search, r)]
        if not missing:
            search.stopped = StopReason.COMPLETED
        elif search.iterations >= plan.simulations:
            search.stopped = StopReason.BUDGET_SIMULATIONS
        elif out_of_time():
            search.stopped = StopReason.BUDGET_TIME
        else:
            until = duration.limit(missing) if plan.adaptive_duration else usage.duration
            iterations = range(search.iterations + 1, min(search.iterations + plan.batch, plan.simulations) + 1)
            for run in accelerator.runs(iterations, until):
                for finding in search.read(usage, run, plan.wanted):
                    duration.found(finding.requirement, finding.judgement.first_violation_time, run.iteration)
                    listener.found(finding)
                    few = len(search.apart[finding.requirement]) < plan.wanted
                    if few and only_at_exact_moments(ask, usage, finding, seeds):
                        search.set_apart(finding)
            search.iterations = iterations[-1]
            duration.waited(search.iterations)


def shortest_failing(ask: Ask, usage: Usage, run: Run) -> Run:
    """Cut the input of a failing simulation that counts as a violation after the step in which it fails.

    Nobody sees when a simulation fails, only that it did; the shortest prefix of whole moments that still fails ends
    with the step in whose delay it happened.  Found by halving: a failure does not go away when the input goes on.
    """
    if run.answer.ok or not run.answer.judgements:
        return run
    walk, stimulus, answer = run.walk, run.stimulus, run.answer
    cuts = moment_ends(walk.times[: violating_step(walk.times, stimulus.duration)]).tolist()
    passes, fails = -1, len(cuts) - 1
    name = query_name(run.iteration)
    while fails - passes > 1:
        middle = (passes + fails) // 2
        steps = cuts[middle]
        shorter = usage.stimulus(walk.prefix(steps), stop=min(float(walk.times[steps - 1]), stimulus.duration))
        [tried] = ask([Query(f"{name}/cut/{steps}", shorter, seed_name=name)])
        if tried.ok:
            passes = middle
        else:
            fails, stimulus, answer = middle, shorter, tried
    return Run(run.iteration, walk.prefix(cuts[fails]), stimulus, answer)
