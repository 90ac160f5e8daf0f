"""L# with compiled apartness is AALpy's L#: the same words in the same order, the same hypotheses, the same machine."""

import numpy as np
import pytest
from aalpy.learning_algs import run_Lsharp
from aalpy.learning_algs.deterministic.ObservationTree import MealyNode

from bbfalsify.automata.equivalence import difference
from bbfalsify.engines.checking.learners import from_aalpy, learner_parts
from bbfalsify.engines.checking.lsharp import run_lsharp
from tests.support.machines import lock, random_machine


def aalpys(alphabet, sul, oracle):
    MealyNode._id_counter = 0
    plain = {"cache_and_non_det_check": False, "print_level": 0}
    return run_Lsharp(alphabet, sul, oracle, "mealy", separation_rule="SepSeq", **plain)


class Asked:
    """A box that writes down what is asked; with `rng`, counterexamples are long random words."""

    def __init__(self, machine, rng=None):
        self.machine, self.rng, self.words, self.hypotheses = machine, rng, [], []

    def outputs(self, word):
        self.words.append(word)
        return self.machine.run(word)

    def teacher(self, hypothesis):
        self.hypotheses.append((hypothesis.outputs, hypothesis.successor.tolist(), hypothesis.answer.tolist()))
        shortest = difference(hypothesis, self.machine)
        while shortest is not None and self.rng is not None:
            word = tuple(self.machine.inputs[i] for i in self.rng.integers(len(self.machine.inputs), size=80))
            if hypothesis.run(word) != self.machine.run(word):
                return word
        return shortest


def learned(run, machine, rng=None):
    asked = Asked(machine, rng)
    found = from_aalpy(run(*learner_parts(asked, machine.inputs, asked.teacher)), machine.inputs)
    assert difference(found, machine) is None
    return asked.words, asked.hypotheses, found.successor.tolist()


@pytest.mark.parametrize("seed", range(12))
def test_random_machines_are_learned_with_the_same_words_and_hypotheses(seed):
    rng = np.random.default_rng(seed)
    sizes = {"states": int(rng.integers(1, 60)), "inputs": int(rng.integers(1, 6)), "outputs": int(rng.integers(2, 4))}
    machine = random_machine(rng, **sizes)
    assert learned(run_lsharp, machine) == learned(aalpys, machine)


@pytest.mark.parametrize("seed", range(4))
def test_long_counterexamples_are_taken_apart_in_the_same_way(seed):
    machine = random_machine(np.random.default_rng(seed), states=40, inputs=3, outputs=2)
    results = [learned(run, machine, np.random.default_rng(seed)) for run in (run_lsharp, aalpys)]
    assert results[0] == results[1]
    assert len(results[0][1]) > 2


def test_a_lock_is_learned_with_the_same_words_and_hypotheses():
    machine = lock(np.random.default_rng(1), length=14, inputs=3)
    words, hypotheses, _ = learned(run_lsharp, machine)
    assert (words, hypotheses) == learned(aalpys, machine)[:2]
    assert len(words) > 100


def test_a_second_learning_in_the_same_process_is_the_same():
    machine = random_machine(np.random.default_rng(5), states=30, inputs=3, outputs=2)
    assert learned(run_lsharp, machine) == learned(run_lsharp, machine)
