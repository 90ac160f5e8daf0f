"""Execute a counterexample file again: is the failure still there?"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.query import Answer, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import ReplayOutcome, SimulationStatus, Verdict
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.logic.stl.formula import can_be_certain
from bbfalsify.records.counterexample import Counterexample, SystemRecord
from bbfalsify.records.own_files import is_own
from bbfalsify.running.confirm import TRIES, compare
from bbfalsify.running.execution import Execution
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.running.workers.assignment import Judge
from bbfalsify.running.workers.pool import WorkerPool
from bbfalsify.systems import System, load_system
from bbfalsify.systems.parameters import value_problems
from bbfalsify.systems.programs.launching import Launch
from bbfalsify.systems.references import DATA, resolve_reference

_TRIES_IF_FLAKY = 10


@dataclass(frozen=True, eq=False)
class ReplayResult:
    outcome: ReplayOutcome
    counterexample: Counterexample
    reproduced: int
    tries: int
    answers: tuple[Answer, ...]
    explanation: str
    largest_difference: float | None
    """Between the outputs then and now, over all samples and outputs; None where there is nothing to compare."""

    @property
    def rate(self) -> float:
        return self.reproduced / self.tries


def replay(
    file: str | Path | Counterexample,
    system: System | None = None,
    *,
    judge: Judge | None = None,
    tries: int | None = None,
    time_limit_s: float | None = None,
) -> ReplayResult:
    """Replay a file on the system it names, or on another one (a newer version, say)."""
    counterexample = file if isinstance(file, Counterexample) else Counterexample.read(file)
    if system is None:
        system = load_recorded(counterexample.system, None if isinstance(file, Counterexample) else file)
    check_ports(counterexample, system)
    judge = judge if judge is not None else _judge(counterexample, system)
    queries = repetitions(counterexample, tries)
    limit = time_limit_s if time_limit_s is not None else counterexample.time_limit_s
    # What failed for want of memory fails again only with the same limit; elsewhere than on Linux there is none.
    memory = counterexample.memory_limit_mb if sys.platform.startswith("linux") else None
    execution = Execution(time_limit=limit, memory_limit=memory)
    with WorkerPool(system, judge, execution, seeds=seeds_of(counterexample)) as pool:
        answers = tuple(pool.answers(queries))
    return conclude(counterexample, answers, unbounded=_is_unbounded(judge))


def repetitions(counterexample: Counterexample, tries: int | None = None, name: str = "replay") -> list[Query]:
    """The queries that repeat it, with the seed of the one that found it."""
    tries = tries if tries is not None else TRIES if counterexample.status == "confirmed" else _TRIES_IF_FLAKY
    if tries < 1:
        raise UserError(f"replay needs at least one try, not {tries}.")
    stimulus = counterexample.stimulus
    return [Query(f"{name}/{i}", stimulus, True, counterexample.seed.query) for i in range(1, tries + 1)]


def seeds_of(counterexample: Counterexample) -> SeedTree:
    return SeedTree(counterexample.seed.root, counterexample.seed.path)


def conclude(counterexample: Counterexample, answers: Sequence[Answer], *, unbounded: bool) -> ReplayResult:
    """Judge the repetitions; no finite trace satisfies an `unbounded` requirement, so not violating it is enough."""
    crash = counterexample.simulation is not SimulationStatus.OK
    if crash:
        reproduced = sum(answer.status is counterexample.simulation for answer in answers)
        same_moment, difference = True, None
    else:
        found = compare(answers, 0, counterexample.judgement)
        reproduced, same_moment = found.reproduced, found.same_moment
        difference = _largest_difference(counterexample.trace, found.trace, counterexample.outputs)
    tries = len(answers)
    good = (Verdict.SATISFIED, Verdict.INCONCLUSIVE) if unbounded or crash else (Verdict.SATISFIED,)
    holds = sum(answer.ok and answer.judgements[0].verdict in good for answer in answers)
    flaky = counterexample.status == "flaky"
    if reproduced == tries and same_moment:
        outcome = ReplayOutcome.SAME
        text = f"the simulation failed again ({counterexample.simulation})" if crash else "violated at the same moment"
    elif flaky and reproduced:
        outcome, text = ReplayOutcome.SAME, f"violated in {reproduced} of {tries} tries, as flaky as before"
    elif holds == tries:
        outcome = ReplayOutcome.FIXED
        decided = all(answer.judgements[0].verdict is Verdict.SATISFIED for answer in answers)
        text = "the requirement holds now" if decided else "the requirement is not violated any more"
        text = f"the simulation does not fail any more, and {text}" if crash else text
    elif reproduced == tries:
        outcome, text = ReplayOutcome.CHANGED, "violated, but at another moment"
    elif reproduced:
        outcome, text = ReplayOutcome.CHANGED, f"violated in only {reproduced} of {tries} tries"
    else:
        outcome, text = ReplayOutcome.CHANGED, _what_happened(answers)
    return ReplayResult(outcome, counterexample, reproduced, tries, tuple(answers), text, difference)


def _what_happened(answers: Sequence[Answer]) -> str:
    failed = next((answer for answer in answers if not answer.ok), None)
    if failed is not None:
        return f"the simulation failed ({failed.status}): {failed.message}"
    if any(answer.violated for answer in answers):
        return "the simulation does not fail any more, but it violates the requirement"
    return "neither violated nor satisfied: the verdict is inconclusive"


def _largest_difference(then: Trace | None, now: Trace | None, outputs: Mapping[str, Any]) -> float | None:
    if then is None or now is None or not outputs:
        return None
    return max(float(np.max(np.abs(then.signals[name] - now.signals[name]))) for name in outputs)


def load_recorded(record: SystemRecord, file: str | Path | None) -> Any:
    return load_system(record.reference, base=recorded_place(record, file))


def recorded_place(record: SystemRecord, file: str | Path | None) -> Path:
    """Look where the run found the system; if it is gone from there, beside the file and in the current folder."""
    places = [Path(record.base)]
    if file is not None:
        places.append(Path(file).resolve().parent)
    places.append(Path("."))
    errors: list[UserError] = []
    for place in dict.fromkeys(places):
        try:
            found = resolve_reference(record.reference, place)
            if found.command is not None and (problems := Launch(found.command, found.folder).problems()):
                raise UserError(problems)
            return place
        except UserError as error:
            errors.append(error)
    raise errors[0]


def is_foreign(record: SystemRecord, place: Path) -> bool:
    """Tell whether loading the system from there runs code that nobody here has chosen."""
    found = resolve_reference(record.reference, place)
    if found.file is not None and found.file.suffix.lower() in DATA:
        return False
    return place != Path(record.base) or not is_own(record.reference, record.base, record.mark)


def check_ports(counterexample: Counterexample, system: System) -> None:
    """A file for another system is a mistake to report, not a failure to replay."""
    problems = []
    for what, ports, needed in (
        ("input", system.inputs, counterexample.inputs),
        ("output", system.outputs, counterexample.outputs),
    ):
        names = {port.name for port in ports}
        if needed and names != set(needed):
            expected, got = ", ".join(sorted(needed)) or "none", ", ".join(sorted(names)) or "none"
            problems.append(
                Problem(f"the counterexample has the {what}s {expected}; the system '{system.name}' has {got}.")
            )
    problems += value_problems(system, counterexample.parameters)
    if problems:
        raise UserError(problems)


def _is_unbounded(judge: Judge) -> bool:
    return any(never_seen_to_hold(r) for r in getattr(judge, "requirements", ()))


def never_seen_to_hold(requirement: Requirement) -> bool:
    """An unbounded `always` is never satisfied by a trace that ends."""
    return not can_be_certain(requirement.formula.root, True)


def _judge(counterexample: Counterexample, system: System) -> Judge:
    record = counterexample.requirement
    signals = [port.name for port in (*system.inputs, *system.outputs)]
    formula = parse_stl(record.stl, signals=signals)
    return RequirementsJudge([Requirement(record.id, record.text, formula, record.time, record.period)])
