"""Events of a run: plain data, recorded first (`records/event_log.py`), shown afterwards.

Simulations are recorded many to a line (`BatchAnswered`), see `records/answer_records.py`.  A record holds everything
an engine was told, so feeding the recorded answers to the same engine with the same seed leads it to the same place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """Base of all events; fields are plain data (numbers, strings, lists, dictionaries)."""


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


@dataclass(frozen=True)
class RunResumed(Event):
    """The run goes on in another process; what it was told before is fed to it again."""

    answers: int
    """Recorded so far."""
    jobs: int


@dataclass(frozen=True)
class StageStarted(Event):
    stage: str
    simulations: int
    """How many the stage will need at most; progress is counted from the batches that follow."""


@dataclass(frozen=True)
class BatchAnswered(Event):
    answers: tuple[dict[str, Any], ...]
    """One `answer_record` per query, in the order asked."""


@dataclass(frozen=True)
class Repeated(Event):
    """What was asked before, executed again to confirm it: outside the budget, with whole traces."""

    answers: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class TimeUp(Event):
    """A limit of wall-clock time was reached; a run that is resumed stops at the same simulation."""

    what: str
    """"search" or "run"."""
    simulations: int


@dataclass(frozen=True)
class FindingReported(Event):
    """A raw hit, not yet confirmed."""

    requirement: str
    actions: tuple[str, ...]
    query: str
    robustness: float
    first_violation_time: float


@dataclass(frozen=True)
class SearchAdvanced(Event):
    """After a round of a search for probable counterexamples."""

    simulations: int
    """Of the search, so far."""
    words: tuple[int, ...]
    """Distinct counterexamples found, per requirement."""
    masses: tuple[float, ...]
    """Of each requirement's list, by the search's rough estimates at this moment."""


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
    """A counterexample of the store, executed again before the search."""

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
    """What is left of them; the same where none could be left out."""
    simulations: int
    status: str
    """Of what is left: "confirmed" or "flaky"."""


@dataclass(frozen=True)
class HypothesisMade(Event):
    """A learner has a new idea of what the box is."""

    states: int
    queries: int
    """So far, as are the symbols."""
    symbols: int


@dataclass(frozen=True)
class BoundTested(Event):
    """The hypothesis has passed all tests up to this number of states."""

    states: int
    queries: int
    symbols: int


@dataclass(frozen=True)
class RequirementViolated(Event):
    """By a word, or by a prefix and a loop; executed on the box."""

    requirement: str
    prefix: tuple[str, ...]
    loop: tuple[str, ...]
    reproduced: int
    tries: int


@dataclass(frozen=True)
class WalksMade(Event):
    """How far a search for a state of a model is."""

    requirement: str
    walks: int
    """So far, as are the steps and seconds."""
    steps: int
    depth: int
    """Of the walks of the last turn."""
    seconds: float
    timeout: float | None


@dataclass(frozen=True)
class TraceFound(Event):
    """A trace to a state that was looked for; where better ones are wanted, each is better than the last."""

    requirement: str
    heuristic: str
    walk: int
    steps: int
    time: float
    """Of the model."""
    seconds: float


@dataclass(frozen=True)
class QueryAnswered(Event):
    """All there is to say about a query; a run that is resumed does not ask it again."""

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
class Note(Event):
    """Something a reader of the report should know, in words."""

    text: str


@dataclass(frozen=True)
class RunStopped(Event):
    """Always the last event of a run."""

    reason: str
    simulations: int
    seconds: float
    message: str = ""


Listener = Callable[[Event], None]
