"""All answers of a system to words of input symbols, as one tree.

    tree = ObservationTree()
    tree.add(("coin", "push"), ("click", "go"))
    tree.outputs(("coin",))                     # ("click",): prefixes are known, too
    tree.outputs(("push",))                     # None: unknown
    tree.add(("coin",), ("broken",))            # raises Contradiction: not deterministic, or not reset

    first_disagreement(tree, machine)           # the shortest word seen that the machine answers in another way

Learner, model checker and conformance tester share one tree, so that no word is executed twice.  Nodes and symbols are
numbers, so that a step through the tree is one look-up.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.automata.words import renaming


class Contradiction(Exception):
    """Two executions of the same word gave different answers."""

    def __init__(self, word: Word, known: str, seen: str) -> None:
        self.word, self.known, self.seen = word, known, seen
        shown = " ".join(word if len(word) <= 12 else ("…", *word[-12:]))
        super().__init__(f"after '{shown}' the last answer was '{known}' before and '{seen}' now")


@dataclass(frozen=True)
class TreeStates:
    """The states of a machine along a tree, one entry per node; the root is node 0."""

    state: np.ndarray
    """State of the machine; -1 behind a disagreement or an input that the machine does not know."""
    parent: np.ndarray
    symbol: np.ndarray
    """The tree's number of the input that leads to the node."""
    depth: np.ndarray
    inputs: np.ndarray
    """The machine's number of each input of the tree, or -1."""
    disagreement: int
    """The node of the shortest disagreement, or 0."""


