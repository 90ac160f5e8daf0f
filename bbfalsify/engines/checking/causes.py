"""Group the violations of a learned machine by cause: the answer that breaks the requirement, and the words to it.

    cause        a step of the machine (state, input, output) after which a requirement is violated whatever follows
    its words    the shortest first; others come to the same step by another way

Machine and watch are explored together, breadth first.  The words are those of the learned machine; whether the system
has been seen to answer so, the tree of observations says.  Where a check ended before the machine shows the violation,
observed words are grouped by their last answer instead.  Violations by loops have no such step and no causes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.engines.checking.claims import Claim, Violation
from bbfalsify.logic.ltl import Property
from bbfalsify.results.check_result import Cause

MOST_NODES = 20_000
"""Pairs of machine and watch states that are explored."""
MOST_CAUSES = 10
MOST_WORDS = 5

Node = tuple[int, int]
"""State of the machine, state of the watch."""
Step = tuple[int, int]
"""State of the machine, number of the input."""


def causes_of(
    machine: MealyMachine | None, claims: Sequence[Claim], violations: Mapping[int, Violation], tree: ObservationTree
) -> dict[int, tuple[Cause, ...]]:
    """Causes of each violated claim, by its number, shortest word first."""
    if machine is None:
        return {}
    finite = {number: violation for number, violation in violations.items() if not violation.lasso.loop}
    shown = {number: machine.run(found.lasso.prefix) == found.outputs for number, found in finite.items()}
    steps = {number: _steps(machine, claims[number].property) for number in finite if shown[number]}
    return {
        number: tuple(
            _cause(machine, step, words, tree, [claims[k].id for k in steps if k != number and step in steps[k]])
            for step, words in list(steps[number].items())[:MOST_CAUSES]
        )
        if shown[number]
        else _observed(claims[number].property, machine.inputs, tree)
        for number in finite
    }


def _observed(property: Property, inputs: Sequence[str], tree: ObservationTree) -> tuple[Cause, ...]:
    """Group the violating words among the observations by their last letter."""
    watch, found = property.watch(inputs), dict[tuple[str, str], dict[Word, None]]()
    for word, outputs in itertools.islice(tree.words(), MOST_NODES):
        length = watch.first_bad(watch.letters.number(i, o) for i, o in zip(word, outputs, strict=True))
        if length:
            found.setdefault((word[length - 1], outputs[length - 1]), {})[word[:length]] = None
    ordered = {
        letter: sorted(words, key=lambda word: (len(word), word))[:MOST_WORDS] for letter, words in found.items()
    }
    return tuple(
        Cause(state=None, input=i, output=o, word=words[0], others=tuple(words[1:]), observed=(True,) * len(words))
        for (i, o), words in sorted(ordered.items(), key=lambda pair: len(pair[1][0]))[:MOST_CAUSES]
    )


def _cause(machine: MealyMachine, step: Step, words: list[Word], tree: ObservationTree, also: list[str]) -> Cause:
    state, number = step
    return Cause(
        state=machine.states[state],
        input=machine.inputs[number],
        output=machine.outputs[int(machine.answer[state, number])],
        word=words[0],
        others=tuple(words[1:]),
        observed=tuple(tree.outputs(word) == machine.run(word) for word in words),
        requirements=tuple(also),
    )


def _steps(machine: MealyMachine, property: Property) -> dict[Step, list[Word]]:
    """Steps that violate, each with its shortest words; nearest steps first."""
    watch = property.watch(machine.inputs)
    letters = property.bad_words(machine.inputs, machine.outputs).letters.table(machine.inputs, machine.outputs)
    if watch.bad[watch.initial]:
        return {}
    start = (machine.initial, watch.initial)
    words: dict[Node, Word] = {start: ()}
    ways: dict[Node, list[Word]] = {start: [()]}
    """Words to a node, at most one for each way into it."""
    bad: dict[Step, list[Node]] = {}
    queue = [start]
    for node in queue:
        state, watched = node
        for number, symbol in enumerate(machine.inputs):
            answer, word = int(machine.answer[state, number]), (*words[node], symbol)
            target = (int(machine.successor[state, number]), watch.step(watched, letters[number][answer]))
            if watch.bad[target[1]]:
                bad.setdefault((state, number), []).append(node)
            elif target in words:
                ways[target].append(word)
            elif len(words) < MOST_NODES:
                words[target], ways[target] = word, [word]
                queue.append(target)
    return {step: _shortest(step, nodes, ways, machine) for step, nodes in bad.items()}


def _shortest(step: Step, nodes: list[Node], ways: dict[Node, list[Word]], machine: MealyMachine) -> list[Word]:
    last = machine.inputs[step[1]]
    words = dict.fromkeys((*word, last) for node in nodes for word in ways[node])
    return sorted(words, key=len)[:MOST_WORDS]
