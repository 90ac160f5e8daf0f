"""The first thing to do with a new adapter: open the system, use it, reset it, and see whether it keeps its promises.

    report = examine(load_system("adapters/heater"))
    report.healthy, report.problems, report.remarks

What is checked, because everything later rests on it:

    it works        no crash, hang or malformed answer, also for the shortest use
    it repeats      the same use from reset gives the same answer
    it forgets      … also after another use in between: reset really resets
    it is causal    the answers up to a moment do not depend on what is done after it
    it keeps its step, where it declares one: finer samples show nothing new
    it can          what it declares (batch, stepwise, snapshot, forkable): used so, it answers as it does otherwise

Problems make results wrong; remarks are worth knowing.  The system runs in a worker process, as in every run.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from bbfalsify.core.errors import SystemFailure
from bbfalsify.core.query import Answer, AnyQuery, Query, WordQuery
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus, Trace, sample_times
from bbfalsify.core.verdict import Judgement
from bbfalsify.running.doctor.probes import Probe, changes_between_steps
from bbfalsify.running.driver import Driver
from bbfalsify.running.execution import Execution
from bbfalsify.systems import Capabilities, Port, SymbolSystem, System
from bbfalsify.systems.interface import own_step, unit_problems

Signal = Callable[[int, np.ndarray], np.ndarray]
"""The values of an input, by its number and the times."""

SAMPLES = 100
WORDS, WORD_LENGTH = 10, 12
MANY_OUTPUTS = 60
_CLOSE = 1e-9


@dataclass
class Examination:
    """Findings of the doctor; costs in seconds."""

    system: str
    kind: str
    capabilities: dict[str, Any]
    checks: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    reset_s: float | None = None
    step_s: float | None = None
    uses: int = 0

    @property
    def healthy(self) -> bool:
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "healthy": self.healthy}


def examine(
    system: System | SymbolSystem, *, duration: float = 10.0, seed: int = 1, time_limit_s: float = 60.0
) -> Examination:
    """Use the system a few dozen times.  Signals are zeros, ones and steps between them, over `duration` seconds."""
    symbolic = isinstance(system, SymbolSystem)
    declared = {f.name: getattr(system.capabilities, f.name) for f in fields(Capabilities)}
    report = Examination(
        system.name, "symbols" if symbolic else "signals", {k: v for k, v in declared.items() if v not in (False, None)}
    )
    judge, execution, seeds = None if symbolic else _no_judgement, Execution(time_limit=time_limit_s), SeedTree(seed)

    def use(queries: Sequence[AnyQuery], way: str) -> list[Answer]:
        """Use a worker of its own: of an exclusive system there may be only one at a time."""
        with Driver(Probe(system, way), judge, execution, seeds=seeds) as driver:
            return _Patient(driver, report).use(queries)

    try:
        with Driver(system, judge, execution, seeds=seeds) as driver:
            patient = _Patient(driver, report)
            if isinstance(system, SymbolSystem):
                word = _examine_symbols(patient, system, seeds.child("doctor"))
            else:
                report.remarks += map(str, unit_problems(system))
                use_of_signals = _examine_signals(patient, system, duration)
        if isinstance(system, SymbolSystem):
            if word is not None:
                _examine_symbol_abilities(patient, system, word, use)
        elif use_of_signals is not None:
            _examine_abilities(patient, system, use_of_signals, use)
    except SystemFailure as failure:
        report.problems.append(str(failure))
    return report


def _no_judgement(trace: Trace, *, outliers: bool = False, shortfalls: bool = False) -> tuple[Judgement, ...]:
    return ()


@dataclass
class _Patient:
    driver: Driver
    report: Examination

    def use(self, queries: Sequence[AnyQuery]) -> list[Answer]:
        """Answers; each one that failed is a problem, told once per way of failing."""
        answers = self.driver.rerun(queries)
        self.report.uses += len(answers)
        for query, answer in zip(queries, answers, strict=True):
            if not answer.ok:
                self.problem(f"{_shown(query)}: {answer.status.value.replace('_', ' ')}, {answer.message}")
        return answers

    def problem(self, text: str) -> None:
        if text not in self.report.problems:
            self.report.problems.append(text)

    def check(self, what: str, differences: Iterable[str]) -> None:
        """One promise: kept, or broken with the first difference as evidence."""
        first = next(iter(differences), None)
        if first is None:
            self.report.checks.append(what)
        else:
            self.problem(f"not so: {what}. {first}")


# ---------------------------------------------------------------------- systems with signals


_Seen = tuple[Query, Answer]
_SeenWord = tuple[WordQuery, Answer]
"""One use and its answer, from which to start."""
_Use = Callable[[Sequence[AnyQuery], str], list[Answer]]
"""Use the system in a certain way (see `Probe`)."""


def _examine_signals(patient: _Patient, system: System, duration: float) -> _Seen | None:
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


def _examine_abilities(patient: _Patient, system: System, seen: _Seen, use: _Use) -> None:
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


def _examine_symbol_abilities(patient: _Patient, system: SymbolSystem, seen: _SeenWord, use: _Use) -> None:
    query, truth = seen

    def compare(what: str, way: str, how: str) -> None:
        [answer] = use([replace(query, name=f"doctor/{way}", seed_name=query.seed_name)], way)
        if answer.ok:
            word, then, now = (" ".join(symbols) for symbols in (query.word, truth.symbols, answer.symbols))
            unlike = [f"'{word}' was answered '{then}', and '{now}' {how} before each symbol."]
            patient.check(what, [] if then == now else unlike)

    if system.capabilities.snapshot:
        compare("it saves and restores: from a saved state, the same answers", "symbols", "with a restored state")
    if system.capabilities.forkable:
        compare("it forks: what is done to a copy changes nothing", "branches", "with a fork that went astray")


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


# ---------------------------------------------------------------------- systems with symbols


def _examine_symbols(patient: _Patient, system: SymbolSystem, seeds: SeedTree) -> _SeenWord | None:
    rng = seeds.child("words").rng()
    alphabet = system.alphabet
    words = [(symbol,) for symbol in alphabet]
    words += [tuple(alphabet[i] for i in rng.integers(0, len(alphabet), WORD_LENGTH)) for _ in range(WORDS)]
    rounds = [words, words[::-1]]
    queries = [
        WordQuery(f"doctor/{r}/{i}", word, f"doctor/{' '.join(word)}")
        for r, turn in enumerate(rounds)
        for i, word in enumerate(turn)
    ]
    answers = patient.use(queries)
    [empty] = patient.use([WordQuery("doctor/empty", ())])
    if not all(a.ok for a in (*answers, empty)):
        return None
    first, second = answers[: len(words)], answers[len(words) :][::-1]
    patient.report.checks.append("it works, also when nothing is asked")
    unlike = (
        f"'{' '.join(word)}' was answered '{' '.join(a.symbols)}' once and '{' '.join(b.symbols)}' another time."
        for word, a, b in zip(words, first, second, strict=True)
        if a.symbols != b.symbols
    )
    patient.check("it repeats and forgets: the same word gets the same answers, in any order of words", unlike)
    single = dict(zip(alphabet, (a.symbols[0] for a in first), strict=False))
    future = (
        f"'{word[0]}' was answered '{single[word[0]]}' alone and '{a.symbols[0]}' before '{' '.join(word[1:])}'."
        for word, a in zip(words[len(alphabet) :], first[len(alphabet) :], strict=True)
        if a.symbols[0] != single[word[0]]
    )
    patient.check("it is causal: the first answer does not depend on what follows", future)
    outputs = {symbol for a in answers for symbol in a.symbols}
    if len(outputs) == 1:
        patient.report.remarks.append(f"every answer was '{next(iter(outputs))}'")
    if len(outputs) > MANY_OUTPUTS:
        patient.report.remarks.append(f"{len(outputs)} different answers: map them to fewer, or nothing can be learned")
    patient.report.reset_s = empty.seconds
    long = [a.seconds for a in answers if len(a.symbols) == WORD_LENGTH]
    # Some servers take longer to see off a client that says nothing; then all that is known is an upper bound.
    more = statistics.median(long) - empty.seconds
    patient.report.step_s = (more if more > 0 else statistics.median(long)) / WORD_LENGTH
    return queries[len(words) - 1], first[-1]


def _shown(query: AnyQuery) -> str:
    return f"'{' '.join(query.word)}'" if isinstance(query, WordQuery) else f"with {query.name.rpartition('/')[2]}"
