"""Decide `A<> φ`, `E[] φ` and `φ --> ψ`: does some run avoid a condition for ever?

    graph := symbolic states without the condition, from the initial one (or from every state with the premise)
    a run avoids the condition for ever if and only if the graph has
        a state in which time may pass for ever
        a state in which neither time passes nor anything fires
        or a cycle

Equal states are one node here; larger ones do not cover smaller ones, because a cycle through a covering state need not
be one of the model.  Zones are only widened to states from which the same can happen.  A cycle is a run that goes on
for ever in steps, whether or not time does.
"""

from __future__ import annotations

from fractions import Fraction

from bbfalsify.core.errors import UserError
from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace, follow
from bbfalsify.engines.reachability.endless_runs import STUCK, Ending, Endings
from bbfalsify.engines.verification.answer import HOLDS, UNDECIDED, VIOLATED, Answer, Effort
from bbfalsify.engines.verification.states import NO_BEGIN, GoOn, check_memory, named_moves, why_stopped
from bbfalsify.logic.reach_query import LivenessQuery, simplified
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError
from bbfalsify.modelling.reference.step_replay import NotAllowed, Replayer
from bbfalsify.zones import Explorer, Question, zone_tables
from bbfalsify.zones.explorer import Order, Outcome
from bbfalsify.zones.lasting_paths import LastingPath, shortest_cycle, starting_states, without_condition
from bbfalsify.zones.target_zones import LASTS_STUCK
from bbfalsify.zones.workspace import Workspace, ZoneProblem

MOST_REPETITIONS = 12
"""Times that a cycle is followed until a state is met twice exactly."""


class LastingVerification:
    """The exploration for one query about whole runs; `run` can be called again after it was stopped."""

    def __init__(
        self, network: Network, query: LivenessQuery, *, order: Order, most_bytes: float, seed: int = 0
    ) -> None:
        self.network, self.query = network, query
        if order is Order.EARLIEST:
            raise UserError(f"query '{query.text}': a run without end is not the fastest; take the shortest trace.")
        kept = simplified(query.avoided, negated=True)
        self.tables = zone_tables(network, Question(alive=query.trigger, kept=kept, bisimilar=True))
        check_memory(self.tables, most_bytes)
        self.order, self.most_bytes, self.seed = order, most_bytes, seed
        self._starting: Explorer | None = None
        """With a premise: all states of the model."""
        if query.trigger is not None:
            self._starting = Explorer(without_condition(self.tables), targets=False, most_bytes=most_bytes)
        self.explorer = self._new()
        self._starts: dict[int, tuple[int, int]] = {}
        """With a premise: first node → node of the model's states, case of the premise."""
        self._searched = 1024

    def _new(self) -> Explorer:
        return Explorer(
            self.tables, order=self.order, equality=True, most_bytes=self.most_bytes, targets=False, seed=self.seed
        )

    @property
    def effort(self) -> Effort:
        here = Effort.of(self.explorer)
        return here if self._starting is None else Effort.of(self._starting) + here

    def run(self, go_on: GoOn) -> Answer:
        try:
            return self._run(go_on)
        except ZoneProblem as problem:
            return Answer(UNDECIDED, self.effort, str(problem))

    def _run(self, go_on: GoOn) -> Answer:
        if self._starting is not None and not self._starts:
            explored = self._starting.run(lambda explorer: go_on(Effort.of(explorer)))
            if explored.outcome is not Outcome.ALL:
                return self._undecided(explored.outcome)
            if self._starting.count == 0:
                return Answer(UNDECIDED, self.effort, NO_BEGIN)
            self._starts = starting_states(self._starting, self.explorer)
            if not self._starts:
                return self._decided(None)
        cycle: list[tuple[int, int]] | None = None

        def watch(explorer: Explorer) -> bool:
            nonlocal cycle
            if explorer.visited >= self._searched:
                self._searched = 2 * explorer.visited
                cycle = shortest_cycle(explorer.edges())
            return cycle is None and go_on(self.effort)

        explored = self.explorer.run(watch)
        if explored.outcome is Outcome.MET:
            return self._decided(self._path(self.explorer.node_met, []))
        cycle = cycle or shortest_cycle(self.explorer.edges())
        if cycle is not None:
            return self._decided(self._path(cycle[0][0], cycle))
        if explored.outcome is Outcome.ALL and not Workspace.of(without_condition(self.tables)).begin():
            return Answer(UNDECIDED, self.effort, NO_BEGIN)
        return self._decided(None) if explored.outcome is Outcome.ALL else self._undecided(explored.outcome)

    def _undecided(self, outcome: Outcome) -> Answer:
        return Answer(UNDECIDED, self.effort, why_stopped(outcome, self.tables, self.effort))

    def _path(self, node: int, cycle: list[tuple[int, int]]) -> LastingPath:
        start = None
        if self._starting is not None:
            place, case = self._starts[self.explorer.root(node)]
            start = self._starting.path(place), case
        stuck = not cycle and self.explorer.lasts == LASTS_STUCK
        return LastingPath(self.tables, start, self.explorer.path(node), tuple(choice for _, choice in cycle), stuck)

    def _decided(self, path: LastingPath | None) -> Answer:
        """The answer, given a path to where a run lasts, or that there is none."""
        if path is None:
            return Answer(HOLDS if self.query.universal else VIOLATED, self.effort)
        verdict = VIOLATED if self.query.universal else HOLDS
        for repetitions in range(1, MOST_REPETITIONS + 1 if path.cycle else 2):
            shown = self._shown(path, repetitions)
            if shown is not None:
                return Answer(verdict, self.effort, trace=shown[0], ending=shown[1])
        why = (
            "there is such a run, but no state of it repeats exactly (its delays may have to change for ever): no trace"
        )
        return Answer(verdict, self.effort, why)

    def _shown(self, path: LastingPath, repetitions: int) -> tuple[ConcreteTrace, Ending] | None:
        """An exact run along the path, and how it goes on; None if no state repeats exactly."""
        timed = path.timed(repetitions)
        if timed is None:
            return None
        replayer = Replayer(self.network)
        endings = Endings(self.network, self.query)
        try:
            moves = [named_moves(self.network, step) for step in timed.moves]
            steps, state = follow(replayer, moves, timed.times, None)
            waits = timed.end - Fraction(state.time)
            ending = endings.first(replayer, steps)
            if ending is not None:
                waits, steps = Fraction(0), steps[: ending.steps]
            else:
                ending = endings.first(replayer, steps, waits)
            if ending is None:
                return None
            end = replayer.wait(endings.states(replayer, steps)[-1], waits)
        except (NotAllowed, ModelRuntimeError):
            return None
        return ConcreteTrace(tuple(steps), waits, end, ending.kind == STUCK), ending
