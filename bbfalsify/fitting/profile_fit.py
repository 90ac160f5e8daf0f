"""Fit the numbers of a profile, whose structure is given or learned, to logs of use.

    fit = fit_profile(["monday.csv", "tuesday.csv"], "structure.yaml")
    fit.write("fitted.yaml")
    fit.estimates["weight of User.S -> S (on)"], fit.tests["User.S"], fit.profile

The fitted file states the number of observations and the interval of every number.  `uncertainty` holds the variances
of their logarithms, for the ranking of counterexamples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.foreign_files import read_text
from bbfalsify.fitting.delays import FittedBounds, LawTest
from bbfalsify.fitting.log_events import Log
from bbfalsify.fitting.log_replay import LogFollower, is_silent
from bbfalsify.fitting.logs import read_logs
from bbfalsify.fitting.profile_writer import ProfileDraft, interval_text
from bbfalsify.fitting.stays import Observations
from bbfalsify.fitting.structure import EdgeAt, LocationAt, Structure, constant
from bbfalsify.fitting.waiting_times import fit_location_bounds, fit_rates
from bbfalsify.fitting.weights import FittedWeight, fit_weights
from bbfalsify.fitting.widening import Widened, widen
from bbfalsify.modelling import Profile, parse_profile, profile_parameters
from bbfalsify.modelling.profiles.profile_parameters import RATE, WEIGHT
from bbfalsify.records.documents import KeyPath, read_yaml
from bbfalsify.records.json_files import write_atomically
from bbfalsify.records.yaml_text import number_text

FEWEST_EVENTS = 2

Told = Callable[[int, int], None]
"""Progress: sessions done, number of sessions."""


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
    """Name of a parameter (`modelling.profile_parameters`) → its rate, or the share that its weight means."""
    tests: dict[str, LawTest]
    """Location → test of the law of its delays."""
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


def fit_profile(
    logs: Iterable[str | Path],
    structure: str | Path,
    *,
    from_zero: bool = False,
    bounds: bool = False,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    columns: Mapping[str, str] | None = None,
    told: Told = lambda done, total: None,
) -> Fit:
    """Fit the weights and rates of the profile `structure`, and with `bounds` the ends of uniform waits."""
    names = [str(path) for path in logs]
    document = read_yaml(structure)
    text = read_text(structure)
    given = Structure.parse(text, document.file)
    known = [a for a in given.actions if not is_silent(a)]
    log = read_logs(names, from_zero=from_zero, actions=known, columns=columns)
    header = [f"Fitted to {', '.join(names)}; structure: {structure}."]
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
    wider: Widened | None = None
    try:
        seen = LogFollower(given.profile.network, tolerance=tolerance).follow(log, told)
    except UserError:
        wider = widen(given, log, tolerance) if bounds else None
        if wider is None:
            raise
        given, seen = wider.structure, wider.seen
    _check_enough(seen, log)
    draft = ProfileDraft(given.data(), [*header, _summary(seen)], {k: list(v) for k, v in (comments or {}).items()})
    draft.notes += notes
    refitted: dict[LocationAt, FittedBounds] = {}
    if bounds:
        refitted = fit_location_bounds(given, seen, draft, confidence)
        if refitted:  # other guards, other choices: follow the log through the new structure
            given = Structure.parse(draft.text, given.document.file)
            seen = LogFollower(given.profile.network, tolerance=tolerance).follow(log, told)
    if wider is not None:
        draft.notes += wider.notes(draft)
    rates, tests = fit_rates(given, seen, draft, refitted, confidence)
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


# --- weights ---------------------------------------------------------------------------------------------------------


def _fit_weights(
    given: Structure, seen: Observations, draft: ProfileDraft, confidence: float
) -> dict[EdgeAt, FittedWeight]:
    pooled: Counter[tuple[EdgeAt, tuple[tuple[EdgeAt, int], ...]]] = Counter()
    for (chosen, possible), count in seen.choices.items():
        times = Counter(given.edge_at(*edge) for edge in possible)
        pooled[(given.edge_at(*chosen), tuple(sorted(times.items())))] += count
    before: dict[EdgeAt, float] = {}
    computed: set[EdgeAt] = set()
    for number, process in enumerate(given.profile.network.processes):
        for index, edge in enumerate(process.edges):
            at, value = given.edge_at(number, index), constant(edge.weight)
            before[at] = value if value is not None else 1.0
            if value is None:
                computed.add(at)
    for at in sorted(computed):
        draft.comment(given.edge_path(at), "its weight is computed: kept as given")
    fixed = {c for c in pooled if any(edge in computed for edge, _ in c[1])}
    fitted = fit_weights({c: n for c, n in pooled.items() if c not in fixed}, before, confidence)
    for at, weight in sorted(fitted.items()):
        draft.data["automata"][at[0]]["edges"][at[1]]["weight"] = float(number_text(weight.weight))
        often = f"taken {weight.taken} of the {weight.possible} times it was possible"
        extra = ", half a time added to each because one was never taken" if weight.half_counts else ""
        draft.comment(given.edge_path(at), f"{often}; share {interval_text(weight.share)}{extra}")
    for at in sorted(set(before) - set(fitted)):
        taken = sum(n for (edge, _), n in pooled.items() if edge == at)
        if taken and at not in computed:
            draft.comment(given.edge_path(at), f"taken {taken} times, never with a rival: weight as given")
    return fitted


# --- names and locations that were not seen --------------------------------------------------------------------------


def _named(
    draft: ProfileDraft, weights: Mapping[EdgeAt, FittedWeight], rates: Mapping[LocationAt, Estimate]
) -> tuple[dict[str, Estimate], dict[str, float]]:
    """Estimates and variances by the names of the parameters."""
    after = Structure.parse(draft.text, "<fitted>")
    estimates: dict[str, Estimate] = {}
    variances: dict[str, float] = {}
    for parameter in profile_parameters(after.profile.network):
        rate = rates.get(after.location_at(parameter.process, parameter.location))
        weight = None if parameter.edge is None else weights.get(after.edge_at(parameter.process, parameter.edge))
        if parameter.kind == WEIGHT and weight is not None:
            estimates[parameter.name], variances[parameter.name] = weight.share, weight.variance_of_log
        elif parameter.kind == RATE and rate is not None:
            estimates[parameter.name], variances[parameter.name] = rate, 1 / rate.samples
    return estimates, variances


def _note_unseen(given: Structure, seen: Observations, draft: ProfileDraft) -> None:
    visited = {given.location_at(*location) for location in seen.stays}
    network = given.profile.network
    for number, process in enumerate(network.processes):
        for index, location in enumerate(process.locations):
            at = given.location_at(number, index)
            leaves = any(e.source == index and e.is_output for e in process.edges)
            if leaves and not location.committed and at not in visited:
                visited.add(at)
                draft.comment(given.location_path(at), "never visited in the log: kept as given")
                draft.notes.append(f"{'.'.join(at)} was never visited; it is kept as given")
