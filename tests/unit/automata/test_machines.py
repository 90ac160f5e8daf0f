"""What can be said about finite machines, against brute force."""

import itertools

import numpy as np
import pytest

from bbfalsify.automata.equivalence import difference, minimise, reachable
from bbfalsify.automata.identification import (
    Separations,
    access_numbers,
    harmonised_numbers,
    identifying_numbers,
    named,
    separating_numbers_set,
)
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.automata.observation_tree import ObservationTree, first_disagreement
from bbfalsify.automata.words import Words
from bbfalsify.core.errors import UserError
from tests.support.machines import add_many, first_difference, lock, random_machine, run_many


def machines(count, **sizes):
    rng = np.random.default_rng(11)
    for _ in range(count):
        yield random_machine(rng, **{"states": int(rng.integers(1, 7)), "inputs": 2, "outputs": 2, **sizes})


def outputs_from(machine, state, word):
    numbers = []
    for symbol in word:
        i = machine.inputs.index(symbol)
        numbers.append(int(machine.answer[state, i]))
        state = machine.successor[state, i]
    return numbers


def all_words(machine, longest):
    return [w for n in range(1, longest + 1) for w in itertools.product(machine.inputs, repeat=n)]


def test_the_difference_is_a_shortest_one():
    pairs = zip(machines(60, states=3), machines(60, states=2), strict=True)
    for one, other in [*pairs, *((m, minimise(m)) for m in machines(30))]:
        expected = next((w for w in all_words(one, 5) if one.run(w) != other.run(w)), None)
        assert difference(one, other) == expected


def test_machines_over_other_alphabets_are_not_compared():
    one, other = (random_machine(np.random.default_rng(1), states=2, inputs=n, outputs=2) for n in (1, 2))
    with pytest.raises(UserError, match="only one of them knows i1"):
        difference(one, other)


def test_symbols_are_compared_by_name():
    one = MealyMachine(("a", "b"), ("x", "y"), np.zeros((1, 2), np.int32), np.array([[0, 1]], np.int32))
    same = MealyMachine(("b", "a"), ("y", "x"), np.zeros((1, 2), np.int32), np.array([[0, 1]], np.int32))
    assert difference(one, same) is None


def test_minimal_machines_are_small_and_equivalent():
    for machine in machines(100):
        small = minimise(machine)
        # Brute force: two states are alike when all words of n symbols are answered alike.
        words = all_words(machine, len(machine))
        kinds = {str([outputs_from(machine, s, w) for w in words]) for s in reachable(machine)}
        assert len(small) == len(kinds) and difference(machine, small) is None
        assert minimise(small) is small


def test_every_state_is_reached_by_a_shortest_word():
    for machine in machines(50):
        cover = access_numbers(machine)
        assert sorted(cover) == sorted(reachable(machine))
        for state, word in cover.items():
            at = machine.initial
            for number in word:
                at = machine.successor[at, number]
            assert at == state and word[:-1] in cover.values()


def test_separating_words_and_sets_tell_states_apart():
    for machine in map(minimise, machines(80)):
        separations, words = Separations(machine), all_words(machine, 6)
        numbers = separating_numbers_set(separations)
        characterising = [named(machine, word) for word in numbers]
        identifiers = [[named(machine, w) for w in ws] for ws in identifying_numbers(separations, numbers)]
        harmonised = [[named(machine, w) for w in ws] for ws in harmonised_numbers(separations)]

        def separates(word, s, t, machine=machine):
            return outputs_from(machine, s, word) != outputs_from(machine, t, word)

        for s, t in itertools.permutations(range(len(machine)), 2):
            shortest = next(w for w in words if separates(w, s, t))
            assert len(separations.word(s, t)) == len(shortest) and separates(separations.word(s, t), s, t)
            assert any(separates(w, s, t) for w in characterising)
            assert any(separates(w, s, t) for w in identifiers[s]) and set(identifiers[s]) <= set(characterising)
            prefixes = [{w[: i + 1] for w in harmonised[x] for i in range(len(w))} for x in (s, t)]
            assert any(separates(w, s, t) for w in prefixes[0] & prefixes[1])


def test_a_lock_has_long_separating_words():
    machine = lock(np.random.default_rng(3), length=8, inputs=2)
    assert len(minimise(machine)) == 8 and Separations(machine).length.max() == 7


# ---------------------------------------------------------------------- many words


def sample(machine, rng, count=30):
    lengths = rng.integers(0, 9, size=count)
    return Words.of(machine.inputs, [[machine.inputs[i] for i in rng.integers(2, size=n)] for n in lengths])


def test_the_shortest_disagreement_with_everything_seen():
    rng = np.random.default_rng(6)
    found = 0
    for machine, box in zip(machines(60), machines(60, states=4), strict=True):
        words, tree = sample(machine, rng), ObservationTree()
        tree.add(("unknown", "i0"), ("o0", "o7"))  # a symbol that the machine does not have says nothing about it
        add_many(tree, words, run_many(box, words), box.outputs)
        prefixes = sorted({w[: i + 1] for w in words for i in range(len(w))}, key=len)
        wrong = [p for p in prefixes if machine.run(p) != box.run(p)]
        word = first_disagreement(tree, machine)
        assert (word is None) == (not wrong)
        same = first_difference(machine, words, run_many(box, words), box.outputs)
        if wrong:
            found += 1
            assert len(word) == len(same) == len(wrong[0]) and word in wrong and same in wrong
    assert found > 30


def test_what_was_wrong_is_forgotten_with_all_that_follows():
    tree = ObservationTree()
    for word in ("ab", "abc", "ac", "b"):
        tree.add(tuple(word), tuple(word.upper()))
    assert tree.contradicts(("a", "b", "x"), ("A", "?")) and not tree.contradicts(("a", "x"), ("A", "?"))
    tree.forget(("a", "b"))
    assert dict(tree.words()) == {("a", "c"): ("A", "C"), ("b",): ("B",)} and len(tree) == 3
    tree.add(("a", "b"), ("A", "?"))
    tree.forget(("a",))
    assert dict(tree.words()) == {("b",): ("B",)}
