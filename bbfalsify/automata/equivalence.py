"""When two machines answer alike, and the smallest machine that answers like a given one.

    difference(a, b)        # the shortest word that a and b answer differently; None: equivalent
    minimise(machine)       # no unreachable states, no two states that answer alike

Machines are compared by the names of their symbols, so the numbers of inputs and outputs need not agree.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.errors import UserError

Word = tuple[str, ...]


def difference(one: MealyMachine, other: MealyMachine) -> Word | None:
    """The shortest word (the first in the order of `one.inputs`) with different outputs; None where there is none."""
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


def equivalent(one: MealyMachine, other: MealyMachine) -> bool:
    return difference(one, other) is None


def reachable(machine: MealyMachine) -> list[int]:
    """The states that some word leads to, in breadth-first order, the initial one first."""
    order, seen = [machine.initial], {machine.initial}
    successor = machine.successor.tolist()
    for state in order:
        for following in successor[state]:
            if following not in seen:
                seen.add(following)
                order.append(following)
    return order


def minimise(machine: MealyMachine) -> MealyMachine:
    """The smallest equivalent machine; its states are named after the first of those they stand for, initial first.

    A machine that is minimal already, with its states in any order, comes back as it is.
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
    # Blocks are numbered as the breadth-first order meets them, so that the result depends on the behaviour alone.
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
