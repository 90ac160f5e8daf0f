"""Flat words of the conditions of a network: cases, comparisons of clocks, constants.

words = ConditionWords(analysis, compiler)
words.choose(number, scale)
place = words.condition(cases, "a guard")
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from bbfalsify.kernel.analysis import Analysis, conjunction
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.guard_atoms import integer_atom
from bbfalsify.kernel.guard_tables import GuardTables
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.zones import zone_layout as at
from bbfalsify.zones.bounds import LowerUpper
from bbfalsify.zones.zone_conditions import Atom, Case, Clock


class ConditionWords:
    """The words of zone tables while they grow; `compiler` takes what is more than a comparison."""

    def __init__(self, analysis: Analysis, compiler: Compiler) -> None:
        self.words: list[int] = [0] * at.Z_SIZE
        self.compiler = compiler
        self.atoms = 0
        """Comparisons of clocks so far."""
        self._simple = GuardTables(analysis)
        self._number: dict[int, int] = {}
        self._scale = 1

    def choose(self, number: dict[int, int], scale: int) -> None:
        """Set the numbers of the clocks by slot, and the steps of bounds per unit of time."""
        self._number, self._scale = number, scale

    def add(self, words: Iterable[int]) -> int:
        added = [int(word) for word in words]  # first, because it may add, too
        place = len(self.words)
        self.words.extend(added)
        return place

    def bounds(self, constants: LowerUpper) -> int:
        rows = [(self._number[s], *pair) for s, pair in sorted(constants.items()) if s in self._number]
        return self.add([len(rows), *(word for row in rows for word in row)])

    def condition(self, cases: list[Case], what: str) -> int:
        rows: list[int] = []
        for case in cases:
            integers: list[int] = []
            code: list[Expression] = []
            for part in case.data:
                for simple in [part] if integer_atom(part) else self._simple.simplified(part):
                    row = integer_atom(simple)
                    if row is not None:
                        integers += [row[0], row[1], row[3]]
                    elif not (isinstance(simple, Constant) and simple.value != 0):
                        code.append(simple)
            place = self.compiler.condition(conjunction(code), what) if code else -1
            atoms = [word for atom in case.atoms for word in self.atom(atom, what)]
            self.atoms += len(case.atoms)
            rows += [self.add(integers), len(integers) // at.INTEGER_WIDTH, place, self.add(atoms), len(case.atoms)]
        return self.add([len(cases), *rows])

    def atom(self, atom: Atom, what: str) -> list[int]:
        def clock(given: Clock | None) -> list[int]:
            if given is None:
                return [0, -1, 1]
            if given.index is None:
                return [self._number[given.slot], -1, 1]
            return [given.slot, self.compiler.number(given.index, what), given.size]

        bound = atom.bound
        negated = isinstance(bound, ex.Unary) and bound.operator == "-"
        read = bound.operand if isinstance(bound, ex.Unary) and negated else bound
        if isinstance(bound, Constant):
            source = [at.FROM_CONSTANT, int(Fraction(bound.value) * self._scale)]
        elif isinstance(read, ex.Read) and read.index is None and read.kind is Kind.INT:
            source = [at.FROM_NEGATED_SLOT if negated else at.FROM_SLOT, read.slot]
        else:
            source = [at.FROM_CODE, self.compiler.number(bound, what)]
        return [*clock(atom.left), *clock(atom.right), *source, int(atom.strict)]
