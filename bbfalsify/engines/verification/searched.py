"""Decide `E<> φ` and `A[] φ` by a search that keeps states one by one: deep random search or highway search.

    the system    of a model without time its states, expanded by compiled code; else its zone graph
    a trace       the path found, followed by the zones for its moments and by the exact interpreter

Deep random search is complete: when it ends, "no state" is a proof.  A highway drops states: it proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bbfalsify.engines.searching.bookkeeping import LimitHit, Progress, Rounds
from bbfalsify.engines.searching.state_search import search
from bbfalsify.engines.searching.untimed_system import UntimedSystem, timed_parts
from bbfalsify.engines.verification.answer import HOLDS, UNDECIDED, VIOLATED, Answer, Effort
from bbfalsify.engines.verification.states import NO_BEGIN, GoOn, check_memory, confirmed, question_about
from bbfalsify.logic.reach_query import ReachQuery
from bbfalsify.modelling.network.network import Network
from bbfalsify.zones import SymbolicState, ZoneGraph, zone_tables
from bbfalsify.zones.workspace import Workspace, ZoneProblem
from bbfalsify.zones.zone_tables import ZoneTables


class SearchVerification:
    """The search for one query; `settings` are those of `search`."""

    def __init__(
        self, network: Network, query: ReachQuery, *, most_bytes: float, seed: int, settings: dict[str, Any]
    ) -> None:
        self.network, self.query, self._seed = network, query, seed
        self.tables = zone_tables(network, question_about(query))
        check_memory(self.tables, most_bytes)
        self._settings = {"states": None, "memory": most_bytes / 1e6, **settings}
        self.timed = next(timed_parts(network), None) is not None
        self.effort = Effort()
        self.searched = 0
        self.report: Callable[[int], None] = lambda depth: None
        """Depths that rounds of deep random search have searched: before, and from now on."""

    def run(self, go_on: GoOn) -> Answer:
        def listen(progress: Progress) -> None:
            self.effort = Effort(
                progress.states, progress.states, progress.transitions, progress.depth, 0, round(progress.memory_mb, 3)
            )
            if not go_on(self.effort):
                raise LimitHit("the time is up")

        try:
            system = ZoneGraph(self.tables) if self.timed else UntimedSystem(self.network, self.query.text)
            if not Workspace.of(self.tables).begin():
                return Answer(UNDECIDED, self.effort, NO_BEGIN)
            target = system.is_target if isinstance(system, ZoneGraph) else None
            rounds = Rounds(self.searched, self.report)
            found = search(system, target, seed=self._seed, listener=listen, rounds=rounds, **self._settings)
        except ZoneProblem as problem:
            return Answer(UNDECIDED, self.effort, str(problem))
        if found.interrupted:
            raise KeyboardInterrupt
        self.effort = Effort(found.states, found.states, found.transitions, found.depth, 0, round(found.memory_mb, 3))
        by = f"{'zones' if self.timed else 'states'}, {found.method}"
        if found.verdict == "reached":
            choices = choices_along(self.tables, [self._row(system, state) for state in found.path])
            return confirmed(self.network, self.query, self.tables, choices, self.effort, found_by=by)
        if found.verdict == "undecided":
            return Answer(UNDECIDED, self.effort, found.why, found_by=by)
        return Answer(HOLDS if self.query.universal else VIOLATED, self.effort, found_by=by)

    def _row(self, system: ZoneGraph | UntimedSystem, state: Any) -> bytes:
        """Locations, integers that something writes and, of a timed model, the zone."""
        if isinstance(system, ZoneGraph):
            assert isinstance(state, SymbolicState)
            return state.key
        values, processes = system.unpacked(state), len(self.network.processes)
        row = values[:processes] + [values[processes + slot] for slot in self.tables.integers]
        return np.array(row, np.int32).tobytes()


def choices_along(tables: ZoneTables, rows: Sequence[bytes]) -> tuple[int, ...]:
    """Numbers of the successors that lead from the initial state along the given ones."""
    space = Workspace.of(tables)
    space.begin()
    choices = []
    for wanted in rows[1:]:
        for number in range(space.expand()):
            row, matrix = space.state(number + 1)
            if (row.tobytes() + matrix.tobytes()).startswith(wanted):
                break
        else:
            raise ZoneProblem("the path of a search is not one of the zone graph")
        space.load(row, matrix)
        choices.append(number)
    return tuple(choices)
