"""Finding counterexamples: the randomized accelerator (Kiviriga, Paper D, Algorithm 4).

Random walks over the user profile that *discard* its probabilities: each step picks one of the eventually enabled
transitions uniformly (RET), then a delay at or between the bounds of its window.  Which bound, and how often, follows
the cycle of eleven distributions of table B.3, one per walk (default), or the two points of equation D.3.  Rare usage
is met about as often as common usage; how probable it is, is asked afterwards (`conditional.py`, `splitting.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from bbfalsify.core.query import Answer, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, StopReason, Verdict
from bbfalsify.engines.falsification.coverage import Visits
from bbfalsify.engines.falsification.guiding import AdaptiveDuration, promising_actions
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage, violating_step
from bbfalsify.kernel import Walk, WalkStatus, accelerated_walks

CYCLE = 11
"""Table B.3 has eleven delay distributions, used one after the other."""
TWO_POINTS = -1
"""The kernel's code for equation D.3: lower or upper bound, each with probability one half."""


@dataclass(frozen=True, eq=False)
class Finding:
    """A word that violated a requirement, cut after the action that ends the violating delay: its key."""

    requirement: int
    actions: tuple[str, ...]
    word: tuple[tuple[float, str], ...]
    """The whole walk, key first: when each action fired, up to the first one after the stimulus."""
    stimulus: Stimulus
    judgement: Judgement
    status: SimulationStatus
    """OK, unless a failing simulation counts as a violation."""
    iteration: int | None
    """1-based number of the walk that found it; None for one that was known before the search."""
    known_as: str = ""
    """The name under which it was known before the search."""

    @property
    def name(self) -> str:
        """Unique among the findings of a requirement: queries and seeds are named after it."""
        return self.known_as or str(self.iteration)

    @property
    def query(self) -> str:
        return f"known/{self.known_as}" if self.iteration is None else query_name(self.iteration)


@dataclass
class Search:
    """What a search has seen so far; filled in place, so that an interrupted search keeps what it found."""

    findings: list[Finding] = field(default_factory=list)
    iterations: int = 0
    zeno_walks: int = 0
    visits: Visits = field(default_factory=Visits)
    """What of the profile the walks have used."""
    statuses: dict[str, int] = field(default_factory=dict)
    best_robustness: list[float] = field(default_factory=list)
    judged: list[int] = field(default_factory=list)
    """Per requirement: simulations that ended well and were judged."""
    vacuous: list[int] = field(default_factory=list)
    """Of those, the ones in which its trigger never occurred."""
    first_failure: str = ""
    """What the first simulation that failed said."""
    stopped: StopReason | None = None
    known: list[set[tuple[str, ...]]] = field(default_factory=list)
    """Per requirement: the keys found so far."""
    remembered: list[set[tuple[str, ...]]] = field(default_factory=list)
    """Per requirement: the keys among `findings` before the search began; it looks for others."""

    def begin(self, requirements: int) -> None:
        self.best_robustness = [np.inf] * requirements
        self.judged, self.vacuous = [0] * requirements, [0] * requirements
        self.known = [set() for _ in range(requirements)]
        self.remembered = [{f.actions for f in self.findings if f.requirement == r} for r in range(requirements)]

    def read(
        self, usage: Usage, walk: Walk, stimulus: Stimulus, answer: Answer, iteration: int, wanted: int
    ) -> Iterator[Finding]:
        """Count an answer, and give a finding for each requirement that it violates with a new key."""
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        if answer.message and not self.first_failure:
            self.first_failure = answer.message
        for number, judgement in enumerate(answer.judgements):
            self.best_robustness[number] = min(self.best_robustness[number], judgement.robustness)
            self.judged[number] += 1
            self.vacuous[number] += judgement.vacuous
            if judgement.verdict is not Verdict.VIOLATED or len(self.known[number]) >= wanted:
                continue
            steps = violating_step(walk.times, judgement.first_violation_time)
            word = tuple(zip(walk.times.tolist(), walk.actions(usage.model), strict=True))
            actions = tuple(action for _, action in word[:steps])
            if actions not in self.known[number] and actions not in self.remembered[number]:
                self.known[number].add(actions)
                finding = Finding(number, actions, word, stimulus, judgement, answer.status, iteration)
                self.findings.append(finding)
                yield finding


def query_name(iteration: int) -> str:
    return f"search/{iteration}"


class Listener(Protocol):
    def found(self, finding: Finding) -> None:
        """A new key; called while the batch that found it is read."""


