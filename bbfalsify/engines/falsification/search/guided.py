"""Runs that a guide proposes: ask the guide, execute, tell the guide.

    proposals = guide.ask(batch)            quantiles of choices (`core/choices.py`)
    runs      = the profile's runs with these choices, completed by chance (`space.py`)
    answers   = ask(runs)                   the system, judged
    guide.tell(choices really made, scores)

Where others make runs beside the guide, accelerated and plain walks, it learns of them as well (`hear`).
The seed and the answers determine everything, so a run is resumed by its recorded answers, and the number of workers
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.choices import Guide
from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Answer, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.baseline.failing_runs import shortest_failing
from bbfalsify.engines.falsification.finding import Finding, query_name
from bbfalsify.engines.falsification.guides.guide_table import ACCELERATOR, PORTFOLIO, guide_factory
from bbfalsify.engines.falsification.guides.scores import Scores
from bbfalsify.engines.falsification.search.search import Run, Search, WalkPlan
from bbfalsify.engines.falsification.space import PlayedRun, ProfileSpace
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import WalkStatus

MOST_CHOICES = 10_000
"""Choices per run, above which only guides that manage any length are used."""

Score = Callable[[Sequence[Answer], int], np.ndarray]
"""From answers and a number of requirements to scores (answers × requirements), as `Guide.tell` takes them."""


def open_guide(name: str, space: ProfileSpace, search: Search, requirements: int, seeds: SeedTree) -> Guide:
    """Make a guide; one that cannot search this space is replaced, and that is noted."""
    factory, choices = guide_factory(name), len(space.labels)
    if choices > MOST_CHOICES and not getattr(factory, "any_length", False):
        search.notes.append(
            f"a run has {choices} choices, more than the guide '{name}' manages ({MOST_CHOICES}): '{ACCELERATOR}' "
            "took over"
        )
        factory = guide_factory(ACCELERATOR)
    try:
        return factory(space, requirements, seeds.child("guide", name))
    except UserError as error:
        search.notes.append(f"{str(error).rstrip('.')}: '{PORTFOLIO}' took over")
        return guide_factory(PORTFOLIO)(space, requirements, seeds.child("guide", PORTFOLIO))


@dataclass
class GuidedRuns:
    """Execution of the proposals of a guide (a `Source`)."""

    ask: Ask
    usage: Usage
    search: Search
    plan: WalkPlan
    space: ProfileSpace
    guide: Guide
    seeds: SeedTree
    score: Score = field(default_factory=Scores)

    def hear(self, runs: Sequence[Run]) -> None:
        """Tell the guide runs that others made, with the choices that their walks are made of.

        Left out are walks of probability zero, and those whose choices cannot be told from them.
        """
        played = [(run, self.space.played(run.walk)) for run in runs]
        told = [(run, own.choices) for run, own in played if own is not None]
        if told:
            scores = self.score([run.answer for run, _ in told], len(self.search.known))
            self.guide.tell([choices for _, choices in told], scores)

    def whole(self, run: Run) -> Run:
        return run  # proposals are executed to the end

    def found(self, finding: Finding) -> bool:
        return False

    def runs(self, count: int, missing: Sequence[int]) -> Iterator[Run]:
        """Execute at most so many proposals of the guide and tell it; none if it has nothing left to try."""
        search, requirements = self.search, len(self.search.known)
        proposals = self.guide.ask(count)[:count]
        numbers = self.plan.next(search, len(proposals))
        played = {
            number: self.space.run(proposal, self.seeds.child("play", number).word())
            for number, proposal in zip(numbers, proposals, strict=True)
        }
        runs = self._execute({n: p for n, p in played.items() if p.walk.status is WalkStatus.REACHED_END})
        search.zeno_walks += len(played) - len(runs)
        scores = np.full((len(played), requirements), np.inf)
        rows = [numbers.index(number) for number in runs]
        scores[rows] = self.score([run.answer for run in runs.values()], requirements)
        if proposals:
            self.guide.tell([p.choices for p in played.values()], scores)
        counted = search.counting(self.ask)
        for run in runs.values():
            cut = shortest_failing(counted, self.usage, run, most=self.plan.spare(search))
            if cut is not None:
                yield cut

    def _execute(self, played: dict[int, PlayedRun]) -> dict[int, Run]:
        queries = [Query(query_name(number), self.usage.draft(p.walk), shortfalls=True) for number, p in played.items()]
        answers = self.ask(queries) if queries else []
        runs = {}
        for (number, p), query, answer in zip(played.items(), queries, answers, strict=True):
            self.search.visits.add_walk(self.usage.model, p.walk)
            runs[number] = Run(number, p.walk, query.stimulus, answer, p.choices)
        return runs
