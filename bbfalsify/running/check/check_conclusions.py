"""Conclusions of a check: verdicts, probabilities, counterexample files, notes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from bbfalsify.automata.equivalence import difference
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.checking.claims import CheckProgress, CheckVerdict, Claim, Violation
from bbfalsify.engines.checking.settings import Options
from bbfalsify.engines.checking.word_probability import why_not_rankable, word_probability
from bbfalsify.kernel import compile_network
from bbfalsify.logic.ltl import vacuity
from bbfalsify.modelling import Network, Profile
from bbfalsify.records.counterexample import SeedRecord
from bbfalsify.records.manifest import versions
from bbfalsify.records.run_files import COUNTEREXAMPLES
from bbfalsify.records.word_counterexample import PropertyRecord, WordCounterexample
from bbfalsify.results.check_result import Cause, CheckedRequirement, UseRisk
from bbfalsify.running.check.check_task import Task
from bbfalsify.running.driver import Driver
from bbfalsify.running.falsify.conclusions import worker_notes
from bbfalsify.systems.sampled import SampledSystem
from bbfalsify.systems.symbols import SymbolSystem

MANY_OUTPUTS = 100
"""More different answers are no alphabet: the mapper should abstract from numbers, times and identifiers."""


def checked(
    number: int,
    claim: Claim,
    progress: CheckProgress,
    options: Options,
    file: str | None,
    probability: Estimate | None,
    risk: UseRisk | None = None,
    causes: tuple[Cause, ...] = (),
) -> CheckedRequirement:
    """Return the row of results about one claim."""
    verdict, violation = progress.verdict(number), progress.violations.get(number)
    if violation is not None:
        return CheckedRequirement(
            id=claim.id,
            text=claim.text,
            formula=claim.property.text,
            verdict=verdict,
            bound=violation.rests_on,
            rests_on_bound=violation.rests_on is not None,
            prefix=violation.lasso.prefix,
            loop=violation.lasso.loop,
            outputs=violation.outputs,
            status=_status(violation),
            probability=probability,
            risk=risk,
            causes=causes,
            file=file,
        )
    machine = progress.hypothesis
    return CheckedRequirement(
        id=claim.id,
        text=claim.text,
        formula=claim.property.text,
        verdict=verdict,
        bound=options.max_states if verdict is not CheckVerdict.STOPPED else progress.tested_bound or None,
        rests_on_bound=verdict is CheckVerdict.SATISFIED_UP_TO_BOUND,
        vacuous=None if machine is None else vacuity(machine, claim.property),
    )


def probabilities_of(
    profile: Profile | Network | None, box: SymbolSystem, progress: CheckProgress, seeds: SeedTree
) -> tuple[dict[int, Estimate], list[str]]:
    """Return the probability that a use starts with each violating word, or why it is unknown."""
    if profile is None or not progress.violations:
        return {}, []
    network = profile.network if isinstance(profile, Profile) else profile
    reason = why_not_rankable(box.alphabet, network.actions)
    if reason is not None:
        return {}, [f"violations have no probability: {reason}"]
    model = compile_network(network)
    found = {}
    for number, violation in progress.violations.items():
        word = violation.lasso.prefix + violation.lasso.loop
        found[number] = word_probability(model, word, seeds.child("usage", number))
    loops = any(violation.lasso.loop for violation in progress.violations.values())
    times = "the order of actions counts, not their times" if isinstance(box, SampledSystem) else ""
    rounds = "of a loop, one round counts" if loops else ""
    return found, [f"probabilities: {text}" for text in (times, rounds) if text]


def risks_of(
    profile: Profile | Network | None, task: Task, progress: CheckProgress, seeds: SeedTree
) -> tuple[dict[int, UseRisk], list[str]]:
    """Return the risk of any violation of each violated claim, and what it rests on."""
    from bbfalsify.engines.checking.use_risk import use_risk

    machine = progress.hypothesis
    if profile is None or machine is None or not progress.violations:
        return {}, []
    network = profile.network if isinstance(profile, Profile) else profile
    if why_not_rankable(machine.inputs, network.actions) is not None or isinstance(task.box, SampledSystem):
        return {}, []
    found, notes = {}, []
    for number in progress.violations:
        try:
            requirement = task.claims[number].property
            risk = use_risk(network, machine, requirement, task.options.within, seeds.child("risk", number))
            if risk is not None:
                found[number] = risk
        except (UserError, ValueError) as error:
            notes.append(f"{task.claims[number].id}: the risk in use is unknown: {error}")
    if found:
        tested = f"tested up to {progress.tested_bound} states" if progress.tested_bound else "not tested to its end"
        notes.append(f"the risk in use holds if the learned machine is right ({tested})")
    return found, notes


def write_counterexamples(
    folder: Path | None, task: Task, progress: CheckProgress, probabilities: Mapping[int, Estimate]
) -> dict[int, str]:
    """Write a file per violation; return their names by the numbers of the claims."""
    files: dict[int, str] = {}
    for number, violation in progress.violations.items() if folder is not None else ():
        claim, lasso = task.claims[number], violation.lasso
        path = Path(folder or "", COUNTEREXAMPLES, f"{claim.id}.json")
        WordCounterexample(
            PropertyRecord(claim.id, claim.text or claim.property.text, claim.property.form, claim.property.source),
            lasso.prefix,
            lasso.loop,
            violation.outputs,
            violation.rests_on or 0,
            _status(violation),
            violation.reproduced,
            violation.tries,
            SeedRecord(task.terms.seed, "word"),
            task.record,
            versions(),
            probabilities.get(number),
            task.terms.execution.time_limit,
        ).write(path)
        files[number] = str(path)
    return files


def _status(violation: Violation) -> Literal["confirmed", "flaky", "observed"]:
    if not violation.tries:
        return "observed"
    return "confirmed" if violation.status == "confirmed" else "flaky"


def notes_on_check(
    task: Task, driver: Driver, progress: CheckProgress, tree: ObservationTree, *reasons: str
) -> list[str]:
    """Notes that a reader needs; `reasons` why the check ended come last."""
    box = task.box
    notes = [*worker_notes(box, task.terms.execution.jobs), *driver.poll.notes(), *progress.glitches]
    if set(task.sent) != set(box.alphabet):
        notes.append(f"only {', '.join(task.sent)} were sent: verdicts and model say nothing about other symbols")
    for status, count in driver.failures.items():
        why = f": {message}" if (message := progress.failures.get(status)) else ""
        notes.append(f"{count} uses failed ({status}{why}); what follows a failure is the output '{status}'")
    if progress.hypothesis is not None and task.older is not None:
        notes.append(_compared(progress.hypothesis, task.older))
    if progress.hypothesis is not None:
        seen = sorted({*progress.hypothesis.outputs, *tree.output_names()})  # a violation may end the learning early
        for claim in task.claims:
            notes += [f"{claim.id}: {_unseen(p)}" for p in claim.property.problems(box.alphabet, seen)]
    outputs = len(tree.output_names())
    if outputs > MANY_OUTPUTS:
        notes.append(
            f"{outputs} different outputs were seen: abstract from numbers, times and identifiers in "
            "the mapper, or the system has too many states to be learned"
        )
    if box.capabilities.single_session:
        notes.append("the system cannot be reset: what is not violated has been tried in one single run, and no more")
    return [*notes, *filter(None, reasons)]


def _unseen(problem: Problem) -> str:
    """Describe an output of a formula that never came: perhaps a typing error, perhaps good news."""
    what = problem.message.rstrip(".")
    said = f"{what.removeprefix('unknown ')} was never seen" if what.startswith("unknown ") else what
    return f"{said}; seen were {', '.join(problem.allowed)}"


def _compared(machine: MealyMachine, older: MealyMachine) -> str:
    """Describe the change since the older version, as far as this one has been learned."""
    if set(machine.inputs) != set(older.inputs):
        return "the older model has other input symbols, so the two are not compared"
    word = difference(older, machine)
    if word is None:
        return "the model is that of the older version: no word tells them apart"
    return (
        f"the older version answered '{' '.join(word)}' with '{' '.join(older.run(word))}', "
        f"this one with '{' '.join(machine.run(word))}'"
    )
