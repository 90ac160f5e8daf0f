"""Verdicts of black box checking are right: random boxes, random requirements, every learner and tester.

The box is a machine whose inside is known here, so the truth is one model checking away.  With a bound that is not
below the box's size, "violated" and "satisfied" must both be true, and a violation must be one.
"""

import itertools

import numpy as np
import pytest

from bbfalsify.automata.equivalence import difference
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.checking.claims import CheckProgress, Claim
from bbfalsify.engines.checking.conformance import METHODS
from bbfalsify.engines.checking.strategy import Options, run
from bbfalsify.logic.ltl import find_violation, ltl, violates
from bbfalsify.results.check_result import CheckVerdict
from tests.support.boxes import AskedBox
from tests.support.formulas import random_formula, random_machine


class Nobody:
    def hypothesis(self, machine): ...

    def tested(self, bound): ...

    def violated(self, claim, violation): ...


WAYS = tuple(itertools.product(("lsharp", "kv", "lstar"), METHODS))


def judge(seed):
    rng = np.random.default_rng(seed)
    machine = random_machine(rng, int(rng.integers(1, 7)))
    claims = []
    while len(claims) < 2:
        formula = ltl(str(random_formula(rng, int(rng.integers(2, 9)))))
        if not formula.problems(machine.inputs, None):
            claims.append(Claim(f"R{len(claims)}", "", formula))
    learner, tester = WAYS[seed % len(WAYS)]
    bound = len(machine) + int(rng.integers(0, 2))
    asked, progress = AskedBox(machine.run), CheckProgress()
    options = Options(max_states=bound, learner=learner, tester=tester)
    run(
        asked.ask, claims, machine.inputs, ObservationTree(), progress, options,
        repeat=asked.ask, seeds=SeedTree(seed), listener=Nobody(),
    )  # fmt: skip
    for number, claim in enumerate(claims):
        truth = find_violation(machine, claim.property)
        violation = progress.violations.get(number)
        expected = CheckVerdict.SATISFIED_UP_TO_BOUND if truth is None else CheckVerdict.VIOLATED
        assert progress.verdict(number) is expected, f"seed {seed}: {claim.property.text}"
        if violation is not None:
            lasso = violation.lasso
            word = lasso.prefix + lasso.loop
            assert violation.outputs == machine.run(word), f"seed {seed}"
            letters, cut = list(zip(word, violation.outputs, strict=True)), len(lasso.prefix)
            assert violates(claim.property, letters[:cut], letters[cut:], inputs=machine.inputs), (
                f"seed {seed}: {claim.property.text}"
            )
    if progress.finished:
        assert difference(progress.hypothesis, machine) is None, f"seed {seed}"


@pytest.mark.parametrize("block", range(4))
def test_verdicts_are_true(block):
    for seed in range(100 * block, 100 * (block + 1)):
        judge(seed)


@pytest.mark.slow
def test_verdicts_are_true_many_times():
    for seed in range(10_000, 20_000):
        judge(seed)
