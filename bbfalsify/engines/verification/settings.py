"""Settings of `verify`; this module imports nothing heavy, because `--help` reads it."""

from __future__ import annotations

from collections.abc import Iterator

from bbfalsify.core.settings import Settings, engine_name, setting

PORTFOLIO = "portfolio"
ORDERS = ("bfs", "dfs", "rdfs")
SEARCHES = ("drs", "highway")
"""Searches that keep states one by one; for `E<>` and `A[]`."""
EXHAUSTIVE = (*ORDERS, *SEARCHES)


class VerifySettings(Settings):
    """Everything that stands under `engine: {kind: verify}`."""

    kind: str = engine_name("verify")
    heuristic: str = setting(
        "Order of the exploration: breadth first, depth first, or depth first with random order; drs is deep random "
        "search, highway keeps some states per depth and proves nothing; portfolio is breadth first, with some random "
        "walks after the first second.",
        default=PORTFOLIO, choices=(PORTFOLIO, *EXHAUSTIVE),
    )  # fmt: skip
    trace: str = setting(
        "some takes the first trace, shortest one with the fewest steps (breadth first), fastest one that ends "
        "earliest (in the order of time); the last two without walks.",
        default="some", choices=("some", "shortest", "fastest"),
    )  # fmt: skip
    memory: float = setting(
        "Most memory for the states of one query; when it is used up, nothing is proved any more.",
        default=2000.0, at_least=1, unit="MB",
    )  # fmt: skip
    fallback: str = setting(
        "When the memory is used up: bits searches on within it and keeps three bits of each state, which finds traces "
        "of E<> and A[] (with trace some) and proves nothing; none ends undecided.",
        default="bits", choices=("none", "bits"),
    )  # fmt: skip
    timeout: float | None = setting(
        "Seconds for each query; the seconds of a budget are for all queries together.",
        default=300.0, at_least=0, unit="s", absent="no limit",
    )  # fmt: skip
    walks: float = setting("Most seconds of random walks in a portfolio.", default=5.0, at_least=0, unit="s")
    width: int = setting("Highway: states kept per depth.", default=32, at_least=1)
    increment: int | None = setting(
        "DRS: steps by which the bound of the depth grows; a trace is longer than a shortest one by less than this.",
        default=None, at_least=1, absent="no bound: one deep search",
    )  # fmt: skip

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if self.trace == "shortest" and self.heuristic not in (PORTFOLIO, "bfs"):
            yield "trace", f"cannot be 'shortest' with {self.heuristic}, which goes deep first."
        if self.trace == "fastest" and self.heuristic != PORTFOLIO:
            yield "trace", f"cannot be 'fastest' with {self.heuristic}: the earliest states come first."
