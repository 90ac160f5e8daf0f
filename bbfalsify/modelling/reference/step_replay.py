"""Following a recorded run with the exact interpreter: is every step allowed, and where does it lead?

A run is recorded in float64, so its delays may be off by a rounding error.  The replay keeps states of its own in exact
fractions: the recorded time tells the delay; if the step is not allowed then, a bound of its window nearby is taken to
be what was meant.  So rounding errors of the record never add up.

Unlike `ReferenceInterpreter.transitions`, which finds everything that may happen, this looks at the one transition that
did, and at invariants only as long as the delay lasts.  `reference_run` follows whole runs with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from math import prod

from bbfalsify.core.errors import BBFalsifyError
from bbfalsify.modelling.network.expressions import Expression
from bbfalsify.modelling.reference.choices import ChoicesMeet, every_choice_enters
from bbfalsify.modelling.reference.delay_sets import Window, Windows, contains, endpoints
from bbfalsify.modelling.reference.evaluation import Machine, no_draw
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.memory_layers import Place
from bbfalsify.modelling.reference.state import EdgeName, Move, State, Transition
from bbfalsify.modelling.reference.values import DependsOnDraw

TOLERANCE = Fraction(1, 10**9)
MOST_WAYS = 256
"""So many outcomes of a transition are looked at when the question is whether all of them keep the invariants, and
choices have to do with each other."""


class NotAllowed(BBFalsifyError):
    """The semantics does not allow what was recorded."""


def delays_meant(windows: Windows, delay: Fraction, tolerance: Fraction = TOLERANCE) -> Iterator[Fraction]:
    """Delays of the set that float64 may have meant: a bound nearby, else the delay itself or one just beside it."""
    bounds = sorted((e for e in endpoints(windows) if abs(e - delay) <= tolerance), key=lambda e: abs(e - delay))
    for d in (*bounds, delay, delay - tolerance / 2, delay + tolerance / 2):
        if d >= 0 and contains(windows, d):
            yield d


class Replayer(ReferenceInterpreter):
    few_ways = 4
    """So many outcomes are looked at one by one in any case."""

    def _enters_in_every_way(self, machine: Machine, taking_part: list[list[EdgeName]]) -> bool:
        """Twenty receivers of two edges each have a million ways; the one taken is checked in any case."""
        if prod(sum(len(self._edges[name].branches) for name in group) for group in taking_part) > self.few_ways:
            choices = {
                group[0][0]: [self._edges[name].branches[b] for name in group for b, _ in self._branches(machine, name)]
                for group in taking_part
            }
            try:
                return every_choice_enters(self.network, machine, choices, self._concerned)
            except ChoicesMeet:
                pass
        ways = islice(self._ways(machine, taking_part), MOST_WAYS)
        return all(self._can_enter(machine, moves) for moves, _ in ways)

    def _concerned(self, places: Iterable[Place]) -> Iterable[int]:
        """Of which processes the invariant may depend on one of these places."""
        return range(len(self.network.processes))

    def follow(
        self,
        state: State,
        moves: Sequence[Move],
        time: Fraction | float,
        *,
        tolerance: Fraction = TOLERANCE,
        prefer_bounds: bool = False,
    ) -> tuple[State, Fraction]:
        """The state after the recorded step that ended at `time`, and its exact delay; NotAllowed if it cannot be.

        With `prefer_bounds` a bound nearby is taken even where the recorded delay is allowed: slower, and right where
        a later step depends on two clocks being exactly so far apart.
        Of an update that draws at random the result is not known here; the caller puts in what was recorded.
        """
        transition = self._recorded_transition(state, moves)
        delay = Fraction(time) - state.time
        if delay < 0:
            if delay < -tolerance:
                raise NotAllowed("time goes backwards")
            delay = Fraction(0)
        if prefer_bounds or not (
            self.can_wait(state, delay) and self._enabled(self.machine_at(state, delay), transition)
        ):
            delay = self._nearby(state, transition, delay, tolerance)
        machine = self.machine_at(state, delay)
        self._check_moves(machine, transition, moves)
        after = self._after(machine, tuple(moves), no_draw)
        entered = self._state(after, state.time + delay)
        if not self._depends_on_draw(after) and not self._all_invariants(after):
            raise NotAllowed(f"{self.edge_text(transition.sender)} enters a state that breaks an invariant")
        return entered, delay

    def can_wait(self, state: State, delay: Fraction) -> bool:
        """Whether time may pass so long."""
        if delay > 0 and self._time_stands_still(state):
            return False
        if not self._invariants_hold_for(state, delay):
            return False
        if delay == 0:
            return True
        before = (Window(Fraction(0), False, delay, True),)
        return not any(
            self._solve(state, lambda m, t=transition: self._enabled(m, t), within=before)
            for transition in self._edges.urgent_candidates(state.locations)
        )

    def _invariants_hold_for(self, state: State, delay: Fraction) -> bool:
        stay = (Window(Fraction(0), False, delay, False),)
        return self._solve(state, self._all_invariants, within=stay) == stay

    def delays_of(self, state: State, condition: Expression) -> Windows:
        """The delays after which a condition holds, as long as the network may stay."""
        return self._solve(state, lambda m: m.holds(condition), within=self._stay(state))

    def is_deadlocked(self, state: State) -> bool:
        return not self.transitions(state)

    def _recorded_transition(self, state: State, moves: Sequence[Move]) -> Transition:
        for process, edge, _ in moves:
            if self._edges[process, edge].source != state.locations[process]:
                raise NotAllowed(f"{self.edge_text((process, edge))} does not start where its process is")
        sender: EdgeName = moves[0][:2]
        edge = self._edges[sender]
        if edge.channel is None:
            return Transition(sender)
        if not edge.sends:
            raise NotAllowed(f"{self.edge_text(sender)} receives, and nobody sends")
        if self.network.channels[edge.channel].broadcast:
            return Transition(sender, self._edges.hearing(sender, state.locations), broadcast=True)
        partners = [m[:2] for m in moves[1:]]
        if len(partners) != 1 or partners[0][0] == sender[0] or not self._edges.receives(partners[0], edge.channel):
            raise NotAllowed(f"{self.edge_text(sender)} is a handshake and needs one partner")
        return Transition(sender, (partners[0],))

    def _nearby(self, state: State, transition: Transition, delay: Fraction, tolerance: Fraction) -> Fraction:
        windows = self._solve(state, lambda m: self._enabled(m, transition), within=self._stay(state))
        meant = next(delays_meant(windows, delay, tolerance), None)
        if meant is None:
            allowed = "; ".join(str(w) for w in windows) or "never"
            name = self.edge_text(transition.sender)
            raise NotAllowed(f"{name} fired after {float(delay):.12g}; it can fire after {allowed}")
        return meant

    def _check_moves(self, machine: Machine, transition: Transition, moves: Sequence[Move]) -> None:
        """Everybody who must take part does, with an enabled edge and a branch of positive weight."""
        groups = self._taking_part(machine, transition) or []
        if [group[0][0] for group in groups] != [m[0] for m in moves]:
            raise NotAllowed(f"{self.edge_text(transition.sender)}: others take part than those recorded")
        for group, (process, edge, branch) in zip(groups, moves, strict=True):
            if (process, edge) not in group:
                raise NotAllowed(f"{self.edge_text((process, edge))} is not enabled")
            if branch not in (b for b, _ in self._branches(machine, (process, edge))):
                raise NotAllowed(f"{self.edge_text((process, edge))}: branch {branch} has no weight")

    def _depends_on_draw(self, after: Machine) -> bool:
        """Whether the invariants there depend on something drawn; then they do not restrict."""
        try:
            self._all_invariants(after)
        except DependsOnDraw:
            return True
        return False
