"""The tree in which a test suite is built: words seen, and words to be tested with the hypothesis's answers.

As long as the box agrees with the hypothesis, its answers are known beforehand; so a suite can be adapted to the future
tree, in compiled code and without asking.  The first answer that differs ends the suite anyway.

Nodes are numbered in the order of creation, so those that have not been emitted are the last ones; only words to leaves
among them are emitted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.automata.words import Words
from bbfalsify.jit import jit

FULL = -1
"""Return value of a function that found no room for another node; it can be called again after growing."""

_LEAST_ROOM = 4096


class MachineTables(NamedTuple):
    """The tables of a hypothesis, for compiled code."""

    successor: np.ndarray
    answer: np.ndarray


class Sketch(NamedTuple):
    """One entry (or row) per node; node 0 is the root."""

    child: np.ndarray
    """Node × input → node, 0 for none."""
    state: np.ndarray
    """State of the hypothesis."""
    parent: np.ndarray
    symbol: np.ndarray
    depth: np.ndarray
    inner: np.ndarray
    """1 where a node has children."""
    size: np.ndarray
    """[number of nodes, number of those seen or emitted]"""


def sketch_of(machine: MealyMachine, tree: ObservationTree) -> Sketch:
    """Copy the part of the tree with which the machine agrees."""
    states = tree.states(machine)
    nodes = len(states.state)
    room = nodes + max(_LEAST_ROOM, nodes // 2)
    child = np.zeros((room, len(machine.inputs)), np.int32)
    known = np.nonzero(states.inputs >= 0)[0]
    child[:nodes, states.inputs[known]] = tree.children()[:, known]
    if states.state.min() < 0:
        child[:nodes][states.state[child[:nodes]] < 0] = 0
    inner = np.zeros(room, np.uint8)
    inner[:nodes] = child[:nodes].any(axis=1)
    per_node = (states.state, states.parent, states.inputs[states.symbol], states.depth)
    state, parent, symbol, depth = (_longer(array, room) for array in per_node)
    return Sketch(child, state, parent, symbol, depth, inner, np.array([nodes, nodes], np.int64))


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    result = np.zeros((length, *array.shape[1:]), array.dtype)
    result[: len(array)] = array
    return result


def with_room(sketch: Sketch) -> Sketch:
    """Return a sketch of twice the size."""
    return Sketch._make([*(_longer(array, 2 * len(sketch.state)) for array in sketch[:-1]), sketch.size])


@jit(reference_counting=False, called_from_python=False)
def step(sketch, machine, node, i):
    """Return the child of a node, made if there is none; FULL if there is no room."""
    child = sketch.child[node, i]
    if child:
        return child
    new = sketch.size[0]
    if new == len(sketch.state):
        return FULL
    sketch.size[0] = new + 1
    sketch.child[node, i] = new
    sketch.state[new] = machine.successor[sketch.state[node], i]
    sketch.parent[new] = node
    sketch.symbol[new] = i
    sketch.depth[new] = sketch.depth[node] + 1
    sketch.inner[node] = 1
    return new


@jit(reference_counting=False, called_from_python=False)
def append(sketch, machine, node, word, length):
    """Enter the first `length` symbols of a word behind a node; return its last node, or FULL."""
    for position in range(length):
        node = step(sketch, machine, node, word[position])
        if node == FULL:
            return FULL
    return node


@jit(reference_counting=False, called_from_python=False)
def cost(sketch, node, word, length):
    """Count the symbols that testing a word behind a node adds.

    None if it is there; the rest, if it prolongs a word not emitted yet; else a whole word from the reset on.
    """
    for position in range(length):
        child = sketch.child[node, word[position]]
        if child == 0:
            rest = length - position
            return rest if sketch.inner[node] == 0 and node >= sketch.size[1] else sketch.depth[node] + rest
        node = child
    return 0


@jit(reference_counting=False, called_from_python=False)
def apart(sketch, machine, one, other, stack):
    """Tell whether a word behind both nodes separates them."""
    stack[0, 0], stack[0, 1] = one, other
    top = 1
    inputs = sketch.child.shape[1]
    while top:
        top -= 1
        x, y = stack[top, 0], stack[top, 1]
        if sketch.inner[x] == 0 or sketch.inner[y] == 0:
            continue
        s, t = sketch.state[x], sketch.state[y]
        if s == t:
            continue
        for i in range(inputs):
            a = sketch.child[x, i]
            if a == 0:
                continue
            b = sketch.child[y, i]
            if b == 0:
                continue
            if machine.answer[s, i] != machine.answer[t, i]:
                return True
            if top < len(stack):  # a pair that is left out is at worst tested again
                stack[top, 0], stack[top, 1] = a, b
                top += 1
    return False


@jit(reference_counting=False)
def _count_leaves(sketch):
    words, symbols = 0, 0
    for node in range(sketch.size[1], sketch.size[0]):
        if sketch.inner[node] == 0:
            words += 1
            symbols += sketch.depth[node]
    return words, symbols


@jit(reference_counting=False)
def _take_leaves(sketch, symbols, ends):
    end, word = 0, 0
    for node in range(sketch.size[1], sketch.size[0]):
        if sketch.inner[node] == 0:
            end += sketch.depth[node]
            ends[word] = end
            word += 1
            x, position = node, end
            while x:
                position -= 1
                symbols[position] = sketch.symbol[x]
                x = sketch.parent[x]


def emit(sketch: Sketch, inputs: tuple[str, ...]) -> Words:
    """Return the words entered since the last time, without prefixes of others, and mark them as done."""
    count, length = _count_leaves(sketch)
    symbols, ends = np.empty(length, np.int32), np.empty(count, np.int64)
    _take_leaves(sketch, symbols, ends)
    sketch.size[1] = sketch.size[0]
    return Words(inputs, symbols, ends)
