"""Settings of searches through transition systems; this module imports nothing heavy, because `--help` reads it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from bbfalsify.core.settings import Settings, setting

MOST_STATES = 1_000_000


class Method(StrEnum):
    BFS = "bfs"
    DFS = "dfs"
    RDFS = "rdfs"
    RANDOM = "random"
    DRS = "drs"
    HIGHWAY = "highway"


class SearchSettings(Settings):
    """How a transition system is searched."""

    method: str = setting(
        "bfs finds a shortest trace; dfs, rdfs (in random order) and drs (deep random search) go deep; these four are "
        "complete. random walks; highway keeps some states per depth.",
        default=Method.BFS, choices=tuple(Method),
    )  # fmt: skip
    width: int = setting("Highway: states kept per depth.", default=8, at_least=1)
    selection: str = setting(
        "Highway: exact draws evenly among all new successors (Definition 5), approximate while they are met "
        "(Algorithm 1).",
        default="exact", choices=("exact", "approximate"),
    )  # fmt: skip
    walks: int = setting("DRS: deep random walks before the first return to the fringe.", default=1, at_least=1)
    increment: int | None = setting(
        "DRS: steps by which the bound of the depth grows; a trace is longer than a shortest one by less than this.",
        default=None, at_least=1, absent="no bound: one deep search",
    )  # fmt: skip
    depth: int | None = setting(
        "No state after more steps is looked at; then nothing is called unreachable.",
        default=None, at_least=1, absent="no limit",
    )  # fmt: skip
    states: int | None = setting(
        "Most states that are visited; random counts each visit.",
        default=MOST_STATES, at_least=1, absent="no limit",
    )  # fmt: skip
    memory: float | None = setting(
        "Memory for visited states, as far as it can be counted.",
        default=None, above=0, unit="MB", absent="no limit",
    )  # fmt: skip
    timeout: float | None = setting("Seconds.", default=None, above=0, unit="s", absent="no limit")
    store: str = setting(
        "exact keeps visited states; bits keeps a few bits of each, in all of `memory` (dfs and rdfs): many more fit, "
        "some are taken for visited by mistake, and nothing is called unreachable.",
        default="exact", choices=("exact", "bits"),
    )  # fmt: skip
    fallback: str = setting(
        "When the memory is full: none ends the search, highway and bits begin another one within the same memory.",
        default="none", choices=("none", "highway", "bits"),
    )  # fmt: skip

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if self.store == "bits":
            if self.method not in (Method.DFS, Method.RDFS):
                yield ("store", f"'bits' is for dfs and rdfs, whose stack is the trace; found method {self.method}.")
            if self.memory is None:
                yield "store", "'bits' needs `memory`: all of it is filled with bits."
        if self.fallback != "none":
            if self.memory is None:
                yield "fallback", "needs `memory`: it begins when that is full."
            if self.store == "bits" or self.method in (Method.RANDOM, Method.HIGHWAY):
                yield "fallback", "is for searches that keep every state: bfs, dfs, rdfs and drs with the exact store."
