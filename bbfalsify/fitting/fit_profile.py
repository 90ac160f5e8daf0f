"""Fit a profile to logs of its use: the structure is given (or learned), the numbers come from the logs.

    fit = fit_profile(["monday.csv", "tuesday.csv"], "structure.yaml")
    fit.write("fitted.yaml")
    fit.estimates["weight of User.S -> S (on)"], fit.tests["User.S"], fit.profile

The fitted file says for every number how often it was seen and how sure it is, and carries the variances of the
logarithms under `uncertainty`, where the ranking of counterexamples finds them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.fitting.delays import FittedBounds, LawTest, check_law, check_uniform, fit_bounds, fit_rate
from bbfalsify.fitting.log_replay import Follower, Observations, Stay, is_silent
from bbfalsify.fitting.logs import Log, read_logs
from bbfalsify.fitting.profile_writer import as_yaml, number_text
from bbfalsify.fitting.structure import EdgeAt, LocationAt, Structure, compared_clock, constant, with_bound
from bbfalsify.fitting.weights import FittedWeight, fit_weights
from bbfalsify.modelling import Profile, parse_profile, profile_parameters
from bbfalsify.modelling.profiles.parameters import RATE, WEIGHT
from bbfalsify.records.documents import KeyPath, read_yaml
from bbfalsify.records.json_files import write_atomically

FEWEST_EVENTS = 2

Told = Callable[[int, int], None]
"""Progress: sessions done, sessions in all."""


@dataclass(frozen=True, eq=False)
class Fit:
    text: str
    """The fitted profile as YAML."""
    profile: Profile
    sessions: int
    events: int
    counted: int
    """Events whose delay is known; only these are used."""
    estimates: dict[str, Estimate]
    """By the name of the parameter (`modelling.profile_parameters`): a rate, or the share that a weight means."""
    tests: dict[str, LawTest]
    """By location: does the law of its delays fit?"""
    notes: tuple[str, ...] = ()

    def write(self, path: str | Path) -> None:
        write_atomically(Path(path), self.text)

    def as_json(self) -> dict[str, Any]:
        return {
            "sessions": self.sessions,
            "events": self.events,
            "counted": self.counted,
            "parameters": {name: estimate.as_json() for name, estimate in self.estimates.items()},
            "uncertainty": dict(self.profile.uncertainty),
            "tests": {
                name: {"law": t.law, "delays": t.count, "distance": t.distance, "p": t.p, "fits": not t.doubtful}
                for name, t in self.tests.items()
            },
            "notes": list(self.notes),
        }


@dataclass
class Draft:
    """The profile being fitted: data to change, comments to write, and what the user should know."""

    data: dict[str, Any]
    header: list[str]
    comments: dict[KeyPath, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def comment(self, path: KeyPath, text: str) -> None:
        self.comments.setdefault(path, []).append(text)

    @property
    def text(self) -> str:
        return "".join(f"# {line}".rstrip() + "\n" for line in self.header) + "\n" + as_yaml(self.data, self.comments)


def fit_profile(
    logs: Iterable[str | Path],
    structure: str | Path,
    *,
    from_zero: bool = False,
    bounds: bool = False,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    told: Told = lambda done, total: None,
) -> Fit:
    """Fit the weights and rates of the profile `structure`; with `bounds`, also the ends of uniform waits."""
    logs = [str(path) for path in logs]
    document = read_yaml(structure)
    text = Path(structure).read_text(encoding="utf-8")
    given = Structure.parse(text, document.file)
    log = read_logs(logs, from_zero=from_zero, actions=[a for a in given.actions if not is_silent(a)])
    header = [f"Fitted to {', '.join(logs)}; structure: {structure}."]
    return fit_structure(given, log, header, bounds=bounds, tolerance=tolerance, confidence=confidence, told=told)


def fit_structure(
    given: Structure,
    log: Log,
    header: list[str],
    *,
    bounds: bool = False,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    told: Told = lambda done, total: None,
    comments: Mapping[KeyPath, list[str]] | None = None,
    notes: Iterable[str] = (),
) -> Fit:
    if not 0 < confidence < 1:
        raise UserError(f"the confidence must lie strictly between 0 and 1; found {confidence:g}.")
    if not (tolerance >= 0 and math.isfinite(tolerance)):
        raise UserError(f"the tolerance must be finite and not negative; found {tolerance:g}.")
    seen = Follower(given.profile.network, tolerance=tolerance).follow(log, told)
    _check_enough(seen, log)
    draft = Draft(given.data(), [*header, _summary(seen)], {k: list(v) for k, v in (comments or {}).items()})
    draft.notes += notes
    refitted: dict[LocationAt, FittedBounds] = {}
    if bounds:
        refitted = _fit_bounds(given, seen, draft, confidence)
        if refitted:  # other guards, other choices: follow the log through the new structure
            given = Structure.parse(draft.text, given.document.file)
            seen = Follower(given.profile.network, tolerance=tolerance).follow(log, told)
    rates, tests = _fit_rates(given, seen, draft, refitted, confidence)
    weights = _fit_weights(given, seen, draft, confidence)
    _note_unseen(given, seen, draft)
    draft.data.pop("uncertainty", None)
    named, uncertainty = _named(draft, weights, rates)
    if uncertainty:
        draft.data["uncertainty"] = {name: float(number_text(v, 4)) for name, v in uncertainty.items()}
        draft.comment(("uncertainty",), "How well each is known: the variance of its natural logarithm.")
    profile = parse_profile(draft.text, given.document.file)
    return Fit(draft.text, profile, seen.sessions, seen.events, seen.counted, named, tests, tuple(draft.notes))


def _check_enough(seen: Observations, log: Log) -> None:
    if seen.counted >= FEWEST_EVENTS:
        return
    files = ", ".join(dict.fromkeys(s.file for s in log.sessions)) or "the log"
    hint = (
        ""
        if seen.counted == seen.events
        else (
            "; the first action of a session is not counted, unless a row without an action (or --from-zero) says "
            "when the session began"
        )
    )
    raise UserError(Problem(f"{seen.counted} actions to learn from; at least {FEWEST_EVENTS} are needed{hint}.", files))


def _summary(seen: Observations) -> str:
    text = f"{seen.events} actions in {seen.sessions} session{'s' * (seen.sessions != 1)}"
    return text + ("." if seen.counted == seen.events else f", {seen.counted} of them with a known delay.")


def _interval(estimate: Estimate) -> str:
    return (
        f"{estimate.value:.4g} [{estimate.low:.4g}, {estimate.high:.4g}] ({estimate.confidence:.0%}, {estimate.method})"
    )


# --- weights ---------------------------------------------------------------------------------------------------------


def _fit_weights(given: Structure, seen: Observations, draft: Draft, confidence: float) -> dict[EdgeAt, FittedWeight]:
    pooled: Counter = Counter()
    for (taken, possible), count in seen.choices.items():
        times = Counter(given.edge_at(*edge) for edge in possible)
        pooled[(given.edge_at(*taken), tuple(sorted(times.items())))] += count
    before, computed = {}, set()
    for number, process in enumerate(given.profile.network.processes):
        for index, edge in enumerate(process.edges):
            at, weight = given.edge_at(number, index), constant(edge.weight)
            before[at] = weight if weight is not None else 1.0
            if weight is None:
                computed.add(at)
    for at in sorted(computed):
        draft.comment(given.edge_path(at), "its weight is computed: kept as given")
    fixed = {c for c in pooled if any(edge in computed for edge, _ in c[1])}
    fitted = fit_weights({c: n for c, n in pooled.items() if c not in fixed}, before, confidence)
    for at, weight in sorted(fitted.items()):
        draft.data["automata"][at[0]]["edges"][at[1]]["weight"] = float(number_text(weight.weight))
        often = f"taken {weight.taken} of the {weight.possible} times it was possible"
        extra = ", half a time added to each because one was never taken" if weight.half_counts else ""
        draft.comment(given.edge_path(at), f"{often}; share {_interval(weight.share)}{extra}")
    for at in sorted(set(before) - set(fitted)):
        taken = sum(n for (edge, _), n in pooled.items() if edge == at)
        if taken and at not in computed:
            draft.comment(given.edge_path(at), f"taken {taken} times, never with a rival: weight as given")
    return fitted


# --- delays ----------------------------------------------------------------------------------------------------------


def _stays(given: Structure, seen: Observations) -> dict[LocationAt, list[Stay]]:
    pooled: dict[LocationAt, list[Stay]] = {}
    for (process, location), stays in seen.stays.items():
        pooled.setdefault(given.location_at(process, location), []).extend(stays)
    return pooled


def _fit_rates(
    given: Structure, seen: Observations, draft: Draft, refitted: Mapping[LocationAt, FittedBounds], confidence: float
) -> tuple[dict[LocationAt, Estimate], dict[str, LawTest]]:
    rates, tests = {}, {}
    alone = sum(any(e.is_output for e in p.edges) for p in seen.network.processes) == 1
    computed = {
        given.location_at(number, index)
        for number, process in enumerate(given.profile.network.processes)
        for index, location in enumerate(process.locations)
        if constant(location.exponential_rate) is None
    }
    for at, stays in _stays(given, seen).items():
        path, name = given.location_path(at), ".".join(at)
        unbounded = [s for s in stays if s.bound is None]
        rate = fit_rate(unbounded, confidence) if at not in computed else None
        if rate is not None:
            rates[at] = rate
            _location_data(draft, given, at)["exponential_rate"] = float(number_text(rate.value))
            draft.comment(path, f"left {rate.samples} times; rate {_interval(rate)}")
        elif unbounded and at in computed:
            draft.comment(path, "its rate is computed: kept as given")
        if not alone:
            continue
        if at in refitted:
            test = check_uniform([s.delay for s in stays if s.acted])
        elif at in computed:
            test = None
        else:
            test = check_law(stays, None if rate is None else rate.value, fitted=rate is not None)
        if test is not None:
            tests[name] = test
            draft.comment(path, str(test))
            if test.doubtful:
                draft.notes.append(f"{name}: the delays do not look {test.law} ({test.count} of them, {test.p_text})")
    if not alone:
        draft.notes.append("several components race, so no law was tested against the delays")
    return rates, tests


def _location_data(draft: Draft, given: Structure, at: LocationAt) -> dict[str, Any]:
    locations = draft.data["automata"][at[0]]["locations"]
    key = given.location_key(at)
    if locations[key] is None:
        locations[key] = {}
    return locations[key]


def _fit_bounds(
    given: Structure, seen: Observations, draft: Draft, confidence: float
) -> dict[LocationAt, FittedBounds]:
    """New ends for locations with `clock <= constant` that are entered with the clock at 0, and for their guards."""
    fitted = {}
    for at, stays in _stays(given, seen).items():
        clock, why = _bounded_by(given, at, stays)
        if clock is None:
            if why:
                draft.notes.append(f"{'.'.join(at)}: bounds kept as given, {why}")
            continue
        found = fit_bounds([s.delay for s in stays if s.acted], confidence)
        if found is None:
            draft.notes.append(f"{'.'.join(at)}: bounds kept as given, fewer than two delays were seen")
            continue
        location = _location_data(draft, given, at)
        location["invariant"] = with_bound(location["invariant"], outward(found.high, up=True))
        draft.comment(
            given.location_path(at),
            f"{found.count} delays between {found.low:.6g} and {found.high:.6g}, unbiased ends "
            f"({confidence:.0%}: above {found.low_least:.6g}, below {found.high_most:.6g})",
        )
        _fit_guards(given, seen, draft, at, clock, found)
        fitted[at] = found
    return fitted


def _bounded_by(given: Structure, at: LocationAt, stays: list[Stay]) -> tuple[int | None, str]:
    """The clock that bounds the stay, or why its bound cannot be fitted (nothing where there is none)."""
    if all(stay.bound is None or stay.bound == 0 for stay in stays):
        return None, ""
    locations = [
        location
        for number, process in enumerate(given.profile.network.processes)
        for index, location in enumerate(process.locations)
        if given.location_at(number, index) == at
    ]
    clocks = {compared_clock(location.invariant, ("<=", "<")) for location in locations}
    if len(clocks) != 1 or None in clocks:
        return None, "the invariant is not of the form 'clock <= number'"
    (clock,) = clocks
    if any(stay.clocks[clock] != 0 for stay in stays):
        return None, "its clock is not 0 when the location is entered"
    return clock, ""


def _fit_guards(
    given: Structure, seen: Observations, draft: Draft, at: LocationAt, clock: int, found: FittedBounds
) -> None:
    """Each edge opens a little before its smallest delay; none before the location's own lower end."""
    delays: dict[EdgeAt, list[float]] = {}
    guards = {}
    for number, process in enumerate(given.profile.network.processes):
        for index, edge in enumerate(process.edges):
            if given.location_at(number, edge.source) == at:
                key = given.edge_at(number, index)
                guards[key] = edge.guard
                delays.setdefault(key, []).extend(seen.delays.get((number, index), []))
    for key, values in delays.items():
        edge = draft.data["automata"][key[0]]["edges"][key[1]]
        if not values or compared_clock(guards[key], (">=", ">")) != clock:
            continue
        least = min(values)
        low = max(found.low, least - (found.high - least) / len(values))
        edge["guard"] = with_bound(edge["guard"], outward(low, up=False))