class ObservationTree:
    def __init__(self) -> None:
        self._inputs: dict[str, int] = {}
        self._outputs: dict[str, int] = {}
        self._width = 1
        """Length of each node's row of children; grows with the alphabet."""
        # Arrays of the standard library: as fast as lists for single words, and numpy uses them without a copy.
        self._children = array("i", [0])
        """Node × input → node; 0: none, as no edge leads to the root."""
        self._output = array("i", [-1])
        """The number of the output on the edge to each node."""

    def __len__(self) -> int:
        """The number of observations: one per symbol of a word that is not a prefix seen before."""
        return len(self._output) - 1

    # ------------------------------------------------------------------ one word

    def add(self, word: Sequence[str], outputs: Sequence[str]) -> int:
        """Enter a word with its outputs, which may be fewer; return the number of new observations."""
        if not all(map(self._inputs.__contains__, word)):
            self._know(word)
        inputs, children, width, seen = self._inputs, self._children, self._width, self._output
        no_children = bytes(4 * width)
        node, before = 0, len(seen)
        for position, (symbol, output) in enumerate(zip(word, outputs, strict=False)):
            place = node * width + inputs[symbol]
            child, number = children[place], self._outputs.setdefault(output, len(self._outputs))
            if child == 0:
                child = children[place] = len(seen)
                children.frombytes(no_children)
                seen.append(number)
            elif seen[child] != number:
                raise Contradiction(tuple(word[: position + 1]), self.output_names()[seen[child]], output)
            node = child
        return len(seen) - before

    def _known_numbers(self, word: Sequence[str]) -> list[int]:
        inputs, children, width, seen = self._inputs, self._children, self._width, self._output
        node, outputs = 0, []
        for symbol in word:
            number = inputs.get(symbol)
            node = 0 if number is None else children[node * width + number]
            if node == 0:
                break
            outputs.append(seen[node])
        return outputs

    def known(self, word: Sequence[str]) -> Word:
        """The outputs of the longest prefix that has been seen."""
        names = self.output_names()
        return tuple([names[number] for number in self._known_numbers(word)])

    def outputs(self, word: Sequence[str]) -> Word | None:
        """The outputs along a word; None where it has not been seen to its end."""
        numbers = self._known_numbers(word)
        if len(numbers) < len(word):
            return None
        names = self.output_names()
        return tuple([names[number] for number in numbers])

    def contradicts(self, word: Sequence[str], outputs: Sequence[str]) -> bool:
        """Tell whether adding this would raise Contradiction."""
        known = self.known(word)
        return any(a != b for a, b in zip(known, outputs, strict=False))

    def forget(self, word: Sequence[str]) -> None:
        """Remove the last answer of this word, and everything seen behind it."""
        word = tuple(word)
        right = ObservationTree()
        right._know(self._inputs)  # numbers stay as they were
        for seen, outputs in self.words():
            right.add(seen, outputs[: len(word) - 1] if seen[: len(word)] == word else outputs)
        self.__dict__ = right.__dict__

    def overrule(self, word: Sequence[str], outputs: Sequence[str]) -> None:
        """Enter a word; where it contradicts the tree, replace the older answers."""
        while self.contradicts(word, outputs):
            wrong = next(i for i, (a, b) in enumerate(zip(self.known(word), outputs, strict=False)) if a != b)
            self.forget(word[: wrong + 1])
        self.add(word, outputs)

    # ------------------------------------------------------------------ beside a machine

    def states(self, machine: MealyMachine) -> TreeStates:
        """Walk a machine along the whole tree."""
        from bbfalsify.automata.walking import compare_tree

        nodes = len(self._output)
        state, parent, symbol, depth = (np.zeros(nodes, np.int32) for _ in range(4))
        state[0] = machine.initial
        inputs, outputs = renaming(self._inputs, machine.inputs), renaming(self._outputs, machine.outputs)
        inputs = np.concatenate([inputs, np.full(self._width - len(inputs), -1, np.int32)])
        children, seen = self._arrays()
        node = compare_tree(
            children, seen, nodes, inputs, outputs, machine.successor, machine.answer, state, parent, symbol, depth
        )
        return TreeStates(state, parent, symbol, depth, inputs, int(node))

    def children(self) -> np.ndarray:
        """A copy of [node, input] → node, 0 for none, in the tree's own numbers of inputs."""
        return self._arrays()[0].copy()

    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Views of the children and of the outputs; the tree cannot grow while they exist."""
        children = np.frombuffer(self._children, np.int32).reshape(-1, self._width)
        return children, np.frombuffer(self._output, np.int32)

    # ------------------------------------------------------------------ all of it

    def words(self) -> Iterator[tuple[Word, Word]]:
        """The maximal words with their outputs; inputs are visited in the order of their numbers."""
        inputs, outputs, width = list(self._inputs), self.output_names(), self._width
        stack: list[tuple[int, Word, Word]] = [(0, (), ())]
        while stack:
            node, word, seen = stack.pop()
            row = self._children[node * width : node * width + len(inputs)]
            children = [(number, child) for number, child in enumerate(row) if child]
            if not children and word:
                yield word, seen
            for number, child in reversed(children):
                stack.append((child, (*word, inputs[number]), (*seen, outputs[self._output[child]])))

    def output_names(self) -> list[str]:
        """All outputs in the order of their numbers."""
        return list(self._outputs)

    def _know(self, symbols: Iterable[str]) -> None:
        """Number new input symbols, and widen the rows if necessary."""
        for symbol in symbols:
            self._inputs.setdefault(symbol, len(self._inputs))
        if len(self._inputs) > self._width:
            width = max(len(self._inputs), 2 * self._width if self._width < 16 else self._width + 8)
            wider = np.zeros((len(self._output), width), np.int32)
            wider[:, : self._width] = self._arrays()[0]
            self._children, self._width = array("i", wider.tobytes()), width


def first_disagreement(tree: ObservationTree, machine: MealyMachine) -> Word | None:
    """The shortest observed word that the machine answers differently (of several, the first observed)."""
    states = tree.states(machine)
    node = states.disagreement
    word: list[str] = []
    while node:
        word.append(machine.inputs[states.inputs[states.symbol[node]]])
        node = int(states.parent[node])
    return tuple(reversed(word)) or None
