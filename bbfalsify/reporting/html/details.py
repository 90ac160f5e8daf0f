"""Details of one counterexample, shown when it is opened: signals, fan, timeline, facts, commands."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.trace import Trace, thinned
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.records.fan_file import Fan, read_fans
from bbfalsify.records.run_files import FANS
from bbfalsify.reporting.formatting import interval, number, replay_command, values_text
from bbfalsify.reporting.html.curves import moments_of
from bbfalsify.reporting.html.limits import limits_of
from bbfalsify.reporting.html.signals import exact, fan_points, is_held, packed_fan, points_for, thin_line
from bbfalsify.reporting.terminal.counterexamples import MEANINGS
from bbfalsify.results.falsify_result import FalsificationResult, RankedCounterexample

if TYPE_CHECKING:
    from bbfalsify.logic.stl.formula import Formula

AROUND = 0.06
"""Part of the whole time that zooming shows on each side of a violation."""
LONG = 40
"""Zooming is offered from so many actions on."""


class Details:
    """Details of all counterexamples of a run; what cannot be read is noted, and the rest shown."""

    def __init__(self, directory: Path, result: FalsificationResult) -> None:
        self.result = result
        self.notes: list[str] = []
        self.files = [row.file for row in result.counterexamples if row.file is not None]
        self._fans: dict[tuple[str, int], Fan] = {}
        if (directory / FANS).is_file():
            try:
                self._fans = {(fan.requirement, fan.rank): fan for fan in read_fans(directory / FANS)}
            except UserError as error:
                self.notes += map(str, error.problems)
        self._fan_points = fan_points(self._fans.values())

    def each(self) -> list[dict[str, Any]]:
        """Details in the order of the list."""
        return [self._detail(row) for row in self.result.counterexamples]

    def _read(self, file: str | None) -> Counterexample | None:
        if file is None:
            return None
        try:
            return Counterexample.read(file)
        except UserError as error:
            self.notes += map(str, error.problems)
            return None

    def _detail(self, row: RankedCounterexample) -> dict[str, Any]:
        found, core = self._read(row.file), row.shrunk
        whole = None if core is None or core.same_as == row.rank else self._read(core.file)
        detail: dict[str, Any] = {
            "title": f"{row.requirement} #{row.rank}",
            "facts": list(_facts(row, found)),
            "notes": list(_notes(row)),
            "commands": [replay_command(file) for file in _files(row)],
            "when": moments_of(row),
        }
        if found is not None:
            detail |= self._signals(row, found)
            if whole is not None:
                detail["shrunk"] = [list(step) for step in whole.word[: len(whole.actions)]]
        return detail

    def _signals(self, row: RankedCounterexample, found: Counterexample) -> dict[str, Any]:
        signals = {**found.inputs, **found.outputs}
        most = points_for(len(self.result.counterexamples), len(signals) + 1)
        trace = Trace(np.array(found.times), {name: np.array(values) for name, values in signals.items()})
        thin = thinned(trace, most)
        violated, end = row.first_violation_time, trace.duration
        timed = math.isfinite(violated)
        marks = [{"at": violated, "name": "violated", "kind": "bad"}] if timed else []
        if found.horizon < end:
            marks.append({"at": found.horizon, "name": "horizon", "kind": "quiet"})
        fan = self._fans.get((row.requirement, row.rank))
        around = None
        if timed and len(found.word) > LONG:
            around = [max(0.0, violated - AROUND * end), min(end, violated + AROUND * end / 2)]
        return {
            "end": end or 1.0,
            "times": exact(thin.times),
            "inputs": {name: exact(thin.signals[name]) for name in found.inputs},
            "outputs": {name: exact(thin.signals[name]) for name in found.outputs},
            "held": [name for name in found.outputs if is_held(trace.signals[name])],
            "units": {name: unit for name, unit in self.result.units.items() if name in signals},
            "limits": limits_of(_formula(found.requirement.stl).root, end),
            "robustness": _robustness(found, trace, most),
            "fan": None if fan is None else packed_fan(fan, self._fan_points),
            "word": [list(step) for step in found.word],
            "key": len(found.actions),
            "marks": marks,
            "around": around,
        }


@functools.lru_cache(maxsize=64)
def _formula(text: str) -> Formula:
    """Parsing takes longer than everything else about a counterexample, and they share few formulas."""
    from bbfalsify.logic.stl.parser import parse_stl

    return parse_stl(text)


def _files(row: RankedCounterexample) -> list[str]:
    files = [row.file, None if row.shrunk is None else row.shrunk.file]
    return [file for file in dict.fromkeys(files) if file is not None]


def _robustness(found: Counterexample, trace: Trace, most: int) -> dict[str, Any] | None:
    """Robustness of what stands under the outermost always, over time; None where it has no meaning in dense time."""
    from bbfalsify.logic.stl.stl_monitor import robustness_over_time
    from bbfalsify.running.judge import on_grid

    if not found.outputs:
        return None
    requirement, title = found.requirement, "robustness of what must hold at each moment"
    times, signals = trace.times, trace.signals
    if requirement.time == "discrete" and requirement.period:
        times, signals = on_grid(trace, requirement.period)
        title += " (samples held until the next)"
    try:
        times, values = robustness_over_time(_formula(requirement.stl), times, signals)
    except UserError:
        return None
    values = np.where(np.isfinite(values), values, np.nan)
    if not np.isfinite(values).any():
        return None
    keep = np.isfinite(values)
    times, values = thin_line(times[keep], values[keep], most)
    return {"title": title, "times": exact(times), "values": exact(values)}


def _facts(row: RankedCounterexample, found: Counterexample | None) -> Iterator[tuple[str, str]]:
    yield "probability", _with_method(row.shown)
    if row.probability_with_uncertainty is not None:
        yield "without the profile's uncertainty", _with_method(row.probability)
    if found is not None and "cylinder" in found.estimates:
        yield "of following the actions at all", _with_method(found.estimates["cylinder"])
    for name, estimate in row.columns.items():
        equation, meaning = MEANINGS[name]
        yield f"{meaning} (equation {equation})", interval(estimate)
    if row.values:
        yield "values drawn", values_text(row.values)
    if row.traces:
        yield "traces", f"{row.violating} of {row.traces} violate"
    yield "violated at", number(row.first_violation_time, 6)
    yield "robustness", number(row.robustness)
    if found is not None:
        yield "reproduced", f"{found.reproduced} of {found.tries} ({row.status})"
        yield "simulation", found.seed.query
    if row.iteration is not None:
        yield "found by walk", str(row.iteration)


def _with_method(estimate: Estimate) -> str:
    if estimate.samples == 0:
        return interval(estimate)
    return f"{interval(estimate)} ({estimate.method}, {estimate.samples} samples)"


def _notes(row: RankedCounterexample) -> Iterator[str]:
    core = row.shrunk
    if core is None:
        return
    if not row.acts:
        yield f"Simpler values that violate, too: {values_text(core.values)}."
        return
    if core.same_as == row.rank:
        yield "No action can be left out." if core.settled else "Too few simulations to shrink it."
        return
    where = f"as #{core.same_as}" if core.same_as is not None else "not on the list"
    unsettled = "" if core.settled else "; more simulations may shrink it further"
    word = "·".join(core.actions)
    yield f"What matters of it: {word} ({where}), probability {interval(core.shown)}, {core.status}{unsettled}."
