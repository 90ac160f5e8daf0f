"""Test suites are complete for their bound: a box with at most so many states that passes is equivalent.

The judge is a search of the product of box and hypothesis, which shares nothing with the suites.  A suite that leaves
out a single word that is needed passes some wrong box of some machine; so thousands of machines are tried, each with
wrong boxes of every kind, with and without something known beforehand.
"""

import numpy as np
import pytest

from bbfalsify.engines.checking.testing import METHODS, test_words
from bbfalsify.modelling.machines.equivalence import difference, minimise
from bbfalsify.modelling.observation_tree import ObservationTree, first_disagreement
from bbfalsify.testing.machines import lock, mutants, random_machine


def case(number):
    """(hypothesis, boxes): small alphabets make states hard to tell apart, which is where suites go wrong."""
    rng = np.random.default_rng([5, number])
    inputs = 1 + number % 3
    if number % 7 == 0:
        machine = lock(rng, length=int(rng.integers(1, 6)), inputs=inputs)
    else:
        machine = random_machine(rng, states=int(rng.integers(1, 7)), inputs=inputs, outputs=2 + number % 2)
    minimal = minimise(machine)
    boxes = [machine, *mutants(minimal, rng, added=2 if inputs > 2 else 3)]
    return minimal, [*boxes, random_machine(rng, states=3, inputs=inputs, outputs=2)], rng


def known_beforehand(hypothesis, box, rng):
    """A tree of random words, as a learner leaves one, as far as box and hypothesis agree."""
    tree = ObservationTree()
    for _ in range(int(rng.integers(0, 12))):
        word = tuple(hypothesis.inputs[i] for i in rng.integers(len(hypothesis.inputs), size=rng.integers(1, 9)))
        expected, seen = hypothesis.run(word), box.run(word)
        agree = next((i for i, (a, b) in enumerate(zip(expected, seen, strict=True)) if a != b), len(word))
        tree.add(word[:agree], seen[:agree])
    assert first_disagreement(tree, hypothesis) is None
    return tree


def wrong_verdicts(method, numbers):
    """The cases in which a box passes all the words of its bound and is not equivalent."""
    wrong, decided, equivalent = [], 0, 0
    for number in numbers:
        hypothesis, boxes, rng = case(number)
        for index, box in enumerate(boxes):
            separating = difference(hypothesis, box)
            extra = max(0, len(minimise(box)) - len(hypothesis))
            if extra > 3 or len(hypothesis) * len(hypothesis.inputs) ** (extra + 1) > 3000:
                continue
            tree = known_beforehand(hypothesis, box, rng)
            order = rng if number % 2 else None
            passed = all(
                hypothesis.run(word) == box.run(word)
                for word in test_words(method, hypothesis, extra, tree=tree, rng=order)
            )
            decided, equivalent = decided + 1, equivalent + (separating is None)
            if passed != (separating is None):
                wrong.append((number, index, separating))
    return wrong, decided, equivalent


@pytest.mark.parametrize("method", METHODS)
def test_no_wrong_box_passes(method):
    wrong, decided, equivalent = wrong_verdicts(method, range(250))
    assert not wrong
    assert decided > 1000 and 100 < equivalent < decided / 2


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_wrong_box_passes_in_many(method):
    wrong, decided, _ = wrong_verdicts(method, range(250, 5250))
    assert not wrong and decided > 20_000
