"""Slow interpreter of networks in exact arithmetic, written from the docstring of `network.py` alone.

It shares no code with the compiled kernel and is the reference for its tests.  Where all rates are constant it works in
exact fractions: the set of delays of a transition is found by trying every delay at which some decision — in an
invariant, a guard, an update, or an invariant of the state entered — could flip, and one delay of every gap between
them (`delay_sets`).  Models with ODEs or products of clocks are handled approximately: float64, Runge–Kutta, a grid of
delays refined by bisection.

Decisions where the semantics is open:

* Several ways.  Where several edges of a process receive a broadcast, each choice of receiving edges is a transition if
  it satisfies all invariants.  Branches: in UPPAAL's dialect each that does is one, too; else *every* branch that may
  be drawn must satisfy them, so weights are never distorted.  Among the ways that remain, draws keep their proportions.
* An update that fails at run time (range, bounds, division) does not disable its transition: firing it is the error.
* An invariant of the state entered that depends on a random draw does not restrict the transition.
* Urgent channels: time may pass to d if no transition on an urgent channel is enabled at any moment before d.
* Committed: a broadcast also counts as leaving a committed location when one of its receivers does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import cast

from bbfalsify.modelling.network.network import Location, Network
from bbfalsify.modelling.reference import exact_values as exact
from bbfalsify.modelling.reference.delay_sets import (
    ALL_DELAYS,
    Windows,
    contains,
    first_stretch,
    solve,
    solve_approximately,
    up_to,
)
from bbfalsify.modelling.reference.edges import Edges
from bbfalsify.modelling.reference.evaluation import AnyEvaluator, Draw, Evaluator, Memory, Slots, no_draw
from bbfalsify.modelling.reference.exact_code import ExactCode
from bbfalsify.modelling.reference.flow import RealFlow
from bbfalsify.modelling.reference.state import AnyState, EdgeName, FiringOutcome, Move, State, Transition

Predicate = Callable[[AnyEvaluator], bool]
Choose = Callable[[Sequence[tuple[Move, Fraction]]], Move]
"""Choice of one move of a process, from its moves and their probabilities."""


def only_move(options: Sequence[tuple[Move, Fraction]]) -> Move:
    if len(options) > 1:
        raise ValueError(f"process {options[0][0][0]} may move in {len(options)} ways")
    return options[0][0]


class ReferenceInterpreter:
    def __init__(self, network: Network, *, step: float = 2**-6, horizon: float | None = None) -> None:
        """`step` and `horizon` set the grid of delays for models that are not linear in time."""
        self.network = network
        self.code = ExactCode(network)
        self.step = step
        self.horizon = float(network.largest_constant + 1) if horizon is None else horizon
        self._flowing: tuple[AnyState, RealFlow] | None = None
        self._staying: tuple[AnyState, Windows] | None = None
        self._edges = Edges(network)

    def initial_state(self) -> State:
        return State(
            tuple(p.initial for p in self.network.processes),
            tuple(self.network.initial_integers()),
            tuple(Fraction(r) for r in self.network.initial_reals()),
        )

    # --- delays ------------------------------------------------------------------------------------------------------

    def invariant_delays(self, state: AnyState, process: int) -> Windows:
        """The delays that the component's own location allows, ignoring the others."""
        location = self._location(state, process)
        stay = first_stretch(self._solve(state, lambda m: m.holds(location.invariant)))
        return up_to(stay, Fraction(0)) if location.urgent or location.committed else stay

    def _flow(self, state: AnyState) -> RealFlow:
        if self._flowing is None or self._flowing[0] != state:
            flow = RealFlow(self.code, state.locations, state.integers, state.reals, step=self.step)
            self._flowing = (state, flow)
        return self._flowing[1]

    def delays(self, state: AnyState) -> Windows:
        """The delays that the network may stay: at most one window, starting at 0; empty if an invariant is broken."""
        if self._staying is None or self._staying[0] != state:
            stay = self._invariants_stay(state)
            if self._time_stands_still(state):
                stay = up_to(stay, Fraction(0))
            for transition in self._edges.urgent_candidates(state.locations):
                enabled = self._enabled_delays(state, transition, stay)
                stay = up_to(stay, enabled[0].low) if enabled else stay
            self._staying = (state, stay)
        return self._staying[1]

    def _enabled_delays(self, state: AnyState, transition: Transition, within: Windows) -> Windows:
        return self._solve(state, lambda evaluator: self._enabled(evaluator, transition), within=within)

    def _invariants_stay(self, state: AnyState) -> Windows:
        """The delays up to the first broken invariant: at most one window."""
        return first_stretch(self._solve(state, self._all_invariants))

    def _time_stands_still(self, state: AnyState) -> bool:
        locations = (self._location(state, p) for p in range(len(state.locations)))
        return any(location.urgent or location.committed for location in locations)

    def _solve(self, state: AnyState, predicate: Predicate, within: Windows = ALL_DELAYS) -> Windows:
        flow = self._flow(state)

        def memory(reals: Sequence[exact.Value]) -> Memory:
            return Memory(list(state.locations), list(state.integers), list(reals))

        if flow.linear:
            try:
                symbolic = flow.symbolic()
                return solve(lambda s: predicate(Evaluator(self.code, memory(symbolic), s)), within=within)
            except exact.NotAffine:
                pass
        return solve_approximately(
            lambda s: predicate(Evaluator(self.code, memory(flow.concrete(s.delay)), s)),
            within=within,
            step=self.step,
            horizon=self.horizon,
        )

    # --- transitions -------------------------------------------------------------------------------------------------

    def transitions(self, state: AnyState) -> list[Transition]:
        """Every transition that can fire after some delay, with the exact set of those delays."""
        stay = self.delays(state)
        found = []
        for candidate in self.candidates(state):
            windows = self._enabled_delays(state, candidate, stay)
            if windows:
                found.append(Transition(candidate.sender, candidate.receivers, candidate.broadcast, windows))
        return found

    def candidates(self, state: AnyState) -> Iterator[Transition]:
        """Possible transitions by locations and channels alone."""
        return self._edges.candidates(state.locations)

    def _enabled(self, evaluator: AnyEvaluator, transition: Transition) -> bool:
        """Tell whether it can fire at the evaluator's delay, given that the network may stay that long."""
        taking_part = self._taking_part(evaluator, transition)
        if taking_part is None or not self._respects_committed(evaluator.memory.locations, taking_part):
            return False
        try:
            return self._enters(evaluator, taking_part, transition.moves)
        except (exact.ModelRuntimeError, exact.DependsOnDraw):
            return True

    def _enters(self, evaluator: AnyEvaluator, taking_part: list[list[EdgeName]], moves: tuple[Move, ...]) -> bool:
        """Tell whether some way to fire satisfies all invariants; with `moves`, whether this one does."""
        return next(self._possible_ways(evaluator, taking_part), None) is not None

    def _possible_ways(
        self, evaluator: AnyEvaluator, taking_part: list[list[EdgeName]]
    ) -> Iterator[tuple[tuple[Move, ...], Fraction]]:
        """Every way to fire that satisfies all invariants, with the probability of its branches."""
        for names in product(*taking_part):
            ways = list(self._ways(evaluator, [[name] for name in names]))
            possible = [(moves, share) for moves, share in ways if self._can_enter(evaluator, moves)]
            if self.network.as_uppaal or len(possible) == len(ways):
                total = sum(share for _, share in possible)
                yield from ((moves, share / total) for moves, share in possible)

    def _taking_part(self, evaluator: AnyEvaluator, transition: Transition) -> list[list[EdgeName]] | None:
        """The enabled edges of each process that takes part, sender first; None if a guard forbids the transition."""
        if not evaluator.holds(self._edges[transition.sender].guard):
            return None
        able = [name for name in transition.receivers if evaluator.holds(self._edges[name].guard)]
        if transition.receivers and not transition.broadcast and not able:
            return None
        by_process: dict[int, list[EdgeName]] = {}
        for name in able:
            by_process.setdefault(name[0], []).append(name)
        return [[transition.sender], *(by_process[p] for p in sorted(by_process))]

    def _respects_committed(self, locations: Slots[int], taking_part: list[list[EdgeName]]) -> bool:
        committed = {p for p, process in enumerate(self.network.processes) if process.locations[locations[p]].committed}
        return not committed or any(group[0][0] in committed for group in taking_part)

    def _ways(
        self, evaluator: AnyEvaluator, taking_part: list[list[EdgeName]]
    ) -> Iterator[tuple[tuple[Move, ...], Fraction]]:
        """Every combination of receiving edges and branches that may be drawn, with the probability of the branches."""
        for names in product(*taking_part):
            for branches in product(*(self._branches(evaluator, name) for name in names)):
                moves = tuple((*name, branch) for name, (branch, _) in zip(names, branches, strict=True))
                yield moves, prod((share for _, share in branches), start=Fraction(1))

    def _branches(self, evaluator: AnyEvaluator, name: EdgeName) -> list[tuple[int, Fraction]]:
        """The branches of positive weight, with their probabilities."""
        branches = self._edges[name].branches
        if len(branches) == 1:
            return [(0, Fraction(1))]
        values = [1 if b.weight is None else evaluator.value(b.weight) for b in branches]
        signs = [evaluator.sample.sign(value) for value in values]
        weights = [Fraction(exact.at_delay(value, evaluator.sample.delay)) for value in values]
        if -1 in signs or 1 not in signs:
            shown = ", ".join(str(w) for w in weights)
            raise exact.ModelRuntimeError("weight", f"branch weights {shown}", edge=self.edge_text(name))
        return [(number, w / sum(weights)) for number, w in enumerate(weights) if w > 0]

    def _can_enter(self, evaluator: AnyEvaluator, moves: tuple[Move, ...]) -> bool:
        try:
            return self._all_invariants(self._after(evaluator, moves, no_draw))
        except (exact.ModelRuntimeError, exact.DependsOnDraw):
            return True

    def _after(self, evaluator: AnyEvaluator, moves: tuple[Move, ...], draw: Draw) -> AnyEvaluator:
        """Make the moves: updates of the sender, then of the receivers by process number; then change locations."""
        after = Evaluator(self.code, evaluator.memory.copy(), evaluator.sample, draw)
        self._move(after, moves)
        return after

    def _move(self, after: AnyEvaluator, moves: tuple[Move, ...]) -> None:
        for process, edge, branch in moves:
            chosen = self._edges[process, edge].branches[branch]
            try:
                after.run(chosen.updates)
            except exact.ModelRuntimeError as error:
                where = self.edge_text((process, edge))
                raise exact.ModelRuntimeError(error.kind, error.message, variable=error.variable, edge=where) from None
        for process, edge, branch in moves:
            after.locations[process] = self._edges[process, edge].branches[branch].target

    def _all_invariants(self, evaluator: AnyEvaluator) -> bool:
        here = evaluator.memory.locations
        return all(
            evaluator.holds(process.locations[here[p]].invariant) for p, process in enumerate(self.network.processes)
        )

    # --- firing ------------------------------------------------------------------------------------------------------

    def evaluator_at(self, state: AnyState, delay: exact.Real) -> AnyEvaluator:
        """An evaluator in the state after `delay`."""
        memory = Memory(list(state.locations), list(state.integers), list(self._flow(state).concrete(delay)))
        return Evaluator(self.code, memory, exact.Sample(delay, set()))

    def wait(self, state: State, delay: exact.Real) -> State:
        return State(state.locations, state.integers, tuple(self._flow(state).concrete(delay)), state.time + delay)

    def outcomes(self, state: AnyState, transition: Transition, delay: exact.Real) -> list[FiringOutcome]:
        """Every way the transition may end at this delay; only for models without random draws."""
        evaluator = self.evaluator_at(state, delay)
        found = []
        for moves, probability in self._possible_ways(evaluator, self._firing(evaluator, state, transition)):
            try:
                after = self._state(self._after(evaluator, moves, no_draw), state.time + delay)
                found.append(FiringOutcome(moves, probability, after))
            except exact.ModelRuntimeError as error:
                found.append(FiringOutcome(moves, probability, None, error))
        return found

    def fire(
        self,
        state: AnyState,
        transition: Transition,
        delay: exact.Real,
        *,
        choose: Choose = only_move,
        draw: Draw = no_draw,
    ) -> State:
        """The state after `delay` and the transition; `choose` picks the receiving edge and branch of each process."""
        evaluator = self.evaluator_at(state, delay)
        taking_part = self._firing(evaluator, state, transition)
        ways = self._drawn_ways(evaluator, taking_part)
        moves: list[Move] = []
        for place in range(len(taking_part)):
            shares: dict[Move, Fraction] = {}
            for way, share in ways:
                shares[way[place]] = shares.get(way[place], Fraction(0)) + share
            total = sum(shares.values())
            moves.append(choose([(move, share / total) for move, share in shares.items()]))
            ways = [(way, share) for way, share in ways if way[place] == moves[-1]]
        return self._state(self._after(evaluator, tuple(moves), draw), state.time + delay)

    def _drawn_ways(
        self, evaluator: AnyEvaluator, taking_part: list[list[EdgeName]]
    ) -> list[tuple[tuple[Move, ...], Fraction]]:
        """The ways to fire, with shares in proportion to their probability: edges uniformly, then branches."""
        if all(len(group) == 1 and len(self._edges[group[0]].branches) == 1 for group in taking_part):
            return [(tuple((*name, 0) for [name] in taking_part), Fraction(1))]
        possible = {moves for moves, _ in self._possible_ways(evaluator, taking_part)}
        return [(moves, share) for moves, share in self._ways(evaluator, taking_part) if moves in possible]

    def can_fire(self, state: AnyState, transition: Transition, delay: exact.Real) -> bool:
        """Tell whether it can fire at this delay; agrees with the transition's windows, but uses plain numbers."""
        return contains(self.delays(state), delay) and self._enabled(self.evaluator_at(state, delay), transition)

    def _firing(self, evaluator: AnyEvaluator, state: AnyState, transition: Transition) -> list[list[EdgeName]]:
        taking_part = self._taking_part(evaluator, transition)
        if taking_part is None or not self.can_fire(state, transition, evaluator.sample.delay):
            raise ValueError(f"{self.edge_text(transition.sender)} cannot fire after {evaluator.sample.delay}")
        return taking_part

    def _state(self, evaluator: AnyEvaluator, time: exact.Real) -> State:
        network, memory = self.network, evaluator.memory
        # The values are plain numbers, and UNKNOWN after a draw that was not made: callers replace it.
        return State(
            tuple(memory.locations[p] for p in range(len(network.processes))),
            tuple(cast(int, memory.integers[slot]) for slot in range(network.integer_count)),
            tuple(cast(exact.Real, memory.reals[slot]) for slot in range(network.real_count)),
            time,
        )

    # --- names -------------------------------------------------------------------------------------------------------

    def edge_text(self, name: EdgeName) -> str:
        edge = self._edges[name]
        line = f", line {edge.line}" if edge.line else ""
        return f"{self.network.processes[name[0]].name}, edge {name[1]} '{edge.action}'{line}"

    def _location(self, state: AnyState, process: int) -> Location:
        return self.network.processes[process].locations[state.locations[process]]
