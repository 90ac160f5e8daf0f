"""Check that a transition keeps all invariants whatever is drawn, process by process where choices are independent.

Fifty receivers of two edges each have 2^50 ways to follow a broadcast.  Mostly their choices are independent: each
assigns variables that no other reads or assigns, and each invariant depends on one choice alone.  Then it is enough to
check every choice by itself.  Independence is determined from the recorded reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bbfalsify.modelling.network.expressions import Expression
from bbfalsify.modelling.network.network import Branch, Network
from bbfalsify.modelling.reference.evaluation import AnyEvaluator, AnyMemory, Evaluator
from bbfalsify.modelling.reference.exact_values import DependsOnDraw, ModelRuntimeError
from bbfalsify.modelling.reference.memory_layers import Layered, Place, noting

Choices = dict[int, list[Branch]]
"""Process that takes part → the branches that may be drawn."""


class ChoicesMeet(Exception):  # noqa: N818  (no error: all combinations must be checked)
    """Two choices depend on each other."""


def every_choice_enters(
    network: Network, evaluator: AnyEvaluator, choices: Choices, concerned: Callable[[Iterable[Place]], Iterable[int]]
) -> bool:
    """Tell whether all invariants hold after every combination of choices, starting from the evaluator's memory.

    `concerned` returns the processes whose invariant may depend on given places; all other invariants hold.
    """
    try:
        return _Separately(network, evaluator, choices).all_hold(concerned)
    except (ModelRuntimeError, DependsOnDraw):
        raise ChoicesMeet from None  # the meaning of a failure depends on the updates before it


class _Separately:
    def __init__(self, network: Network, evaluator: AnyEvaluator, choices: Choices) -> None:
        self._network = network
        self._evaluator = evaluator
        self._owners: dict[Place, int] = {}
        """Place → the process whose choice writes it."""
        read: dict[int, set[Place]] = {process: set() for process in choices}
        self._after = {p: [self._updated(p, b, read[p]) for b in branches] for p, branches in choices.items()}
        for process, places in read.items():
            if self._others(places, process):
                raise ChoicesMeet
        # Locations change after all updates, so updates do not depend on them.
        self._owners |= {("l", process): process for process in choices}

    def _updated(self, process: int, branch: Branch, read: set[Place]) -> Layered:
        memory = noting(self._evaluator.memory, read)
        Evaluator(self._evaluator.code, memory, self._evaluator.sample).run(branch.updates)
        for place in memory.places():
            if self._owners.setdefault(place, process) != process:
                raise ChoicesMeet
        memory.locations[process] = branch.target
        return memory

    def _others(self, places: Iterable[Place], process: int | None) -> set[int]:
        """The other processes whose choices write these places."""
        return {self._owners[place] for place in places if place in self._owners} - {process}

    def all_hold(self, concerned: Callable[[Iterable[Place]], Iterable[int]]) -> bool:
        return all(self._holds(p, p if p in self._after else None) for p in concerned(self._owners))

    def _holds(self, process: int, owner: int | None) -> bool:
        """Tell whether an invariant holds after each choice of the owner (None: of no process)."""
        memories: Sequence[AnyMemory] = [self._evaluator.memory] if owner is None else self._after[owner]
        for memory in memories:
            read: set[Place] = set()
            holds = self._evaluate(self._invariant(process, memory), noting(memory, read))
            others = self._others(read, owner)
            if owner is None and len(others) == 1:
                return self._holds(process, others.pop())
            if others:
                raise ChoicesMeet
            if not holds:
                return False
        return True

    def _invariant(self, process: int, memory: AnyMemory) -> Expression | None:
        return self._network.processes[process].locations[memory.locations[process]].invariant

    def _evaluate(self, condition: Expression | None, memory: AnyMemory) -> bool:
        return Evaluator(self._evaluator.code, memory, self._evaluator.sample).holds(condition)
