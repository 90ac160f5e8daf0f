"""Replay a log through a profile, and record choices and stays.

Every action of a log must be possible in the profile at that moment, in one way only.  It yields

    a choice     the edges that were possible at that moment, and the one taken        → weights
    a stay       the delays at which the component could have acted before it did      → rates, bounds, tests

A stay ends without an action if another component acts first, or if the log ends.  The semantics is that of the
reference interpreter, in exact fractions; known states are looked up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from fractions import Fraction

from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.fitting.log_events import Instant, Log, LogEvent, LogSession
from bbfalsify.fitting.logs import MOST_PROBLEMS
from bbfalsify.fitting.situations import Move, Situation, Way, instant, nearest, shown
from bbfalsify.fitting.slicing import slice_network
from bbfalsify.fitting.stays import Observations
from bbfalsify.modelling.network.expressions import Assign, Constant
from bbfalsify.modelling.network.network import Edge, Network
from bbfalsify.modelling.reference.delay_sets import contains
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.state import State, Transition

ROUNDING = Fraction(1, 10**9)
"""Tolerance for a missed bound, relative to the length of the session."""
_MOST_STATES = 50_000


class LogFollower:
    def __init__(self, network: Network, *, tolerance: float = 0.0) -> None:
        """Accept delays that miss a bound by at most `tolerance`, for logs with rounded times."""
        cut = slice_network(network)
        problems = list(_unfollowable(network, cut.network))
        if cut.draws:
            problems.append(
                Problem("guards, invariants or rates depend on a random draw, which no log shows.", file=network.file)
            )
        if problems:
            raise UserError(problems)
        self.network = cut.network
        self._interpreter = ReferenceInterpreter(cut.network)
        self._tolerance = Fraction(tolerance)
        self._known: dict[State, Situation] = {}
        self._forgets = {
            (p, e): _sets_all(edge, [slot for store, slot in cut.deciding if store == "r"])
            for p, process in enumerate(cut.network.processes)
            for e, edge in enumerate(process.edges)
        }
        self._integers = [("i", i) in cut.deciding for i in range(network.integer_count)]
        self._reals = [("r", i) in cut.deciding for i in range(network.real_count)]
        self._first = self._settled(self._interpreter.initial_state())

    def follow(self, log: Log, progress: Callable[[int, int], None] = lambda done, total: None) -> Observations:
        """Replay every session; raise UserError with the first problem of each session that does not fit."""
        seen = Observations(self.network, sessions=len(log.sessions))
        problems: list[Problem] = []
        for number, session in enumerate(log.sessions):
            progress(number, len(log.sessions))
            problem = self._session(session, seen)
            if problem is not None:
                problems.append(problem)
        if problems:
            more = len(problems) - MOST_PROBLEMS
            rest = [Problem(f"… and {more} more sessions that do not fit.")] if more > 0 else []
            raise UserError(problems[:MOST_PROBLEMS] + rest)
        return seen

    def _session(self, session: LogSession, seen: Observations) -> Problem | None:
        place = self._first
        now = None if session.start is None else instant(session.start)
        begin = session.events[0].time if session.start is None and session.events else session.start or Fraction(0)
        reach = max(self._tolerance, ROUNDING * max(Fraction(1), session.end - begin))
        for event in session.events:
            seen.events += 1
            if now is None:
                delay, found = self._unwatched(place, event.action)
                move = self._only(place, found, delay)
            else:
                delay = event.instant.after(now)
                number = delay.ticks / delay.scale
                move = self._clearly(place, event.action, delay, number)
                if move is None:
                    delay, found = self._snap(place, event.action, delay.exact, reach)
                    number = delay.ticks / delay.scale
                    move = self._only(place, found, delay)
            if move is None:
                exact = None if now is None else event.instant.after(now).exact
                return self._misfit(place, event, exact, found, session)
            if now is not None:
                seen.counted += 1
                _note(place, number, move, seen)
            try:
                place = self._after(place, move.transition, delay)
            except (ModelRuntimeError, ValueError) as error:
                return Problem(f"'{event.action}' cannot be followed: {error}.", session.file, event.line)
            now = event.instant
        if now is not None and session.end > now.exact:
            rest = instant(session.end).after(now)
            _note(place, rest.ticks / rest.scale, None, seen)
        return None

    # --- one step ----------------------------------------------------------------------------------------------------

    def _look(self, state: State) -> Situation:
        if state not in self._known:
            if len(self._known) >= _MOST_STATES:
                self._known.clear()
            transitions = tuple(self._interpreter.transitions(state))
            stays = [self._interpreter.invariant_delays(state, p) for p in range(len(state.locations))]
            bounds = tuple(0.0 if not s else None if s[0].high is None else float(s[0].high) for s in stays)
            self._known[state] = Situation(state, transitions, bounds)
        return self._known[state]

    def _labelled(self, place: Situation, action: str) -> list[Way]:
        if action not in place.named:
            place.named[action] = [way for way in place.ways if self._edge(way.transition).action == action]
        return place.named[action]

    def _clearly(self, place: Situation, action: str, delay: Instant, number: float) -> Move | None:
        """The move of an action at its delay; None where that takes exact numbers, or there is not exactly one."""
        before = bisect_left(place.ends, number)
        if before < len(place.ends) and place.ends[before] == number:
            return None
        key = before, action
        if key not in place.moves:  # the same at all delays between two ends
            found = [way.transition for way in self._labelled(place, action) if way.contains(number)]
            place.moves[key] = self._only(place, found, delay)
        return place.moves[key]

    def _only(self, place: Situation, found: list[Transition], delay: Instant) -> Move | None:
        if len(found) != 1:
            return None
        number = delay.ticks / delay.scale
        sender = found[0].sender
        return Move(found[0], (sender, place.possible(sender[0], delay, number)))

    def _snap(
        self, place: Situation, action: str, delay: Fraction, reach: Fraction
    ) -> tuple[Instant, list[Transition]]:
        """The transitions of an action at its delay, or at the nearest possible delay within reach."""
        named = [way.transition for way in self._labelled(place, action)]
        exact = [t for t in named if contains(t.windows, delay)]
        if exact:
            return instant(delay), exact
        near = [(abs(d - delay), d, t) for t in named for d in nearest(t.windows, delay) if abs(d - delay) <= reach]
        if not near:
            return instant(delay), []
        best = min(near, key=lambda item: item[0])
        return instant(best[1]), [t for _, d, t in near if d == best[1]]

    def _unwatched(self, place: Situation, action: str) -> tuple[Instant, list[Transition]]:
        """The transitions of the first action of a session with unknown start, at the first possible moment."""
        named = [way.transition for way in self._labelled(place, action)]
        if len(named) != 1:
            return Instant(0, 1), named
        windows = named[0].windows
        return instant(next(nearest(windows, Fraction(windows[0].low)))), named

    def _after(self, place: Situation, transition: Transition, delay: Instant) -> Situation:
        """The place entered; looked up where it does not depend on the delay, because every clock was set."""
        if not self._forgets[transition.sender] or transition.receivers:
            return self._settled(self._interpreter.fire(place.state, transition, delay.exact))
        if transition.sender not in place.entered:
            entered = self._settled(self._interpreter.fire(place.state, transition, delay.exact))
            place.entered[transition.sender] = entered
        return place.entered[transition.sender]

    def _settled(self, state: State) -> Situation:
        """The place after committed locations whose only edge has no name, without irrelevant variables and time."""
        state = self._bare(state)
        for _ in range(1000):
            silent = self._silent(state)
            if silent is None:
                return self._look(state)
            state = self._bare(self._interpreter.fire(state, silent, Fraction(0)))
        raise UserError(Problem("edges without an action go round in a circle.", file=self.network.file))

    def _silent(self, state: State) -> Transition | None:
        places = zip(self.network.processes, state.locations, strict=True)
        if not any(process.locations[at].committed for process, at in places):
            return None
        transitions = self._look(state).transitions
        return transitions[0] if len(transitions) == 1 and is_silent(self._edge(transitions[0]).action) else None

    def _bare(self, state: State) -> State:
        return State(
            state.locations,
            tuple(v if kept else 0 for v, kept in zip(state.integers, self._integers, strict=True)),
            tuple(v if kept else Fraction(0) for v, kept in zip(state.reals, self._reals, strict=True)),
        )

    def _edge(self, transition: Transition) -> Edge:
        process, edge = transition.sender
        return self.network.processes[process].edges[edge]

    # --- words -------------------------------------------------------------------------------------------------------

    def _misfit(
        self, place: Situation, event: LogEvent, delay: Fraction | None, found: list[Transition], session: LogSession
    ) -> Problem:
        state = place.state
        where = ", ".join(
            f"{p.name}.{p.locations[at].name}" for p, at in zip(self.network.processes, state.locations, strict=True)
        )
        after = "" if delay is None else f" after {float(delay):.6g}"
        if len(found) > 1:
            lines = ", ".join(str(self._edge(t).line) for t in found)
            message = (
                f"'{event.action}' in {where}{after} may be one of several edges (lines {lines} of the structure); "
                "the log does not say which. Give them different actions."
            )
        else:
            message = f"'{event.action}' is not possible in {where}{after}. {self._possible(place)}"
        return Problem(message, session.file, event.line)

    def _possible(self, place: Situation) -> str:
        by_action: dict[str, list[str]] = {}
        for t in place.transitions:
            by_action.setdefault(self._edge(t).action, []).extend(shown(w) for w in t.windows)
        if not by_action:
            return "Nothing is possible there any more."
        told = ", ".join(f"{action} ({' and '.join(windows)})" for action, windows in by_action.items())
        return f"Possible there: {told}."


def _note(place: Situation, delay: float, move: Move | None, seen: Observations) -> None:
    """Record the stay of every process, and the choice of the one that moves."""
    mover = -1 if move is None else move.transition.sender[0]
    for process, location, wait in place.waits:
        seen.stays[location].add(wait, delay, process == mover)
    if move is not None:
        seen.choices[move.choice] += 1
        seen.delays[move.transition.sender].append(delay)


def is_silent(action: str) -> bool:
    """Tell whether the edge has no name (it is labelled Source->Target), so that no log shows it."""
    return "->" in action


def _sets_all(edge: Edge, reals: list[int]) -> bool:
    """Tell whether the edge sets all these reals to constants, and assigns nothing but constants."""
    plain = all(isinstance(s, Assign) and isinstance(s.value, Constant) for s in edge.branches[0].updates)
    set_to = {s.target.slot for s in edge.branches[0].updates if isinstance(s, Assign) and s.target.kind.is_real}
    return plain and set_to >= set(reals)


def _unfollowable(network: Network, cut: Network) -> Iterator[Problem]:
    """Problems of a profile through which no log can be replayed."""
    for process, thin in zip(network.processes, cut.processes, strict=True):
        for edge, bare in zip(process.edges, thin.edges, strict=True):
            place = Place(network.file, edge.line)
            if len(bare.branches) > 1:
                yield place.problem(
                    f"the log does not show which branch of '{edge.action}' was taken. "
                    "Write an edge with an action of its own for each branch."
                )
            if edge.is_output and is_silent(edge.action) and not process.locations[edge.source].committed:
                yield place.problem(f"the edge {edge.action} has no action, so that no log can show it. Name one.")
