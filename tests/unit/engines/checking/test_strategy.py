"""The strategy of Figure 3 on machines whose inside is known."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from bbfalsify.automata.equivalence import difference
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.checking.box import Box, NonDeterministic
from bbfalsify.engines.checking.claims import CheckProgress, Claim
from bbfalsify.engines.checking.learners import from_aalpy, to_aalpy
from bbfalsify.engines.checking.strategy import Options, run
from bbfalsify.logic.ltl import find_violation, ltl, violates
from bbfalsify.results.check_result import CheckVerdict
from tests.support.boxes import AskedBox, combination_lock
from tests.support.machines import random_machine
from tests.support.other_strategies import identify, search

TURNSTILE = MealyMachine.from_transitions(
    {
        ("locked", "coin"): ("open", "click"),
        ("locked", "push"): ("locked", "stop"),
        ("open", "coin"): ("open", "click"),
        ("open", "push"): ("locked", "go"),
    },
    "locked",
    name="turnstile",
)


@dataclass
class Heard:
    sizes: list[int] = field(default_factory=list)
    bounds: list[int] = field(default_factory=list)
    violated_claims: list[int] = field(default_factory=list)

    def hypothesis(self, machine):
        self.sizes.append(len(machine))

    def tested(self, bound):
        self.bounds.append(bound)

    def violated(self, claim, violation):
        self.violated_claims.append(claim)


def check(machine, *formulas, older=None, tree=None, answer=None, **options):
    """Progress, the box with what was asked of it, and what the listener heard."""
    asked, heard, progress = AskedBox(answer or machine.run), Heard(), CheckProgress()
    claims = [Claim(f"R{i}", "", ltl(text)) for i, text in enumerate(formulas, start=1)]
    tree = ObservationTree() if tree is None else tree
    run(
        asked.ask, claims, machine.inputs, tree, progress, Options(**options),
        repeat=asked.ask, seeds=SeedTree(1), listener=heard, older=older,
    )  # fmt: skip
    return progress, asked, heard


@pytest.mark.parametrize("learner", ["lsharp", "kv", "lstar"])
def test_a_requirement_that_holds_is_satisfied_up_to_the_bound_and_never_more(learner):
    progress, asked, heard = check(
        TURNSTILE, "G(in == push & out == go -> X !(out == go))", max_states=4, learner=learner
    )
    assert progress.verdict(0) is CheckVerdict.SATISFIED_UP_TO_BOUND
    assert difference(progress.hypothesis, TURNSTILE) is None
    assert progress.tested_bound == 4 and heard.bounds[-3:] == [2, 3, 4]
    assert heard.sizes == sorted(set(heard.sizes))


def test_a_violation_by_a_finite_word_needs_no_bound():
    progress, asked, heard = check(TURNSTILE, "G(out != go)", max_states=3)
    violation = progress.violations[0]
    assert violation.lasso.prefix == ("coin", "push") and violation.lasso.loop == ()
    assert violation.rests_on is None and violation.outputs == ("click", "go")
    assert (violation.reproduced, violation.tries, violation.status) == (2, 2, "confirmed")


def test_a_violation_by_a_loop_is_executed_as_often_as_the_bound_says():
    progress, asked, _ = check(TURNSTILE, "G(in == coin -> F out == go)", max_states=7)
    violation = progress.violations[0]
    assert violation.lasso.loop and violation.rests_on == 7
    letters = list(zip(violation.lasso.prefix + violation.lasso.loop, violation.outputs, strict=True))
    cut = len(violation.lasso.prefix)
    assert violates(ltl("G(in == coin -> F out == go)"), letters[:cut], letters[cut:], inputs=TURNSTILE.inputs)
    assert violation.executed == violation.lasso.prefix + violation.lasso.loop * 7 in asked.words


def test_each_of_several_requirements_gets_its_verdict_and_learning_is_shared():
    formulas = "G(out != go)", "G(in == coin -> out == click)", "G(in == coin -> F out == go)"
    progress, asked, heard = check(TURNSTILE, *formulas, max_states=3)
    assert [progress.verdict(i) for i in range(3)] == [
        CheckVerdict.VIOLATED, CheckVerdict.SATISFIED_UP_TO_BOUND, CheckVerdict.VIOLATED,
    ]  # fmt: skip
    assert sorted(heard.violated_claims) == [0, 2]
    first_only, fewer, _ = check(TURNSTILE, *formulas, max_states=3, stop_at_first=True)
    assert len(first_only.violations) == 1 and first_only.verdict(1) is CheckVerdict.STOPPED
    assert fewer.symbols < asked.symbols


def test_no_word_is_executed_twice_but_to_confirm():
    _, asked, _ = check(random_machine(np.random.default_rng(3), states=6, inputs=3, outputs=2), max_states=7)
    assert len(set(asked.words)) == len(asked.words)


def test_a_box_with_more_states_than_the_bound_is_told():
    progress, _, _ = check(random_machine(np.random.default_rng(5), states=20, inputs=3, outputs=3), max_states=3)
    assert progress.too_many and len(progress.hypothesis) > 3


def test_the_combination_lock_needs_its_states_and_not_the_bound():
    """An error of a box of l states is found at the price of l, whatever the bound (Theorem 3)."""
    lock = combination_lock(("b", "a", "a", "b"), "ab")
    prices = []
    for bound in (5, 9):
        progress, asked, _ = check(lock, "G(out != open)", max_states=bound)
        assert progress.violations[0].lasso.prefix == ("b", "a", "a", "b")
        prices.append(asked.symbols)
    assert prices[0] == prices[1]
    hidden, _, _ = check(lock, "G(out != open)", max_states=3)
    assert hidden.verdict(0) is CheckVerdict.SATISFIED_UP_TO_BOUND  # it has five: the bound was the user's word


def test_an_older_model_saves_queries_and_a_wrong_one_does_no_harm():
    rng = np.random.default_rng(8)
    machine = random_machine(rng, states=12, inputs=3, outputs=2)
    plain, asked, _ = check(machine, max_states=12)
    same, fewer, _ = check(machine, max_states=12, older=machine)
    other, _, _ = check(machine, max_states=12, older=random_machine(rng, states=5, inputs=3, outputs=2))
    assert difference(plain.hypothesis, machine) is difference(same.hypothesis, machine) is None
    assert difference(other.hypothesis, machine) is None
    assert len(fewer.words) < len(asked.words)
    with pytest.raises(UserError, match="only lsharp"):
        check(machine, max_states=12, older=machine, learner="kv")


def test_what_is_in_the_tree_is_not_asked_again():
    machine, tree = random_machine(np.random.default_rng(2), states=7, inputs=2, outputs=2), ObservationTree()
    check(machine, max_states=8, tree=tree)
    _, asked, _ = check(machine, max_states=8, tree=tree)
    assert asked.words == []


@pytest.mark.parametrize("when", range(8))
def test_an_answer_that_does_not_repeat_is_corrected_wherever_it_was_built_in(when):
    """The box lies once, about a first symbol: later words with the same first symbol contradict it."""
    machine = random_machine(np.random.default_rng(4), states=6, inputs=2, outputs=3)
    asked = 0

    def answer(word):
        nonlocal asked
        asked += 1
        outputs = machine.run(word)
        return ("noise", *outputs[1:]) if asked == when + 1 else outputs

    progress, _, _ = check(machine, "G(out != nothing)", max_states=7, answer=answer)
    assert difference(progress.hypothesis, machine) is None
    assert len(progress.glitches) == 1 and "noise" in progress.glitches[0]


def test_a_box_that_answers_as_it_likes_is_a_finding_with_both_answers():
    rng = np.random.default_rng(0)

    def answer(word):
        return tuple("heads" if rng.random() < 0.5 else "tails" for _ in word)

    with pytest.raises(NonDeterministic) as found:
        check(TURNSTILE, max_states=3, answer=answer)
    assert len(found.value.answers) >= 2 and "several ways" in str(found.value)


def test_options_are_checked_all_at_once():
    with pytest.raises(UserError) as wrong:
        Options(max_states=0, learner="lsharps", tester="hh", batch=0)
    assert len(wrong.value.problems) == 4 and "lsharp" in str(wrong.value)


# ---------------------------------------------------------------------- the other strategies of the paper


def boxed(machine):
    asked = AskedBox(machine.run)
    return Box(asked.ask, ObservationTree(), asked.ask)


@pytest.mark.parametrize("seed", range(6))
def test_all_strategies_agree_on_small_boxes(seed):
    machine = random_machine(np.random.default_rng(seed), states=3, inputs=2, outputs=2)
    formula = ("G(out != o1)", "G(in == i0 -> X out == o0)", "F out == o1")[seed % 3]
    truth = find_violation(machine, ltl(formula)) is not None
    progress, _, _ = check(machine, formula, max_states=3)
    identified = identify(boxed(machine), machine.inputs, 3)
    fly = search(boxed(machine), machine.inputs, ltl(formula), 3, longest=6)
    assert difference(identified, machine) is None
    assert (progress.verdict(0) is CheckVerdict.VIOLATED) == truth == (fly is not None)


def test_off_line_identification_says_when_there_are_more_states():
    assert identify(boxed(combination_lock("ab", "ab")), ("a", "b"), 2) is None


def test_machines_survive_the_way_to_aalpy_and_back():
    machine = random_machine(np.random.default_rng(1), states=9, inputs=3, outputs=3)
    assert difference(from_aalpy(to_aalpy(machine), machine.inputs), machine) is None
