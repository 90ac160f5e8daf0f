"""Compiled walks through machines and trees of words; importing this imports numba."""

from __future__ import annotations

from bbfalsify.jit import jit


@jit(reference_counting=False)
def walk_many(successor, answer, initial, symbols, ends, outputs):
    """Fill `outputs` with what the machine answers to each word, from the initial state on."""
    start = 0
    for end in ends:
        state = initial
        for position in range(start, end):
            i = symbols[position]
            outputs[position] = answer[state, i]
            state = successor[state, i]
        start = end


@jit(reference_counting=False)
def insert_many(children, seen, nodes, symbols, ends, outputs):
    """Enter words with their outputs into a tree; (number of nodes, position of the first contradiction or -1).

    `children[node, symbol]` is 0 where there is none; there must be room for all the nodes that could be new.
    """
    start = 0
    for end in ends:
        node = 0
        for position in range(start, end):
            i = symbols[position]
            child = children[node, i]
            if child == 0:
                child = nodes
                nodes += 1
                children[node, i] = child
                seen[child] = outputs[position]
            elif seen[child] != outputs[position]:
                return nodes, position
            node = child
        start = end
    return nodes, -1


@jit(reference_counting=False)
def compare_tree(children, seen, nodes, inputs, outputs, successor, answer, state, parent, symbol, depth):
    """Walk the machine along the whole tree; the node of the shortest disagreement, or 0.

    `inputs` and `outputs` give the machine's numbers of the tree's symbols (-1: unknown to the machine).  `state`,
    `parent`, `symbol` and `depth` are filled per node; `state[0]` must be set, and is -1 behind a disagreement.
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
def separate_states(successor, answer, length, first):
    """Fill in, for every two states, the length and the first input of a shortest separating word (0: there is none).

    Both must be 0; shorter words are found first, and of those the one whose inputs have the smallest numbers.
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
