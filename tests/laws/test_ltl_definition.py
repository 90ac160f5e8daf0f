"""Automata of random temporal formulas against the definition of the operators, word by word.

`words.satisfies` follows the definitions on ultimately periodic words and shares nothing with the translation.
"""

import numpy as np
import pytest

from bbfalsify.logic.ltl import find_violation, first_bad_prefix, hoa, hoa_text, violates
from bbfalsify.logic.ltl.ltl_formula import Atom, Unary
from bbfalsify.logic.ltl.ltl_parser import parse
from bbfalsify.logic.ltl.properties import LtlfProperty, LtlProperty
from bbfalsify.logic.ltl.tableau import translate
from bbfalsify.logic.ltl.word_semantics import satisfies
from tests.support.formulas import INPUTS, random_formula, random_machine, random_word, satisfies_finite

LONGEST = 20
"""Operators and atoms in a formula."""


def numbered(automaton, word):
    return [automaton.number(*letter) for letter in word]


def lassos(rng, count):
    for _ in range(count):
        yield random_word(rng, int(rng.integers(0, 5))), random_word(rng, int(rng.integers(1, 5)))


def check_infinite(seed, formulas, words):
    rng = np.random.default_rng(seed)
    seen = {True: 0, False: 0}
    for _ in range(formulas):
        formula = random_formula(rng, int(rng.integers(1, LONGEST + 1)))
        assert parse(str(formula)) == formula
        wanted = LtlProperty(formula)
        letters = wanted.letters(INPUTS)
        bad, good = wanted.bad_words(INPUTS), translate(formula, letters)
        watch = wanted.watch(INPUTS)
        for prefix, loop in lassos(rng, words):
            satisfied = satisfies(formula, prefix, loop)
            u, v = numbered(bad, prefix), numbered(bad, loop)
            assert bad.accepts(u, v) is not satisfied, (str(formula), prefix, loop)
            assert good.accepts(u, v) is satisfied, (str(formula), prefix, loop)
            assert watch.first_bad(u + v) is None or not satisfied, (str(formula), prefix, loop)
            seen[satisfied] += 1
    assert min(seen.values()) > 0.2 * sum(seen.values())  # both answers are tried


