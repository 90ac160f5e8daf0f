"""Black boxes in this process, for tests of the checking engine without a driver.

asked = AskedBox(machine.run)
Box(asked.ask, ObservationTree(), repeat=asked.ask)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.query import Answer, WordQuery
from bbfalsify.core.verdict import SimulationStatus

Word = tuple[str, ...]


@dataclass
class AskedBox:
    """Answers words by a function, and counts them."""

    answer: Callable[[Word], Word]
    words: list[Word] = field(default_factory=list)

    def ask(self, queries: Sequence[WordQuery]) -> list[Answer]:
        self.words += [query.word for query in queries]
        return [Answer(SimulationStatus.OK, symbols=self.answer(query.word)) for query in queries]

    @property
    def symbols(self) -> int:
        return sum(map(len, self.words))


def combination_lock(combination: Sequence[str], alphabet: Sequence[str]) -> MealyMachine:
    """The paper's Figure 1 as a Mealy machine: the right symbols in a row open it; a wrong one sends it back.

    Every step answers `closed`, except the last of the combination and all later ones: `open`.
    """
    n, transitions = len(combination), {}
    for position, right in enumerate(combination):
        for symbol in alphabet:
            target = position + 1 if symbol == right else 0
            transitions[f"l{position}", symbol] = (f"l{target}", "open" if target == n else "closed")
    transitions |= {(f"l{n}", symbol): (f"l{n}", "open") for symbol in alphabet}
    return MealyMachine.from_transitions(transitions, "l0", inputs=alphabet, name="combination lock")
