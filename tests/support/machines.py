"""Random finite machines, and machines with an error, for tests of learners and conformance testers.

    machine = random_machine(rng, states=5, inputs=2, outputs=2)
    for wrong in mutants(machine, rng): ...

Everything random comes from the generator given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.automata.words import Words, renaming

DOOR = """digraph door {
__start0 -> shut;
shut -> ajar [label="open/ok"];
shut -> shut [label="shut/no"];
shut -> locked [label="lock/ok"];
ajar -> ajar [label="open/no"];
ajar -> shut [label="shut/ok"];
ajar -> ajar [label="lock/no"];
locked -> locked [label="open/no"];
locked -> locked [label="shut/no"];
locked -> shut [label="lock/ok"];
}
"""
"""A door that can be opened, shut and locked, as a DOT file."""


def random_machine(rng: np.random.Generator, *, states: int, inputs: int, outputs: int) -> MealyMachine:
    """A machine with uniform successors and answers; it may be not minimal, or have unreachable states."""
    return MealyMachine(
        tuple(f"i{i}" for i in range(inputs)),
        tuple(f"o{o}" for o in range(outputs)),
        rng.integers(states, size=(states, inputs), dtype=np.int32),
        rng.integers(outputs, size=(states, inputs), dtype=np.int32),
        name=f"random{states}",
    )


def lock(rng: np.random.Generator, *, length: int, inputs: int) -> MealyMachine:
    """A combination lock: one word of `length` symbols opens it, and any mistake starts again."""
    successor = np.zeros((length, inputs), np.int32)
    answer = np.zeros((length, inputs), np.int32)
    for state in range(length):
        right = int(rng.integers(inputs))
        successor[state, right] = (state + 1) % length
        answer[length - 1, right] = int(state == length - 1)
    names = tuple(f"i{i}" for i in range(inputs))
    return MealyMachine(names, ("shut", "open"), successor, answer, name=f"lock{length}")


def mutants(machine: MealyMachine, rng: np.random.Generator, *, added: int = 2) -> Iterator[MealyMachine]:
    """One mutant of each kind: another output, target or initial state, and up to `added` more states."""
    states, inputs = machine.successor.shape
    place = int(rng.integers(states)), int(rng.integers(inputs))
    answer = machine.answer.copy()
    answer[place] = (answer[place] + 1 + int(rng.integers(max(1, len(machine.outputs) - 1)))) % len(machine.outputs)
    yield _changed(machine, machine.successor, answer)
    successor = machine.successor.copy()
    successor[place] = int(rng.integers(states))
    yield _changed(machine, successor, machine.answer)
    yield _changed(machine, machine.successor, machine.answer, int(rng.integers(states)))
    for more in range(1, added + 1):
        yield with_hidden_states(machine, rng, more)


def with_hidden_states(machine: MealyMachine, rng: np.random.Generator, more: int) -> MealyMachine:
    """Add copies of states, which replace some targets; one transition of the last copy is wrong."""
    states, inputs = machine.successor.shape
    successor, answer = machine.successor, machine.answer
    for _ in range(more):
        original, new = int(rng.integers(len(successor))), len(successor)
        successor = np.vstack([successor, successor[original]])
        answer = np.vstack([answer, answer[original]])
        leading = np.argwhere(successor[:new] == original)
        if len(leading):
            successor[tuple(leading[int(rng.integers(len(leading)))])] = new
    i = int(rng.integers(inputs))
    if rng.integers(2):
        answer[-1, i] = int(rng.integers(len(machine.outputs)))
    else:
        successor[-1, i] = int(rng.integers(len(successor)))
    return _changed(machine, successor, answer)


def _changed(
    machine: MealyMachine, successor: np.ndarray, answer: np.ndarray, initial: int | None = None
) -> MealyMachine:
    start = machine.initial if initial is None else initial
    return MealyMachine(machine.inputs, machine.outputs, successor, answer, start, name=f"mutant of {machine.name}")


def run_many(machine: MealyMachine, words: Words) -> np.ndarray:
    """The machine's answers to each word from its initial state on, as numbers of `machine.outputs`."""
    successor, answer, outputs = machine.successor.tolist(), machine.answer.tolist(), []
    number = [machine.inputs.index(symbol) for symbol in words.inputs]
    for index in range(len(words)):
        state = machine.initial
        for symbol in words.symbols[words.span(index)].tolist():
            outputs.append(answer[state][number[symbol]])
            state = successor[state][number[symbol]]
    return np.array(outputs, np.int32)


def add_many(tree: ObservationTree, words: Words, outputs: np.ndarray, names: Sequence[str]) -> None:
    """Enter each word with its outputs, which are numbers of `names`."""
    for index, word in enumerate(words):
        tree.add(word, [names[number] for number in outputs[words.span(index)].tolist()])


def first_difference(machine: MealyMachine, words: Words, outputs: np.ndarray, names: Sequence[str]) -> Word | None:
    """The shortest prefix of these words whose last answer is not the machine's (of several, the first).

    `outputs` are numbers of `names`, one per symbol.
    """
    expected = run_many(machine, words)
    wrong = np.nonzero(expected != renaming(names, machine.outputs)[outputs])[0]
    if not len(wrong):
        return None
    starts = np.concatenate([[0], words.ends[:-1]])
    lengths = wrong - starts[np.searchsorted(words.ends, wrong, side="right")]
    position = int(wrong[np.argmin(lengths)])
    return words[int(np.searchsorted(words.ends, position, side="right"))][: int(lengths.min()) + 1]
