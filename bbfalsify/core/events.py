"""The events of a run, recorded in `records/event_log.py` and then passed to listeners.

`BatchAnswered` holds many simulations (`records/answer_records.py`).  The events hold everything that an engine was
told: given the recorded answers and the same seed, the engine takes the same decisions again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import Field, dataclass
from typing import Any, ClassVar, dataclass_transform

from bbfalsify.core.checksums import LINE_KEY

ENVELOPE = ("sequence", "time", "event")
"""Keys of a line of the event log that do not come from the event; its checksum stands at the end."""


@dataclass_transform(frozen_default=True)
class Event:
    """Base class of frozen dataclasses; fields are numbers, strings, lists and dictionaries, none named like a key of
    `ENVELOPE`."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)
        for name in inspect.get_annotations(cls):
            if name in (*ENVELOPE, LINE_KEY):
                raise TypeError(f"the event {cls.__name__} cannot have a field '{name}': each line of the log has one")


class RunStarted(Event):
    name: str
    system: str
    requirements: tuple[str, ...]
    seed: int
    simulations: int | None
    """The budget; None means no limit."""
    seconds: float | None
    jobs: int
    decided_by: str = ""
    """Digest of all that decides the result; empty in records of older versions."""
    known: int = 0
    """Lines of observations that a check began with."""


class RunResumed(Event):
    """The run continues in another process, which gives the engine the recorded answers again."""

    answers: int
    """Answers recorded so far."""
    jobs: int


class AnswersReplayed(Event):
    """A resumed run has been given all recorded answers; from here on it executes, and its time counts again."""

    answers: int


class RecordDamaged(Event):
    """A file of the run was damaged; the run goes on with what could be used of it."""

    file: str
    line: int | None
    what: str
    """The damage, and what was used."""


class StageStarted(Event):
    stage: str
    simulations: int
    """Upper limit for this stage; progress is counted from the batches that follow."""


class BatchAnswered(Event):
    answers: tuple[dict[str, Any], ...]
    """One `answer_record` per query, in the order asked."""


class Repeated(Event):
    """Earlier queries, executed again to confirm their answers: outside the budget, with whole traces."""

    answers: tuple[dict[str, Any], ...]


class TimeUp(Event):
    """A wall-clock limit was reached; a resumed run stops at the same simulation."""

    what: str
    """"search" or "run"."""
    simulations: int


class FindingReported(Event):
    """A violation that is not yet confirmed."""

    requirement: str
    actions: tuple[str, ...]
    query: str
    robustness: float
    first_violation_time: float


class SearchAdvanced(Event):
    """A search for probable counterexamples finished a round."""

    simulations: int
    """Simulations of the search so far."""
    words: tuple[int, ...]
    """Distinct counterexamples found, per requirement."""
    masses: tuple[float, ...]
    """Current rough estimate, per requirement, of the probability of all its counterexamples."""


class JudgedAgain(Event):
    """Findings and some passing runs were judged again at a tenth of the sampling period."""

    check: dict[str, Any]
    """How many verdicts changed."""
    refined: bool
    """The search is repeated at the finer period."""


class CounterexampleConfirmed(Event):
    requirement: str
    actions: tuple[str, ...]
    query: str
    status: str
    """"confirmed" or "flaky"."""
    reproduced: int
    tries: int
    file: str = ""


class KnownReplayed(Event):
    """A stored counterexample was executed again, before the search."""

    requirement: str
    actions: tuple[str, ...]
    file: str
    outcome: str
    """"same", "fixed" or "changed"."""
    reproduced: int
    tries: int


class CounterexampleShrunk(Event):
    requirement: str
    actions: tuple[str, ...]
    core: tuple[str, ...]
    """The actions that remain; all of them where none could be removed."""
    simulations: int
    status: str
    """Of the core: "confirmed" or "flaky"."""


class HypothesisMade(Event):
    """A learner has a new hypothesis about the system."""

    states: int
    queries: int
    """Queries and symbols are counted from the start of the run."""
    symbols: int


class BoundTested(Event):
    """The hypothesis passed all tests for systems of up to this number of states."""

    states: int
    queries: int
    symbols: int


class RequirementViolated(Event):
    """A word, or a prefix and a loop, violated a requirement when executed on the system."""

    requirement: str
    prefix: tuple[str, ...]
    loop: tuple[str, ...]
    reproduced: int
    tries: int


class WalksMade(Event):
    """Progress of a search for a state of a model."""

    requirement: str
    walks: int
    """Walks, steps and seconds are counted from the start of the search."""
    steps: int
    depth: int
    """Depth of the last round of walks."""
    seconds: float
    timeout: float | None


class StatesExplored(Event):
    """Progress of an exploration of all states of a model."""

    requirement: str
    states: int
    """States and seconds are counted from the start of the exploration."""
    waiting: int
    depth: int
    memory_mb: float
    seconds: float
    timeout: float | None


class TraceFound(Event):
    """A trace reaches the wanted state; where better ones are wanted, each is better than the last."""

    requirement: str
    heuristic: str
    walk: int
    steps: int
    model_time: float
    """Model time at the end of the trace."""
    seconds: float


class QueryAnswered(Event):
    """The full result of a query; a resumed run does not ask it again."""

    requirement: str
    row: dict[str, Any]


class EstimateMade(Event):
    what: str
    estimate: dict[str, Any]
    actions: tuple[str, ...] = ()


class ListenerFailed(Event):
    listener: str
    error: str


class RunStopped(Event):
    """The last event of every run."""

    reason: str
    simulations: int
    seconds: float
    message: str = ""


Listener = Callable[[Event], None]
