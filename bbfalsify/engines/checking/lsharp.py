"""AALpy's L# for machines of hundreds of states: the same rules and queries, compiled apartness.

L# keeps a tree of observations.  Its *basis* holds nodes that are pairwise apart, the states found; its *frontier*
holds their other successors, each with its candidates: the basis nodes from which it is not apart.  AALpy looks at
every frontier node after each query and walks both subtrees anew.  Here the tree is also two arrays (`PackedTree`),
on which compiled functions do these walks.  What is asked, in which order, and every hypothesis stay those of AALpy
(`tests/laws/test_lsharp.py`); `experiments/bench/checking.py` compares the times.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from aalpy.automata import MealyMachine
from aalpy.base import SUL, Oracle
from aalpy.learning_algs.deterministic.ObservationTree import MealyNode, ObservationTree

from bbfalsify.automata.apartness import GONE, NONE, OPEN, candidates, first_wrong, next_open


def run_lsharp(alphabet: list[str], sul: SUL, oracle: Oracle) -> MealyMachine:
    """Learn a Mealy machine by L# with separating sequences; stop when the oracle finds no counterexample."""
    tree = ApartnessTree(alphabet, sul)
    while True:
        hypothesis = tree.build_hypothesis()
        word = oracle.find_cex(hypothesis)
        if word is None:
            return hypothesis
        tree.process_counter_example(hypothesis, word, sul.query(word))


class PackedTree:
    """Children and outputs of a tree as arrays that grow; node 0 is the root."""

    def __init__(self, inputs: int) -> None:
        self._children, self._output = np.zeros((1024, inputs), np.int32), np.zeros(1024, np.int32)
        self._queue = np.zeros((2, 1024), np.int32)
        self._numbers: dict[str, int] = {}
        self._size = 1

    def __len__(self) -> int:
        return self._size

    def add(self, parent: int, symbol: int, output: str) -> None:
        if self._size == len(self._output):
            self._children = np.concatenate([self._children, np.zeros_like(self._children)])
            self._output = np.concatenate([self._output, np.zeros_like(self._output)])
            self._queue = np.zeros((2, len(self._output)), np.int32)
        self._children[parent, symbol] = self._size
        self._output[self._size] = self.number(output)
        self._size += 1

    def number(self, output: str) -> int:
        return self._numbers.setdefault(output, len(self._numbers))

    def candidates(self, node: int, others: np.ndarray) -> list[int]:
        """Positions of the nodes among `others` that are not apart from `node`."""
        found = np.empty(len(others), np.int32)
        return found[: candidates(self._children, self._output, node, others, self._queue, found)].tolist()

    def next_open(self, frontier: np.ndarray, only: np.ndarray, start: int) -> tuple[int, list[int]]:
        """The next frontier node with several candidates, and those before it that just lost their only one."""
        lost = np.empty(len(frontier), np.int32)
        place, count = next_open(self._children, self._output, frontier, only, start, self._queue, lost)
        return int(place), lost[:count].tolist()

    def first_wrong(self, successor: np.ndarray, answer: np.ndarray) -> int:
        """The first node, breadth first, that a machine with initial state 0 answers differently, or 0."""
        return int(first_wrong(self._children, self._output, successor, answer, self._queue))


class NodeList:
    """Numbers of nodes in an array that grows."""

    def __init__(self) -> None:
        self._places, self._size = np.zeros(256, np.int32), 0

    def append(self, number: int) -> None:
        if self._size == len(self._places):
            self._places = np.concatenate([self._places, np.zeros_like(self._places)])
        self._places[self._size] = number
        self._size += 1

    @property
    def array(self) -> np.ndarray:
        return self._places[: self._size]


