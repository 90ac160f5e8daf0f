"""Fit the exponential rates and the uniform bounds of a profile's locations, and test their laws."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from bbfalsify.core.estimate import Estimate
from bbfalsify.fitting.delays import (
    FittedBounds,
    LawTest,
    check_law,
    check_uniform,
    delays_and_waits,
    fit_bounds,
    fit_rate,
)
from bbfalsify.fitting.profile_writer import ProfileDraft, interval_text
from bbfalsify.fitting.stays import Observations, Stays
from bbfalsify.fitting.structure import EdgeAt, LocationAt, Structure, compared_clock, constant, with_bound
from bbfalsify.records.yaml_text import number_text


def stays_by_location(given: Structure, seen: Observations) -> dict[LocationAt, Stays]:
    pooled: dict[LocationAt, Stays] = defaultdict(Stays)
    for (process, location), stays in seen.stays.items():
        pooled[given.location_at(process, location)].extend(stays)
    return pooled


def fit_rates(
    given: Structure,
    seen: Observations,
    draft: ProfileDraft,
    refitted: Mapping[LocationAt, FittedBounds],
    confidence: float,
) -> tuple[dict[LocationAt, Estimate], dict[str, LawTest]]:
    rates: dict[LocationAt, Estimate] = {}
    tests: dict[str, LawTest] = {}
    alone = sum(any(e.is_output for e in p.edges) for p in seen.network.processes) == 1
    computed = {
        given.location_at(number, index)
        for number, process in enumerate(given.profile.network.processes)
        for index, location in enumerate(process.locations)
        if constant(location.exponential_rate) is None
    }
    for at, stays in stays_by_location(given, seen).items():
        path, name = given.location_path(at), ".".join(at)
        rate = fit_rate(stays.unbounded(), confidence) if at not in computed else None
        if rate is not None:
            rates[at] = rate
            _location_data(draft, given, at)["exponential_rate"] = float(number_text(rate.value))
            draft.comment(path, f"left {rate.samples} times; rate {interval_text(rate)}")
        elif at in computed and any(True for _ in stays.unbounded()):
            draft.comment(path, "its rate is computed: kept as given")
        if not alone:
            continue
        if at in refitted:
            test = check_uniform(stays)
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


def _location_data(draft: ProfileDraft, given: Structure, at: LocationAt) -> dict[str, Any]:
    locations = draft.data["automata"][at[0]]["locations"]
    key = given.location_key(at)
    if locations[key] is None:
        locations[key] = {}
    return locations[key]


def fit_location_bounds(
    given: Structure, seen: Observations, draft: ProfileDraft, confidence: float
) -> dict[LocationAt, FittedBounds]:
    """Fit the ends of locations with `clock <= constant` that are entered with the clock at 0, and their guards."""
    fitted: dict[LocationAt, FittedBounds] = {}
    for at, stays in stays_by_location(given, seen).items():
        clock, why = _bounded_by(given, at, stays)
        if clock is None:
            if why:
                draft.notes.append(f"{'.'.join(at)}: bounds kept as given, {why}")
            continue
        delays, waits = delays_and_waits(stays)
        found = fit_bounds(delays, confidence, waits=waits)
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


def _bounded_by(given: Structure, at: LocationAt, stays: Stays) -> tuple[int | None, str]:
    """The clock that bounds the stay, or the reason why its bound cannot be fitted (empty: no bound)."""
    if all(stay.bound is None or stay.bound == 0 for stay in stays):
        return None, ""
    locations = [
        location
        for number, process in enumerate(given.profile.network.processes)
        for index, location in enumerate(process.locations)
        if given.location_at(number, index) == at
    ]
    clock, *others = {compared_clock(location.invariant, ("<=", "<")) for location in locations}
    if clock is None or others:
        return None, "the invariant is not of the form 'clock <= number'"
    if any(stay.clocks[clock] != 0 for stay in stays):
        return None, "its clock is not 0 when the location is entered"
    return clock, ""


def _fit_guards(
    given: Structure, seen: Observations, draft: ProfileDraft, at: LocationAt, clock: int, found: FittedBounds
) -> None:
    """Open each edge a little before its smallest delay, but not before the location's own lower end."""
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
    """Round to six digits, away from the observed delays."""
    if value == 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 5)
    return number_text(max(0.0, (math.ceil if up else math.floor)(value / step) * step), 7)
