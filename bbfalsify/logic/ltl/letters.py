"""Classes of letters (input, output) that the atoms of a formula do not distinguish.

A set of classes is one Python integer, bit by bit, so that every Boolean combination of atoms is a number, and "no
letter satisfies it" is zero.  Inputs are those of the alphabet.  Outputs are open: an answer that the black box has not
given yet belongs to a class as well, so "whatever follows" includes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.logic.ltl.ltl_formula import Atom, Binary, Formula, Truth, Unary

MOST_PATTERNS = 10
"""Limit of regular expressions over outputs, because each may match an unseen answer or not."""


class Letters:
    def __init__(self, atoms: Sequence[Atom], inputs: Sequence[str]) -> None:
        if not inputs:
            raise UserError("the alphabet is empty: there is no input symbol to check with.")
        self.inputs = tuple(inputs)
        self.atoms = tuple(atoms)
        self._sides = {side: [a for a in atoms if a.side == side] for side in ("in", "out")}
        seen = {self._view("in", symbol) for symbol in inputs}
        self._rows = {view: k for k, view in enumerate(sorted(seen))}
        self._columns = {view: k for k, view in enumerate(sorted(self._possible_answers()))}
        self.count = len(self._rows) * len(self._columns)
        """The number of classes."""
        self.all = (1 << self.count) - 1
        self._numbers: dict[tuple[str, str], int] = {}

    def _view(self, side: str, symbol: str) -> tuple[bool, ...]:
        return tuple(atom.holds(symbol) for atom in self._sides[side])

    def _possible_answers(self) -> set[tuple[bool, ...]]:
        outputs = self._sides["out"]
        patterns = [a.pattern is not None for a in outputs]
        if sum(patterns) > MOST_PATTERNS:
            raise UserError(f"a formula may use up to {MOST_PATTERNS} regular expressions over outputs.")
        named = {self._view("out", symbol) for atom in outputs for symbol in atom.symbols}
        return named | set(itertools.product(*[(False, True) if p else (False,) for p in patterns]))

    def number(self, symbol: str, answer: str) -> int:
        """The class of a letter."""
        key = symbol, answer
        found = self._numbers.get(key)
        if found is None:
            row = self._rows.get(self._view("in", symbol))
            if row is None:
                raise UserError(unknown_name("input", symbol, self.inputs))
            found = self._numbers[key] = row * len(self._columns) + self._columns[self._view("out", answer)]
        return found

    def table(self, inputs: Sequence[str], outputs: Sequence[str]) -> list[list[int]]:
        """`table[i][o]`: the class of the letter with these numbers."""
        return [[self.number(i, o) for o in outputs] for i in inputs]

    def where(self, atom: Atom) -> int:
        """The classes in which the atom is true."""
        at = self._sides[atom.side].index(atom)
        width, bits = len(self._columns), 0
        for row, r in self._rows.items():
            for column, c in self._columns.items():
                if (row if atom.side == "in" else column)[at]:
                    bits |= 1 << (r * width + c)
        return bits

    def valuation(self, number: int) -> tuple[bool, ...]:
        """Truth of each of `atoms` in a class."""
        row, column = divmod(number, len(self._columns))
        views = {"in": list(self._rows)[row], "out": list(self._columns)[column]}
        return tuple(views[atom.side][self._sides[atom.side].index(atom)] for atom in self.atoms)

    def satisfying(self, condition: Formula) -> int:
        """The classes in which a condition without temporal operators is true."""
        match condition:
            case Truth(value):
                return self.all if value else 0
            case Atom():
                return self.where(condition)
            case Unary("!", body):
                return self.all & ~self.satisfying(body)
            case Binary(operator, left, right):
                a, b = self.satisfying(left), self.satisfying(right)
                match operator:
                    case "&":
                        return a & b
                    case "|":
                        return a | b
                    case "->":
                        return (self.all & ~a) | b
                    case "<->":
                        return self.all & ~(a ^ b)
        raise TypeError(f"not a condition about one letter: {condition}")


def classes_of(bits: int) -> list[int]:
    """The members of a set of classes."""
    members = []
    while bits:
        low = bits & -bits
        members.append(low.bit_length() - 1)
        bits ^= low
    return members
