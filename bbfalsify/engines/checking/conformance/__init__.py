"""Conformance testing: words that separate a hypothesis from every other box of at most so many states.

    for words in test_batches("h", hypothesis, extra=1, tree=tree):
        …                                # ask the box; the first answer that differs is a counterexample
    # no difference: the box is equivalent to the hypothesis, or has more than len(hypothesis) + 1 states

Each method follows one plan: reach every state by its access word, go on with every *middle part* of up to `extra` + 1
inputs, then identify the state reached.  They differ in the last part:

    w     all words of a characterising set (Vasilevskii; Chow)
    wp    that for the shorter middle parts, then only the words that identify the state to be reached (Fujiwara et al.)
    hsi   words that identify the state, harmonised, everywhere (Petrenko, Yevtushenko)
    h     words that separate it, in the tree, from the access words and from its own prefixes (Dorofeeva et al.)

All four are complete: a box of at most len(hypothesis) + extra states that passes all the words is equivalent.  That
includes the words of `tree`, which must agree with the hypothesis (`first_disagreement`): known words are not asked
again, and `h` builds on them.  Words come in the order of extra = 0, 1, 2, …, so that an error that needs few states is
found with few words.

`random-w`, `random-wp` and `random-hsi` draw access word, middle part (geometric, on average `extra` + 1 inputs) and
identifier at random, without an end.  They often find errors sooner, and prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.automata.words import Words
from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.engines.checking.settings import METHODS, RANDOM_METHODS


def test_batches(
    method: str,
    machine: MealyMachine,
    extra: int,
    *,
    tree: ObservationTree | None = None,
    rng: np.random.Generator | None = None,
) -> Iterator[Words]:
    """Generate words for a bound of len(machine) + extra states, in batches that begin small and grow.

    No word of a batch is a prefix of another one, or known in the tree.  `rng` chooses another order of the same items;
    the tree is read when the first batch is generated.
    """
    if method not in METHODS + RANDOM_METHODS:
        raise UserError(unknown_name("test method", method, METHODS + RANDOM_METHODS))
    if extra < 0:
        raise UserError(f"{extra} extra states: give a whole number, 0 or more.")
    from bbfalsify.engines.checking.conformance.generating import Generator

    generator = Generator(machine, tree, rng)
    if method in RANDOM_METHODS:
        return generator.random(method.removeprefix("random-"), extra + 1)
    return generator.complete(method, range(extra + 1))


# pytest collects functions called test_…; this is no test.
test_batches.__test__ = False  # type: ignore[attr-defined]
