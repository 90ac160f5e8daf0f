"""Compiled apartness: which nodes of a tree of observations cannot be the same state.

Two nodes are apart if some word, seen behind both, was answered differently.  Trees are two arrays:
`children[node, input]`, 0 for none, and `output[node]`, the number of the output on the edge to the node.  `queue` is
work space of two rows with a place per node.  Importing this imports numba.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.jit import jit

OPEN, NONE, GONE = -1, -2, -3
"""Marks in place of the only candidate of a frontier node: several candidates, none, no frontier node any more."""


@jit(reference_counting=False, called_from_python=False)
def _difference(children: np.ndarray, output: np.ndarray, first: int, second: int, queue: np.ndarray) -> int:
    """Return the node behind `first` at which the shortest different answers end, or 0."""
    queue[0, 0], queue[1, 0] = first, second
    place, filled = 0, 1
    while place < filled:
        one, other = queue[0, place], queue[1, place]
        place += 1
        for i in range(children.shape[1]):
            left, right = children[one, i], children[other, i]
            if left and right:
                if output[left] != output[right]:
                    return int(left)
                queue[0, filled], queue[1, filled] = left, right
                filled += 1
    return 0


@jit(reference_counting=False)
def candidates(
    children: np.ndarray, output: np.ndarray, node: int, others: np.ndarray, queue: np.ndarray, found: np.ndarray
) -> int:
    """Fill `found` with the positions of the nodes among `others` that are not apart from `node`; count them."""
    count = 0
    for position in range(len(others)):
        if _difference(children, output, node, others[position], queue) == 0:
            found[count] = position
            count += 1
    return count


@jit(reference_counting=False)
def next_open(
    children: np.ndarray,
    output: np.ndarray,
    frontier: np.ndarray,
    only: np.ndarray,
    start: int,
    queue: np.ndarray,
    lost: np.ndarray,
) -> tuple[int, int]:
    """Return the first position from `start` on with several candidates, and the number of candidates lost before it.

    Frontier nodes on the way that are now apart from their only candidate are marked NONE and entered into `lost`.
    """
    count = 0
    for position in range(start, len(frontier)):
        candidate = only[position]
        if candidate == OPEN:
            return position, count
        if candidate >= 0 and _difference(children, output, frontier[position], candidate, queue):
            only[position] = NONE
            lost[count] = position
            count += 1
    return len(frontier), count


@jit(reference_counting=False)
def first_wrong(
    children: np.ndarray, output: np.ndarray, successor: np.ndarray, answer: np.ndarray, queue: np.ndarray
) -> int:
    """Return the first node, breadth first, that a machine (initial state 0) answers differently, or 0."""
    queue[0, 0], queue[1, 0] = 0, 0
    place, filled = 0, 1
    while place < filled:
        node, state = queue[0, place], queue[1, place]
        place += 1
        for i in range(children.shape[1]):
            child = children[node, i]
            if child:
                if output[child] != answer[state, i]:
                    return int(child)
                queue[0, filled], queue[1, filled] = child, successor[state, i]
                filled += 1
    return 0
