"""Replay a log through a profile, and record choices and stays.

Every action of a log must be possible in the profile at that moment, in one way only.  It yields

    a choice     the edges that were possible at that moment, and the one taken        → weights
    a stay       the delays at which the component could have acted before it did      → rates, bounds, tests

A stay ends without an action if another component acts first, or if the log ends.  The semantics is that of the
reference interpreter, in exact fractions; known states are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.fitting.logs import MOST_PROBLEMS, Log, LogEvent, LogSession
from bbfalsify.fitting.slicing import slice_network
from bbfalsify.fitting.stays import EdgeKey, Observations, Stay
from bbfalsify.modelling.network.expressions import Assign, Constant
from bbfalsify.modelling.network.network import Edge, Network
from bbfalsify.modelling.reference.delay_sets import Window, Windows, contains
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.state import State, Transition

ROUNDING = Fraction(1, 10**9)
"""Tolerance for a missed bound, relative to the length of the session."""
_MOST_STATES = 50_000


@dataclass(frozen=True)
class _Seen:
    """The transitions from a state."""

    transitions: tuple[Transition, ...]
    bounds: tuple[float | None, ...]
    """Per process: the longest stay that its own invariant allows."""


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
        self._known: dict[State, _Seen] = {}
        self._entered: dict[tuple[State, EdgeKey], State] = {}
        self._forgets = {
            (p, e): _sets_all(edge, [slot for store, slot in cut.deciding if store == "r"])
            for p, process in enumerate(cut.network.processes)
            for e, edge in enumerate(process.edges)
        }
        self._integers = [("i", i) in cut.deciding for i in range(network.integer_count)]
        self._reals = [("r", i) in cut.deciding for i in range(network.real_count)]

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
        state = self._settled(self._interpreter.initial_state())
        now = session.start
        begin = session.events[0].time if now is None and session.events else now or Fraction(0)
        reach = max(self._tolerance, ROUNDING * max(Fraction(1), session.end - begin))
        for event in session.events:
            seen.events += 1
            if now is None:
                delay, found = self._unwatched(state, event.action)
            else:
                delay, found = self._snap(state, event.action, event.time - now, reach)
            if len(found) != 1:
                return self._misfit(state, event, None if now is None else event.time - now, found, session)
            (transition,) = found
            if now is not None:
                seen.counted += 1
                self._note(state, delay, transition, seen)
            try:
                state = self._after(state, transition, delay)
            except (ModelRuntimeError, ValueError) as error:
                return Problem(f"'{event.action}' cannot be followed: {error}.", session.file, event.line)
            now = event.time
        if now is not None and session.end > now:
            self._note(state, session.end - now, None, seen)
        return None

    # --- one step ----------------------------------------------------------------------------------------------------

    def _look(self, state: State) -> _Seen:
        if state not in self._known:
            if len(self._known) >= _MOST_STATES:
                self._known.clear()
            transitions = tuple(self._interpreter.transitions(state))
            stays = [self._interpreter.invariant_delays(state, p) for p in range(len(state.locations))]
            bounds = tuple(0.0 if not s else None if s[0].high is None else float(s[0].high) for s in stays)
            self._known[state] = _Seen(transitions, bounds)
        return self._known[state]

    def _labelled(self, state: State, action: str) -> list[Transition]:
        return [t for t in self._look(state).transitions if self._edge(t).action == action]

    def _snap(self, state: State, action: str, delay: Fraction, reach: Fraction) -> tuple[Fraction, list[Transition]]:
        """The transitions of an action at its delay, or at the nearest possible delay within reach."""
        named = self._labelled(state, action)
        exact = [t for t in named if contains(t.windows, delay)]
        if exact:
            return delay, exact
        near = [(abs(d - delay), d, t) for t in named for d in _nearest(t.windows, delay) if abs(d - delay) <= reach]
        if not near:
            return delay, []
        best = min(near, key=lambda item: item[0])
        return best[1], [t for _, d, t in near if d == best[1]]

    def _unwatched(self, state: State, action: str) -> tuple[Fraction, list[Transition]]:
        """The transitions of the first action of a session with unknown start, at the first possible moment."""
        named = self._labelled(state, action)
        if len(named) != 1:
            return Fraction(0), named
        windows = named[0].windows
        return next(_nearest(windows, Fraction(windows[0].low))), named

    def _note(self, state: State, delay: Fraction, taken: Transition | None, seen: Observations) -> None:
        look = self._look(state)
        clocks = tuple(float(value) for value in state.reals)
        for process, location in enumerate(state.locations):
            mine = [t for t in look.transitions if t.sender[0] == process]
            if not mine:
                continue
            action = taken if taken is not None and taken.sender[0] == process else None
            pieces = _united([w for t in mine for w in t.windows], delay)
            stay = Stay(pieces, look.bounds[process], action is not None, float(delay), clocks)
            seen.stays.setdefault((process, location), []).append(stay)
            if action is not None:
                possible = frozenset(t.sender for t in mine if contains(t.windows, delay))
                seen.choices[(action.sender, possible)] += 1
                seen.delays.setdefault(action.sender, []).append(float(delay))

    def _after(self, state: State, transition: Transition, delay: Fraction) -> State:
        """The state entered; looked up where it does not depend on the delay, because every clock was set."""
        if not self._forgets[transition.sender] or transition.receivers:
            return self._settled(self._interpreter.fire(state, transition, delay))
        key = (state, transition.sender)
        if key not in self._entered:
            if len(self._entered) >= _MOST_STATES:
                self._entered.clear()
            self._entered[key] = self._settled(self._interpreter.fire(state, transition, delay))
        return self._entered[key]

    def _settled(self, state: State) -> State:
        """The state after committed locations whose only edge has no name, without irrelevant variables and time."""
        state = self._bare(state)
        for _ in range(1000):
            silent = self._silent(state)
            if silent is None:
                return state
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
        self, state: State, event: LogEvent, delay: Fraction | None, found: list[Transition], session: LogSession
    ) -> Problem:
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
            message = f"'{event.action}' is not possible in {where}{after}. {self._possible(state)}"
        return Problem(message, session.file, event.line)

    def _possible(self, state: State) -> str:
        by_action: dict[str, list[str]] = {}
        for t in self._look(state).transitions:
            by_action.setdefault(self._edge(t).action, []).extend(_shown(w) for w in t.windows)
        if not by_action:
            return "Nothing is possible there any more."
        told = ", ".join(f"{action} ({' and '.join(windows)})" for action, windows in by_action.items())
        return f"Possible there: {told}."


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


def _nearest(windows: Windows, delay: Fraction) -> Iterator[Fraction]:
    """The points of the windows nearest to a delay outside them; just inside a strict bound."""
    for w in windows:
        low, high = Fraction(w.low), None if w.high is None else Fraction(w.high)
        inside = Fraction(1, 2**40) if high is None else min(Fraction(1, 2**40), (high - low) / 4)
        if delay <= low:
            yield low + (inside if w.low_strict else 0)
        elif high is not None:
            yield high - (inside if w.high_strict else 0)


def _united(windows: list[Window], until: Fraction) -> tuple[tuple[float, float], ...]:
    """The union of the windows up to a delay, as intervals of positive length."""
    pieces: list[tuple[Fraction, Fraction]] = []
    for w in sorted(windows, key=lambda w: w.low):
        low, high = Fraction(w.low), until if w.high is None else min(Fraction(w.high), until)
        if low >= high:
            continue
        if pieces and low <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(pieces[-1][1], high))
        else:
            pieces.append((low, high))
    return tuple((float(a), float(b)) for a, b in pieces)


def _shown(window: Window) -> str:
    if window.high is None:
        return f"from {float(window.low):g} on"
    if window.low == window.high:
        return f"at {float(window.low):g}"
    return f"from {float(window.low):g} to {float(window.high):g}"
