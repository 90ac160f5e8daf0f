"""What a check concludes from what it has learned: verdicts, probabilities, counterexample files, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bbfalsify.automata.equivalence import difference
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.core.errors import Problem
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.checking.claims import CheckProgress, CheckVerdict, Claim
from bbfalsify.engines.checking.strategy import Options
from bbfalsify.engines.checking.word_probability import why_not_rankable, word_probability
from bbfalsify.kernel import compile_network
from bbfalsify.logic.ltl import vacuity
from bbfalsify.modelling import Network, Profile
from bbfalsify.records.counterexample import SeedRecord, SystemRecord
from bbfalsify.records.run_directory import RunDirectory, versions
from bbfalsify.records.word_counterexample import PropertyRecord, WordCounterexample
from bbfalsify.results.check_result import CheckedRequirement
from bbfalsify.running.driver import Driver, Ended
from bbfalsify.running.falsify.conclusions import worker_notes
from bbfalsify.systems.sampled import SampledSystem
from bbfalsify.systems.symbols import SymbolSystem

MANY_OUTPUTS = 100
"""So many different answers are no alphabet: the mapper should abstract from numbers, times and identifiers."""


def checked(
    number: int,
    claim: Claim,
    progress: CheckProgress,
    options: Options,
    file: str | None,
    probability: Estimate | None,
) -> CheckedRequirement:
    verdict, violation = progress.verdict(number), progress.violations.get(number)
    common = {"id": claim.id, "text": claim.text, "formula": claim.property.text, "verdict": verdict}
    if violation is not None:
        return CheckedRequirement(
            **common,
            bound=violation.rests_on,
            rests_on_bound=violation.rests_on is not None,
            prefix=violation.lasso.prefix,
            loop=violation.lasso.loop,
            outputs=violation.outputs,
            status=violation.status if violation.tries else "observed",
            probability=probability,
            file=file,
        )
    machine = progress.hypothesis
    return CheckedRequirement(
        **common,
        bound=options.max_states if verdict is not CheckVerdict.STOPPED else progress.tested_bound or None,
        rests_on_bound=verdict is CheckVerdict.SATISFIED_UP_TO_BOUND,
        vacuous=None if machine is None else vacuity(machine, claim.property),
    )


def probabilities_of(
    profile: Profile | Network | None, box: SymbolSystem, progress: CheckProgress, seeds: SeedTree
) -> tuple[dict[int, Estimate], list[str]]:
    """Of each violation, that a use begins with it; or why nobody can say."""
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


def write_counterexamples(
    directory: RunDirectory | None,
    claims: Sequence[Claim],
    progress: CheckProgress,
    record: SystemRecord,
    seed: int,
    time_limit_s: float | None,
    probabilities: Mapping[int, Estimate],
) -> dict[int, str]:
    files = {}
    for number, violation in progress.violations.items():
        claim, lasso = claims[number], violation.lasso
        if directory is None:
            continue
        path = directory.path / "counterexamples" / f"{claim.id}.json"
        WordCounterexample(
            PropertyRecord(claim.id, claim.text or claim.property.text, claim.property.form, claim.property.source),
            lasso.prefix,
            lasso.loop,
            violation.outputs,
            violation.rests_on or 0,
            violation.status if violation.tries else "observed",
            violation.reproduced,
            violation.tries,
            SeedRecord(seed, "word"),
            record,
            versions(),
            probabilities.get(number),
            time_limit_s,
        ).write(path)
        files[number] = str(path)
    return files


def notes_on_check(
    box: SymbolSystem,
    symbols: Sequence[str],
    jobs: int,
    driver: Driver,
    progress: CheckProgress,
    claims: Sequence[Claim],
    tree: ObservationTree,
    older: MealyMachine | None,
    ended: Ended,
    non_deterministic: str,
) -> list[str]:
    notes = [*worker_notes(box, jobs), *driver.poll.notes(), *progress.glitches]
    if set(symbols) != set(box.alphabet):
        notes.append(f"only {', '.join(symbols)} were sent: verdicts and model say nothing about other symbols")
    for status, count in driver.failures.items():
        why = f": {message}" if (message := progress.failures.get(status)) else ""
        notes.append(f"{count} uses failed ({status}{why}); what follows a failure is the output '{status}'")
    if progress.hypothesis is not None and older is not None:
        notes.append(_compared(progress.hypothesis, older))
    if progress.hypothesis is not None:
        seen = progress.hypothesis.outputs
        for number, claim in enumerate(claims):
            if number not in progress.violations:
                notes += [f"{claim.id}: {_unseen(p)}" for p in claim.property.problems(box.alphabet, seen)]
    outputs = len(tree.output_names())
    if outputs > MANY_OUTPUTS:
        notes.append(
            f"{outputs} different outputs were seen: abstract from numbers, times and identifiers in "
            "the mapper, or the system has too many states to be learned"
        )
    if box.capabilities.single_session:
        notes.append("the system cannot be reset: what is not violated has been tried in one single run, and no more")
    return [*notes, *(text for text in (non_deterministic, ended.message) if text)]


def _unseen(problem: Problem) -> str:
    """About an output of a formula that never came: perhaps a typing error, perhaps good news."""
    what = problem.message.rstrip(".")
    said = f"{what.removeprefix('unknown ')} was never seen" if what.startswith("unknown ") else what
    return f"{said}; seen were {', '.join(problem.allowed)}"


def _compared(machine: MealyMachine, older: MealyMachine) -> str:
    """What has changed since the older version, as far as this one has been learned."""
    if set(machine.inputs) != set(older.inputs):
        return "the older model has other input symbols, so the two are not compared"
    word = difference(older, machine)
    if word is None:
        return "the model is that of the older version: no word tells them apart"
    return (
        f"the older version answered '{' '.join(word)}' with '{' '.join(older.run(word))}', "
        f"this one with '{' '.join(machine.run(word))}'"
    )
