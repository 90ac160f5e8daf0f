"""The events of a run, recorded in `records/event_log.py` and then passed to listeners.

`BatchAnswered` holds many simulations (`records/answer_records.py`).  The events hold everything that an engine was
told: given the recorded answers and the same seed, the engine takes the same decisions again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ENVELOPE = ("sequence", "time", "event")
"""Keys of a line of the event log that do not come from the event; its checksum stands at the end."""
CHECKSUM = "crc"


@dataclass(frozen=True)
class Event:
    """Base class; fields are numbers, strings, lists and dictionaries, and none is named like a key of `ENVELOPE`."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in inspect.get_annotations(cls):
            if name in (*ENVELOPE, CHECKSUM):
                raise TypeError(f"the event {cls.__name__} cannot have a field '{name}': each line of the log has one")


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class RunResumed(Event):
    """The run continues in another process, which gives the engine the recorded answers again."""

    answers: int
    """Answers recorded so far."""
    jobs: int


@dataclass(frozen=True)
class AnswersReplayed(Event):
    """A resumed run has been given all recorded answers; from here on it executes, and its time counts again."""

    answers: int


@dataclass(frozen=True)
class RecordDamaged(Event):
    """A file of the run was damaged; the run goes on with what could be used of it."""

    file: str
    line: int | None
    what: str
    """The damage, and what was used."""


@dataclass(frozen=True)
class StageStarted(Event):
    stage: str
    simulations: int
    """Upper limit for this stage; progress is counted from the batches that follow."""


@dataclass(frozen=True)
class BatchAnswered(Event):
    answers: tuple[dict[str, Any], ...]
    """One `answer_record` per query, in the order asked."""


@dataclass(frozen=True)
class Repeated(Event):
    """Earlier queries, executed again to confirm their answers: outside the budget, with whole traces."""

    answers: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class TimeUp(Event):
    """A wall-clock limit was reached; a resumed run stops at the same simulation."""

    what: str
    """"search" or "run"."""
    simulations: int


@dataclass(frozen=True)
class FindingReported(Event):
    """A violation that is not yet confirmed."""

    requirement: str
    actions: tuple[str, ...]
    query: str
    robustness: float
    first_violation_time: float


@dataclass(frozen=True)
class SearchAdvanced(Event):
    """A search for probable counterexamples finished a round."""

    simulations: int
    """Simulations of the search so far."""
    words: tuple[int, ...]
    """Distinct counterexamples found, per requirement."""
    masses: tuple[float, ...]
    """Current rough estimate, per requirement, of the probability of all its counterexamples."""


@dataclass(frozen=True)
class JudgedAgain(Event):
    """Findings and some passing runs were judged again at a tenth of the sampling period."""

    check: dict[str, Any]
    """How many verdicts changed."""
    refined: bool
    """The search is repeated at the finer period."""


@dataclass(frozen=True)
class CounterexampleConfirmed(Event):
    requirement: str
    actions: tuple[str, ...]
    query: str
    status: str
    """"confirmed" or "flaky"."""
    reproduced: int
    tries: int
    file: str = ""


@dataclass(frozen=True)
class KnownReplayed(Event):
    """A stored counterexample was executed again, before the search."""

    requirement: str
    actions: tuple[str, ...]
    file: str
    outcome: str
    """"same", "fixed" or "changed"."""
    reproduced: int
    tries: int


@dataclass(frozen=True)
class CounterexampleShrunk(Event):
    requirement: str
    actions: tuple[str, ...]
    core: tuple[str, ...]
    """The actions that remain; all of them where none could be removed."""
    simulations: int
    status: str
    """Of the core: "confirmed" or "flaky"."""


@dataclass(frozen=True)
class HypothesisMade(Event):
    """A learner has a new hypothesis about the system."""

    states: int
    queries: int
    """Queries and symbols are counted from the start of the run."""
    symbols: int


@dataclass(frozen=True)
class BoundTested(Event):
    """The hypothesis passed all tests for systems of up to this number of states."""

    states: int
    queries: int
    symbols: int


@dataclass(frozen=True)
class RequirementViolated(Event):
    """A word, or a prefix and a loop, violated a requirement when executed on the system."""

    requirement: str
    prefix: tuple[str, ...]
    loop: tuple[str, ...]
    reproduced: int
    tries: int


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class TraceFound(Event):
    """A trace reaches the wanted state; where better ones are wanted, each is better than the last."""

    requirement: str
    heuristic: str
    walk: int
    steps: int
    model_time: float
    """Model time at the end of the trace."""
    seconds: float


@dataclass(frozen=True)
class QueryAnswered(Event):
    """The full result of a query; a resumed run does not ask it again."""

    requirement: str
    row: dict[str, Any]


@dataclass(frozen=True)
class EstimateMade(Event):
    what: str
    estimate: dict[str, Any]
    actions: tuple[str, ...] = ()


@dataclass(frozen=True)
class ListenerFailed(Event):
    listener: str
    error: str


@dataclass(frozen=True)
class RunStopped(Event):
    """The last event of every run."""

    reason: str
    simulations: int
    seconds: float
    message: str = ""


Listener = Callable[[Event], None]
