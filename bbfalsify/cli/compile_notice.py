"""The word before the first run: numba compiles once, which takes a while and must not look like a hang."""

from __future__ import annotations

from bbfalsify.cli.progress import Progress

ABOUT_S = 50
CHECK_ABOUT_S = 8


def announce_compilation(progress: Progress) -> None:
    from bbfalsify.running.warm_up import is_compiled

    if not is_compiled():
        progress.say(f"compiling the simulation kernel once (about {ABOUT_S} s); later runs start at once")


def announce_reach_compilation(progress: Progress) -> None:
    from bbfalsify.running.warm_up import reach_is_compiled

    if not reach_is_compiled():
        progress.say(f"compiling the walks once (about {ABOUT_S} s); later runs start at once")


def announce_check_compilation(progress: Progress) -> None:
    from bbfalsify.running.warm_up import check_is_compiled

    if not check_is_compiled():
        progress.say(f"compiling the conformance tests once (about {CHECK_ABOUT_S} s); later checks start at once")
