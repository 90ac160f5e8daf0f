"""Settings of randomized reachability; this module imports nothing heavy, because `--help` reads it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from bbfalsify.core.heuristic import Heuristic
from bbfalsify.core.settings import Settings, engine_name, setting
from bbfalsify.engines.verification.settings import EXHAUSTIVE, VerifySettings


class Wanted(StrEnum):
    SOME = "some"
    SHORTEST = "shortest"
    FASTEST = "fastest"


class ReachSettings(Settings):
    """Everything that stands under `engine: {kind: reach}`."""

    kind: str = engine_name("reach")
    heuristic: str = setting(
        "How walks choose their transitions; portfolio takes all heuristics in turn. bfs, dfs, rdfs, drs and highway "
        "are no walks: they search the states as `verify` does, and the first four are complete.",
        default="portfolio", choices=("portfolio", *Heuristic, *EXHAUSTIVE),
    )  # fmt: skip
    trace: str = setting(
        "some ends with the first trace, shortest and fastest go on for a better one until the time is up.",
        default="some", choices=tuple(Wanted),
    )  # fmt: skip
    traces: int = setting(
        "Different traces to one target: they are grouped by what differs, and each group keeps its shortest.",
        default=1, at_least=1, at_most=10_000,
    )  # fmt: skip
    depth: int | None = setting(
        "Steps of each walk.",
        default=None,
        at_least=1,
        absent="growing: half of a turn's steps 16 deep, doubled per turn, to 262144; half shallower",
    )
    timeout: float | None = setting(
        "Seconds for each query; the seconds of a budget are for all queries together.",
        default=300.0, at_least=0, unit="s", absent="no limit",
    )  # fmt: skip
    walks: int | None = setting(
        "Most walks of each heuristic, for each query.", default=None, at_least=1, absent="no limit"
    )
    width: int = setting("Highway: states kept per depth.", default=VerifySettings.width, at_least=1)
    increment: int | None = setting(
        "DRS: steps by which the bound of the depth grows.", default=None, at_least=1,
        absent="no bound: one deep search",
    )  # fmt: skip

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if self.heuristic in EXHAUSTIVE:
            for key in ("traces", "depth", "walks"):
                if getattr(self, key) != getattr(ReachSettings, key):
                    yield key, f"is for random walks; {self.heuristic} searches the states."
            yield from self.exhaustive().conflicts()

    def exhaustive(self) -> VerifySettings:
        """The same for a search through the states."""
        return VerifySettings(
            heuristic=self.heuristic, trace=self.trace, timeout=self.timeout, width=self.width, increment=self.increment
        )
