"""Find errors in the structure of a profile before anything runs.

Four errors are found, without false alarms: a handshake channel (it has no stochastic meaning), an action that can
never be taken, a location in which the component is stuck, and a loop in which time can never pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bbfalsify.core.errors import Place, Problem
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression, Kind, Read
from bbfalsify.modelling.network.network import Edge, Location, Network, Process
from bbfalsify.modelling.network.visit import COMPARISONS, Bounds, bounds, conjuncts
from bbfalsify.modelling.profiles.profile import Profile

Limit = tuple[int | Fraction, bool]
"""(value, strict)"""

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def check_profile(profile: Profile) -> list[Problem]:
    return check_network(profile.network)


def check_network(network: Network) -> list[Problem]:
    problems = list(_handshakes(network))
    analyses = [_ProcessAnalysis(network, process) for process in network.processes]
    problems += _dead_actions(network, analyses)
    problems += _stuck(network, analyses)
    problems += _timeless_loops(network, analyses)
    return sorted(problems, key=lambda problem: problem.line or 0)


# --- clock limits ----------------------------------------------------------------------------------------------------


def clock_limits(condition: Expression | None) -> tuple[dict[int, Limit], dict[int, Limit]]:
    """(lower, upper) limits of each clock, from the conjuncts of the form `clock <= constant`."""
    lower: dict[int, Limit] = {}
    upper: dict[int, Limit] = {}
    for part in conjuncts(condition):
        if not isinstance(part, Binary) or part.operator not in _MIRRORED:
            continue
        left, operator, right = part.left, part.operator, part.right
        if isinstance(left, Constant):
            left, operator, right = right, _MIRRORED[operator], left
        if not (isinstance(left, Read) and left.kind is Kind.CLOCK and left.index is None):
            continue
        if not isinstance(right, Constant):
            continue
        limit = (right.value, operator in ("<", ">"))
        if operator in (">", ">=", "=="):
            lower[left.slot] = max(lower.get(left.slot, limit), limit)
        if operator in ("<", "<=", "=="):
            # Of two equal upper limits the strict one is the tighter.
            known = upper.get(left.slot, limit)
            upper[left.slot] = min(known, limit, key=lambda pair: (pair[0], not pair[1]))
    return lower, upper


def _contradict(lower: dict[int, Limit], upper: dict[int, Limit]) -> bool:
    return any(
        slot in upper and (low[0] > upper[slot][0] or (low[0] == upper[slot][0] and (low[1] or upper[slot][1])))
        for slot, low in lower.items()
    )


class _ProcessAnalysis:
    """The edges of a process that may ever fire, and the locations that it can reach in the graph."""

    def __init__(self, network: Network, process: Process) -> None:
        self.network = network
        self.process = process
        self.why_dead = {number: self.reason(edge) for number, edge in enumerate(process.edges)}
        self.reachable = self.reached_from({process.initial})
        self.has_outputs = any(edge.is_output for edge in process.edges)

    def live_edges(self, location: int) -> list[Edge]:
        return [
            edge
            for number, edge in enumerate(self.process.edges)
            if edge.source == location and self.why_dead[number] is None
        ]

    def reached_from(self, start: set[int]) -> set[int]:
        reached, pending = set(start), list(start)
        while pending:
            for edge in self.live_edges(pending.pop()):
                for branch in edge.branches:
                    if branch.target not in reached and not _never(branch.weight):
                        reached.add(branch.target)
                        pending.append(branch.target)
        return reached

    def reason(self, edge: Edge) -> str | None:
        """The reason why the edge can never fire; None if it may."""
        if any(self.always_false(part) for part in conjuncts(edge.guard)):
            return "its guard is never true"
        lower, upper = clock_limits(edge.guard)
        if _contradict(lower, upper):
            return "its guard contradicts itself"
        stay_lower, stay_upper = clock_limits(self.process.locations[edge.source].invariant)
        if _contradict(lower, stay_upper) or _contradict(stay_lower, upper):
            return "its guard contradicts the invariant of the location it leaves"
        return None

    def always_false(self, condition: Expression) -> bool:
        if isinstance(condition, Constant):
            return not condition.value
        if not (isinstance(condition, Binary) and condition.operator in COMPARISONS):
            return False
        left, right = (bounds(side, self.range_of) for side in (condition.left, condition.right))
        if left is None or right is None:
            return False
        match condition.operator:
            case "<":
                return left[0] >= right[1]
            case "<=":
                return left[0] > right[1]
            case ">":
                return left[1] <= right[0]
            case ">=":
                return left[1] < right[0]
            case "==":
                return left[1] < right[0] or left[0] > right[1]
        return left[0] == left[1] == right[0] == right[1]

    def range_of(self, read: Expression) -> Bounds | None:
        if not isinstance(read, Read) or read.kind.is_real:
            return None
        for variable in self.network.variables:
            if not variable.kind.is_real and variable.slot <= read.slot < variable.slot + variable.size:
                return (variable.low, variable.high)
        return None


def _never(weight: Expression | None) -> bool:
    return isinstance(weight, Constant) and weight.value == 0


# --- the four checks -------------------------------------------------------------------------------------------------


def _handshakes(network: Network) -> Iterator[Problem]:
    seen: set[int] = set()
    for process in network.processes:
        for edge in process.edges:
            if edge.channel is None or edge.channel in seen or network.channels[edge.channel].broadcast:
                continue
            seen.add(edge.channel)
            name = network.channels[edge.channel].name
            yield Problem(
                f"channel '{name}' is a handshake, which has no meaning in a random profile; declare it "
                f"'broadcast chan'.",
                file=network.file,
                line=edge.line,
            )


def _dead_actions(network: Network, analyses: list[_ProcessAnalysis]) -> Iterator[Problem]:
    reasons: dict[str, tuple[str, int | None]] = {}
    alive: set[str] = set()
    for analysis in analyses:
        for number, edge in enumerate(analysis.process.edges):
            if not edge.is_output:
                continue
            why = analysis.why_dead[number]
            if why is None and edge.source not in analysis.reachable:
                why = f"location '{analysis.process.locations[edge.source].name}' cannot be reached"
            if why is None and _never(edge.weight):
                why = "its weight is zero"
            if why is None:
                alive.add(edge.action)
            else:
                reasons.setdefault(edge.action, (why, edge.line))
    for action, (why, line) in reasons.items():
        if action not in alive:
            yield Problem(f"action '{action}' can never be taken: {why}.", file=network.file, line=line)


def _stuck(network: Network, analyses: list[_ProcessAnalysis]) -> Iterator[Problem]:
    """Find locations that no edge can leave: dead ends, and those in which time must stop."""
    dead_ends: list[list[Problem]] = []
    for analysis in analyses:
        ends: list[Problem] = []
        for number in sorted(analysis.reachable):
            location = analysis.process.locations[number]
            if analysis.live_edges(number):
                continue
            place = Place(network.file, location.line)
            name = f"location '{location.name}' of '{analysis.process.name}'"
            bounded = [c for c, r in clock_limits(location.invariant)[1].items() if not _stopped(location, c)]
            if location.urgent or location.committed:
                word = "committed" if location.committed else "urgent"
                yield place.problem(f"{name} is {word} and no edge can leave it: time stops there.")
            elif bounded:
                yield place.problem(
                    f"{name} must be left before its invariant ends, but no edge can leave it: time stops there."
                )
            else:
                ends.append(place.problem(f"no edge can leave {name}: nothing happens after it is entered."))
        if analysis.has_outputs:
            dead_ends.append(ends)
    # A component may stop while others continue; only if all can stop does the profile end.
    if dead_ends and all(dead_ends):
        for ends in dead_ends:
            yield from ends


def _stopped(location: Location, clock: int) -> bool:
    """Tell whether the location changes the clock's rate, so that an upper limit need not be reached."""
    return any(rate.slot == clock for rate in location.rates)


