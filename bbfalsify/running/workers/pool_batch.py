"""The queries of one call of a pool, in the order in which they wait, and answers made from messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bbfalsify.core.query import Answer, AnyQuery, UsesQuery, WordQuery
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict


@dataclass
class PoolBatch:
    """The queries of one `answers` call: which of them wait, which are answered but not yet given out."""

    queries: Sequence[AnyQuery]
    waiting: deque[int]
    finished: dict[int, Answer] = field(default_factory=dict)
    alone: set[int] = field(default_factory=set)
    """Were executed together with others when a worker failed, or with a worker that was killed."""
    killed: set[int] = field(default_factory=set)
    """Were being executed when their worker was killed from outside, once."""

    def take(self, most: int) -> list[int]:
        """The next ones to hand out together."""
        if self.waiting[0] in self.alone or isinstance(self.queries[self.waiting[0]], UsesQuery):
            return [self.waiting.popleft()]
        taken: list[int] = []
        while self.waiting and len(taken) < most and self.waiting[0] not in self.alone:
            taken.append(self.waiting.popleft())
        return taken

    def give_back(self, indices: deque[int]) -> None:
        self.waiting.extendleft(reversed(indices))
        indices.clear()


def uses_of(query: AnyQuery) -> int:
    """Number of uses that a query asks for."""
    return len(query.source) if isinstance(query, UsesQuery) else 1


def answer_of(
    query: AnyQuery,
    status: str,
    judgements: tuple[tuple[Any, ...], ...],
    text: str,
    seconds: float,
    outputs: Any,
    usage: tuple[float | None, float | None],
    simulated: float | None = None,
) -> Answer:
    """Translate a message of `execute_query`; `outputs` are symbols of a word, or signals by name."""
    if isinstance(query, WordQuery):
        return Answer(SimulationStatus(status), (), text, None, seconds, outputs or (), *usage)
    if isinstance(query, UsesQuery):
        return Answer(SimulationStatus(status), (), text, None, seconds, (), *usage, uses=outputs)
    trace = None
    if outputs is not None:
        stimulus = query.stimulus
        trace = Trace(stimulus.times, {**stimulus.inputs, **outputs}, stimulus.events)
    judged = tuple(Judgement(Verdict(verdict), *rest) for verdict, *rest in judgements)
    return Answer(SimulationStatus(status), judged, text, trace, seconds, (), *usage, simulated=simulated)
