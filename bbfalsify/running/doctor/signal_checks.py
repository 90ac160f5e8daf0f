"""Promises of a system of signals: it works, repeats, forgets, is causal, and can what it declares."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from bbfalsify.core.query import Answer, Query
from bbfalsify.core.trace import Stimulus, sample_times
from bbfalsify.running.doctor.patient import Patient, Use
from bbfalsify.running.doctor.probes import changes_between_steps
from bbfalsify.systems import Port, System
from bbfalsify.systems.interface import own_step

Signal = Callable[[int, np.ndarray], np.ndarray]
"""The values of an input, by its number and the times."""
Seen = tuple[Query, Answer]
"""One use and its answer, from which to start."""

SAMPLES = 100
_CLOSE = 1e-9


def examine_signals(patient: Patient, system: System, duration: float) -> Seen | None:
    period = system.capabilities.grid_period_s or duration / SAMPLES
    stimuli = {
        "inputs at 0": _stimulus(system, duration, period, lambda port, t: np.zeros_like(t)),
        "inputs at 1": _stimulus(system, duration, period, lambda port, t: np.ones_like(t)),
        "inputs switching": _stimulus(system, duration, period, _switching),
    }
    stimuli["switching, cut at half"] = _cut(stimuli["inputs switching"], 0.5)
    stimuli["a single moment"] = _cut(stimuli["inputs at 0"], 0.0)
    order = ["inputs at 0", "inputs switching", "inputs switching", "inputs at 1", "inputs at 0", "a single moment",
             "switching, cut at half", "inputs switching"]  # fmt: skip
    seeds = {name: f"doctor/{name}" for name in stimuli}
    seeds["switching, cut at half"] = seeds["inputs switching"]  # whatever is random inside must be the same
    queries = [Query(f"doctor/{i}/{name}", stimuli[name], True, seeds[name]) for i, name in enumerate(order)]
    answers = patient.use(queries)
    if not all(answer.ok for answer in answers):
        return None
    traces = [answer.trace for answer in answers if answer.trace is not None]
    at = list(zip(order, traces, strict=True))
    patient.report.checks.append("it works, also for a single moment")
    patient.check("it repeats: the same use from reset gives the same outputs", _differences(at[1], at[2]))
    patient.check(
        "it forgets: other uses in between change nothing", (*_differences(at[0], at[4]), *_differences(at[1], at[7]))
    )
    patient.check("it is causal: outputs do not depend on later inputs", _differences(at[6], at[7]))
    if (step := own_step(system)) is not None:
        fine = _stimulus(system, min(duration, 100 * step), min(step / 4, duration / SAMPLES), _switching)
        [answer] = patient.use([Query("doctor/between steps", fine, True)])
        if answer.ok and answer.trace is not None:
            patient.check("it keeps its step: outputs hold in between", changes_between_steps(fine, answer.trace, step))
    for port in system.outputs:
        values = np.concatenate([trace.signals[port.name] for _, trace in at])
        if np.ptp(values) == 0.0:
            patient.report.remarks.append(f"output '{port.name}' was {values[0]:g} all the time")
    if system.capabilities.seedable:
        again = patient.use([Query("doctor/seed", stimuli["inputs switching"], True, "doctor/another seed")])
        if again[0].ok and not list(_differences(at[1], ("", again[0].trace))):
            patient.report.remarks.append("it declares to be seedable, but another seed changed nothing")
    long = [a.seconds for a, name in zip(answers, order, strict=True) if name != "a single moment"]
    patient.report.reset_s = answers[order.index("a single moment")].seconds
    patient.report.step_s = statistics.median(long) / len(stimuli["inputs switching"].times)
    return queries[1], answers[1]


def examine_abilities(patient: Patient, system: System, seen: Seen, use: Use) -> None:
    query, truth = seen
    name = query.name.rpartition("/")[2]

    def compare(what: str, way: str, expected: Answer = truth) -> Answer:
        [answer] = use([replace(query, name=f"doctor/{name} ({way})")], way)
        if answer.ok and expected.ok:
            patient.check(what, _differences((name, expected.trace), (name, answer.trace)))
        return answer

    if system.capabilities.batch:
        compare("it takes batches: together with others, the same outputs", "batch")
    if system.capabilities.stepwise:
        compare("it goes step by step, with the same outputs", "stepwise")
    if system.capabilities.snapshot or system.capabilities.forkable:
        [stepped] = use([replace(query, name=f"doctor/{name} (continued)")], "continued")
    if system.capabilities.snapshot:
        compare("it saves and restores: from a saved state, the same outputs", "snapshot", stepped)
    if system.capabilities.forkable:
        compare("it forks: a copy goes on with the same outputs", "fork", stepped)


def _stimulus(system: System, duration: float, period: float, signal: Signal) -> Stimulus:
    events = () if system.capabilities.grid_period_s else _moments(duration)
    times = sample_times(duration, period, np.array(events))
    signals = {port.name: _within(port, signal(number, times)) for number, port in enumerate(system.inputs)}
    return Stimulus(times, signals)


def _within(port: Port, values: np.ndarray) -> np.ndarray:
    """Turn 0 and 1 into numbers that the port allows, two different ones where it allows two."""
    low = getattr(port, "low", -np.inf)
    high = getattr(port, "high", np.inf)
    if low <= 0.0 and high >= 1.0:
        return values
    least = low if np.isfinite(low) else high - 1.0
    return np.where(values > 0.0, min(least + 1.0, high), least)


def _moments(duration: float) -> tuple[float, ...]:
    """Off the grid: events come at their exact times."""
    return duration * 0.2718, duration * 0.5772, duration * 0.8414


def _switching(port: int, times: np.ndarray) -> np.ndarray:
    crossed = np.searchsorted(np.array(_moments(float(times[-1]))), times, side="right")
    return ((crossed + port) % 2).astype(float)


def _cut(stimulus: Stimulus, share: float) -> Stimulus:
    kept = stimulus.times <= share * stimulus.times[-1]
    return Stimulus(stimulus.times[kept], {name: values[kept] for name, values in stimulus.inputs.items()})


def _differences(one: tuple[str, Any], other: tuple[str, Any]) -> Iterable[str]:
    """Describe where two traces with the same inputs part, as far as the shorter one goes."""
    (name, a), (_, b) = one, other
    for signal in a.signals:
        n = min(len(a.times), len(b.times))
        x, y = a.signals[signal][:n], b.signals[signal][:n]
        apart = np.flatnonzero(np.abs(x - y) > _CLOSE * np.maximum(1.0, np.abs(x)))
        if len(apart):
            i = int(apart[0])
            yield f"With {name}, '{signal}' at {a.times[i]:g} was {x[i]:.9g} once and {y[i]:.9g} another time."