def accelerate(
    ask: Ask,
    usage: Usage,
    search: Search,
    *,
    requirements: int,
    wanted: int,
    simulations: int,
    seeds: SeedTree,
    batch: int,
    listener: Listener,
    delays: str = "cycle",
    guiding: bool = False,
    adaptive_duration: bool = False,
    out_of_time: Callable[[], bool] = lambda: False,
) -> None:
    """Walk, simulate and judge until every requirement has `wanted` distinct counterexamples or the budget is spent."""
    search.begin(requirements)
    duration = AdaptiveDuration(usage.duration)
    walk_seeds = seeds.words(simulations)
    while search.stopped is None:
        missing = [r for r in range(requirements) if len(search.known[r]) < wanted]
        if not missing:
            search.stopped = StopReason.COMPLETED
        elif search.iterations >= simulations:
            search.stopped = StopReason.BUDGET_SIMULATIONS
        elif out_of_time():
            search.stopped = StopReason.BUDGET_TIME
        else:
            until = duration.limit(missing) if adaptive_duration else usage.duration
            numbers = np.arange(search.iterations, min(search.iterations + batch, simulations))
            rows = numbers % CYCLE if delays == "cycle" else np.full(len(numbers), TWO_POINTS)
            # Every second walk is guided by what the one before it came close to; so the first of each pair go first.
            turns = [numbers[::2], numbers[1::2]] if guiding else [numbers]
            preferences: dict[int, np.ndarray | None] = {}
            for turn in turns:
                runs = _walk(usage, search, walk_seeds, rows[turn - numbers[0]], turn, until, preferences)
                queries = [
                    Query(query_name(number + 1), stimulus, outliers=guiding and turn is turns[0])
                    for number, _, stimulus in runs
                ]
                for (number, walk, stimulus), answer in zip(runs, ask(queries), strict=True):
                    if answer.judgements and not answer.ok:
                        walk, stimulus, answer = shortest_failing(ask, usage, walk, stimulus, answer, number + 1)
                    preferences[number + 1] = promising_actions(usage.model, walk, answer.judgements)
                    for finding in search.read(usage, walk, stimulus, answer, number + 1, wanted):
                        duration.found(finding.requirement, finding.judgement.first_violation_time, finding.iteration)
                        listener.found(finding)
            search.iterations = int(numbers[-1]) + 1
            duration.waited(search.iterations)


def shortest_failing(
    ask: Ask, usage: Usage, walk: Walk, stimulus: Stimulus, answer: Answer, iteration: int
) -> tuple[Walk, Stimulus, Answer]:
    """Where a failing simulation counts as a violation: cut its input after the step in which it fails.

    Nobody sees when a simulation fails, only that it did; the shortest prefix that still fails ends with the step in
    whose delay it happened.  Found by halving: a failure does not go away when the input goes on.
    """
    passes, fails = 0, min(len(walk.times), violating_step(walk.times, stimulus.duration))
    while fails - passes > 1:
        middle = (passes + fails) // 2
        shorter = usage.stimulus(walk.prefix(middle), stop=min(float(walk.times[middle - 1]), stimulus.duration))
        name = query_name(iteration)
        [tried] = ask([Query(f"{name}/cut/{middle}", shorter, seed_name=name)])
        if tried.ok:
            passes = middle
        else:
            fails, stimulus, answer = middle, shorter, tried
    return walk.prefix(fails), stimulus, answer


def _walk(
    usage: Usage,
    search: Search,
    walk_seeds: np.ndarray,
    rows: np.ndarray,
    numbers: np.ndarray,
    until: float,
    preferences: dict[int, np.ndarray | None],
) -> list[tuple[int, Walk, Stimulus]]:
    """The walks with these numbers and their stimuli; walks that prefer the same actions are made together."""
    groups: dict[bytes, list[int]] = {}
    for i, number in enumerate(numbers):
        preferred = preferences.get(int(number))
        groups.setdefault(b"" if preferred is None else preferred.tobytes(), []).append(i)
    runs = []
    for members in groups.values():
        walks = accelerated_walks(
            usage.model,
            walk_seeds[numbers[members]],
            rows[members].astype(np.int32),
            until=until,
            max_steps=MAX_STEPS,
            preferred=preferences.get(int(numbers[members[0]])),
        )
        usage.check(walks)
        # A walk that takes lower bounds for ever may stand still (zeno); it is counted, not simulated.
        moving = np.flatnonzero(walks.status == WalkStatus.REACHED_END)
        search.zeno_walks += len(members) - len(moving)
        search.visits.add(usage.model, walks)
        for i in moving:
            walk = walks.walk(int(i))
            runs.append((int(numbers[members[i]]), walk, usage.stimulus(walk, stop=until)))
    return sorted(runs, key=lambda run: run[0])
