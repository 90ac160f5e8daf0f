"""Keep a few passing runs of a search to be judged again: drawn at random, and those that came closest."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Verdict

if TYPE_CHECKING:
    from bbfalsify.engines.falsification.search.search import Run

SHARE = 0.05
"""Share of the passing runs that is drawn at random …"""
FEWEST, MOST = 10, 50
"""… but at least and at most so many."""
CLOSEST = 10
"""Runs of the smallest robustness, of all requirements together."""


class Passing:
    """Runs in which some requirement was judged and not violated."""

    def __init__(self, requirements: int, seeds: SeedTree) -> None:
        self.seen = 0
        self.violating = 0
        """Runs that violate a requirement, for comparison."""
        self._rng = seeds.rng()
        # The runs with the smallest random keys are a uniform sample of any size.
        self._drawn: list[tuple[float, int, Run]] = []
        self._close: list[list[tuple[float, int, Run]]] = [[] for _ in range(requirements)]

    def add(self, run: Run) -> None:
        self.violating += bool(run.answer.violated)
        held = [i for i, j in enumerate(run.answer.judgements) if j.verdict is not Verdict.VIOLATED]
        if not held or not run.answer.ok:
            return
        self.seen += 1
        _keep(self._drawn, self._rng.random(), run, MOST)
        for requirement in held:
            robustness = run.answer.judgements[requirement].robustness
            if math.isfinite(robustness):
                _keep(self._close[requirement], robustness, run, max(1, CLOSEST // len(self._close)))

    def drawn(self) -> list[Run]:
        """Return a uniform sample, in the order of the search."""
        size = max(FEWEST, math.ceil(SHARE * self.seen))
        return sorted(_smallest(self._drawn, size), key=lambda run: run.iteration)

    def closest(self) -> list[Run]:
        """Return those that came closest and were not drawn, in the order of the search."""
        taken = {run.iteration for run in self.drawn()}
        close = {r.iteration: r for runs in self._close for r in _smallest(runs, CLOSEST)}
        return [close[iteration] for iteration in sorted(close) if iteration not in taken]


def _keep(heap: list[tuple[float, int, Run]], key: float, run: Run, size: int) -> None:
    """Keep the smallest keys; heapq has the smallest in front, so keys are negated."""
    item = (-key, -run.iteration, run)
    if len(heap) < size:
        heapq.heappush(heap, item)
    elif item > heap[0]:
        heapq.heapreplace(heap, item)


def _smallest(heap: list[tuple[float, int, Run]], size: int) -> Iterator[Run]:
    return (run for _, _, run in sorted(heap, key=lambda item: (-item[0], -item[1]))[:size])
