"""Promises of a system of symbols: it works, repeats, forgets, is causal, and can what it declares."""

from __future__ import annotations

import statistics
from dataclasses import replace

from bbfalsify.core.query import Answer, WordQuery
from bbfalsify.core.seeds import SeedTree
from bbfalsify.running.doctor.patient import Patient, Use
from bbfalsify.systems import SymbolSystem

SeenWord = tuple[WordQuery, Answer]
"""One use and its answer, from which to start."""

WORDS, WORD_LENGTH = 10, 12
MANY_OUTPUTS = 60


def examine_symbols(patient: Patient, system: SymbolSystem, seeds: SeedTree) -> SeenWord | None:
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


def examine_symbol_abilities(patient: Patient, system: SymbolSystem, seen: SeenWord, use: Use) -> None:
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
