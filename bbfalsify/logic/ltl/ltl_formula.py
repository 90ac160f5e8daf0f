"""Formulas of linear temporal logic about words of (input, output) letters, as frozen trees.

    in == connect      out != error      in in {a, b}      out =~ "ack.*"      true      false

are the conditions about one letter; `Unary` and `Binary` join and shift them.  `str(formula)` is a canonical text that
parses to an equal formula.  `ltl_parser.py` parses texts, `word_semantics.py` evaluates formulas on words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from bbfalsify.core.tree import Node
from bbfalsify.core.tree import children as children
from bbfalsify.core.tree import nodes_of as nodes_of

CONNECTIVES = ("!", "&", "|", "->", "<->")
BARE = re.compile(r"[A-Za-z0-9_.]+(?:-[A-Za-z0-9_.]+)*")
"""Symbols that need no quotes."""


class _Printed(Node):
    """Nodes of formulas print as their canonical text."""

    def __str__(self) -> str:
        return render(self)  # type: ignore[arg-type]  # a mixin of the classes below


class Truth(_Printed):
    value: bool


class Atom(_Printed):
    """A condition about the input or the output of a letter: one of some symbols, or one that a pattern matches."""

    side: str
    """in or out."""
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


class Unary(_Printed):
    operator: str
    """!, X, WX, F or G; `WX` (weak next) differs from `X` only on finite words."""
    body: Formula


class Binary(_Printed):
    operator: str
    """&, |, ->, <->, U, R, W or M; `p W q` is p until q or for ever p, `p M q` is q until both, `p R q` that or for
    ever q."""
    left: Formula
    right: Formula


Formula = Truth | Atom | Unary | Binary


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise Python's recursion limit: windows of samples become hundreds of nested steps."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 10_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def atoms(*formulas: Formula) -> tuple[Atom, ...]:
    """The different atoms, in order of appearance; a shared part is visited once."""
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


def propositional(formula: Formula) -> bool:
    """Tell whether a formula is about the first letter only."""
    return all(not isinstance(n, Unary | Binary) or n.operator in CONNECTIVES for n in nodes_of(formula))


def conjunction(formulas: list[Formula]) -> Formula:
    if not formulas:
        return Truth(True)
    result = formulas[-1]
    for formula in reversed(formulas[:-1]):
        result = Binary("&", formula, result)
    return result


def quote(symbol: str) -> str:
    """Write a symbol as in a formula."""
    if BARE.fullmatch(symbol):
        return symbol
    return '"' + symbol.replace("\\", "\\\\").replace('"', '\\"') + '"'


def render(formula: Formula) -> str:
    """Canonical text, with parentheses wherever precedence could be unclear."""
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
