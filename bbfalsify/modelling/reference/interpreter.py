"""The judge: a slow interpreter of networks in exact arithmetic, written from the docstring of `network.py` alone.

It shares no code with the compiled kernel.  Where all rates are constant it works in exact fractions: the set of delays
of a transition is found by trying every delay at which some decision — in an invariant, a guard, an update, or an
invariant of the state entered — could flip, and one delay of every gap between them (`reference_windows`).  Models with
ODEs or products of clocks are handled approximately: float64, Runge–Kutta, a grid of delays refined by bisection.

Readings where the semantics leaves room:

* Several outcomes.  Where a branch or one of several enabled receiving edges of a process is drawn, the transition can
  fire when *every* outcome that may be drawn satisfies all invariants; so weights are never distorted.
* An update that fails at run time (range, bounds, division) does not disable its transition: firing it is the error.
* An invariant of the state entered that depends on a random draw cannot be known before; it does not restrict.
* Urgent channels: time may pass to d when no transition on an urgent channel is enabled at any moment before d.
* Committed: a broadcast also counts as leaving a committed location when one of its receivers does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from bbfalsify.modelling.network.network import Location, Network
from bbfalsify.modelling.reference.delay_sets import (
    ALL_DELAYS,
    Window,
    Windows,
    contains,
    first_stretch,
    solve,
    solve_approximately,
    up_to,
)
from bbfalsify.modelling.reference.edges import Edges
from bbfalsify.modelling.reference.evaluation import Draw, Machine, Memory, no_draw
from bbfalsify.modelling.reference.flow import Flow
from bbfalsify.modelling.reference.state import EdgeName, Move, Outcome, State, Transition, draw_with, pick_weighted
from bbfalsify.modelling.reference.step_law import StepLaw, law_of_component
from bbfalsify.modelling.reference.values import DependsOnDraw, ModelRuntimeError, NotAffine, Sample, Value, at_delay

if TYPE_CHECKING:
    import numpy as np


class ReferenceInterpreter:
    def __init__(self, network: Network, *, step: float = 2**-6, horizon: float | None = None) -> None:
        """`step` and `horizon` only matter for models that are not linear in time: the grid of delays looked at."""
        self.network = network
        self.step = step
        self.horizon = float(network.largest_constant + 1) if horizon is None else horizon
        self._flowing: tuple[State, Flow] | None = None
        self._staying: tuple[State, Windows] | None = None
        self._edges = Edges(network)

    def initial_state(self) -> State:
        return State(
            tuple(p.initial for p in self.network.processes),
            tuple(self.network.initial_integers()),
            tuple(Fraction(r) for r in self.network.initial_reals()),
        )

    # --- delays ------------------------------------------------------------------------------------------------------

    def delays(self, state: State) -> Windows:
        """How long the network may stay: at most one window, starting at 0; empty in a broken state."""
        return self._stay(state)

    def delay_bound(self, state: State) -> Window | None:
        """The window of `delays`, None if an invariant is already violated."""
        return next(iter(self.delays(state)), None)

    def invariant_delays(self, state: State, process: int) -> Windows:
        """How long this component's own location lets it stay, whatever the others say."""
        location = self._location(state, process)
        stay = first_stretch(self._solve(state, lambda m: m.holds(location.invariant)))
        return up_to(stay, Fraction(0)) if location.urgent or location.committed else stay

    def _flow(self, state: State) -> Flow:
        if self._flowing is None or self._flowing[0] != state:
            flow = Flow(self.network, state.locations, state.integers, state.reals, step=self.step)
            self._flowing = (state, flow)
        return self._flowing[1]

    def _stay(self, state: State) -> Windows:
        if self._staying is None or self._staying[0] != state:
            stay = self._invariants_stay(state)
            if self._time_stands_still(state):
                stay = up_to(stay, Fraction(0))
            for transition in self._edges.urgent_candidates(state.locations):
                enabled = self._solve(state, lambda m, t=transition: self._enabled(m, t), within=stay)
                stay = up_to(stay, enabled[0].low) if enabled else stay
            self._staying = (state, stay)
        return self._staying[1]

    def _invariants_stay(self, state: State) -> Windows:
        """How long all invariants hold from now on: at most one window."""
        return first_stretch(self._solve(state, self._all_invariants))

    def _time_stands_still(self, state: State) -> bool:
        locations = (self._location(state, p) for p in range(len(state.locations)))
        return any(location.urgent or location.committed for location in locations)

    def _solve(self, state: State, predicate: Callable[[Machine], bool], within: Windows = ALL_DELAYS) -> Windows:
        flow = self._flow(state)

        def memory(reals: list[Value]) -> Memory:
            return Memory(list(state.locations), list(state.integers), reals)

        if flow.linear:
            try:
                symbolic = flow.symbolic()
                return solve(lambda s: predicate(Machine(self.network, memory(list(symbolic)), s)), within=within)
            except NotAffine:
                pass
        return solve_approximately(
            lambda s: predicate(Machine(self.network, memory(flow.concrete(s.delay)), s)),
            within=within,
            step=self.step,
            horizon=self.horizon,
        )

    # --- transitions -------------------------------------------------------------------------------------------------

    def transitions(self, state: State) -> list[Transition]:
        """Every transition that can fire after some delay, with the exact set of those delays."""
        stay = self._stay(state)
        found = []
        for candidate in self.candidates(state):
            windows = self._solve(state, lambda m, t=candidate: self._enabled(m, t), within=stay)
            if windows:
                found.append(Transition(candidate.sender, candidate.receivers, candidate.broadcast, windows))
        return found

    def candidates(self, state: State) -> Iterator[Transition]:
        """By locations and channels alone; guards and invariants not yet looked at."""
        return self._edges.candidates(state.locations)

    def _enabled(self, machine: Machine, transition: Transition) -> bool:
        """Can it fire at the machine's delay, given that the network may stay that long?"""
        taking_part = self._taking_part(machine, transition)
        if taking_part is None or not self._respects_committed(machine.memory.locations, taking_part):
            return False
        try:
            return self._enters_in_every_way(machine, taking_part)
        except (ModelRuntimeError, DependsOnDraw):
            return True

    def _enters_in_every_way(self, machine: Machine, taking_part: list[list[EdgeName]]) -> bool:
        return all(self._can_enter(machine, moves) for moves, _ in self._ways(machine, taking_part))

    def _taking_part(self, machine: Machine, transition: Transition) -> list[list[EdgeName]] | None:
        """Per process that takes part, its enabled edges, the sender first; None if a guard forbids the transition."""
        if not machine.holds(self._edges[transition.sender].guard):
            return None
        able = [name for name in transition.receivers if machine.holds(self._edges[name].guard)]
        if transition.receivers and not transition.broadcast and not able:
            return None
        by_process: dict[int, list[EdgeName]] = {}
        for name in able:
            by_process.setdefault(name[0], []).append(name)
        return [[transition.sender], *(by_process[p] for p in sorted(by_process))]

    def _respects_committed(self, locations: list[int], taking_part: list[list[EdgeName]]) -> bool:
        committed = {p for p, here in enumerate(locations) if self.network.processes[p].locations[here].committed}
        return not committed or any(group[0][0] in committed for group in taking_part)

    def _ways(self, machine: Machine, taking_part: list[list[EdgeName]]) -> Iterator[tuple[tuple[Move, ...], Fraction]]:
        """Every combination of receiving edges and branches that may be drawn, with the probability of the branches."""
        for names in product(*taking_part):
            for branches in product(*(self._branches(machine, name) for name in names)):
                moves = tuple((*name, branch) for name, (branch, _) in zip(names, branches, strict=True))
                yield moves, prod((share for _, share in branches), start=Fraction(1))

    def _branches(self, machine: Machine, name: EdgeName) -> list[tuple[int, Fraction]]:
        """The branches of positive weight, with their probabilities."""
        branches = self._edges[name].branches
        if len(branches) == 1:
            return [(0, Fraction(1))]
        weights = [1 if b.weight is None else machine.value(b.weight, {}) for b in branches]
        signs = [machine.sample.sign(w) for w in weights]
        weights = [Fraction(at_delay(w, machine.sample.delay)) for w in weights]
        if -1 in signs or 1 not in signs:
            shown = ", ".join(str(w) for w in weights)
            raise ModelRuntimeError("weight", f"branch weights {shown}", edge=self.edge_text(name))
        return [(number, w / sum(weights)) for number, w in enumerate(weights) if w > 0]

    def _can_enter(self, machine: Machine, moves: tuple[Move, ...]) -> bool:
        try:
            return self._all_invariants(self._after(machine, moves, no_draw))
        except (ModelRuntimeError, DependsOnDraw):
            return True

    def _after(self, machine: Machine, moves: tuple[Move, ...], draw: Draw) -> Machine:
        """The machine after all moves: updates of the sender, then of the receivers in the order of the processes.

        The processes change their locations when all updates are done.
        """
        memory = machine.memory.copy()
        after = Machine(self.network, memory, machine.sample, draw)
        for process, edge, branch in moves:
            chosen = self._edges[process, edge].branches[branch]
            try:
                after.run(chosen.updates)
            except ModelRuntimeError as error:
                where = self.edge_text((process, edge))
                raise ModelRuntimeError(error.kind, error.message, variable=error.variable, edge=where) from None
        for process, edge, branch in moves:
            memory.locations[process] = self._edges[process, edge].branches[branch].target
        return after

    def _all_invariants(self, machine: Machine) -> bool:
        return all(
            machine.holds(process.locations[here].invariant)
            for process, here in zip(self.network.processes, machine.memory.locations, strict=True)
        )

    # --- firing ------------------------------------------------------------------------------------------------------

    def machine_at(self, state: State, delay: Fraction | float, draw: Draw = no_draw) -> Machine:
        """The state after `delay`, ready to evaluate expressions in."""
        reals = self._flow(state).concrete(delay)
        return Machine(
            self.network, Memory(list(state.locations), list(state.integers), reals), Sample(delay, set()), draw
        )

    def wait(self, state: State, delay: Fraction | float) -> State:
        return State(
            state.locations, state.integers, tuple(self.machine_at(state, delay).memory.reals), state.time + delay
        )

    def outcomes(self, state: State, transition: Transition, delay: Fraction | float) -> list[Outcome]:
        """Every way the transition may end at this delay; only for models without random draws."""
        machine = self.machine_at(state, delay)
        found = []
        for moves, probability in self._ways(machine, self._firing(machine, state, transition)):
            try:
                after = self._state(self._after(machine, moves, no_draw), state.time + delay)
                found.append(Outcome(moves, probability, after))
            except ModelRuntimeError as error:
                found.append(Outcome(moves, probability, None, error))
        return found

    def fire(
        self,
        state: State,
        transition: Transition,
        delay: Fraction | float,
        *,
        branches: Mapping[int, int] | None = None,
        receivers: Mapping[int, int] | None = None,
        draw: Draw | None = None,
        generator: np.random.Generator | None = None,
    ) -> State:
        """The state after `delay` and the transition.

        `branches` and `receivers` say which branch, and which of several receiving edges, a process takes; what they
        leave open is drawn with `generator` (receiving edges uniformly, branches by weight).
        """
        machine = self.machine_at(state, delay)
        moves = []
        for group in self._firing(machine, state, transition):
            process = group[0][0]
            wanted = (receivers or {}).get(process)
            able = [name for name in group if wanted is None or name[1] == wanted]
            name = pick_weighted([(n, Fraction(1)) for n in able], generator, f"receiving edge of process {process}")
            ways = [(b, share) for b, share in self._branches(machine, name) if (branches or {}).get(process, b) == b]
            moves.append((*name, pick_weighted(ways, generator, f"branch of {self.edge_text(name)}")))
        after = self._after(machine, tuple(moves), draw or draw_with(generator))
        return self._state(after, state.time + delay)

    def can_fire(self, state: State, transition: Transition, delay: Fraction | float) -> bool:
        """At this very delay; agrees with the transition's windows, but is decided with plain numbers."""
        return contains(self.delays(state), delay) and self._enabled(self.machine_at(state, delay), transition)

    def _firing(self, machine: Machine, state: State, transition: Transition) -> list[list[EdgeName]]:
        if not self.can_fire(state, transition, machine.sample.delay):
            raise ValueError(f"{self.edge_text(transition.sender)} cannot fire after {machine.sample.delay}")
        return self._taking_part(machine, transition)

    def _state(self, machine: Machine, time: Fraction | float) -> State:
        memory = machine.memory
        return State(tuple(memory.locations), tuple(memory.integers), tuple(memory.reals), time)

    # --- stochastic semantics ----------------------------------------------------------------------------------------

    def step_law(self, state: State, process: int) -> StepLaw:
        """When component `process` acts next, and with which action, if no other component acts before."""
        return law_of_component(self, state, process)

    # --- names -------------------------------------------------------------------------------------------------------

    def edge_text(self, name: EdgeName) -> str:
        edge = self._edges[name]
        line = f", line {edge.line}" if edge.line else ""
        return f"{self.network.processes[name[0]].name}, edge {name[1]} '{edge.action}'{line}"

    def _location(self, state: State, process: int) -> Location:
        return self.network.processes[process].locations[state.locations[process]]
