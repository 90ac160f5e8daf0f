"""Code of a model while it is made: words, constants and sites."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.kernel import opcodes as op
from bbfalsify.kernel.layout import *
from bbfalsify.modelling.network.expressions import Expression, Kind, Statement
from bbfalsify.modelling.network.network import Network


@dataclass(frozen=True, eq=False)
class Code:
    """A piece of code that the kernel executes, in the form from which it can be compiled to machine code, too."""

    start: int
    """Its place in T."""
    content: Expression | tuple[Statement, ...]
    is_number: bool
    """It leaves a real; else a condition or updates."""
    first_site: int


class CodeBuilder:
    """The collection of all code of a model; addresses are places in T, where the code follows the header."""

    def __init__(self, network: Network, first_address: int = HEADER_SIZE) -> None:
        self.network = network
        self.first_address = first_address
        self.code: list[int] = []
        self.constants: list[float] = []
        self.sites: list[str] = []
        self.codes: list[Code] = []
        self.function_sites: list[int] = []
        """Number of the first site of each function."""
        self._constant_index: dict[tuple[float, str], int] = {}
        self.place = ""
        self._result: Kind | None = None
        self._names: dict[tuple[bool, int], str] = {}
        self.first_location: list[int] = []
        total = 0
        for process in network.processes:
            self.first_location.append(total)
            total += len(process.locations)

    def constant(self, value: Fraction | int | float) -> int:
        number = float(value)
        key = (number, str(number))
        if key not in self._constant_index:
            self._constant_index[key] = len(self.constants)
            self.constants.append(number)
        return self._constant_index[key]

    def site(self, text: str, line: int | None = None) -> int:
        where = f"{self.place}, line {line}" if line else self.place
        self.sites.append(f"{text} in {where}" if where else text)
        return len(self.sites) - 1

    def _begin(self, place: str) -> int:
        self.place = place
        return self.first_address + len(self.code)

    def _enter(self, place: str, content: Expression | tuple[Statement, ...], *, is_number: bool) -> int:
        start = self._begin(place)
        self.codes.append(Code(start, content, is_number, len(self.sites)))
        self._emit(op.ENTER, -1, 0, 0)
        return start

    def _emit(self, *words: int) -> int:
        """Append an instruction; return the position of its last word (for patching jumps)."""
        self.code.extend(words)
        return len(self.code) - 1

    def _here(self) -> int:
        return self.first_address + len(self.code)

    def _patch(self, position: int) -> None:
        self.code[position] = self._here()

    def _name(self, slot: int, kind: Kind) -> str:
        if not self._names:
            for v in self.network.variables:
                self._names |= {(v.kind.is_real, v.slot + i): f"'{v.name}'" for i in range(v.size)}
        return self._names.get((kind.is_real, slot), f"slot {slot}")
