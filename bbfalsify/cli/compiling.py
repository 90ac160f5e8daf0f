"""The word before the first run: numba compiles once, which takes a while and must not look like a hang."""

from __future__ import annotations

from bbfalsify.cli.progress import Progress

ABOUT_S = 50


def announce_compilation(progress: Progress) -> None:
    from bbfalsify.running.compiled import is_compiled

    if not is_compiled():
        progress.say(f"compiling the simulation kernel once (about {ABOUT_S} s); later runs start at once")
