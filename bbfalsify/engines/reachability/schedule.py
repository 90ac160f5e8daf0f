"""Schedule the walks: eleven delay distributions in turn, and deeper after each full cycle (paper B, section 3).

The first cycle of eleven walks makes at most 2^4 steps each; the depth doubles after every cycle, up to 2^18, unless
the user fixes it.  A *turn* is one cycle of every heuristic (with a small fixed depth, several cycles at once).  The
walks of a turn depend on the seed, the heuristic and the turn alone, never on the workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.kernel.target_search import Heuristic

CYCLE = 11
FIRST_DEPTH, LAST_DEPTH = 2**4, 2**18
WALKS_ALONE = 2**12
"""Depth above which each walk is a unit of its own."""
STEPS_PER_TURN = 2**17
"""Approximate steps of each heuristic in a turn, with a fixed depth."""


@dataclass(frozen=True, eq=False)
class Unit:
    """Some walks of one heuristic, executed one after the other by one worker."""

    heuristic: Heuristic
    turn: int
    first: int
    """Number of the first of them among all walks of this heuristic."""
    seeds: np.ndarray
    distributions: np.ndarray
    depth: int


def turns(
    heuristics: tuple[Heuristic, ...], seeds: SeedTree, depth: int | None = None, walks: int | None = None
) -> Iterator[list[Unit]]:
    """Yield turns without end, or until every heuristic has made `walks` walks; the order of units decides."""
    turn = first = 0
    while walks is None or first < walks:
        deep = min(FIRST_DEPTH << min(turn, 14), LAST_DEPTH) if depth is None else depth
        cycles = 1 if depth is None else max(1, STEPS_PER_TURN // (CYCLE * max(depth, 1)))
        count = CYCLE * cycles if walks is None else min(CYCLE * cycles, walks - first)
        units = []
        for heuristic in heuristics:
            words = seeds.child(heuristic.value, turn).words(count)
            distributions = np.arange(first, first + count) % CYCLE
            # RLC-A passes its counters from walk to walk, so its walks stay together.
            alone = deep > WALKS_ALONE and heuristic is not Heuristic.RLC_A
            for start in range(0, count, 1 if alone else count):
                stop = start + 1 if alone else count
                units.append(Unit(heuristic, turn, first + start, words[start:stop], distributions[start:stop], deep))
        yield units
        turn, first = turn + 1, first + count
