"""The tree of everything seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify.automata.observation_tree import Contradiction, ObservationTree

words = st.lists(st.text("ab", max_size=6).map(tuple), max_size=12)


def answers(word):
    """A box with memory: each output tells how many a's came so far, modulo 3."""
    return tuple(str(word[: i + 1].count("a") % 3) for i in range(len(word)))


@given(words)
def test_prefixes_are_known_and_nothing_else(asked):
    tree = ObservationTree()
    new = sum(tree.add(word, answers(word)) for word in asked)
    prefixes = {word[:i] for word in asked for i in range(1, len(word) + 1)}
    assert len(tree) == new == len(prefixes)
    for word in [*prefixes, ("b", "b", "b", "b", "b", "b", "b"), ("c",)]:
        assert tree.outputs(word) == (answers(word) if word in prefixes else None)
    maximal = {w for w in prefixes if not any(p[: len(w)] == w and p != w for p in prefixes)}
    assert dict(tree.words()) == {word: answers(word) for word in maximal}


def test_a_contradiction_names_both_answers_and_keeps_the_old_one():
    tree = ObservationTree()
    tree.add(("coin", "push"), ("click", "go"))
    with pytest.raises(Contradiction, match="after 'coin push' the last answer was 'go' before and 'stop' now"):
        tree.add(("coin", "push", "push"), ("click", "stop", "stop"))
    assert tree.outputs(("coin", "push")) == ("click", "go")


def test_answers_that_broke_off_are_kept_as_far_as_they_came():
    tree = ObservationTree()
    tree.add(("a", "b", "c"), ("1",))
    assert (tree.known(("a", "b")), tree.outputs(("a", "b"))) == (("1",), None)
