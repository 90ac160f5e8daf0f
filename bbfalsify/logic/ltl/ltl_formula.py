"""Formulas of linear temporal logic about words of (input, output) letters, as small frozen trees.

    in == connect      out != error      in in {a, b}      out =~ "ack.*"      true      false

are the conditions about one letter; `Unary` and `Binary` join and shift them.  `str(formula)` is a canonical text that
parses to an equal formula.  Reading texts is `ltl_parser.py`, what a formula says about a word is `word_semantics.py`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

SIDES = ("in", "out")
PREFIXES = ("!", "X", "WX", "F", "G")
INFIXES = ("&", "|", "->", "<->", "U", "R", "W", "M")
CONNECTIVES = ("!", "&", "|", "->", "<->")
BARE = re.compile(r"[A-Za-z0-9_.]+(?:-[A-Za-z0-9_.]+)*")
"""Symbols that need no quotes."""


@dataclass(frozen=True)
class Truth:
    value: bool

    def __str__(self) -> str:
        return render(self)


@dataclass(frozen=True)
class Atom:
    """A condition about the input or the output of a letter: one of some symbols, or one that a pattern matches."""

    side: str
    """One of `SIDES`."""
    symbols: tuple[str, ...] = ()
    pattern: str | None = None
    """A regular expression for the whole symbol, instead of `symbols`."""

    def holds(self, symbol: str) -> bool:
        if self.pattern is None:
            return symbol in self._members
        return re.fullmatch(self.pattern, symbol) is not None

    @cached_property
    def _members(self) -> frozenset[str]:
        return frozenset(self.symbols)

    def __str__(self) -> str:
        return render(self)


@dataclass(frozen=True)
class Unary:
    operator: str
    """One of `PREFIXES`; `WX` (weak next) differs from `X` only on finite words."""
    body: Formula

    def __str__(self) -> str:
        return render(self)


@dataclass(frozen=True)
class Binary:
    operator: str
    """One of `INFIXES`: `p W q` is p until q or for ever p, `p M q` is q until both, `p R q` that or for ever q."""
    left: Formula
    right: Formula

    def __str__(self) -> str:
        return render(self)


Formula = Truth | Atom | Unary | Binary


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Windows of samples become hundreds of nested steps; Python's default is for other programs."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 10_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def children(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case Unary():
            return (formula.body,)
        case Binary():
            return (formula.left, formula.right)
    return ()


def walk(formula: Formula) -> Iterator[Formula]:
    """The formula and everything below it, in reading order."""
    yield formula
    for child in children(formula):
        yield from walk(child)


def atoms(*formulas: Formula) -> tuple[Atom, ...]:
    """The different atoms, in order of appearance; a part that is shared is looked at once."""
    found: dict[Atom, None] = {}
    seen: set[int] = set()
    pending = list(reversed(formulas))
    while pending:
        node = pending.pop()
        if id(node) not in seen:
            seen.add(id(node))
            if isinstance(node, Atom):
                found[node] = None
            pending.extend(reversed(children(node)))
    return tuple(found)


def size(formula: Formula) -> int:
    """The number of operators and atoms."""
    return sum(1 for _ in walk(formula))


def propositional(formula: Formula) -> bool:
    """Whether it speaks about the first letter only."""
    return all(not isinstance(n, Unary | Binary) or n.operator in CONNECTIVES for n in walk(formula))


def conjunction(formulas: list[Formula]) -> Formula:
    return _joined("&", formulas, Truth(True))


def disjunction(formulas: list[Formula]) -> Formula:
    return _joined("|", formulas, Truth(False))


def _joined(operator: str, formulas: list[Formula], empty: Truth) -> Formula:
    if not formulas:
        return empty
    result = formulas[-1]
    for formula in reversed(formulas[:-1]):
        result = Binary(operator, formula, result)
    return result


def quote(symbol: str) -> str:
    """As it is written in a formula."""
    if BARE.fullmatch(symbol):
        return symbol
    return '"' + symbol.replace("\\", "\\\\").replace('"', '\\"') + '"'


def render(formula: Formula) -> str:
    """Canonical text, with parentheses wherever a reader could hesitate."""
    match formula:
        case Truth(value):
            return "true" if value else "false"
        case Atom():
            return _render_atom(formula, "")
        case Unary("!", Atom() as atom):
            return _render_atom(atom, "!")
        case Unary(operator, body):
            return f"{operator}({render(body)})"
        case Binary(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"
    raise TypeError(f"not a formula: {formula!r}")


def _render_atom(atom: Atom, negation: str) -> str:
    if atom.pattern is not None:
        escaped = atom.pattern.replace("\\", "\\\\").replace('"', '\\"')
        return f'{atom.side} {negation or "="}~ "{escaped}"'
    if len(atom.symbols) == 1:
        return f"{atom.side} {negation or '='}= {quote(atom.symbols[0])}"
    return f"{atom.side} {'not ' if negation else ''}in {{{', '.join(quote(s) for s in atom.symbols)}}}"


def _operand(formula: Formula) -> str:
    return f"({render(formula)})" if isinstance(formula, Binary) else render(formula)