class ApartnessTree(ObservationTree):
    """AALpy's tree for Mealy machines, with the walks over all frontier nodes compiled.

    `frontier_to_basis_dict` stays the truth for AALpy's rules.  `_only` has, for each frontier node in the order of
    that dictionary, its only candidate or a mark (OPEN, NONE, GONE).
    """

    def __init__(self, alphabet: list[str], sul: SUL) -> None:
        MealyNode._id_counter = 0  # nodes are numbered over all learning of a process; here numbers are places
        super().__init__(alphabet, sul, "mealy", "SepSeq", "SepSeq")
        self._symbols = {symbol: i for i, symbol in enumerate(alphabet)}
        self._packed, self._nodes = PackedTree(len(alphabet)), [self.root]
        self._basis_places, self._frontier, self._only = NodeList(), NodeList(), NodeList()
        self._position: dict[MealyNode, int] = {}
        self._known = {self.root}
        """Nodes of basis and frontier."""
        self._basis_places.append(0)
        self._basis_position = {self.root: 0}
        self._grown: set[int] = set()
        """Positions in the basis of nodes that may have successors that are not known yet."""
        self._completed = 0
        """Nodes of the basis, from its beginning, that have been asked every symbol."""

    def insert_observation(self, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        node = self.root
        for symbol, output in zip(inputs, outputs, strict=True):
            child = node.extend_and_get(symbol, output)
            if child.id > len(self._nodes):
                self._nodes.append(child)
                self._packed.add(_place(node), self._symbols[symbol], output)
                if node in self._basis_position:
                    self._grown.add(self._basis_position[node])
            node = child

    # ------------------------------------------------------------------ candidates

    def find_basis_candidates(self, new_frontier: MealyNode) -> set[MealyNode]:
        return set(self._candidates(new_frontier))

    def _candidates(self, node: MealyNode) -> list[MealyNode]:
        return [self.basis[i] for i in self._packed.candidates(_place(node), self._basis_places.array)]

    def update_basis_candidates(self, frontier_state: MealyNode) -> None:
        old = list(self.frontier_to_basis_dict[frontier_state])
        places = np.array([_place(node) for node in old], np.int32)
        self._set_candidates(frontier_state, [old[i] for i in self._packed.candidates(_place(frontier_state), places)])

    def update_frontier_to_basis_dict(self) -> None:
        for frontier_state in self._open_nodes():
            self.update_basis_candidates(frontier_state)

    def _open_nodes(self) -> Iterable[MealyNode]:
        """Go through the frontier; drop only candidates that are apart, yield the nodes with several candidates."""
        position = -1
        while True:
            position, lost = self._packed.next_open(self._frontier.array, self._only.array, position + 1)
            for empty in lost:
                self.frontier_to_basis_dict[self._frontier_node(empty)] = []
            if position == len(self._frontier.array):
                return
            yield self._frontier_node(position)

    def _frontier_node(self, position: int) -> MealyNode:
        return self._nodes[self._frontier.array[position]]

    def _set_candidates(self, node: MealyNode, found: Any) -> None:
        """Enter the candidates of a frontier node, which may be new."""
        self.frontier_to_basis_dict[node] = found
        if node not in self._position:
            self._position[node] = len(self._frontier.array)
            self._frontier.append(_place(node))
            self._only.append(OPEN)
            self._known.add(node)
        mark = _place(next(iter(found))) if len(found) == 1 else OPEN if found else NONE
        self._only.array[self._position[node]] = mark

    # ------------------------------------------------------------------ the rules

    def promote_frontier_state(self) -> None:
        empty = np.flatnonzero(self._only.array == NONE)
        if not len(empty):
            return
        new = self._frontier_node(int(empty[0]))
        self._only.array[empty[0]] = GONE
        self._basis_position[new] = len(self.basis)
        self._grown.add(len(self.basis))
        self.basis.append(new)
        self._basis_places.append(_place(new))
        self.frontier_to_basis_dict.pop(new)
        for position in self._packed.candidates(_place(new), self._frontier.array):
            node = self._frontier_node(position)
            if node in self.frontier_to_basis_dict:
                self._set_candidates(node, [*self.frontier_to_basis_dict[node], new])

    def check_frontier_consistency(self) -> None:
        for position in sorted(self._grown):
            for symbol in self.alphabet:
                node = self.basis[position].get_successor(symbol)
                if node is not None and node not in self._known:
                    self._set_candidates(node, self._candidates(node))
        self._grown.clear()

    def is_observation_tree_adequate(self) -> bool:
        self.check_frontier_consistency()
        unclear = (self._only.array == OPEN) | (self._only.array == NONE)
        return not unclear.any() and all(
            len(node.successors) == len(self.alphabet) for node in self.basis[self._completed :]
        )

    def make_basis_complete(self) -> None:
        for basis_state in self.basis[self._completed :]:
            for symbol in self.alphabet:
                if basis_state.get_successor(symbol) is None:
                    self.explore_frontier(basis_state, symbol)
                    node = basis_state.get_successor(symbol)
                    self._set_candidates(node, self.find_basis_candidates(node))
        self._completed = len(self.basis)

    def make_frontiers_identified(self) -> None:
        for frontier_state in self._open_nodes():
            self.identify_frontier(frontier_state)

    # ------------------------------------------------------------------ hypotheses

    def construct_hypothesis(self) -> MealyMachine:
        """The hypothesis without AALpy's access and characterising words, which nobody here reads."""
        self.construct_hypothesis_states()
        self.construct_hypothesis_transitions()
        return MealyMachine(self.states_dict[self.root], list(self.states_dict.values()))

    def build_hypothesis(self) -> MealyMachine:
        while True:
            self.make_observation_tree_adequate()
            hypothesis = self.construct_hypothesis()
            node = self._packed.first_wrong(*self._tables())
            if node == 0:
                return hypothesis
            word = self.get_transfer_sequence(self.root, self._nodes[node])
            self.process_counter_example(hypothesis, word, self.get_observation(word))

    def _tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Successors and answers of the hypothesis; states have the numbers of the basis."""
        states = [self.states_dict[node] for node in self.basis]
        number = {id(state): i for i, state in enumerate(states)}
        successor = [[number[id(state.transitions[i])] for i in self.alphabet] for state in states]
        answer = [[self._packed.number(state.output_fun[i]) for i in self.alphabet] for state in states]
        return np.array(successor, np.int32), np.array(answer, np.int32)


def _place(node: MealyNode) -> int:
    return node.id - 1
