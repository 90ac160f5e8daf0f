"""A learned machine together with a requirement, as a transition system.

    machine = read_dot("machine.dot")
    search(MachineProduct(machine, ltl("G !(out == alarm)")), method="highway", width=32, seed=1)

A state is a state of the machine and one of the requirement's watch (`logic/ltl/bad_prefixes.py`); its target is a word
after which the requirement is violated whatever follows.  Breadth first, the trace is a shortest such word.  A
requirement that only endless runs violate has no such word: `bbfalsify.logic.ltl.find_violation` finds those.
"""

from __future__ import annotations

from collections.abc import Sequence

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.errors import UserError
from bbfalsify.engines.searching.transition_system import Step
from bbfalsify.logic.ltl.properties import Property

ProductState = tuple[int, int]


class MachineProduct:
    """States of machine and watch; without a requirement the second is 0, and nothing is a target."""

    def __init__(self, machine: MealyMachine, requirement: Property | None = None) -> None:
        self.machine = machine
        self._successor, self._answer = machine.successor.tolist(), machine.answer.tolist()
        self._watch = None
        if requirement is not None:
            problems = requirement.problems(machine.inputs, machine.outputs)
            if problems:
                raise UserError(problems)
            self._watch = requirement.watch(machine.inputs)
            self._letters = self._watch.letters.table(machine.inputs, machine.outputs)
        self._labels = [[f"{i}/{o}" for o in machine.outputs] for i in machine.inputs]

    def initial(self) -> Sequence[ProductState]:
        return [(self.machine.initial, 0 if self._watch is None else self._watch.initial)]

    def successors(self, state: ProductState) -> Sequence[Step]:
        here, watched = state
        steps: list[Step] = []
        watch = self._watch
        for i, (target, answer) in enumerate(zip(self._successor[here], self._answer[here], strict=True)):
            after = 0 if watch is None else watch.step(watched, self._letters[i][answer])
            steps.append((self._labels[i][answer], (target, after)))
        return steps

    def target(self, state: ProductState) -> bool:
        return self._watch is not None and self._watch.bad[state[1]]

    def describe(self, state: ProductState) -> str:
        return self.machine.states[state[0]]
