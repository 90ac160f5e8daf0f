"""Finding counterexamples: the randomized accelerator (Kiviriga, Paper D, Algorithm 4).

Random walks over the user profile that *discard* its probabilities: each step picks one of the eventually enabled
transitions uniformly (RET), then a delay at or between the bounds of its window.  Which bound, and how often, follows
the cycle of eleven distributions of table B.3, one per walk (default), or the two points of equation D.3.  Rare usage
is met about as often as common usage; how probable it is, is asked afterwards (`conditional.py`, `splitting.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from bbfalsify.core.query import Answer, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, StopReason, Verdict
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage, violating_step
from bbfalsify.kernel import Walk, WalkStatus, accelerated_walks

CYCLE = 11
"""Table B.3 has eleven delay distributions, used one after the other."""
TWO_POINTS = -1
"""The kernel's code for equation D.3: lower or upper bound, each with probability one half."""

Ask = Callable[[Sequence[Query]], Sequence[Answer]]


@dataclass(frozen=True, eq=False)
class Finding:
    """A word that violated a requirement, cut after the action that ends the violating delay: its key."""

    requirement: int
    actions: tuple[str, ...]
    walk: Walk
    stimulus: Stimulus
    judgement: Judgement
    status: SimulationStatus
    """OK, unless a failing simulation counts as a violation."""
    iteration: int
    """1-based number of the walk that found it."""

    @property
    def query(self) -> str:
        return query_name(self.iteration)


@dataclass
class Search:
    """What a search has seen so far; filled in place, so that an interrupted search keeps what it found."""

    findings: list[Finding] = field(default_factory=list)
    iterations: int = 0
    zeno_walks: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    best_robustness: list[float] = field(default_factory=list)
    judged: list[int] = field(default_factory=list)
    """Per requirement: simulations that ended well and were judged."""
    vacuous: list[int] = field(default_factory=list)
    """Of those, the ones in which its trigger never occurred."""
    stopped: StopReason | None = None


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
    out_of_time: Callable[[], bool] = lambda: False,
) -> None:
    """Walk, simulate and judge until every requirement has `wanted` distinct counterexamples or the budget is spent."""
    search.best_robustness = [np.inf] * requirements
    search.judged, search.vacuous = [0] * requirements, [0] * requirements
    known: list[set[tuple[str, ...]]] = [set() for _ in range(requirements)]
    walk_seeds = seeds.words(simulations)
    while search.stopped is None:
        if all(len(keys) >= wanted for keys in known):
            search.stopped = StopReason.COMPLETED
        elif search.iterations >= simulations:
            search.stopped = StopReason.BUDGET_SIMULATIONS
        elif out_of_time():
            search.stopped = StopReason.BUDGET_TIME
        else:
            first = search.iterations
            numbers = np.arange(first, min(first + batch, simulations))
            rows = numbers % CYCLE if delays == "cycle" else np.full(len(numbers), TWO_POINTS)
            walks = accelerated_walks(
                usage.model, walk_seeds[numbers], rows.astype(np.int32), until=usage.duration, max_steps=MAX_STEPS
            )
            usage.check(walks)
            # A walk that takes lower bounds for ever may stand still (zeno); it is counted, not simulated.
            moving = np.flatnonzero(walks.status == WalkStatus.REACHED_END)
            search.zeno_walks += len(numbers) - len(moving)
            runs = [(int(numbers[i]) + 1, walk := walks.walk(int(i)), usage.stimulus(walk)) for i in moving]
            answers = ask([Query(query_name(iteration), stimulus) for iteration, _, stimulus in runs])
            for (iteration, walk, stimulus), answer in zip(runs, answers, strict=True):
                search.statuses[answer.status] = search.statuses.get(answer.status, 0) + 1
                for number, judgement in enumerate(answer.judgements):
                    search.best_robustness[number] = min(search.best_robustness[number], judgement.robustness)
                    search.judged[number] += 1
                    search.vacuous[number] += judgement.vacuous
                    if judgement.verdict is not Verdict.VIOLATED or len(known[number]) >= wanted:
                        continue
                    steps = violating_step(walk.times, judgement.first_violation_time)
                    actions = walk.actions(usage.model)[:steps]
                    if actions not in known[number]:
                        known[number].add(actions)
                        finding = Finding(
                            number, actions, walk.prefix(steps), stimulus, judgement, answer.status, iteration
                        )
                        search.findings.append(finding)
                        listener.found(finding)
            search.iterations = int(numbers[-1]) + 1
