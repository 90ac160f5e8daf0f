"""Uses of a system that are executed and judged for one requirement: what rare-event methods ask of a closed loop."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Answer, AnyQuery, Ask, AskUses, Query, UsesQuery, UseVerdicts
from bbfalsify.core.verdict import VERDICTS, Judgement, StopReason, Verdict
from bbfalsify.engines.falsification.baseline.seeded_uses import SeededUses
from bbfalsify.engines.falsification.baseline.walk_uses import WalkUses
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk, WalkStatus
from bbfalsify.stats.sequential import Counts, StoppingRule

VIOLATED = -np.inf
"""The score of a violating use."""
_BATCH = 500


@dataclass
class Allowance:
    """An `Ask` that answers so many queries; then it says that the budget is spent."""

    ask: Ask
    most: int
    ask_uses: AskUses | None = None
    used: int = 0

    def __call__(self, queries: Sequence[AnyQuery]) -> Sequence[Answer]:
        if self.used + len(queries) > self.most:
            raise BudgetSpent(StopReason.BUDGET_SIMULATIONS)
        try:
            answers = self.ask(queries)
        except BudgetSpent as spent:
            self.used += len(spent.answers)
            raise
        self.used += len(queries)
        return answers

    def uses(self, query: UsesQuery) -> UseVerdicts | None:
        """An `AskUses`: the same for many uses at once."""
        if self.ask_uses is None or self.used + len(query.source) > self.most:
            return None
        found = self.ask_uses(query)
        self.used += 0 if found is None else len(query.source)
        return found

    @property
    def left(self) -> int:
        return self.most - self.used


@dataclass
class JudgedUses:
    """Uses, judged by one requirement; every simulation is counted."""

    ask: Ask
    usage: Usage
    requirement: int
    name: str
    listed: frozenset[tuple[str, ...]] = frozenset()
    """Keys whose violations do not count."""
    asked: int = 0
    unknown: int = 0
    """Uses without a verdict."""
    keys: dict[tuple[str, ...], int] = field(default_factory=dict)
    """Keys of violations that count, with how often they were met."""

    continues: bool = False
    """Uses begin like others: they may go on from saved states of the system, unless it takes many at once."""
    duration: float = 0.0
    """Time of all uses together."""
    simulated: float = 0.0
    """Time of them that was simulated: less, where uses went on from saved states."""
    ask_uses: AskUses | None = None
    """Where many uses can be asked for at once."""
    plain: Counts = Counts()
    """Uses under the profile's own law among them, as far as they were counted."""

    def count_plain(self, met: np.ndarray) -> None:
        self.plain = Counts(self.plain.hits + int(met.sum()), self.plain.trials + len(met))

    def plainly(self, confidence: float) -> Estimate:
        """The estimate by the plain uses alone."""
        return StoppingRule("clopper_pearson", confidence=confidence).estimate(self.plain)

    def plain_violations(self, seeds: np.ndarray) -> tuple[np.ndarray, int]:
        """Which of the uses with these seeds under the profile's own law violate, and how many have no verdict."""
        found = None
        if self.ask_uses is not None:
            found = self.ask_uses(UsesQuery(self.name, self.asked + 1, SeededUses(self.usage, seeds)))
        if found is None:
            before, walks = self.unknown, self.usage.stochastic_walks(seeds)
            self.usage.check(walks)
            made = self.usage.values.seeded({i: walks.walk(i) for i in range(len(seeds))}, seeds)
            met = self.scores(list(made.values())) == VIOLATED
            unknown = self.unknown - before
        else:
            met = found.verdicts[:, self.requirement] == VERDICTS.index(Verdict.VIOLATED)
            unknown = len(seeds) - found.executed
            self.asked, self.unknown = self.asked + len(seeds), self.unknown + unknown
            rows = np.flatnonzero(met)
            walks = self.usage.stochastic_walks(seeds[rows])
            for place, moment in enumerate(found.moments[rows, self.requirement].tolist()):
                self._count_key(walks.walk(place), moment)
        self.count_plain(met)
        return met, unknown

    def scores(self, walks: Sequence[Walk], whole: int | None = None) -> np.ndarray:
        """Robustness of each use: the lower the closer to a violation; `VIOLATED`, or infinite where unknown.

        With `whole`, uses end with their last action, and only violations in step `whole` count.
        """
        found = np.full(len(walks), np.inf)
        for first in range(0, len(walks), _BATCH):
            part = walks[first : first + _BATCH]
            judged = [i for i, walk in enumerate(part) if walk.status is WalkStatus.REACHED_END]
            stops = [None if whole is None else float(part[i].times[-1]) for i in judged]
            answers = list(self._judgements([part[i] for i in judged], stops)) if judged else []
            self.asked += len(judged)
            self.unknown += len(part) - len(judged)
            for i, (judgement, executed) in zip(judged, answers, strict=True):
                found[first + i] = self._score(part[i], judgement, executed, whole)
        return found

    def _judgements(
        self, walks: Sequence[Walk], stops: Sequence[float | None]
    ) -> Iterator[tuple[Judgement | None, bool]]:
        """Execute uses, at once where the system takes many; yield judgements, and whether the simulation came through.

        None is the judgement of a use without a verdict.
        """
        if self.ask_uses is not None:
            many = self.ask_uses(UsesQuery(self.name, self.asked + 1, WalkUses(self.usage, walks, stops)))
            if many is not None:
                columns = (c[:, self.requirement].tolist() for c in (many.verdicts, many.robustness, many.moments))
                time = sum(self.usage.duration if stop is None else stop for stop in stops)
                self.duration, self.simulated = self.duration + time, self.simulated + time
                yield from ((Judgement(VERDICTS[code], *rest), True) for code, *rest in zip(*columns, strict=True))
                return
        drafts = [self.usage.draft(walk, stop=stop) for walk, stop in zip(walks, stops, strict=True)]
        names = [f"{self.name}/{self.asked + i + 1}" for i in range(len(walks))]
        queries = [Query(*named, continues=self.continues) for named in zip(names, drafts, strict=True)]
        for stop, answer in zip(stops, self.ask(queries), strict=True):
            time = self.usage.duration if stop is None else stop
            self.duration += time
            self.simulated += time if answer.simulated is None else answer.simulated
            yield answer.judgements[self.requirement] if answer.judgements else None, answer.ok

    def _score(self, walk: Walk, judgement: Judgement | None, executed: bool, whole: int | None) -> float:
        if judgement is None:
            self.unknown += 1
            return np.inf
        if judgement.verdict is not Verdict.VIOLATED:
            return max(float(judgement.robustness), 0.0)
        if not executed:  # a failure that counts as a violation: nobody saw when
            return VIOLATED
        return VIOLATED if self._count_key(walk, judgement.first_violation_time, whole) else np.inf

    def _count_key(self, walk: Walk, moment: float, whole: int | None = None) -> bool:
        """Count the key of a violation at this moment; False: it is none that counts."""
        step = violating_step(walk.times, moment)
        key = walk.prefix(step).actions(self.usage.model)
        if key in self.listed or whole not in (None, step):
            return False
        self.keys[key] = self.keys.get(key, 0) + 1
        return True

    def without(self, keys: Collection[tuple[str, ...]], name: str) -> JudgedUses:
        """The same, for violations with other keys only."""
        return JudgedUses(self.ask, self.usage, self.requirement, name, frozenset(keys), ask_uses=self.ask_uses)
