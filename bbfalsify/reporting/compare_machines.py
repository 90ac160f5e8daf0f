"""Two machines side by side: the shortest word that they answer differently, and both answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bbfalsify.automata.equivalence import difference
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.records.stored import to_json

Word = tuple[str, ...]


@dataclass(frozen=True)
class MachineChange:
    states: tuple[int, int]
    word: Word | None
    """The shortest one with different answers, over the inputs that both know; None where there is none."""
    old: Word = ()
    new: Word = ()
    only_old: Word = ()
    """Inputs that the new machine does not know."""
    only_new: Word = ()

    @property
    def differ(self) -> bool:
        return self.word is not None or bool(self.only_old or self.only_new)

    def as_json(self) -> dict[str, Any]:
        return {
            "differ": self.differ, "word": to_json(self.word),
            "old_answers": list(self.old), "new_answers": list(self.new),
            "old_states": self.states[0], "new_states": self.states[1],
            "only_old_inputs": list(self.only_old), "only_new_inputs": list(self.only_new),
        }  # fmt: skip


def compare_machines(old: MealyMachine, new: MealyMachine) -> MachineChange:
    shared = [symbol for symbol in old.inputs if symbol in new.inputs]
    only_old = tuple(symbol for symbol in old.inputs if symbol not in new.inputs)
    only_new = tuple(symbol for symbol in new.inputs if symbol not in old.inputs)
    word = difference(_restricted(old, shared), _restricted(new, shared)) if shared else None
    answers = ((), ()) if word is None else (old.run(word), new.run(word))
    return MachineChange((len(old), len(new)), word, *answers, only_old, only_new)


def _restricted(machine: MealyMachine, inputs: list[str]) -> MealyMachine:
    columns = [machine.inputs.index(symbol) for symbol in inputs]
    successor, answer = machine.successor[:, columns], machine.answer[:, columns]
    return replace(machine, inputs=tuple(inputs), successor=successor, answer=answer)
