"""Does a transition keep all invariants, whatever is drawn?  Choice by choice where that is exact, not way by way.

Fifty receivers of two edges each have 2^50 ways to follow a broadcast.  But mostly their choices have nothing to do
with each other: each assigns variables that no other reads or assigns, and each invariant depends on one choice alone.
Then it is enough to look at every choice for itself.  Whether it is so is seen from what is read and written meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bbfalsify.modelling.network.expressions import Expression
from bbfalsify.modelling.network.network import Branch, Network
from bbfalsify.modelling.reference.evaluation import Machine, Memory
from bbfalsify.modelling.reference.memory_layers import Layered, Place, noting
from bbfalsify.modelling.reference.values import DependsOnDraw, ModelRuntimeError

Choices = dict[int, list[Branch]]
"""Per process that takes part, the branches that may be drawn."""


class ChoicesMeet(Exception):  # noqa: N818  (no error: then it has to be looked at way by way)
    """Two choices have to do with each other."""


def every_choice_enters(
    network: Network, machine: Machine, choices: Choices, concerned: Callable[[Iterable[Place]], Iterable[int]]
) -> bool:
    """Whether all invariants hold after each way to choose, before which the memory is the machine's.

    `concerned` says of which processes the invariant may depend on some places; those of others hold.
    """
    try:
        return _Separately(network, machine, choices).all_hold(concerned)
    except (ModelRuntimeError, DependsOnDraw):
        raise ChoicesMeet from None  # what a failure means depends on what comes before it


class _Separately:
    def __init__(self, network: Network, machine: Machine, choices: Choices) -> None:
        self._network = network
        self._machine = machine
        self._owners: dict[Place, int] = {}
        """What the choice of a process decides."""
        read = {process: set() for process in choices}
        self._after = {p: [self._updated(p, b, read[p]) for b in branches] for p, branches in choices.items()}
        for process, places in read.items():
            if self._others(places, process):
                raise ChoicesMeet
        # The processes change their locations when all updates are done, so that updates do not depend on these.
        self._owners |= {("location", process): process for process in choices}

    def _updated(self, process: int, branch: Branch, read: set[Place]) -> Layered:
        memory = noting(self._machine.memory, read)
        Machine(self._network, memory, self._machine.sample).run(branch.updates)
        for place in memory.places():
            if self._owners.setdefault(place, process) != process:
                raise ChoicesMeet
        memory.locations[process] = branch.target
        return memory

    def _others(self, places: Iterable[Place], process: int | None) -> set[int]:
        """Who else decides about these places?"""
        return {self._owners[place] for place in places if place in self._owners} - {process}

    def all_hold(self, concerned: Callable[[Iterable[Place]], Iterable[int]]) -> bool:
        return all(self._holds(p, p if p in self._after else None) for p in concerned(self._owners))

    def _holds(self, process: int, owner: int | None) -> bool:
        """Whether an invariant holds after each choice of one process (None: of nobody)."""
        for memory in [self._machine.memory] if owner is None else self._after[owner]:
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

    def _invariant(self, process: int, memory: Memory) -> Expression | None:
        return self._network.processes[process].locations[memory.locations[process]].invariant

    def _evaluate(self, condition: Expression | None, memory: Memory) -> bool:
        return Machine(self._network, memory, self._machine.sample).holds(condition)
