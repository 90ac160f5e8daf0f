"""Test suites are complete for their bound: a box with at most so many states that passes is equivalent.

Small machines: *all* boxes up to the bound are searched (`box_search.py`), so a suite that leaves out a word that is
needed is caught, whatever box it takes.  Larger machines: wrong boxes of every kind are made, and the judge is a search
of the product of box and hypothesis.  Learning: whoever learns until the tests pass has learned the box.
"""

from itertools import chain

import numpy as np
import pytest
from aalpy.base import Oracle
from aalpy.learning_algs import run_KV
from aalpy.oracles import WpMethodEqOracle
from aalpy.SULs import MealySUL
from aalpy.utils import load_automaton_from_file

from bbfalsify.automata.equivalence import difference, minimise
from bbfalsify.automata.mealy import dot_text, parse_dot
from bbfalsify.automata.observation_tree import ObservationTree, first_disagreement
from bbfalsify.engines.checking.conformance import METHODS, RANDOM_METHODS, test_batches
from tests.laws.box_search import TooMany, wrong_box
from tests.support.machines import add_many, first_difference, lock, mutants, random_machine, run_many


def all_words(*arguments, **options):
    return chain.from_iterable(test_batches(*arguments, **options))


def known_beforehand(hypothesis, box, rng, most):
    """A tree of random words, as a learner leaves one, as far as box and hypothesis agree."""
    tree = ObservationTree()
    for _ in range(int(rng.integers(0, most))):
        word = tuple(hypothesis.inputs[i] for i in rng.integers(len(hypothesis.inputs), size=rng.integers(1, 9)))
        expected, seen = hypothesis.run(word), box.run(word)
        agree = next((i for i, (a, b) in enumerate(zip(expected, seen, strict=True)) if a != b), len(word))
        tree.add(word[:agree], seen[:agree])
    assert first_disagreement(tree, hypothesis) is None
    return tree


# ---------------------------------------------------------------------- all boxes

SIZES = [(1, 1, 2), (1, 2, 1), (1, 2, 2), (2, 1, 3), (2, 2, 1), (2, 2, 2), (3, 2, 1), (3, 3, 0), (4, 2, 1), (5, 2, 1),
         (6, 2, 0), (7, 1, 3), (7, 2, 1)]  # fmt: skip
"""States, inputs, extra states.  Few inputs and outputs make states hard to tell apart: there suites go wrong."""


def incomplete(method, numbers):
    """The machines for which some box passes that should not; and how many could not be decided."""
    wrong, undecided = [], 0
    for number in numbers:
        states, inputs, extra = SIZES[number % len(SIZES)]
        rng = np.random.default_rng([7, number])
        if number % 5 == 0:
            machine = minimise(lock(rng, length=min(states, 4), inputs=inputs))
        else:
            machine = minimise(random_machine(rng, states=states, inputs=inputs, outputs=2))
        tree = known_beforehand(machine, machine, rng, most=6) if number % 3 else ObservationTree()
        words = [word for word, _ in tree.words()]
        words += chain.from_iterable(test_batches(method, machine, extra, tree=tree, rng=rng if number % 2 else None))
        try:
            box = wrong_box(machine, words, len(machine) + extra, patience=2000)
        except TooMany:
            undecided += 1
            continue
        if box is not None:
            wrong.append((number, difference(machine, box)))
    return wrong, undecided


@pytest.mark.parametrize("method", METHODS)
def test_no_box_up_to_the_bound_passes_unless_it_is_equivalent(method):
    wrong, undecided = incomplete(method, range(260))
    assert not wrong
    assert undecided < 26


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_box_passes_of_many_machines(method):
    wrong, undecided = incomplete(method, range(260, 5500))
    assert not wrong
    assert undecided < 520


# ---------------------------------------------------------------------- wrong boxes


def case(number):
    """(hypothesis, boxes, rng)"""
    rng = np.random.default_rng([5, number])
    inputs = 1 + number % 4
    if number % 7 == 0:
        machine = lock(rng, length=int(rng.integers(1, 9)), inputs=inputs)
    else:
        machine = random_machine(rng, states=int(rng.integers(1, 13)), inputs=inputs, outputs=2 + number % 2)
    minimal = minimise(machine)
    boxes = [machine, *mutants(minimal, rng, added=3)]
    return minimal, [*boxes, random_machine(rng, states=3, inputs=inputs, outputs=2)], rng


def wrong_verdicts(method, numbers):
    """The cases in which the tests and the judge disagree."""
    wrong, decided, equivalent = [], 0, 0
    for number in numbers:
        hypothesis, boxes, rng = case(number)
        for index, box in enumerate(boxes):
            separating = difference(hypothesis, box)
            extra = max(0, len(minimise(box)) - len(hypothesis))
            if len(hypothesis) * len(hypothesis.inputs) ** (extra + 1) > 4000:
                continue
            tree, order = known_beforehand(hypothesis, box, rng, most=12), rng if number % 2 else None
            words = all_words(method, hypothesis, extra, tree=tree, rng=order)
            passed = all(hypothesis.run(word) == box.run(word) for word in words)
            decided, equivalent = decided + 1, equivalent + (separating is None)
            if passed != (separating is None):
                wrong.append((number, index, separating))
    return wrong, decided, equivalent


