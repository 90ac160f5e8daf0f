"""The assignment that a worker is given once, and the kinds of messages that it sends back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Protocol, cast

from bbfalsify.core.errors import InvariantViolated, Problem, SystemFailure, UserError
from bbfalsify.core.query import Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement
from bbfalsify.running.execution import Execution
from bbfalsify.systems.continued import ContinuedUses
from bbfalsify.systems.interface import BlackBox, Port
from bbfalsify.systems.loading import Origin, origin_of


class Judge(Protocol):
    """One judgement of a trace per requirement; if asked, with moments that came close, and with what is lacking."""

    def __call__(self, trace: Trace, *, outliers: bool = False, shortfalls: bool = False) -> tuple[Judgement, ...]: ...


Message = tuple[Any, ...]

READY, ANSWER, ONE_BY_ONE, UNUSABLE, WRONG_INPUT, OUR_FAULT = range(6)
"""The first item of every message from a worker."""


@dataclass(frozen=True)
class Assignment:
    """All that a worker needs to know, once."""

    system: BlackBox
    judge: Judge | None
    """None where queries are words: their answers are judged by the engine."""
    execution: Execution = Execution()
    seeds: SeedTree = SeedTree(0)
    shared: tuple[object, ...] = ()
    """Objects that queries refer to and need not carry with them."""
    contained: bool = True
    """True in a process of its own; elsewhere Ctrl-C is meant for all of us."""
    lasting: list[Any] = field(default_factory=list)
    """The session of a system that cannot be reset, once it is open."""
    continued: list[ContinuedUses] = field(default_factory=list)
    """Uses that go on from saved states, once there are some."""

    def for_another_process(self) -> Assignment:
        """Replace a system that was loaded from a file by its address: without fork nothing is inherited."""
        alone = replace(self.execution, jobs=1, executor=None)
        return replace(self, system=cast(BlackBox, origin_of(self.system) or self.system), execution=alone)

    def arrived(self) -> Assignment:
        """Load the system where only its address came."""
        system: object = self.system
        return replace(self, system=system.load()) if isinstance(system, Origin) else self

    def warm_up(self) -> None:
        """Compile what is compiled at its first use."""
        for thing in (self.judge, *self.shared):
            if hasattr(thing, "warm_up"):
                thing.warm_up()

    def have_system(self, *methods: str) -> None:
        """Call these optional methods of the system, where it has them."""
        for name in methods:
            getattr(self.system, name, lambda: None)()

    def end_sessions(self) -> None:
        """Close the sessions that last longer than a query."""
        for session in self.lasting:
            session.__exit__(None, None, None)
        for uses in self.continued:
            uses.close()
        self.lasting.clear()
        self.continued.clear()

    @property
    def batches(self) -> bool:
        """Queries that come together are executed together."""
        return self.judge is not None and self.system.capabilities.batch and not self.execution.early_stop

    @property
    def outputs(self) -> tuple[Port, ...]:
        return cast(tuple[Port, ...], getattr(self.system, "outputs", ()))

    def judgements(self, trace: Trace, query: Query | None = None) -> tuple[Judgement, ...]:
        assert self.judge is not None, "words are judged by the engine"
        if query is None or not (query.outliers or query.shortfalls):
            return self.judge(trace)
        return self.judge(trace, outliers=query.outliers, shortfalls=query.shortfalls)


def raise_told(kind: int, text: str) -> NoReturn:
    """Raise what a worker's message says that is no answer."""
    if kind == WRONG_INPUT:
        raise UserError([Problem(line) for line in text.splitlines()])
    raise (InvariantViolated if kind == OUR_FAULT else SystemFailure)(text)
