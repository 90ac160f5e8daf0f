"""Replay recorded steps with the exact interpreter: check that each is allowed, and compute the state it leads to.

Runs are recorded in float64, so their delays have rounding errors.  The replay keeps its own states in exact fractions:
if the step is not allowed at the recorded time, a bound of its window nearby is used instead.  So rounding errors do
not add up.

`ReferenceInterpreter.transitions` finds all transitions; this checks the recorded one only, and invariants only up to
its delay.  `long_replay` replays long runs with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, product
from math import prod

from bbfalsify.core.errors import BBFalsifyError
from bbfalsify.modelling.network.expressions import Expression
from bbfalsify.modelling.reference.branch_choices import Choices, ChoicesMeet, every_choice_enters
from bbfalsify.modelling.reference.delay_sets import Window, Windows, contains, endpoints
from bbfalsify.modelling.reference.evaluation import AnyEvaluator, no_draw
from bbfalsify.modelling.reference.exact_values import DependsOnDraw, Real
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.memory_layers import Place
from bbfalsify.modelling.reference.state import AnyState, EdgeName, Move, State, Transition

TOLERANCE = Fraction(1, 10**9)
MOST_WAYS = 256
"""Largest number of outcomes checked one by one where the choices of processes depend on each other."""


class NotAllowed(BBFalsifyError):
    """The semantics does not allow the recorded step."""


def delays_meant(windows: Windows, delay: Real, tolerance: Fraction = TOLERANCE) -> Iterator[Fraction]:
    """Exact delays of the set near a recorded one: a bound nearby, else the delay itself or one just beside it."""
    exact = Fraction(delay)
    ends = sorted((Fraction(end) for end in endpoints(windows)), key=lambda end: abs(end - exact))
    near = [end for end in ends if abs(end - exact) <= tolerance]
    for d in (*near, exact, exact - tolerance / 2, exact + tolerance / 2):
        if d >= 0 and contains(windows, d):
            yield d


class Replayer(ReferenceInterpreter):
    few_ways = 4
    """Up to this number, outcomes are always checked one by one."""

    def _enters(self, evaluator: AnyEvaluator, taking_part: list[list[EdgeName]], moves: tuple[Move, ...]) -> bool:
        """Check the recorded way, and independent choices separately: twenty receivers of two edges have a million."""
        if moves and self.network.as_uppaal:
            return self._can_enter(evaluator, moves)
        parties = [[(process, edge)] for process, edge, _ in moves] or taking_part
        if prod(sum(len(self._edges[name].branches) for name in group) for group in parties) > self.few_ways:
            choices: Choices = {}
            for group in parties:
                drawn = [(name, branch) for name in group for branch, _ in self._branches(evaluator, name)]
                choices[group[0][0]] = [self._edges[name].branches[branch] for name, branch in drawn]
            try:
                if every_choice_enters(self.network, evaluator, choices, self._concerned):
                    return True
            except ChoicesMeet:
                pass
        return any(self._enters_by(evaluator, names) for names in islice(product(*parties), MOST_WAYS))

    def _enters_by(self, evaluator: AnyEvaluator, names: Sequence[EdgeName]) -> bool:
        """Tell whether branches of these edges satisfy all invariants: some in UPPAAL's dialect, else all."""
        enough = any if self.network.as_uppaal else all
        ways = islice(self._ways(evaluator, [[name] for name in names]), MOST_WAYS)
        return enough(self._can_enter(evaluator, moves) for moves, _ in ways)

    def _concerned(self, places: Iterable[Place]) -> Iterable[int]:
        """The processes whose invariant may depend on one of these places."""
        return range(len(self.network.processes))

    def follow(
        self,
        state: State,
        moves: Sequence[Move],
        time: Real,
        *,
        tolerance: Fraction = TOLERANCE,
        prefer_bounds: bool = False,
    ) -> tuple[State, Fraction]:
        """Return the state after the recorded step that ended at `time`, and its exact delay, or raise NotAllowed.

        With `prefer_bounds` a bound nearby is used even if the recorded delay is allowed: slower, but necessary where
        a later step depends on an exact difference of two clocks.
        Results of random draws are UNKNOWN in the state; the caller inserts the recorded ones.
        """
        after, delay = self._after_step(state, moves, time, tolerance, prefer_bounds)
        return self._state(after, state.time + delay), delay

    def _after_step(
        self, state: AnyState, moves: Sequence[Move], time: Real, tolerance: Fraction, prefer_bounds: bool
    ) -> tuple[AnyEvaluator, Fraction]:
        transition = self._recorded_transition(state, moves)
        delay: Fraction = Fraction(time) - Fraction(state.time)
        if delay < 0:
            if delay < -tolerance:
                raise NotAllowed("time goes backwards")
            delay = Fraction(0)
        if prefer_bounds:
            delay = self._nearby(state, transition, delay, tolerance)
        elif not self._allowed(state, transition, delay):
            delay = self._bound_nearby(state, transition, delay, tolerance)
        evaluator = self.evaluator_at(state, delay)
        self._check_moves(evaluator, transition, moves)
        after = self._after(evaluator, tuple(moves), no_draw)
        if not self._may_enter(after):
            raise NotAllowed(f"{self.edge_text(transition.sender)} enters a state that breaks an invariant")
        return after, delay

    def _allowed(self, state: AnyState, transition: Transition, delay: Fraction) -> bool:
        return self.can_wait(state, delay) and self._enabled(self.evaluator_at(state, delay), transition)

    def can_wait(self, state: AnyState, delay: Fraction | float) -> bool:
        """Tell whether time may pass up to `delay`."""
        if delay > 0 and self._time_stands_still(state):
            return False
        if not self._invariants_hold_for(state, delay):
            return False
        if delay == 0:
            return True
        before = (Window(Fraction(0), False, delay, True),)
        urgent = self._edges.urgent_candidates(state.locations)
        return not any(self._enabled_delays(state, transition, before) for transition in urgent)

    def _invariants_hold_for(self, state: AnyState, delay: Fraction | float) -> bool:
        stay = (Window(Fraction(0), False, delay, False),)
        return self._solve(state, self._all_invariants, within=stay) == stay

    def delays_of(self, state: State, condition: Expression) -> Windows:
        """The delays after which a condition holds, as long as the network may stay."""
        return self._solve(state, lambda m: m.holds(condition), within=self.delays(state))

    def is_deadlocked(self, state: State) -> bool:
        return not self.transitions(state)

    def _recorded_transition(self, state: AnyState, moves: Sequence[Move]) -> Transition:
        for process, number, _ in moves:
            if self._edges[process, number].source != state.locations[process]:
                raise NotAllowed(f"{self.edge_text((process, number))} does not start where its process is")
        sender: EdgeName = moves[0][:2]
        edge = self._edges[sender]
        if edge.channel is None:
            return Transition(sender, moves=tuple(moves))
        if not edge.sends:
            raise NotAllowed(f"{self.edge_text(sender)} receives, and nobody sends")
        if self.network.channels[edge.channel].broadcast:
            return Transition(sender, self._edges.hearing(sender, state.locations), True, moves=tuple(moves))
        partners = [m[:2] for m in moves[1:]]
        if len(partners) != 1 or partners[0][0] == sender[0] or not self._edges.receives(partners[0], edge.channel):
            raise NotAllowed(f"{self.edge_text(sender)} is a handshake and needs one partner")
        return Transition(sender, (partners[0],), moves=tuple(moves))

    def _bound_nearby(self, state: AnyState, transition: Transition, delay: Fraction, tolerance: Fraction) -> Fraction:
        """Return an allowed delay near one that is not allowed."""
        return self._nearby(state, transition, delay, tolerance)

    def _nearby(self, state: AnyState, transition: Transition, delay: Fraction, tolerance: Fraction) -> Fraction:
        windows = self._enabled_delays(state, transition, self.delays(state))
        meant = next(delays_meant(windows, delay, tolerance), None)
        if meant is None:
            allowed = "; ".join(str(w) for w in windows) or "never"
            name = self.edge_text(transition.sender)
            raise NotAllowed(f"{name} fired after {float(delay):.12g}; it can fire after {allowed}")
        return meant

    def _check_moves(self, evaluator: AnyEvaluator, transition: Transition, moves: Sequence[Move]) -> None:
        """Check that the right processes take part, with enabled edges and branches of positive weight."""
        groups = self._taking_part(evaluator, transition) or []
        if [group[0][0] for group in groups] != [m[0] for m in moves]:
            raise NotAllowed(f"{self.edge_text(transition.sender)}: others take part than those recorded")
        for group, (process, edge, branch) in zip(groups, moves, strict=True):
            if (process, edge) not in group:
                raise NotAllowed(f"{self.edge_text((process, edge))} is not enabled")
            if branch not in (b for b, _ in self._branches(evaluator, (process, edge))):
                raise NotAllowed(f"{self.edge_text((process, edge))}: branch {branch} has no weight")

    def _may_enter(self, after: AnyEvaluator) -> bool:
        """Tell whether all invariants hold; one that depends on a random draw does not restrict the step."""
        try:
            return self._all_invariants(after)
        except DependsOnDraw:
            return True
