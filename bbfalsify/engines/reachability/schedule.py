"""Schedule the walks: eleven delay distributions in turn, deep walks and shallow ones (paper B, section 3).

The deepest walks of a turn make at most 2^4 steps in the first turn, twice as many in each later one, up to 2^18.  Half
of a turn's steps are for one cycle of eleven such walks; the other half is split evenly over all smaller powers of two
from 2^4 on, the shallowest first.  So a target near the beginning is not missed because walks have grown past it, and
its trace stays short.  A depth that the user fixes is the depth of all walks.

Among several heuristics RET makes three times the walks of any other: in the published tables it is the first or close
to it wherever a target is far (Herschel beyond 76 % is found by it alone), and two fifths more time are a small price
where another one is better.

The walks of a turn depend on the seed, the heuristic, the size of the model and the turn alone, never on the workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.kernel.target_search import Heuristic

CYCLE = 11
FIRST_DEPTH, LAST_DEPTH = 2**4, 2**18
SHARE_OF_RET = 3
"""Walks of RET for each walk of another heuristic."""
STEPS_PER_UNIT = 2**16
"""Most steps of a unit that could be two."""
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
    heuristics: tuple[Heuristic, ...],
    seeds: SeedTree,
    depth: int | None = None,
    walks: int | None = None,
    start: int = 0,
) -> Iterator[list[Unit]]:
    """Yield turns without end, or until every heuristic has made `walks` walks; the order of units decides.

    Starting a walk costs as much as `start` steps.
    """
    turn, first = 0, dict.fromkeys(heuristics, 0)
    while walks is None or min(first.values()) < walks:
        cycles = _growing(turn, start) if depth is None else _fixed(depth)
        units: list[Unit] = []
        for heuristic in heuristics:
            share = SHARE_OF_RET if heuristic is Heuristic.RET and len(heuristics) > 1 else 1
            own = [(deep, share * count) for deep, count in cycles]
            units += _units(heuristic, turn, first[heuristic], own, walks, seeds)
            first[heuristic] += sum(count for _, count in own) * CYCLE
        # Shallow walks of all heuristics come before deeper ones of any: the first finding shall be a short trace.
        yield sorted(units, key=lambda unit: unit.depth)
        turn += 1


def _growing(turn: int, start: int) -> list[tuple[int, int]]:
    """Depths of a turn and the number of cycles at each, by ascending depth."""
    deepest = min(FIRST_DEPTH << min(turn, 14), LAST_DEPTH)
    shallower = [FIRST_DEPTH << i for i in range(deepest.bit_length() - FIRST_DEPTH.bit_length())]
    each = (deepest + start) / max(1, len(shallower))
    return [*((depth, max(1, round(each / (depth + start)))) for depth in shallower), (deepest, 1)]


def _fixed(depth: int) -> list[tuple[int, int]]:
    return [(depth, max(1, STEPS_PER_TURN // (CYCLE * max(depth, 1))))]


def _units(
    heuristic: Heuristic, turn: int, first: int, cycles: list[tuple[int, int]], walks: int | None, seeds: SeedTree
) -> Iterator[Unit]:
    """Divide a heuristic's walks of one turn."""
    words = seeds.child(heuristic.value, turn).words(CYCLE * sum(count for _, count in cycles))
    end, place = first + len(words) if walks is None else min(first + len(words), walks), first
    for depth, count in cycles:
        last = min(place + CYCLE * count, end)
        # RLC-A passes its counters from walk to walk, so its walks of one depth stay together.
        at_once = CYCLE * count if heuristic is Heuristic.RLC_A else max(1, STEPS_PER_UNIT // max(depth, 1))
        for begin in range(place, last, at_once):
            stop = min(begin + at_once, last)
            distributions = np.arange(begin, stop) % CYCLE
            yield Unit(heuristic, turn, begin, words[begin - first : stop - first], distributions, depth)
        place = last
