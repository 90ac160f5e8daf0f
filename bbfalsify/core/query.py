"""Queries and answers: the interface between engines and the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from bbfalsify.core.redaction import without_secrets
from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict


class Draft(Protocol):
    """Compact description of a stimulus; the worker expands it."""

    def stimulus(self) -> Stimulus: ...

    def parts(self) -> Iterable[np.ndarray]:
        """The data that determine the stimulus."""


@dataclass(frozen=True, eq=False)
class Query:
    """One use of the black box, from reset to close.

    The name ("walk/17") is unique within a run.  The seed of the simulation is derived from it, so the answer depends
    neither on the order of the queries nor on the number of workers.
    """

    name: str
    source: Stimulus | Draft
    keep_trace: bool = False
    """Return the trace too, not only the judgements (traces are expensive to transfer)."""
    seed_name: str | None = None
    """Repeat another query: take the simulation's seed from that name instead of this one."""
    outliers: bool = False
    """Also ask when the requirements came unusually close to a violation (`Judgement.outlier_times`)."""
    shortfalls: bool = False
    """Also ask what is lacking for a violation (`Judgement.shortfalls`)."""
    continues: bool = False
    """It begins like other queries: a system that can save its state may go on from one (`systems/continued.py`)."""

    @cached_property
    def stimulus(self) -> Stimulus:
        """The input of the system; a draft is expanded at the first access."""
        return self.source if isinstance(self.source, Stimulus) else self.source.stimulus()


class Drafts(Protocol):
    """Compact description of many stimuli; the worker expands it."""

    def __len__(self) -> int: ...

    def some(self, which: slice) -> Drafts: ...

    def stimuli(self) -> list[Stimulus | None]:
        """One per use; None where a use has none."""

    def parts(self) -> Iterable[np.ndarray]:
        """The data that determine the stimuli."""


@dataclass(frozen=True, eq=False)
class UsesQuery:
    """Many uses of a black box that takes batches: executed in one call, judged in one call.

    Use i has the name `{prefix}/{first + i}`, from which its seed is derived, as if it were asked alone.
    """

    prefix: str
    first: int
    source: Drafts

    @property
    def name(self) -> str:
        return f"{self.prefix}/{self.first}-{self.first + len(self.source) - 1}"

    def name_of(self, use: int) -> str:
        return f"{self.prefix}/{self.first + use}"

    def divided(self, size: int) -> list[UsesQuery]:
        """The same uses in queries of at most so many."""
        return [
            UsesQuery(self.prefix, self.first + at, self.source.some(slice(at, at + size)))
            for at in range(0, len(self.source), size)
        ]


NOT_EXECUTED = -1
"""In `UseVerdicts.verdicts`: the use has no stimulus."""


@dataclass(frozen=True, eq=False)
class UseVerdicts:
    """Judgements of many uses: a row per use, a column per requirement."""

    verdicts: np.ndarray
    """Places in `VERDICTS`, or `NOT_EXECUTED`."""
    robustness: np.ndarray
    moments: np.ndarray
    """Times at which violations became certain; infinite elsewhere."""

    @property
    def executed(self) -> int:
        return int((self.verdicts[:, 0] != NOT_EXECUTED).sum())

    @staticmethod
    def joined(parts: Sequence[UseVerdicts]) -> UseVerdicts:
        columns = ([getattr(part, name) for part in parts] for name in ("verdicts", "robustness", "moments"))
        return UseVerdicts(*(np.concatenate(column) for column in columns))


@dataclass(frozen=True)
class WordQuery:
    """Reset the system, then give it these input symbols one by one."""

    name: str
    word: tuple[str, ...]
    seed_name: str | None = None
    """Repeat another query: take the seed from that name instead of this one."""


@dataclass(frozen=True, eq=False)
class Answer:
    """The status of a simulation and, if it is OK, one judgement per requirement."""

    status: SimulationStatus
    judgements: tuple[Judgement, ...] = ()
    message: str = ""
    """Reason of a failure, else empty."""
    trace: Trace | None = None
    seconds: float = 0.0
    """Wall time inside the system."""
    symbols: tuple[str, ...] = ()
    """For a word: the output symbols received."""
    cpu_seconds: float | None = None
    """CPU time of the system's own process in this simulation, where it can be measured."""
    memory_mb: float | None = None
    """Peak memory of that process in this simulation."""
    dissent: str = ""
    """The different answers and their counts, where repeated executions disagreed."""
    uses: UseVerdicts | None = None
    """For many uses: what `judgements` says of one."""
    simulated: float | None = None
    """Time that was simulated, where less than the whole use was: it went on from a saved state."""

    def __post_init__(self) -> None:
        """Remove secrets: engines, records and reports take what a system said from answers only."""
        for name in ("message", "symbols", "dissent") if self.message or self.symbols or self.dissent else ():
            object.__setattr__(self, name, without_secrets(getattr(self, name)))

    @property
    def ok(self) -> bool:
        return self.status is SimulationStatus.OK

    @property
    def violated(self) -> tuple[int, ...]:
        """Positions of the violated requirements."""
        return tuple(i for i, judgement in enumerate(self.judgements) if judgement.verdict is Verdict.VIOLATED)


AnyQuery = Query | WordQuery | UsesQuery
Ask = Callable[[Sequence[AnyQuery]], Sequence[Answer]]
"""Function given to every engine: it takes queries and returns their answers in the same order."""
AskUses = Callable[[UsesQuery], UseVerdicts | None]
"""Function given to engines that ask for many uses at once; None where they have to be asked for one by one."""
