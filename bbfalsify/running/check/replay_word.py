"""Replay of a violation by a word: SAME, FIXED or CHANGED."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bbfalsify.core.errors import UserError
from bbfalsify.core.query import WordQuery
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import ReplayOutcome
from bbfalsify.engines.checking.box import observed
from bbfalsify.logic.ltl import Property, first_bad_prefix, read_property, violates
from bbfalsify.records.word_counterexample import Word, WordCounterexample
from bbfalsify.running.check.sampled_check import resampled
from bbfalsify.running.confirm import TRIES
from bbfalsify.running.execution import Execution
from bbfalsify.running.replay import load_recorded
from bbfalsify.running.workers.pool import WorkerPool
from bbfalsify.systems.interface import System
from bbfalsify.systems.symbols import SymbolSystem, check_word


@dataclass(frozen=True)
class WordReplay:
    outcome: ReplayOutcome
    counterexample: WordCounterexample
    reproduced: int
    tries: int
    explanation: str
    outputs: Word
    """Answers of the last try."""


def replay_word(
    file: str | Path | WordCounterexample,
    system: SymbolSystem | None = None,
    *,
    tries: int | None = None,
    time_limit_s: float | None = None,
) -> WordReplay:
    """Execute the word on the system that the file names, or on another one."""
    found = file if isinstance(file, WordCounterexample) else WordCounterexample.read(file)
    tries = TRIES if tries is None else tries
    if tries < 1:
        raise UserError(f"replay needs at least one try, not {tries}.")
    if system is None:
        system = load_recorded(found.system, None if isinstance(file, WordCounterexample) else file)
    if isinstance(system, System) and found.requirement.form == "stl":
        system = resampled(system, found.requirement.formula)
    if not isinstance(system, SymbolSystem):
        raise UserError(f"the system '{system.name}' takes signals; the counterexample is a word of symbols.")
    check_word(system, found.executed)
    limit = time_limit_s if time_limit_s is not None else found.time_limit_s
    seeds = SeedTree(found.seed.root, found.seed.path)
    with WorkerPool(system, None, Execution(time_limit=limit), seeds=seeds) as pool:
        queries = [WordQuery(f"replay/{i}", found.executed) for i in range(tries)]
        seen = [observed(query.word, answer) for query, answer in zip(queries, pool.answers(queries), strict=True)]
    requirement = read_property(found.requirement.form, found.requirement.formula)
    return _conclude(found, requirement, seen, system.alphabet)


def _conclude(
    found: WordCounterexample, requirement: Property, seen: Sequence[Word], alphabet: Sequence[str]
) -> WordReplay:
    again = sum(outputs == found.expected for outputs in seen)
    violating = sum(outputs == found.expected or _violated(found, requirement, outputs, alphabet) for outputs in seen)
    if again == len(seen):
        outcome, text = ReplayOutcome.SAME, "the same answers, which violate the requirement"
    elif not violating:
        outcome, text = ReplayOutcome.FIXED, "the answers to this word do not violate the requirement any more"
    elif violating < len(seen):
        outcome, text = ReplayOutcome.CHANGED, f"violated in only {violating} of {len(seen)} tries"
    else:
        outcome, text = ReplayOutcome.CHANGED, "violated, but with other answers"
    return WordReplay(outcome, found, again, len(seen), text, seen[-1])


def _violated(found: WordCounterexample, requirement: Property, outputs: Word, alphabet: Sequence[str]) -> bool:
    if first_bad_prefix(requirement, found.executed, outputs, inputs=alphabet) is not None:
        return True
    if not found.loop:
        return False
    # The loop may answer in another way now; its last round says how it would go on, if it is like the one before.
    once, letters = len(found.loop), list(zip(found.executed, outputs, strict=True))
    settled = found.rounds > 1 and outputs[-once:] == outputs[-2 * once : -once]
    return settled and violates(requirement, letters[:-once], letters[-once:], inputs=alphabet)
