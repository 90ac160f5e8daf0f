"""The interface of black boxes with symbols: a protocol server behind a mapper, a device with buttons and a display.

A `SymbolSystem` has an alphabet of input symbols; a `SymbolSession` is one use of it from reset to close, and answers
each symbol with an output symbol.  Black box checking learns and tests such systems.

    class Turnstile:
        name = "turnstile"
        alphabet = ("coin", "push")
        capabilities = Capabilities()

        def open(self, seed: int) -> SymbolSession: ...

`MachineSystem` runs a finite machine as a black box, to try everything on a box whose inside is known.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.systems.failures import MalformedAnswer
from bbfalsify.systems.interface import Capabilities, NothingToClose, Releasable, System

LONGEST_OUTPUT = 1000
"""Characters of an output symbol; a mapper must abstract longer answers."""


@runtime_checkable
class SymbolSession(Releasable, Protocol):
    """One use of the black box from reset on."""

    def step(self, symbol: str) -> str:
        """Give one input symbol; the output symbol it is answered with."""
        ...


@runtime_checkable
class SymbolSystem(Protocol):
    name: str
    alphabet: tuple[str, ...]
    capabilities: Capabilities

    def open(self, seed: int) -> SymbolSession:
        """A fresh session in the initial state; `seed` matters only to a seedable system."""
        ...


AnySystem = System | SymbolSystem


class MachineSystem:
    """A finite machine run as a black box."""

    capabilities = Capabilities(stepwise=True, snapshot=True, forkable=True)

    def __init__(self, machine: MealyMachine) -> None:
        self.machine = machine
        self.name = machine.name
        self.alphabet = machine.inputs

    def open(self, seed: int) -> MachineSession:
        return MachineSession(self.machine)


class MachineSession(NothingToClose):
    def __init__(self, machine: MealyMachine) -> None:
        self._machine, self._state = machine, machine.initial

    def step(self, symbol: str) -> str:
        self._state, output = self._machine.step(self._state, symbol)
        return output

    def save(self) -> int:
        return self._state

    def restore(self, state: int) -> None:
        self._state = state

    def fork(self) -> MachineSession:
        copy = MachineSession(self._machine)
        copy.restore(self._state)
        return copy


def check_symbol(answer: Any) -> str:
    """Return an output symbol of the agreed form, or raise MalformedAnswer."""
    if not isinstance(answer, str):
        raise MalformedAnswer(f"expected an output symbol (text), got a value of type {type(answer).__name__}")
    if len(answer) > LONGEST_OUTPUT:
        raise MalformedAnswer(
            f"an output symbol of {len(answer)} characters; abstract outputs to at most {LONGEST_OUTPUT}: "
            f"'{answer[:40]}…'"
        )
    return answer


def check_alphabet(system: SymbolSystem) -> None:
    """Refuse an alphabet that is empty or repeats a symbol."""
    symbols = system.alphabet
    if not symbols:
        raise UserError(f"the system '{system.name}' has an empty alphabet.")
    twice = sorted({s for s in symbols if symbols.count(s) > 1})
    if twice:
        raise UserError(f"the alphabet of '{system.name}' holds {', '.join(map(repr, twice))} twice.")


def check_word(system: SymbolSystem, word: tuple[str, ...]) -> None:
    unknown = [s for s in dict.fromkeys(word) if s not in system.alphabet]
    if unknown:
        raise UserError([unknown_name("input symbol", s, system.alphabet) for s in unknown])
