"""Search a zone graph whose states do not fit into memory: three bits are kept of each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bbfalsify.zones import zone_bits as kernel
from bbfalsify.zones import zone_layout as at
from bbfalsify.zones.explorer import AT_ONCE, Explored, Outcome
from bbfalsify.zones.workspace import Workspace, counter
from bbfalsify.zones.zone_tables import ZoneTables


class BitSearch:
    """Half of the memory is bits, half the stack."""

    def __init__(self, tables: ZoneTables, *, most_bytes: float, seed: int = 0) -> None:
        self.tables, self.space = tables, Workspace.of(tables)
        self._words = int(tables.Z[at.Z_WIDTH]) + tables.size**2
        self.bits = np.zeros(max(1, int(most_bytes) // 16), np.int64)
        self.stack = np.zeros(
            (max(2, int(most_bytes) // (8 * (self._words + kernel.EXTRA))), self._words + kernel.EXTRA), np.int32
        )
        self.progress = np.zeros(at.P_SIZE, np.int64)
        self.progress[at.P_RANDOM] = seed & ((1 << 60) - 1)
        self._begun = False

    # --- figures ---

    visited = counter(kernel.B_VISITED)
    transitions = counter(kernel.B_TRANSITIONS)
    depth = counter(kernel.B_DEPTH)
    left = counter(kernel.B_STACK, "States on the stack.")
    left_out = counter(kernel.B_LEFT_OUT, "Successors that found no place on the stack.")

    @property
    def missed(self) -> float:
        """Expected share of new states that are taken for visited, as full as the bits are now."""
        return (kernel.HASHES * int(self.progress[kernel.B_SET]) / (64 * len(self.bits))) ** kernel.HASHES

    @property
    def bytes(self) -> int:
        return self.bits.nbytes + self.stack.nbytes

    # --- the search ---

    def run(self, go_on: Callable[[BitSearch], bool] = lambda search: True) -> Explored:
        """Search until a target is met, nothing is left (which proves nothing), or `go_on` says no."""
        outcome = at.PAUSED
        if not self._begun:
            begins = self.space.begin()
            self._begun = True
            if not begins:
                return Explored(Outcome.ALL)
            outcome = int(kernel.begin_bits(*self.space.arrays, self.stack, self.bits, self.progress))
        while outcome in (at.PAUSED, at.DONE):
            outcome = int(kernel.explore_bits(*self.space.arrays, self.stack, self.bits, self.progress, AT_ONCE))
            if outcome == at.NO_ROOM:
                self.space.grow()
                outcome = at.PAUSED
            elif outcome == at.DONE:
                return Explored(Outcome.ALL)
            elif outcome == at.PAUSED and not go_on(self):
                return Explored(Outcome.STOPPED)
        if outcome < 0:
            raise self.space.problem(outcome)
        return Explored(Outcome.MET, self._path())

    def _path(self) -> tuple[int, ...]:
        """Numbers of the successors to the state on top: those of the expanded states below it, and its own."""
        size = int(self.progress[kernel.B_STACK])
        lines = self.stack[:size, self._words :]
        taken = lines[:, 2] == 1
        taken[-1] = True
        return tuple(int(choice) for choice in lines[taken, 0][1:])
