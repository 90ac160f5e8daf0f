"""Find a short word of a machine that violates a requirement.

The product of machine and bad words is explored breadth first.  The search ends at a state that accepts everything;
otherwise it looks for a strongly connected part with an accepting state.  Both are linear in the reached states.
Finite bad prefixes are preferred to lassos, because observing them on a black box is final.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.logic.ltl.automaton import Automaton, strong_components
from bbfalsify.logic.ltl.bad_prefixes import Watch
from bbfalsify.logic.ltl.properties import Property

MOST_LOOPS = 40
"""Loop heads that are tried for the shortest lasso."""
MOST_WATCHED = 300_000
"""Limit of pairs of machine and watch states in the search for a finite witness; beyond, the lasso is returned."""


@dataclass(frozen=True)
class Lasso:
    """A violation as inputs: prefix·loop·loop·…  With an empty loop the prefix violates, whatever follows."""

    prefix: tuple[str, ...]
    loop: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """Symbols in prefix and loop together."""
        return len(self.prefix) + len(self.loop)

    def __str__(self) -> str:
        shown = " ".join(self.prefix) or "(nothing)"
        return f"{shown} ({' '.join(self.loop)})^ω" if self.loop else shown


@dataclass(frozen=True)
class Searched:
    """The result of a search and its cost."""

    lasso: Lasso | None
    states: int
    """Product states met."""
    edges: int
    """Product edges followed."""


def find_violation(machine: MealyMachine, property: Property) -> Lasso | None:
    """Inputs along which the machine violates the requirement, or None if it satisfies it."""
    return search(machine, property).lasso


def search(machine: MealyMachine, property: Property) -> Searched:
    """As `find_violation`, but also return the cost."""
    automaton = property.bad_words(machine.inputs, machine.outputs)
    steps = _MachineSteps(machine, automaton)
    product = _Product(steps, automaton)
    if product.final is not None:
        word = _shortest_bad_prefix(steps, property.watch(machine.inputs))
        if word is None:
            word = product.path(product.final)
        return product.result(Lasso(steps.symbols(word)))
    loops = product.accepting_loops()
    if not loops:
        return product.result(None)
    word = _shortest_bad_prefix(steps, property.watch(machine.inputs))
    if word is not None:
        return product.result(Lasso(steps.symbols(word)))
    return product.result(product.shortest_lasso(loops))


class _MachineSteps:
    """The machine's steps as letter classes; among inputs with the same effect only the first is tried."""

    def __init__(self, machine: MealyMachine, automaton: Automaton) -> None:
        self.machine = machine
        self._classes = automaton.letters.table(machine.inputs, machine.outputs)
        self._successor, self._answer = machine.successor.tolist(), machine.answer.tolist()
        self._steps: dict[int, list[tuple[int, int, int]]] = {}

    def __getitem__(self, state: int) -> list[tuple[int, int, int]]:
        """(input, letter class, next state) of a machine state."""
        steps = self._steps.get(state)
        if steps is None:
            effects: dict[tuple[int, int], int] = {}
            for i, (target, answer) in enumerate(zip(self._successor[state], self._answer[state], strict=True)):
                effects.setdefault((self._classes[i][answer], target), i)
            steps = self._steps[state] = [(i, letter, target) for (letter, target), i in effects.items()]
        return steps

    def symbols(self, word: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.machine.inputs[i] for i in word)