def _timeless_loops(network: Network, analyses: list[_ProcessAnalysis]) -> Iterator[Problem]:
    rated = {rate.slot for p in network.processes for location in p.locations for rate in location.rates}
    for number, analysis in enumerate(analyses):
        for loop in _final_loops(analysis):
            locations = [analysis.process.locations[i] for i in loop]
            names = ", ".join(f"'{location.name}'" for location in locations)
            place = Place(network.file, locations[0].line)
            if all(_takes_no_time(location) for location in locations):
                yield place.problem(
                    f"the loop through {names} of '{analysis.process.name}' takes no time and cannot be left: "
                    "time can never pass."
                )
                continue
            limits = [clock_limits(location.invariant)[1] for location in locations]
            for clock in sorted(set.intersection(*(set(limit) for limit in limits)) - rated):
                if not _assigned(network, analyses, number, loop, clock):
                    last = max(limit[clock][0] for limit in limits)
                    yield place.problem(
                        f"clock '{_clock_name(network, clock)}' is never reset in the loop through {names} of "
                        f"'{analysis.process.name}', and the invariants keep it below {float(last):g}: "
                        "from then on time can never pass."
                    )


def _takes_no_time(location: Location) -> bool:
    if location.urgent or location.committed:
        return True
    upper = clock_limits(location.invariant)[1]
    return any(limit[0] <= 0 and not _stopped(location, clock) for clock, limit in upper.items())


def _final_loops(analysis: _ProcessAnalysis) -> list[list[int]]:
    """Bottom components: sets of reachable locations that reach each other and nothing else."""
    reach = {
        location: analysis.reached_from({b.target for e in analysis.live_edges(location) for b in e.branches})
        for location in analysis.reachable
    }
    loops: list[list[int]] = []
    for location in sorted(analysis.reachable):
        inside = reach[location]
        if location in inside and all(location in reach[other] for other in inside):
            loop = sorted(inside)
            if loop not in loops:
                loops.append(loop)
    return loops


def _assigned(network: Network, analyses: list[_ProcessAnalysis], number: int, loop: list[int], clock: int) -> bool:
    """Tell whether an edge that can fire during the loop may set the clock."""
    effects = EffectAnalysis(network.functions)
    return any(
        ("r", clock) in effects.statements(branch.updates).writes
        for other, analysis in enumerate(analyses)
        for edge in analysis.process.edges
        if other != number or edge.source in loop
        for branch in edge.branches
    )


def _clock_name(network: Network, slot: int) -> str:
    for variable in network.variables:
        if variable.kind is Kind.CLOCK and variable.slot <= slot < variable.slot + variable.size:
            return variable.name if variable.size == 1 else f"{variable.name}[{slot - variable.slot}]"
    return "?"
