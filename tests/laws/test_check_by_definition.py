"""Verdicts of `check` on random machines are those of the definition of temporal logic, and so are its words.

The bound is never below the machine's number of states, so both verdicts must be true as they stand.  A finite word
must be one after which no run satisfies the requirement, whatever the answers; a lasso must violate it.
"""

from collections import Counter

import numpy as np
import pytest

from bbfalsify import check
from bbfalsify.logic.ltl import ltl
from bbfalsify.logic.ltl.ltl_formula import Unary
from tests.support.formulas import INPUTS, OUTPUTS, random_formula, random_machine
from tests.support.own_ltl import on_lasso, some_run, temporal


def run_of(machine, prefix, loop):
    """Letters of the machine's run, and where its loop begins: rounds are made until a state repeats."""
    state, letters, heads = machine.initial, [], []

    def step(symbol):
        nonlocal state
        state, output = machine.step(state, symbol)
        letters.append((symbol, output))

    for symbol in prefix:
        step(symbol)
    while state not in heads:
        heads.append(state)
        for symbol in loop:
            step(symbol)
    return letters, len(prefix) + heads.index(state) * len(loop)


def always_bad(letters, formula):
    """Tell whether nothing that begins with these letters satisfies the formula."""
    end = len(letters)
    system = {k: [(*letter, k + 1)] for k, letter in enumerate(letters)}
    return not some_run(system | {end: [(i, o, end) for i in INPUTS for o in OUTPUTS]}, 0, formula)


def compare(seed, folder):
    """Check three formulas on one machine; return how each ended."""
    rng = np.random.default_rng([seed, 18])
    machine = random_machine(rng, int(rng.integers(1, 6)))
    formulas = [random_formula(rng, int(rng.integers(2, 8))) for _ in range(3)]
    formulas = [f for f in formulas if len(temporal(f)) < 4 and not ltl(str(f)).problems(INPUTS, None)]
    if not formulas:
        return []
    system = {
        state: [(symbol, output, after) for symbol in INPUTS for after, output in [machine.step(state, symbol)]]
        for state in range(len(machine))
    }
    learner, tester = ("lsharp", "kv", "lstar")[seed % 3], ("h", "w", "wp", "hsi")[seed % 4]
    bound = len(machine) + seed % 2
    result = check(
        machine,
        [ltl(str(f)) for f in formulas],
        max_states=bound,
        learner=learner,
        tester=tester,
        seed=seed,
        out=folder,
    )
    said = []
    for found, formula in zip(result.requirements, formulas, strict=True):
        name = seed, str(formula), str(found)
        violated = some_run(system, machine.initial, Unary("!", formula))
        assert found.verdict == ("violated" if violated else "satisfied_up_to_bound"), name
        said.append(("loop" if found.loop else "word") if violated else "satisfied")
        if violated:
            letters, cut = run_of(machine, found.prefix, found.loop) if found.loop else ([], 0)
            assert found.outputs == machine.run(found.word), name
            if found.loop:
                assert not on_lasso(formula, letters, cut), name
            else:
                assert always_bad(list(zip(found.prefix, found.outputs, strict=True)), formula), name
    return said


@pytest.mark.parametrize("block", range(2))
def test_verdicts_are_those_of_the_definition(block, tmp_path):
    said = Counter(word for seed in range(12 * block, 12 * block + 12) for word in compare(seed, tmp_path))
    assert min(said["word"], said["loop"], said["satisfied"]) > 0, said


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_verdicts_are_those_of_the_definition_a_thousand_times(block, tmp_path):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        compare(seed, tmp_path)