def test_a_thousand_formulas():
    check_infinite(seed=11, formulas=1000, words=12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_twenty_thousand_formulas(seed):
    check_infinite(seed=100 + seed, formulas=5000, words=25)


@pytest.mark.parametrize(("seed", "formulas"), [(5, 400), pytest.param(6, 5000, marks=pytest.mark.slow)])
def test_finite_words(seed, formulas):
    rng = np.random.default_rng(seed)
    end = Atom("in", ("c",))
    for k in range(formulas):
        formula = random_formula(rng, int(rng.integers(1, 16)), finite=True)
        ends = end if k % 2 else None
        wanted = LtlfProperty(formula, ends=ends)
        bad = wanted.bad_words(INPUTS)
        for _ in range(12):
            word = random_word(rng, int(rng.integers(1, 8)))
            lengths = [n for n in range(1, len(word) + 1) if ends is None or word[n - 1][0] == "c"]
            first = next((n for n in lengths if not satisfies_finite(formula, word[:n])), None)
            assert wanted.watch(INPUTS).first_bad(numbered(bad, word)) == first, (str(formula), word)
            if first is not None:
                assert bad.accepts(numbered(bad, word), numbered(bad, word)), (str(formula), word)


def test_bad_prefixes_are_seen_as_soon_as_they_are():
    """A prefix that is not bad has a continuation that satisfies: found by the automaton of the formula, from there."""
    rng = np.random.default_rng(8)
    longest = 0
    for _ in range(300):
        formula = random_formula(rng, int(rng.integers(1, 13)))
        wanted = LtlProperty(formula)
        word = random_word(rng, 6)
        length = first_bad_prefix(wanted, *zip(*word, strict=True), inputs=INPUTS)
        if not length:
            continue
        longest = max(longest, length)
        rest = word[length:] or random_word(rng, 1)
        assert not satisfies(formula, word[:length], rest)
        # One letter earlier something can still follow: some word of the formula's own begins like that.
        good = translate(formula, wanted.letters(INPUTS))
        states = set(good.initial)
        for letter in numbered(good, word[: length - 1]):
            states = {t for s in states for t in good.table[s][letter]}
        assert states
    assert longest >= 3


def word_of(machine, prefix, loop):
    """The letters of an input lasso on a machine, as an exact prefix and loop."""
    state, seen, word = machine.initial, {}, []
    for symbol in prefix:
        i = machine.input_number(symbol)
        word.append((symbol, machine.outputs[machine.answer[state, i]]))
        state = int(machine.successor[state, i])
    while state not in seen:
        seen[state] = len(word)
        for symbol in loop:
            i = machine.input_number(symbol)
            word.append((symbol, machine.outputs[machine.answer[state, i]]))
            state = int(machine.successor[state, i])
    return word[: seen[state]], word[seen[state] :]


@pytest.mark.parametrize(("seed", "count"), [(21, 400), pytest.param(22, 10_000, marks=pytest.mark.slow)])
def test_violations_of_machines(seed, count):
    rng = np.random.default_rng(seed)
    outcomes = {"none": 0, "finite": 0, "lasso": 0}
    for _ in range(count):
        formula = random_formula(rng, int(rng.integers(1, 16)))
        machine = random_machine(rng, int(rng.integers(1, 7)))
        wanted = LtlProperty(formula)
        found = find_violation(machine, wanted)
        if found is None:
            outcomes["none"] += 1
            for prefix, loop in lassos(rng, 30):
                letters = word_of(machine, [i for i, _ in prefix], [i for i, _ in loop])
                assert satisfies(formula, *letters), (str(formula), letters)
        elif found.loop:
            outcomes["lasso"] += 1
            prefix, loop = word_of(machine, found.prefix, found.loop)
            once, often = machine.run(found.prefix + found.loop), machine.run(found.prefix + found.loop * 9)
            turn = len(found.loop)
            assert often == once[:-turn] + once[-turn:] * 9  # the answers repeat with the loop from its first turn on
            assert not satisfies(formula, prefix, loop), (str(formula), found)
            assert violates(wanted, prefix, loop, inputs=INPUTS)
        else:
            outcomes["finite"] += 1
            outputs = machine.run(found.prefix)
            assert first_bad_prefix(wanted, found.prefix, outputs, inputs=INPUTS) == len(found.prefix)
            for _, loop in lassos(rng, 5):
                assert not satisfies(formula, list(zip(found.prefix, outputs, strict=True)), loop)
    assert min(outcomes.values()) > count * 0.1


def test_shortest_finite_witness():
    """No shorter word of the machine is a bad prefix: all of them are tried."""
    rng = np.random.default_rng(31)
    tried = 0
    for _ in range(150):
        machine = random_machine(rng, 4)
        wanted = LtlProperty(Unary("G", random_formula(rng, 7)))
        found = find_violation(machine, wanted)
        if found is None or found.loop or len(found.prefix) > 4:
            continue
        tried += len(found.prefix) > 1
        shorter = [()]
        for _ in found.prefix:
            for word in shorter:
                assert first_bad_prefix(wanted, word, machine.run(word), inputs=INPUTS) is None
            shorter = [(*word, symbol) for word in shorter for symbol in INPUTS]
    assert tried > 30


def test_shortest_finite_word_that_fails():
    """Finite LTL on machines: the word found fails, and of all shorter words none does."""
    rng = np.random.default_rng(32)
    lengths = []
    for k in range(150):
        formula = random_formula(rng, int(rng.integers(1, 12)), finite=True)
        ends = Atom("in", ("c",)) if k % 2 else None
        machine = random_machine(rng, 4)
        found = find_violation(machine, LtlfProperty(formula, ends=ends))
        words = [(symbol,) for symbol in INPUTS]
        for length in range(1, 5):
            failing = [
                word
                for word in words
                if (ends is None or word[-1] == "c")
                and not satisfies_finite(formula, list(zip(word, machine.run(word), strict=True)))
            ]
            if failing:
                assert found is not None and not found.loop and len(found.prefix) == length, str(formula)
                assert found.prefix in failing
                lengths.append(length)
                break
            words = [(*word, symbol) for word in words for symbol in INPUTS]
        else:
            assert found is None or len(found.prefix) > 4
            lengths.append(0)
    assert {0, 1, 2, 3} <= set(lengths)


def test_through_the_hoa_format_and_back():
    rng = np.random.default_rng(41)
    complemented = 0
    for _ in range(200):
        wanted = LtlProperty(random_formula(rng, int(rng.integers(1, 12))))
        text = hoa_text(wanted.bad_words(INPUTS))
        again = hoa(text, accepts="violations")
        opposite = hoa(text)
        deterministic = wanted.bad_words(INPUTS).deterministic
        complemented += deterministic
        for prefix, loop in lassos(rng, 10):
            answer = violates(wanted, prefix, loop, inputs=INPUTS)
            assert violates(again, prefix, loop, inputs=INPUTS) is answer
            if deterministic:
                assert violates(opposite, prefix, loop, inputs=INPUTS) is not answer
    assert complemented > 50
