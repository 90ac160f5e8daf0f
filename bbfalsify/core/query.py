"""What an engine asks and what it is told: the two words in which engines and the driver talk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict


class Draft(Protocol):
    """A stimulus described by little data: it travels light, and is made where it is used, which is in a worker."""

    def stimulus(self) -> Stimulus: ...

    def parts(self) -> Iterable[np.ndarray]:
        """The data that decide the stimulus: what makes two drafts different."""


@dataclass(frozen=True, eq=False)
class Query:
    """One use of the black box, from reset to close.

    The name is unique within a run ("walk/17"): it names the query's record, and the seed of the simulation is derived
    from it, so that the answer depends neither on the order of the queries nor on the number of workers.
    """

    name: str
    source: Stimulus | Draft
    keep_trace: bool = False
    """Bring the outputs back, not only the judgements (traces are expensive to move)."""
    seed_name: str | None = None
    """Repeat another query: take the simulation's seed from that name instead of this one."""
    outliers: bool = False
    """Also ask when the requirements came unusually close to a violation (`Judgement.outlier_times`)."""

    @cached_property
    def stimulus(self) -> Stimulus:
        """What the system is given; a draft is carried out by the first who looks."""
        return self.source if isinstance(self.source, Stimulus) else self.source.stimulus()


@dataclass(frozen=True)
class WordQuery:
    """Reset the system, then give it these input symbols one by one."""

    name: str
    word: tuple[str, ...]
    seed_name: str | None = None
    """Repeat another query: take the seed from that name instead of this one."""


@dataclass(frozen=True, eq=False)
class Answer:
    """How the simulation ended and, if it ended well, one judgement per requirement."""

    status: SimulationStatus
    judgements: tuple[Judgement, ...] = ()
    message: str = ""
    """Why the simulation failed; empty when it did not."""
    trace: Trace | None = None
    seconds: float = 0.0
    """Wall time inside the system, as measured beside it."""
    symbols: tuple[str, ...] = ()
    """To a word: the output symbols, as far as they came."""
    cpu_seconds: float | None = None
    """CPU time of the system's own process in this simulation, where there is one and it can be measured."""
    memory_mb: float | None = None
    """The largest memory of that process in this simulation."""
    dissent: str = ""
    """Where it was executed several times and answered in several ways: what was said, and how often."""

    @property
    def ok(self) -> bool:
        return self.status is SimulationStatus.OK

    @property
    def violated(self) -> tuple[int, ...]:
        """The positions of the requirements that this simulation violates."""
        return tuple(i for i, judgement in enumerate(self.judgements) if judgement.verdict is Verdict.VIOLATED)


AnyQuery = Query | WordQuery
Ask = Callable[[Sequence[AnyQuery]], Sequence[Answer]]
"""What every engine is given: queries in, answers in the same order out."""