def outward(value: float, *, up: bool) -> str:
    """Six digits, rounded so that no observed delay is left outside."""
    if value == 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 5)
    return number_text(max(0.0, (math.ceil if up else math.floor)(value / step) * step), 7)


# --- names and what was not seen -------------------------------------------------------------------------------------


def _named(
    draft: Draft, weights: Mapping[EdgeAt, FittedWeight], rates: Mapping[LocationAt, Estimate]
) -> tuple[dict[str, Estimate], dict[str, float]]:
    """Estimates and variances by the names that profiles give their parameters."""
    after = Structure.parse(draft.text, "<fitted>")
    estimates, variances = {}, {}
    for parameter in profile_parameters(after.profile.network):
        if parameter.kind == WEIGHT and (at := after.edge_at(parameter.process, parameter.edge)) in weights:
            estimates[parameter.name] = weights[at].share
            variances[parameter.name] = weights[at].variance_of_log
        elif parameter.kind == RATE and (at := after.location_at(parameter.process, parameter.location)) in rates:
            estimates[parameter.name] = rates[at]
            variances[parameter.name] = 1 / rates[at].samples
    return estimates, variances


def _note_unseen(given: Structure, seen: Observations, draft: Draft) -> None:
    visited = set(_stays(given, seen))
    network = given.profile.network
    for number, process in enumerate(network.processes):
        for index, location in enumerate(process.locations):
            at = given.location_at(number, index)
            leaves = any(e.source == index and e.is_output for e in process.edges)
            if leaves and not location.committed and at not in visited:
                visited.add(at)
                draft.comment(given.location_path(at), "never visited in the log: kept as given")
                draft.notes.append(f"{'.'.join(at)} was never visited; it is kept as given")
