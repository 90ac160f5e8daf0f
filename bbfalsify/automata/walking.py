"""Compiled walks through machines and trees of words; importing this imports numba."""

from __future__ import annotations

import numpy as np

from bbfalsify.jit import jit


@jit(reference_counting=False)
def compare_tree(
    children: np.ndarray,
    seen: np.ndarray,
    nodes: int,
    inputs: np.ndarray,
    outputs: np.ndarray,
    successor: np.ndarray,
    answer: np.ndarray,
    state: np.ndarray,
    parent: np.ndarray,
    symbol: np.ndarray,
    depth: np.ndarray,
) -> int:
    """Walk a machine along a whole tree; return the node of the shortest disagreement, or 0.

    `inputs` and `outputs` give the machine's numbers of the tree's symbols (-1: unknown to the machine).  `state`,
    `parent`, `symbol` and `depth` are filled per node; `state[0]` must be set; behind a disagreement `state` is -1.
    """
    best = 0
    width = children.shape[1]
    for node in range(nodes):
        s = state[node]
        for i in range(width):
            child = children[node, i]
            if child == 0:
                continue
            parent[child], symbol[child], depth[child] = node, i, depth[node] + 1
            number = inputs[i]
            state[child] = -1
            if s < 0 or number < 0:
                continue
            if answer[s, number] == outputs[seen[child]]:
                state[child] = successor[s, number]
            elif best == 0 or depth[child] < depth[best]:
                best = child
    return best


@jit(reference_counting=False)
def separate_states(successor: np.ndarray, answer: np.ndarray, length: np.ndarray, first: np.ndarray) -> None:
    """Fill in, for every two states, the length (0: none) and the first input of a shortest separating word.

    Both arrays must be 0.  Of several shortest words, the one whose inputs have the smallest numbers is taken.
    """
    states, inputs = successor.shape
    depth, grown = 1, True
    while grown:
        grown = False
        for s in range(states):
            for t in range(s):
                if length[s, t]:
                    continue
                for i in range(inputs):
                    if depth == 1:
                        found = answer[s, i] != answer[t, i]
                    else:
                        found = length[successor[s, i], successor[t, i]] == depth - 1
                    if found:
                        length[s, t] = length[t, s] = depth
                        first[s, t] = first[t, s] = i
                        grown = True
                        break
        depth += 1
