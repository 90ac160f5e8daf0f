"""Listeners that turn the events of a run into lines of progress; the command line shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from bbfalsify.core.odds import probability
from bbfalsify.reporting.formatting import number, shorten_word

MOST_LISTED = 5
"""Counterexamples shown while a run goes on."""


class Clock(Protocol):
    """Knows how long the rest of a campaign takes (`cli/progress.py`)."""

    @property
    def left(self) -> str: ...


class Progress(Protocol):
    """The view that shows the lines (`cli/progress.py`)."""

    terminal: bool
    quiet: bool

    def say(self, text: str) -> None: ...

    def warn(self, text: str) -> None: ...

    def show(
        self, stage: str, done: int, total: int, note: str = "", *, above: str = "", below: Sequence[str] = ()
    ) -> None: ...


class DamageWarning:
    """Listens for damaged files of a run, which are named however quiet the command is."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __call__(self, event: Any) -> None:
        if type(event).__name__ == "RecordDamaged":
            line = f":{event.line}" if event.line else ""
            self._progress.warn(f"{event.file}{line}: {event.what}.")


class _Listener:
    """Listens to the events of a run that may be one of several."""

    def __init__(self, progress: Progress, name: str = "", clock: Clock | None = None) -> None:
        self._progress, self._name, self._clock = progress, name, clock
        self._begin()

    def _begin(self) -> None:
        """Set all counts to zero."""

    @property
    def _above(self) -> str:
        """The name of a campaign's run, and how long the others may take."""
        return self._name + (self._clock.left if self._clock is not None and self._name else "")


class CheckProgress(_Listener):
    """Listens to the events of a check: states, queries, symbols, how far the tests are."""

    def _begin(self) -> None:
        self._budget, self._done, self._symbols, self._states, self._tested, self._violated = 0, 0, 0, 0, 0, 0

    def __call__(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "StageStarted":
            self._budget = event.simulations
        elif kind == "BatchAnswered":
            self._done += len(event.answers)
            self._symbols += sum(len(answer.get("symbols", ())) for answer in event.answers)
        elif kind == "HypothesisMade":
            self._states, self._tested = event.states, 0
        elif kind == "BoundTested":
            self._tested = event.states
        elif kind == "RequirementViolated":
            self._violated += 1
        tested = f", tested up to {self._tested}" if self._tested else ""
        note = f"{self._symbols} symbols, {self._states} states{tested}, {self._violated} violated"
        self._progress.show("checking", self._done, self._budget, note, above=self._above)


class ReachProgress(_Listener):
    """Listens to the events of a search for states: walks, steps, how deep they are, and each better trace."""

    def _begin(self) -> None:
        self._budget, self._found = 0, 0

    def __call__(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "StageStarted":
            self._budget, self._found = event.simulations, 0
        elif kind == "TraceFound":
            self._found += 1
            words = f"{event.steps} steps, {event.model_time:g} time units ({event.heuristic})"
            self._progress.say(f"{event.seconds:8.2f} s: {words}")
        elif kind == "WalksMade":
            left = "" if event.timeout is None else f", {max(0.0, event.timeout - event.seconds):.0f} s left"
            depth = f", up to {event.depth} steps deep" if event.depth else ""
            note = f"{event.steps:,} steps{depth}, {self._found} traces{left}"
            self._progress.show(f"{event.requirement}: walks", event.walks, self._budget, note, above=self._above)


class VerifyProgress(_Listener):
    """Listens to the events of an exploration: states, how fast, how many wait, how deep, memory."""

    def _begin(self) -> None:
        pass

    def __call__(self, event: Any) -> None:
        if type(event).__name__ != "StatesExplored":
            return
        left = "" if event.timeout is None else f", {max(0.0, event.timeout - event.seconds):.0f} s left"
        note = f"{event.waiting:,} waiting, depth {event.depth}, {event.memory_mb:.0f} MB{left}"
        self._progress.show(f"{event.requirement}: states", event.states, 0, note, above=self._above)


class RunProgress(_Listener):
    """Listens to the events of one run and shows how far it is, how close it came and what it found."""

    def _begin(self) -> None:
        self._stage, self._total, self._done, self._found = "", 0, 0, 0
        self._requirements: tuple[str, ...] = ()
        self._closest: dict[int, float] = {}
        self._words: dict[str, int] = {}
        self._estimates: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}
        self._listed: dict[tuple[str, tuple[str, ...]], None] = {}

    def __call__(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "RunStarted":
            self._requirements = event.requirements
        elif kind == "StageStarted":
            self._stage, self._total, self._done = event.stage, event.simulations, 0
        elif kind == "BatchAnswered":
            self._done += len(event.answers)
            self._look_at(event.answers)
        elif kind == "KnownReplayed":
            self._done += event.tries
        elif kind == "FindingReported":
            self._found += 1
            self._listed[event.requirement, event.actions] = None
        elif kind == "JudgedAgain" and event.refined:  # the search begins anew
            self._found = 0
            self._listed.clear()
        elif kind == "SearchAdvanced":
            self._words = dict(zip(self._requirements, event.words, strict=False))
        elif kind == "EstimateMade":
            self._estimates[event.what, event.actions] = event.estimate
        if self._stage and not self._progress.quiet:
            done = min(self._done, self._total)
            below = self._below() if self._progress.terminal else ()
            self._progress.show(self._stage, done, self._total, self._note(), above=self._above, below=below)

    def _look_at(self, answers: Sequence[dict[str, Any]]) -> None:
        for answer in answers:
            for place, judgement in enumerate(answer.get("judgements", ())):
                robustness = float(judgement[1])
                if robustness < self._closest.get(place, float("inf")):
                    self._closest[place] = robustness

    def _note(self) -> str:
        """One line: how close, how many.  Rough masses only steer the search, and have no interval to be shown with."""
        closest = f"closest {min(self._closest.values()):.4g}, " if self._closest else ""
        return f"{closest}{max(self._found, sum(self._words.values()))} found"

    def _below(self) -> list[str]:
        lines = []
        for place, name in enumerate(self._requirements):
            found = sum(requirement == name for requirement, _ in self._listed)
            words = max(found, self._words.get(name, 0))
            lines.append(f"{name}: closest {number(self._closest.get(place), 4)}, {words} counterexamples")
        estimated = sorted(self._estimates.items(), key=lambda item: -item[1]["value"])
        for (requirement, actions), estimate in estimated[:MOST_LISTED]:
            value, low, high = (probability(estimate[key]) for key in ("value", "low", "high"))
            lines.append(f"{requirement} {shorten_word(actions, 40)}  {value} [{low}, {high}]")
        rest = [key for key in self._listed if key not in self._estimates]
        room = max(0, MOST_LISTED - len(estimated))
        lines += [f"{requirement} {shorten_word(actions, 40)}" for requirement, actions in rest[:room]]
        return lines


class EstimateProgress(_Listener):
    """The query that is being answered, states of a chain, and simulations of a system."""

    def _begin(self) -> None:
        self._stage, self._total, self._done = "", 0, 0

    def __call__(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "StageStarted":
            self._stage, self._total, self._done = event.stage, event.simulations, 0
        elif kind == "BatchAnswered":
            self._done += sum(a["uses"]["count"] if "uses" in a else 1 for a in event.answers)
        elif kind == "StatesExplored":
            stage = f"{self._stage}: states of the chain"
            self._progress.show(stage, event.states, 0, "exploring", above=self._above)
        if self._stage and not self._progress.quiet and kind in ("StageStarted", "BatchAnswered"):
            self._progress.show(self._stage, self._done, self._total, "estimating", above=self._above)
