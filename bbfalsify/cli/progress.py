"""Progress on stderr: a bar on a terminal, now and then a plain line elsewhere, nothing with -q.

Workers are forked, and forking a process that has background threads can lock up; so the bar has no refresh thread
and is drawn only from here.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

PLAIN_INTERVAL_S = 5.0
BAR_INTERVAL_S = 0.1


class Progress:
    """Use as a context manager; `show` may be called as often as convenient."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        # A dumb terminal cannot go back on its line, so it gets plain lines too.
        self.terminal = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
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

    def show(self, stage: str, done: int, total: int, note: str = "") -> None:
        """How far a stage is: `done` of `total` (0: nobody knows), and a few words on what was found."""
        if self.quiet:
            return
        now = time.monotonic()
        if stage != self._stage:
            self.end_stage()
            self._stage, self._shown, self._first = stage, 0.0 if self.terminal else now, (now, 0)
            if self.terminal:
                self._open_bar(stage, total)
        if self._first[1] == 0 and done > 0:
            self._first = (now, done)  # before the first answer, kernels compile and workers start: no rate yet
        if now - self._shown < (BAR_INTERVAL_S if self.terminal else PLAIN_INTERVAL_S):
            return
        self._shown = now
        since, before = self._first
        rate = (done - before) / (now - since) if done > before and now > since else None
        if self.terminal:
            shown = "" if rate is None else f"{rate:.0f}/s"
            self._bar.update(self._task, completed=done, total=total or None, note=note, rate=shown, refresh=True)
        else:
            left = f", about {(total - done) / rate:.0f} s left" if rate and total else ""
            speed = "" if rate is None else f" ({rate:.0f}/s{left})"
            of = f" of {total}" if total else ""
            print(f"{stage}: {done}{of}{speed}{', ' + note if note else ''}", file=sys.stderr, flush=True)

    def _open_bar(self, stage: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._bar.start()
        self._task = self._bar.add_task(stage, total=total or None, note="", rate="")

    def end_stage(self) -> None:
        """Take the bar away; whatever is printed next starts on a clean line."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        self._stage = ""


class CheckProgress:
    """Listens to the events of a check: states, queries, symbols, how far the tests are."""

    def __init__(self, progress: Progress, name: str = "") -> None:
        self._progress = progress
        self._stage = f"{name}: checking" if name else "checking"
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
        self._progress.show(self._stage, self._done, self._budget, note)


class RunProgress:
    """Listens to the events of one run and shows how far it is."""

    def __init__(self, progress: Progress, name: str = "") -> None:
        self._progress = progress
        self._name = f"{name}: " if name else ""
        self._stage, self._total, self._done, self._found = "", 0, 0, 0

    def __call__(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "StageStarted":
            self._stage, self._total, self._done = event.stage, event.simulations, 0
        elif kind == "BatchAnswered":
            self._done += len(event.answers)
        elif kind == "KnownReplayed":
            self._done += event.tries
        elif kind == "FindingReported":
            self._found += 1
        if self._stage:
            done = min(self._done, self._total)
            self._progress.show(f"{self._name}{self._stage}", done, self._total, f"{self._found} found")
