"""Comparing machines, and minimising one.

    difference(a, b)        # the shortest word that a and b answer differently; None: equivalent
    minimise(machine)       # no unreachable states, no two states that answer alike

Machines are compared by the names of their symbols; the numbers may differ.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.core.errors import UserError


def difference(one: MealyMachine, other: MealyMachine) -> Word | None:
    """The shortest word with different outputs (of several, the first in the order of `one.inputs`), or None."""
    if set(one.inputs) != set(other.inputs):
        unshared = sorted(set(one.inputs) ^ set(other.inputs))
        raise UserError(f"the machines have different inputs: only one of them knows {', '.join(unshared)}.")
    columns = [other.inputs.index(symbol) for symbol in one.inputs]
    code = {name: number for number, name in enumerate(dict.fromkeys(one.outputs + other.outputs))}
    left, right = one.successor.tolist(), other.successor[:, columns].tolist()
    says = np.array([code[o] for o in one.outputs], np.int64)[one.answer].tolist()
    answers = np.array([code[o] for o in other.outputs], np.int64)[other.answer[:, columns]].tolist()
    start = one.initial, other.initial
    came_from: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {start: None}
    queue = deque([start])
    while queue:
        pair = queue.popleft()
        s, t = pair
        for i in range(len(one.inputs)):
            if says[s][i] != answers[t][i]:
                numbers = [i]
                while (step := came_from[pair]) is not None:
                    pair, number = step
                    numbers.append(number)
                return tuple(one.inputs[number] for number in reversed(numbers))
            following = left[s][i], right[t][i]
            if following not in came_from:
                came_from[following] = pair, i
                queue.append(following)
    return None


def reachable(machine: MealyMachine) -> list[int]:
    """The reachable states in breadth-first order."""
    order, seen = [machine.initial], {machine.initial}
    successor = machine.successor.tolist()
    for state in order:
        for following in successor[state]:
            if following not in seen:
                seen.add(following)
                order.append(following)
    return order


def minimise(machine: MealyMachine) -> MealyMachine:
    """The smallest equivalent machine; each state has the name of the first state it replaces, the initial one first.

    A minimal machine is returned unchanged.
    """
    order = np.array(reachable(machine))
    position = np.full(len(machine), -1)
    position[order] = np.arange(len(order))
    successor, answer = position[machine.successor[order]], machine.answer[order]
    block = np.unique(answer, axis=0, return_inverse=True)[1].reshape(-1)
    while True:
        finer = np.unique(np.column_stack([block, block[successor]]), axis=0, return_inverse=True)[1].reshape(-1)
        if finer.max() == block.max():
            break
        block = finer
    blocks = int(block.max()) + 1
    if blocks == len(machine):
        return machine
    # Blocks are numbered in breadth-first order, so that the result depends on the behaviour alone.
    firsts = np.full(blocks, len(order))
    np.minimum.at(firsts, block, np.arange(len(order)))
    representative = np.sort(firsts)
    number = np.empty(blocks, int)
    number[block[representative]] = np.arange(blocks)
    return MealyMachine(
        machine.inputs,
        machine.outputs,
        number[block[successor[representative]]].astype(np.int32),
        answer[representative].astype(np.int32),
        0,
        tuple(machine.states[order[r]] for r in representative),
        machine.name,
    )
