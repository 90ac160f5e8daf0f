"""Progress on stderr: a live view on a terminal, now and then a plain line elsewhere, nothing with -q or in CI.

    heater-3, run 3 of 12, about 0:40 left
    searching ━━━━━━━━━━━━━━━━──── 1628/2000 410/s 0:01
      R1: closest -4.2, 6 counterexamples, the list together about 0.0121
      R1 on·on·on·off  9.10e-3 [8.70e-3, 9.50e-3]

Workers are forked, and forking a process that has background threads can lock up; so the view has no refresh thread
and is drawn only from here.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

PLAIN_INTERVAL_S = 5.0
LIVE_INTERVAL_S = 0.1
MOST_LISTED = 5
"""Counterexamples shown while a run goes on."""


class Progress:
    """Use as a context manager; `show` may be called as often as convenient."""

    def __init__(self, *, quiet: bool = False) -> None:
        # A dumb terminal cannot go back on its line, so it gets plain lines too.
        self.terminal = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.quiet = quiet or (not self.terminal and os.environ.get("CI", "").lower() not in ("", "0", "false"))
        self._live: Any = None
        self._bar: Any = None
        self._task: Any = None
        self._stage = ""
        self._shown = 0.0
        self._first: tuple[float, int] = (0.0, 0)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_stage()

    def say(self, text: str) -> None:
        """One line that stays."""
        if not self.quiet:
            self.end_stage()
            print(text, file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """One line that stays, however quiet we are to be."""
        self.end_stage()
        print(text, file=sys.stderr, flush=True)

    def show(
        self, stage: str, done: int, total: int, note: str = "", *, above: str = "", below: Sequence[str] = ()
    ) -> None:
        """How far a stage is: `done` of `total` (0: nobody knows), what was found; on a terminal, more lines."""
        if self.quiet:
            return
        now = time.monotonic()
        if stage != self._stage:
            self._begin_stage(stage, total, now)
        if self._first[1] == 0 and done > 0:
            self._first = (now, done)  # before the first answer, kernels compile and workers start: no rate yet
        if now - self._shown < (LIVE_INTERVAL_S if self.terminal else PLAIN_INTERVAL_S):
            return
        self._shown = now
        since, before = self._first
        rate = (done - before) / (now - since) if done > before and now > since else None
        if self.terminal:
            self._draw(done, total, rate, [above] if above else [], below if below else [note] if note else [])
        else:
            left = f", about {(total - done) / rate:.0f} s left" if rate and total else ""
            speed = "" if rate is None else f" ({rate:.0f}/s{left})"
            text = f"{above}: " if above else ""
            text += f"{stage}: {done}{f' of {total}' if total else ''}{speed}{', ' + note if note else ''}"
            print(text, file=sys.stderr, flush=True)

    def _begin_stage(self, stage: str, total: int, now: float) -> None:
        self._stage, self._shown, self._first = stage, 0.0 if self.terminal else now, (now, 0)
        if self.terminal:
            if self._live is None:
                self._open_view()
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(stage, total=total or None, rate="")

    def _open_view(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        console = Console(stderr=True, highlight=False, markup=False)
        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            auto_refresh=False,
        )
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._live.start()

    def _draw(self, done: int, total: int, rate: float | None, above: Sequence[str], below: Sequence[str]) -> None:
        from rich.console import Group
        from rich.text import Text

        speed = "" if rate is None else f"{rate:.0f}/s"
        self._bar.update(self._task, completed=done, total=total or None, rate=speed)
        lines = [*(Text(line, overflow="ellipsis", no_wrap=True) for line in above), self._bar.get_renderable()]
        lines += [Text("  " + line, overflow="ellipsis", no_wrap=True) for line in below]
        self._live.update(Group(*lines), refresh=True)

    def end_stage(self) -> None:
        """Take the view away; whatever is printed next starts on a clean line."""
        if self._live is not None:
            self._live.stop()
            self._live = self._bar = self._task = None
        self._stage = ""


class CheckProgress:
    """Listens to the events of a check: states, queries, symbols, how far the tests are."""

    def __init__(self, progress: Progress, name: str = "", clock: CampaignClock | None = None) -> None:
        self._progress = progress
        self._name, self._clock = name, clock
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
        self._progress.show("checking", self._done, self._budget, note, above=_above(self._name, self._clock))


class ReachProgress:
    """Listens to the events of a search for states: walks, steps, how deep they are, and each better trace."""

    def __init__(self, progress: Progress, name: str = "", clock: CampaignClock | None = None) -> None:
        self._progress = progress
        self._name, self._clock = name, clock
        self._budget, self._found = 0, 0

    def __call__(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "StageStarted":
            self._budget, self._found = event.simulations, 0
        elif kind == "TraceFound":
            self._found += 1
            words = f"{event.steps} steps, {event.time:g} time units ({event.heuristic})"
            self._progress.say(f"{event.seconds:8.2f} s: {words}")
        elif kind == "WalksMade":
            left = "" if event.timeout is None else f", {max(0.0, event.timeout - event.seconds):.0f} s left"
            depth = f", up to {event.depth} steps deep" if event.depth else ""
            note = f"{event.steps:,} steps{depth}, {self._found} traces{left}"
            above = _above(self._name, self._clock)
            self._progress.show(f"{event.requirement}: walks", event.walks, self._budget, note, above=above)


def _above(name: str, clock: CampaignClock | None) -> str:
    """Which run of a campaign this is, and how long the others may take."""
    return name + (clock.left if clock is not None and name else "")


class CampaignClock:
    """How long the runs of a campaign that are left may take, judged by those that are done."""

    def __init__(self, runs: int) -> None:
        self._runs, self._done, self._seconds = runs, 0, 0.0
        self._begun = time.monotonic()

    def finished(self, seconds: float | None) -> None:
        """A run has taken so long; None where it was finished before."""
        self._done += seconds is not None
        self._seconds += seconds or 0.0
        self._runs -= 1
        self._begun = time.monotonic()

    @property
    def left(self) -> str:
        if self._done == 0:
            return ""
        seconds = max(0.0, self._runs * self._seconds / self._done - (time.monotonic() - self._begun))
        return f", about {int(seconds) // 60}:{int(seconds) % 60:02d} left"


class RunProgress:
    """Listens to the events of one run and shows how far it is, how close it came and what it found."""

    def __init__(self, progress: Progress, name: str = "", clock: CampaignClock | None = None) -> None:
        self._progress = progress
        self._name, self._clock = name, clock
        self._stage, self._total, self._done, self._found = "", 0, 0, 0
        self._requirements: tuple[str, ...] = ()
        self._closest: dict[int, float] = {}
        self._masses: dict[str, float] = {}
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
            self._masses = dict(zip(self._requirements, event.masses, strict=False))
        elif kind == "EstimateMade":
            self._estimates[event.what, event.actions] = event.estimate
        if self._stage and not self._progress.quiet:
            above = _above(self._name, self._clock)
            done = min(self._done, self._total)
            below = self._below() if self._progress.terminal else ()
            self._progress.show(self._stage, done, self._total, self._note(), above=above, below=below)

    def _look_at(self, answers: Sequence[dict[str, Any]]) -> None:
        for answer in answers:
            for number, judgement in enumerate(answer.get("judgements", ())):
                robustness = float(judgement[1])
                if robustness < self._closest.get(number, float("inf")):
                    self._closest[number] = robustness

    def _note(self) -> str:
        """For one line: how close, how many."""
        closest = f"closest {min(self._closest.values()):.4g}, " if self._closest else ""
        mass = f" (together about {sum(self._masses.values()):.2g})" if any(self._masses.values()) else ""
        return f"{closest}{max(self._found, sum(self._words.values()))} found{mass}"

    def _below(self) -> list[str]:
        from bbfalsify.reporting.formatting import number, probability

        lines = []
        for place, name in enumerate(self._requirements):
            found = sum(requirement == name for requirement, _ in self._listed)
            words = max(found, self._words.get(name, 0))
            text = f"{name}: closest {number(self._closest.get(place), 4)}, {words} counterexamples"
            if self._masses.get(name):
                text += f", the list together about {self._masses[name]:.2g}"
            lines.append(text)
        estimated = sorted(self._estimates.items(), key=lambda item: -item[1]["value"])
        for (requirement, actions), estimate in estimated[:MOST_LISTED]:
            value, low, high = (probability(estimate[key]) for key in ("value", "low", "high"))
            lines.append(f"{requirement} {_word(actions)}  {value} [{low}, {high}]")
        rest = [key for key in self._listed if key not in self._estimates]
        room = max(0, MOST_LISTED - len(estimated))
        lines += [f"{requirement} {_word(actions)}" for requirement, actions in rest[:room]]
        return lines


def _word(actions: Sequence[str]) -> str:
    from bbfalsify.reporting.formatting import shorten_word

    return shorten_word(actions, 40)
