"""Random temporal formulas, words and machines, for tests and benchmarks.

Atoms are about `INPUTS` and `OUTPUTS`, some of them about several symbols, so that they overlap, exclude and imply each
other as in formulas people write.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.logic.ltl.ltl_formula import Atom, Binary, Formula, Truth, Unary

INFIXES = ("&", "|", "->", "<->", "U", "R", "W", "M")
INPUTS = ("a", "b", "c")
OUTPUTS = ("x", "y", "z")
ATOMS = (
    Atom("in", ("a",)),
    Atom("in", ("b",)),
    Atom("in", ("a", "c")),
    Atom("out", ("x",)),
    Atom("out", ("y",)),
    Atom("out", pattern="[xz]"),
)


def random_formula(rng: np.random.Generator, size: int, *, finite: bool = False) -> Formula:
    """A formula of about `size` operators and atoms (exactly, unless it is 2 below an infix)."""
    if size <= 1:
        pick = int(rng.integers(len(ATOMS) + 1))
        return ATOMS[pick] if pick < len(ATOMS) else Truth(bool(rng.integers(2)))
    prefixes = ["!", "X", "F", "G", *(["WX"] if finite else [])]
    if size == 2 or rng.random() < 0.35:
        return Unary(str(rng.choice(prefixes)), random_formula(rng, size - 1, finite=finite))
    left = int(rng.integers(1, size - 1))
    sides = [random_formula(rng, part, finite=finite) for part in (left, size - 1 - left)]
    return Binary(str(rng.choice(INFIXES)), *sides)


def random_word(rng: np.random.Generator, length: int) -> list[tuple[str, str]]:
    return [(str(rng.choice(INPUTS)), str(rng.choice(OUTPUTS))) for _ in range(length)]


def random_machine(rng: np.random.Generator, states: int) -> MealyMachine:
    """A complete machine with `INPUTS` and `OUTPUTS`; some states may be unreachable."""
    shape = states, len(INPUTS)
    successor = rng.integers(states, size=shape).astype(np.int32)
    return MealyMachine(INPUTS, OUTPUTS, successor, rng.integers(len(OUTPUTS), size=shape).astype(np.int32))


def satisfies_finite(formula, word, at=0):
    """Whether a finite word satisfies an LTL formula from a position on, as the definition says it."""
    later = range(at, len(word))

    def holds(part, where=at):
        return satisfies_finite(part, word, where)

    match formula:
        case Truth(value):
            return value
        case Atom(side):
            return formula.holds(word[at][side == "out"])
        case Unary("!", body):
            return not holds(body)
        case Unary("X" | "WX" as operator, body):
            return holds(body, at + 1) if at + 1 < len(word) else operator == "WX"
        case Unary("F", body):
            return any(holds(body, k) for k in later)
        case Unary("G", body):
            return all(holds(body, k) for k in later)
        case Binary("&", left, right):
            return holds(left) and holds(right)
        case Binary("|", left, right):
            return holds(left) or holds(right)
        case Binary("->", left, right):
            return holds(right) or not holds(left)
        case Binary("<->", left, right):
            return holds(left) == holds(right)
        case Binary("U" | "W" as operator, left, right):
            met = any(holds(right, k) and all(holds(left, j) for j in range(at, k)) for k in later)
            return met or operator == "W" and all(holds(left, k) for k in later)
        case Binary("R" | "M" as operator, left, right):
            met = any(holds(left, k) and all(holds(right, j) for j in range(at, k + 1)) for k in later)
            return met or operator == "R" and all(holds(right, k) for k in later)
    raise TypeError(formula)
