"""Decide `E<> φ` and `A[] φ`, also about deadlocks, by exploring all symbolic states.

    explore the zone graph, a state covered by a larger one once
        a state meets the target    find the moments of its path; the exact interpreter checks every step
        all states are explored     no state of the model meets the target: a proof

Zones are widened to what the model cannot tell apart, so the graph is finite.  Widening only adds states, so that a
graph without a target proves that there is none.  A widened zone may have a deadlock that the model has not: where the
exact interpreter does not confirm one, the exploration starts again with a finer widening, which puts only states
together from which the same can happen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from bbfalsify.core.errors import UserError
from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace, follow, met
from bbfalsify.engines.verification.answer import HOLDS, UNDECIDED, VIOLATED, Answer, Effort
from bbfalsify.logic.reach_query import ReachQuery
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError
from bbfalsify.modelling.reference.state import Move
from bbfalsify.modelling.reference.step_replay import NotAllowed, Replayer
from bbfalsify.zones import Explorer, Question, zone_tables
from bbfalsify.zones.bit_search import BitSearch
from bbfalsify.zones.explorer import Order, Outcome, bytes_of_state
from bbfalsify.zones.timing import Moves, TimedPath, timed_path
from bbfalsify.zones.workspace import ZoneProblem
from bbfalsify.zones.zone_tables import ZoneTables

LEAST_STATES = 64
NO_BEGIN = "an invariant forbids the initial state: the model has no behaviour"
GoOn = Callable[[Effort], bool]
"""Told how far an exploration is; False stops it."""


class StateVerification:
    """The exploration for one query; `run` can be called again after it was stopped."""

    def __init__(
        self, network: Network, query: ReachQuery, *, order: Order, most_bytes: float, bits: bool = False, seed: int = 0
    ) -> None:
        """With `bits`, the search goes on when the memory is used up: three bits are kept of each state."""
        self.network, self.query = network, query
        self._most_bytes, self._seed, self._with_bits = most_bytes, seed, bits
        self._bits: BitSearch | None = None
        self._met: Answer | None = None
        """What the path to the first target gave."""
        self._full = Effort()
        """Figures of the explorations before: one that used up the memory, or was not fine enough."""
        self._order = order
        question = question_about(query, timed=order is Order.EARLIEST)
        if question.deadlocks and question.timed:
            raise UserError(
                f"query '{query.text}': the fastest trace to a deadlock cannot be found; take the shortest."
            )
        self._finer = question if question.bisimilar else None
        """The question with the finer widening, where the exploration began with the coarser one."""
        self.tables = zone_tables(network, replace(question, bisimilar=False))
        check_memory(self.tables, most_bytes)
        self.explorer = Explorer(self.tables, order=order, most_bytes=most_bytes, seed=seed)

    @property
    def effort(self) -> Effort:
        return self._full + (Effort.of(self.explorer) if self._bits is None else Effort.of_bits(self._bits))

    def run(self, go_on: GoOn) -> Answer:
        if self._met is not None:  # what an exploration leaves out after a target proves nothing
            return self._met
        try:
            if self._bits is not None:
                return self._with_bits_only(self._bits, go_on)
            explored = self.explorer.run(lambda explorer: go_on(self._full + Effort.of(explorer)))
            if explored.path is not None:
                why = None if explored.outcome is Outcome.MET else self._stopped(explored.outcome)
                answer = self._confirmed(explored.path, why)
                if answer.verdict == UNDECIDED and self._finer is not None:
                    return self._again(self._finer).run(go_on)
                self._met = answer if explored.outcome is Outcome.MET else None
                return answer
        except ZoneProblem as problem:
            if self._finer is not None:
                return self._again(self._finer).run(go_on)
            return Answer(UNDECIDED, self.effort, str(problem))
        if explored.outcome is Outcome.ALL:
            if self.explorer.count == 0:
                return Answer(UNDECIDED, self.effort, NO_BEGIN)
            verdict = HOLDS if self.query.universal else VIOLATED
            return Answer(verdict, self.effort, stopwatch=self.tables.stopwatch)
        if explored.outcome is Outcome.MEMORY and self._with_bits:
            if self._finer is not None:
                self._again(self._finer)
            else:
                self._full = self.effort
            self.explorer = Explorer(self.tables)  # its states give way to the bits
            self._bits = BitSearch(self.tables, most_bytes=self._most_bytes, seed=self._seed)
            return self.run(go_on)
        return Answer(UNDECIDED, self.effort, self._stopped(explored.outcome))

    def _again(self, question: Question) -> StateVerification:
        """Begin from the start with the finer widening."""
        self._full, self._finer = self.effort, None
        self.tables = zone_tables(self.network, question)
        self.explorer = Explorer(self.tables, order=self._order, most_bytes=self._most_bytes, seed=self._seed)
        return self

    def _with_bits_only(self, bits: BitSearch, go_on: GoOn) -> Answer:
        """The answer of a search that keeps bits of states: a trace, or nothing."""
        explored = bits.run(lambda search: go_on(self.effort))
        if explored.path is not None:
            return replace(self._confirmed(explored.path), found_by="zones, bit-state hashing")
        ended = "no more were found" if explored.outcome is Outcome.ALL else "the time is up"
        left_out = f", {bits.left_out:,} were left out" if bits.left_out else ""
        why = (
            f"the memory is used up ({self._full.states:,} states explored, {self._full.stored:,} stored); bit-state "
            f"hashing then visited {bits.visited:,}, {ended}{left_out}: it may miss states and proves nothing"
        )
        return Answer(UNDECIDED, self.effort, why)

    def _stopped(self, outcome: Outcome) -> str:
        return why_stopped(outcome, self.tables, self.effort)

    def _confirmed(self, path: tuple[int, ...], slower: str | None = None) -> Answer:
        """The answer that a path gives; `slower`: why a trace that was asked to be the fastest may not be."""
        answer = confirmed(self.network, self.query, self.tables, path, self.effort)
        if slower is None or answer.verdict == UNDECIDED:
            return answer
        return replace(answer, why=f"there may be a faster trace: {slower}")


def question_about(query: ReachQuery, *, timed: bool = False) -> Question:
    """The question whether a state is the target of a query; `timed` for the order of time."""
    deadlocks = query.dead is not None and query.dead != query.alive
    return Question(query.alive, query.dead if deadlocks else None, deadlocks, bisimilar=deadlocks, timed=timed)


def confirmed(
    network: Network,
    query: ReachQuery,
    tables: ZoneTables,
    path: tuple[int, ...],
    effort: Effort,
    *,
    found_by: str = "zones",
    aim: ZoneTables | None = None,
) -> Answer:
    """The answer that a path gives, once the exact interpreter has followed it; `aim`: tables with another target."""
    try:
        timed = timed_path(tables, path, aim)
        if timed is None:
            raise NotAllowed("no delays fit")
        trace = _trace(network, query, timed)
    except (NotAllowed, ModelRuntimeError) as problem:
        why = f"a symbolic path of {len(path)} steps was not confirmed by the exact interpreter: {problem}"
        if tables.stopwatch is not None:
            why = (
                f"a symbolic path of {len(path)} steps is spurious ({problem}): clocks that stop, as "
                f"'{tables.stopwatch}', are over-approximated"
            )
        return Answer(UNDECIDED, effort, why, found_by=found_by)
    return Answer(VIOLATED if query.universal else HOLDS, effort, trace=trace, found_by=found_by)


def _trace(network: Network, query: ReachQuery, timed: TimedPath) -> ConcreteTrace:
    replayer = Replayer(network)
    moves = [named_moves(network, step) for step in timed.moves]
    steps, state = follow(replayer, moves, timed.times, None)
    waits, deadlocked = met(replayer, query, state, timed.end - Fraction(state.time))
    return ConcreteTrace(tuple(steps), waits, replayer.wait(state, waits), deadlocked)


def check_memory(tables: ZoneTables, most_bytes: float) -> None:
    """Refuse a limit below some states: even a small search needs room for the successors of one."""
    least = LEAST_STATES * bytes_of_state(tables)
    if most_bytes < least:
        raise UserError(
            f"`memory` is {most_bytes / 1e6:g} MB, too little for {LEAST_STATES} states of this model: "
            f"{tables.size - 1} clocks need {bytes_of_state(tables):,} bytes per state. "
            f"Give at least {math.ceil(least / 1e6)} MB."
        )


def named_moves(network: Network, moves: Moves) -> tuple[Move, ...]:
    """Moves as (process, edge of the process, branch)."""
    names = [(p, e) for p, process in enumerate(network.processes) for e in range(len(process.edges))]
    return tuple((*names[edge], branch) for edge, branch in moves)


def why_stopped(outcome: Outcome, tables: ZoneTables, effort: Effort) -> str:
    """Why an exploration is not complete, and what may help."""
    far = f"{effort.states:,} states explored, {effort.waiting:,} waiting"
    words = {Outcome.MEMORY: "the memory is used up", Outcome.STOPPED: "the time is up"}[outcome]
    hints = []
    if tables.diagonal is not None:
        hints.append(f"'{tables.diagonal}' compares two clocks: zones are kept exact then and may never repeat")
    unbounded = [v.name for v in tables.network.variables if v.kind == "int" and v.high - v.low >= 2**31 - 2]
    if unbounded:
        hints.append(f"give the integer '{unbounded[0]}' a range")
    return "; ".join([f"{words} ({far})", *hints])