class _Product:
    """All reachable product states, breadth first, until one accepts everything."""

    def __init__(self, steps: _MachineSteps, automaton: Automaton) -> None:
        self.steps, self.automaton = steps, automaton
        self.nodes: list[tuple[int, int]] = [(steps.machine.initial, a) for a in automaton.initial]
        self.targets: list[list[int]] = []
        self.inputs: list[list[int]] = []
        """For each node the inputs of its edges, beside `targets`."""
        self.parent: list[tuple[int, int]] = [(-1, -1)] * len(self.nodes)
        self.depth = [0] * len(self.nodes)
        self.final: int | None = None
        self.edges = 0
        numbers = {node: k for k, node in enumerate(self.nodes)}
        table, everything = automaton.table, automaton.everything
        self.final = next((k for k, (_, a) in enumerate(self.nodes) if a in everything), None)
        position = 0
        while position < len(self.nodes) and self.final is None:
            m, a = self.nodes[position]
            row = table[a]
            targets: list[int] = []
            inputs: list[int] = []
            for i, letter, successor in steps[m]:
                for b in row[letter]:
                    node = successor, b
                    number = numbers.get(node)
                    if number is None:
                        number = numbers[node] = len(self.nodes)
                        self.nodes.append(node)
                        self.parent.append((position, i))
                        self.depth.append(self.depth[position] + 1)
                        if b in everything:
                            self.final = number
                    targets.append(number)
                    inputs.append(i)
            self.edges += len(targets)
            self.targets.append(targets)
            self.inputs.append(inputs)
            position += 1

    def result(self, lasso: Lasso | None) -> Searched:
        return Searched(lasso, len(self.nodes), self.edges)

    def path(self, node: int) -> list[int]:
        """The inputs from the start to a node."""
        word = []
        while self.parent[node][0] >= 0:
            node, i = self.parent[node]
            word.append(i)
        return word[::-1]

    def accepting_loops(self) -> list[int]:
        """Accepting nodes on cycles, nearest first."""
        parts = strong_components(self.targets)
        self._parts = parts.of
        accepting = self.automaton.accepting
        return [k for k, (_, a) in enumerate(self.nodes) if accepting[a] and parts.cyclic[parts.of[k]]]

    def shortest_lasso(self, heads: list[int]) -> Lasso:
        """Find the shortest lasso that goes straight to one of the nearest loop heads and round its shortest cycle."""
        shortest, best = None, None
        for head in heads[:MOST_LOOPS]:
            if shortest is not None and self.depth[head] >= shortest:
                break
            # One of the same length may have a shorter notation, so it is tried as well.
            cycle = self._cycle(head, None if shortest is None else shortest - self.depth[head])
            if cycle is not None:
                lasso = _folded(self.steps.machine, self.path(head), cycle)
                shortest = self.depth[head] + len(cycle)
                if best is None or lasso.length < best.length:
                    best = lasso
        assert best is not None
        return best

    def _cycle(self, head: int, limit: int | None) -> list[int] | None:
        """Find the inputs of a shortest cycle through a node, not longer than the limit."""
        part = self._parts[head]
        came: dict[int, tuple[int, int]] = {}
        layer, length = [head], 0
        while layer and (limit is None or length < limit):
            length += 1
            following = []
            for node in layer:
                for target, i in zip(self.targets[node], self.inputs[node], strict=True):
                    if self._parts[target] != part or target in came:
                        continue
                    came[target] = node, i
                    if target == head:
                        return self._back(came, head)
                    following.append(target)
            layer = following
        return None

    def _back(self, came: dict[int, tuple[int, int]], head: int) -> list[int]:
        word, node = [], head
        while True:
            node, i = came[node]
            word.append(i)
            if node == head:
                return word[::-1]


def _folded(machine: MealyMachine, prefix: list[int], loop: list[int]) -> Lasso:
    """Find the shortest lasso with the same infinite word of letters."""
    inputs = [*prefix, *loop]
    state, letters = machine.initial, []
    for i in inputs:
        letters.append((i, int(machine.answer[state, i])))
        state = int(machine.successor[state, i])
    head, turn = letters[: len(prefix)], letters[len(prefix) :]
    period = next(d for d in range(1, len(turn) + 1) if len(turn) % d == 0 and turn == turn[:d] * (len(turn) // d))
    turn = turn[:period]
    while head and head[-1] == turn[-1]:
        turn = [head.pop(), *turn[:-1]]
    names = machine.inputs
    return Lasso(tuple(names[i] for i, _ in head), tuple(names[i] for i, _ in turn))


def _shortest_bad_prefix(steps: _MachineSteps, watch: Watch) -> list[int] | None:
    """Search machine and watch together, breadth first."""
    start = steps.machine.initial, watch.initial
    if watch.bad[watch.initial]:
        return []
    came: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {start: None}
    layer = [start]
    while layer and len(came) < MOST_WATCHED:
        following = []
        for node in layer:
            m, w = node
            for i, letter, successor in steps[m]:
                target = successor, watch.step(w, letter)
                if target in came:
                    continue
                came[target] = node, i
                if watch.bad[target[1]]:
                    return _word_to(came, target)
                following.append(target)
        layer = following
    return None


def _word_to(came: dict, node: tuple[int, int]) -> list[int]:
    word = []
    while came[node] is not None:
        node, i = came[node]
        word.append(i)
    return word[::-1]


def violates(
    property: Property, prefix: list[tuple[str, str]], loop: list[tuple[str, str]], *, inputs: Iterable[str]
) -> bool:
    """Tell whether the word prefix·loop·loop·… of (input, output) letters violates the requirement; with an empty loop:
    whether the prefix does already, whatever follows.  `inputs` is the alphabet: it decides what can follow.
    """
    return property.violated_by(tuple(inputs), list(prefix), list(loop))


def first_bad_prefix(
    property: Property, word: Iterable[str], outputs: Iterable[str], *, inputs: Iterable[str]
) -> int | None:
    """The length of the first prefix of an observed word after which the requirement is violated whatever follows.
    `inputs` is the alphabet: it decides what can follow.
    """
    letters = list(zip(word, outputs, strict=False))
    watch = property.watch(tuple(inputs))
    return watch.first_bad(watch.letters.number(i, o) for i, o in letters)
