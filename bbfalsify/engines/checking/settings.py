"""Settings of black box checking; this module imports nothing heavy, because `--help` reads it."""

from __future__ import annotations

from functools import partial

from bbfalsify.core.settings import Settings, engine_name, setting

LEARNERS = ("lsharp", "lstar", "kv", "hw")
"""hw needs no reset, and lives in `resetless.py`."""
METHODS = ("h", "hsi", "wp", "w")
"""Conformance tests that are complete for their bound, from the fewest words to the most."""
RANDOM_METHODS = ("random-hsi", "random-wp", "random-w")
"""Endless ones, complete for no bound."""
_budget = partial(setting, panel="Budget", default=None, at_least=0, absent="no limit")


class Options(Settings):
    """Learning and testing: all that the strategy itself is told."""

    max_states: int | None = setting(
        "The bound n: a requirement that is not violated holds if the system has at most this many states. Without it "
        "the check goes on while its budget lasts.", default=None, at_least=1,
    )  # fmt: skip
    learner: str = setting("The learner; hw is for a system without reset.", default="lsharp", choices=LEARNERS)
    tester: str = setting(
        "Conformance test, from the fewest words (h) to the most (w), all complete up to the bound; random ones run "
        "until the budget ends and prove nothing.", default="h", choices=METHODS + RANDOM_METHODS,
    )  # fmt: skip
    stop_at_first: bool = setting("End with the first violated requirement.", default=False)
    within: float | None = setting(
        "With a profile: tell the risk of any violation within this time of use; the machine is learned to its end.",
        default=None, above=0, unit="time units", absent="only the mean time and the rate are told",
    )  # fmt: skip
    batch: int = setting("Test words asked together.", default=64, at_least=1, internal=True)


class _Name(Settings):
    kind: str = engine_name("check")


class CheckSettings(Options, _Name):
    """Everything that stands under `engine: {kind: check}`."""

    alphabet: tuple[str, ...] = setting(
        "Send only these symbols, as in a,b,c; fewer make longer words affordable.",
        default=(), absent="all", metavar="SYMBOLS",
    )  # fmt: skip
    max_queries: int | None = _budget("Most words to execute.")
    max_symbols: int | None = _budget("Most symbols to send.")
    max_time: float | None = _budget("Most seconds.", unit="s")
    observations: tuple[str, ...] = setting(
        "Files of words and answers seen before (observations.jsonl of another run), which are not executed again.",
        default=(), metavar="FILE", repeated=True,
    )  # fmt: skip
    older: str | None = setting(
        "model.dot of an earlier version, to start from; notes name the word by which the versions differ.",
        default=None, metavar="DOT",
    )  # fmt: skip
    symbols: dict[str, dict[str, float]] | None = setting(
        "For a system of signals, the inputs that each symbol sets.",
        default=None, absent="the actions of the profile", single=True, option=False,
    )  # fmt: skip
    period: float | None = setting(
        "For a system of signals, how long each symbol lasts.",
        default=None, above=0, unit="time units", panel="Systems of signals",
    )  # fmt: skip