@pytest.mark.parametrize("method", METHODS)
def test_wrong_boxes_are_found(method):
    wrong, decided, equivalent = wrong_verdicts(method, range(60))
    assert not wrong
    assert decided > 250 and 50 < equivalent < decided / 2


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_many_wrong_boxes_are_found(method):
    wrong, decided, _ = wrong_verdicts(method, range(60, 5060))
    assert not wrong and decided > 20_000


# ---------------------------------------------------------------------- learning until the tests pass


class Ours(Oracle):
    """For AALpy: everything known first, then the tests for the bound."""

    def __init__(self, box, sul, method, bound):
        super().__init__(list(box.inputs), sul)
        self.box, self.method, self.bound, self.tree, self.rounds = box, method, bound, ObservationTree(), 0

    def find_cex(self, hypothesis):
        self.rounds += 1
        machine = parse_dot(str(hypothesis))
        wrong = first_disagreement(self.tree, machine)
        if wrong is not None:
            return wrong
        for words in test_batches(self.method, machine, self.bound - len(machine), tree=self.tree):
            outputs = run_many(self.box, words)
            add_many(self.tree, words, outputs, self.box.outputs)
            wrong = first_difference(machine, words, outputs, self.box.outputs)
            if wrong is not None:
                return wrong
        return None


def learned_wrongly(oracle, numbers, folder):
    """The boxes of which KV has learned another machine, and the hypotheses made in all."""
    wrong, rounds = [], 0
    for number in numbers:
        rng = np.random.default_rng([9, number])
        box = minimise(random_machine(rng, states=int(rng.integers(1, 8)), inputs=2, outputs=2))
        file = folder / "box.dot"
        file.write_text(dot_text(box))
        sul = MealySUL(load_automaton_from_file(str(file), "mealy"))
        teacher = oracle(box, sul)
        found = run_KV(list(box.inputs), sul, teacher, "mealy", print_level=0)
        rounds += getattr(teacher, "rounds", 0)
        if difference(parse_dot(str(found)), box) is not None:
            wrong.append(number)
    return wrong, rounds


@pytest.mark.parametrize("method", METHODS)
def test_learning_with_the_true_bound_ends_with_the_box(method, tmp_path):
    wrong, rounds = learned_wrongly(lambda box, sul: Ours(box, sul, method, len(box)), range(60), tmp_path)
    assert not wrong and rounds > 120


def test_the_same_harness_finds_a_tester_that_is_not_complete(tmp_path):
    """AALpy 2.0's own Wp: a hypothesis of one state gets no tests of its transitions' targets."""
    wrong, _ = learned_wrongly(lambda box, sul: WpMethodEqOracle(list(box.inputs), sul, len(box)), range(60), tmp_path)
    assert wrong


# ---------------------------------------------------------------------- the stream


@pytest.mark.parametrize("method", METHODS)
def test_words_are_new_and_come_level_by_level(method):
    rng = np.random.default_rng(2)
    for _ in range(20):
        machine = minimise(random_machine(rng, states=6, inputs=2, outputs=2))
        tree = known_beforehand(machine, machine, rng, most=10)
        known = {w[:i] for w, _ in tree.words() for i in range(len(w) + 1)}
        first = list(all_words(method, machine, 0, tree=tree))
        both = list(all_words(method, machine, 1, tree=tree))
        assert both[: len(first)] == first
        assert len(set(both)) == len(both) and not known & set(both)
        for word in first:
            tree.add(word, machine.run(word))
        assert both[len(first) :] == list(all_words(method, machine, 1, tree=tree))


@pytest.mark.parametrize("method", METHODS)
def test_what_the_hypothesis_would_answer_otherwise_does_not_count_as_known(method):
    rng = np.random.default_rng(12)
    machine = minimise(random_machine(rng, states=4, inputs=2, outputs=2))
    agreeing = list(all_words(method, machine, 1))
    for word in agreeing:
        tree = ObservationTree()
        tree.add((*word, "i0", "i1"), (*machine.run(word)[:-1], "something else", "o0", "o1"))
        assert first_disagreement(tree, machine) == word
        words = list(all_words(method, machine, 1, tree=tree))
        assert word in {w[: len(word)] for w in words}
        seen = [word[:-1], *words]
        assert wrong_box(machine, seen, len(machine) + 1) is None


def test_batches_hold_no_prefix_of_another_word():
    machine = minimise(random_machine(np.random.default_rng(8), states=8, inputs=3, outputs=2))
    for method in METHODS + RANDOM_METHODS:
        for _, words in zip(range(40), test_batches(method, machine, 1, rng=np.random.default_rng(1)), strict=False):
            prefixes = {word[:i] for word in words for i in range(len(word))}
            assert not prefixes & set(words) and len(set(words)) == len(words)


def test_the_same_seed_gives_the_same_words():
    machine = minimise(random_machine(np.random.default_rng(8), states=8, inputs=3, outputs=2))
    for method in METHODS + RANDOM_METHODS:
        first, again, other = (
            [w for _, w in zip(range(200), all_words(method, machine, 1, rng=np.random.default_rng(s)), strict=False)]
            for s in (1, 1, 2)
        )
        assert first == again != other
