"""Memory of a model and of one walker: rows and lists behind the code in T, and the places in S and X."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.analysis import (
    Analysis,
)
from bbfalsify.modelling.network.network import Network


class TablePool:
    """Header of T, and the rows and lists behind the code."""

    def __init__(self, offset: int) -> None:
        self.header = np.zeros(at.HEADER_SIZE, np.int64)
        self.offset = offset
        self.words: list[int] = []

    def add(self, words: Iterable[int]) -> int:
        place = self.offset + len(self.words)
        self.words.extend(map(int, words))
        return place

    def add_rows(self, rows: Sequence[Iterable[int]]) -> int:
        return self.offset + len(self.words) if not rows else self.add(chain.from_iterable(rows))

    def add_list(self, place: int, count: int, words: list[int]) -> None:
        """Add a list whose place and length are in the header."""
        self.header[place], self.header[count] = self.add(words), len(words)


def lay_out_walker(header: np.ndarray, network: Network, analysis: Analysis, *, members: int, rate_reads: int) -> None:
    """Lay out S and X of one walker of this model."""
    processes, integers, reals = len(network.processes), network.integer_count, network.real_count
    edges, leaves = sum(len(p.edges) for p in network.processes), 1
    while leaves < processes:
        leaves *= 2
    header[at.H_TREE_LEAVES] = leaves
    options = sum(len(e.branches) for p in network.processes for e in p.edges)
    header[at.H_S_SIZE] = _lay_out(header, at.INTEGERS + integers, (
        (at.H_S_LOCATIONS, processes),
        (at.H_S_SCRATCH_INTEGERS, integers),
        (at.H_S_SCRATCH_LOCATIONS, processes),
        (at.H_S_GROUP_COUNT, int(header[at.H_GROUPS])),
        (at.H_S_GROUP_MEMBERS, members),
        (at.H_S_EDGE_POSITION, edges),
        (at.H_S_TREE, 2 * leaves),
        (at.H_S_STACK, at.STACK_SIZE + 2 * at.CALL_DEPTH + 8),
        (at.H_S_FRAME, at.FRAME_SIZE),
        (at.H_S_RATE_CODE, reals),
        (at.H_S_RATE_VALUES, rate_reads),
        (at.H_S_MOVES, 2 * processes),
        (at.H_S_CHOICE, 4 * processes + 2 * options + 8),
        (at.H_S_COMMITTED, processes),
        (at.H_S_COMMITTED_PLACE, processes),
        (at.H_S_UNLISTED, processes),
        (at.H_S_ASLEEP, edges),
        (at.H_S_ASLEEP_PLACE, edges),
    ))  # fmt: skip
    solved = len(analysis.solved_slots)
    ode = len(analysis.ode_slots) - solved
    racers = sum(any(e.is_output for e in p.edges) for p in network.processes)
    header[at.H_X_SIZE] = _lay_out(header, at.CLOCKS + 3 * reals, (
        (at.H_X_SCRATCH_CLOCKS, 3 * reals),
        (at.H_X_VALUES, reals),
        (at.H_X_DEADLINE, 2 * processes),
        (at.H_X_EARLIEST, edges),
        (at.H_X_STACK, 3 * at.STACK_SIZE),
        (at.H_X_FRAME, 3 * at.FRAME_SIZE),
        (at.H_X_WINDOWS, 5 * at.MAXIMUM_WINDOWS),
        (at.H_X_PIECES, 4 * at.MAXIMUM_WINDOWS),
        (at.H_X_RACERS, at.RACE_WIDTH * racers),
        (at.H_X_RACE_WINDOWS, at.RACE_WINDOW_WIDTH * at.MAXIMUM_WINDOWS * racers),
        (at.H_X_RACE_POINTS, 2 * at.MAXIMUM_WINDOWS * racers),
        (at.H_X_ODE_WORK, 8 * ode + 8),
        (at.H_X_SOLVED, 2 * solved),
        (at.H_X_GRID, at.GRID_ROWS * ode),
    ))  # fmt: skip


def _lay_out(header: np.ndarray, place: int, sizes: tuple[tuple[int, int], ...]) -> int:
    """Put parts of these sizes one after the other, their places into the header; return the end."""
    for name, size in sizes:
        header[name] = place
        place += size
    return place
