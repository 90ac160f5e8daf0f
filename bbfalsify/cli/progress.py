"""Progress on stderr: a live view on a terminal, now and then a plain line elsewhere, nothing with -q or in CI.

    heater-3, run 3 of 12, about 0:40 left
    searching ━━━━━━━━━━━━━━━━──── 1628/2000 410/s 0:01
      R1: closest -4.2, 6 counterexamples
      R1 on·on·on·off  9.10e-3 [8.70e-3, 9.50e-3]

Workers are forked, and forking a process that has background threads can lock up; so the view has no refresh thread
and is drawn only from here.  What the lines say is decided by listeners (`reporting/terminal/progress_lines.py`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from bbfalsify.cli.output import say, unguarded
from bbfalsify.core.visible_text import visible

PLAIN_INTERVAL_S = 5.0
LIVE_INTERVAL_S = 0.1


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
            say(text, error=True, flush=True)

    def warn(self, text: str) -> None:
        """One line that stays, however quiet we are to be."""
        self.end_stage()
        say(text, error=True, flush=True)

    def show(
        self, stage: str, done: int, total: int, note: str = "", *, above: str = "", below: Sequence[str] = ()
    ) -> None:
        """Show how far a stage is: `done` of `total` (0: unknown), what was found; on a terminal, more lines."""
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
            say(text, error=True, flush=True)

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

        console = Console(file=unguarded(sys.stderr), highlight=False, markup=False)
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
        lines = [
            *(Text(visible(line), overflow="ellipsis", no_wrap=True) for line in above),
            self._bar.get_renderable(),
        ]
        lines += [Text("  " + visible(line), overflow="ellipsis", no_wrap=True) for line in below]
        self._live.update(Group(*lines), refresh=True)

    def end_stage(self) -> None:
        """Take the view away; whatever is printed next starts on a clean line."""
        if self._live is not None:
            self._live.stop()
            self._live = self._bar = self._task = None
        self._stage = ""


class CampaignClock:
    """Estimates how long the rest of a campaign takes, from the runs that are done."""

    def __init__(self, runs: int) -> None:
        self._runs, self._done, self._seconds = runs, 0, 0.0
        self._begun = time.monotonic()

    def finished(self, seconds: float | None) -> None:
        """Note how long a run took; None where it was finished before."""
        self._done += seconds is not None
        self._seconds += seconds or 0.0
        self._runs -= 1
        self._begun = time.monotonic()

    @property
    def left(self) -> str:
        if self._done == 0:
            return ""
        seconds = max(0.0, self._runs * self._seconds / self._done - (time.monotonic() - self._begun))
        return f", about {round(seconds) // 60}:{round(seconds) % 60:02d} left"
