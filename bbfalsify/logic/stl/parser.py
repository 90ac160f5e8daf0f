"""Parse STL formulas: RTAMT's grammar reads the normalised text, and its tree is converted to our frozen tree.

Every mistake is a `UserError` with file, line and column; nothing of RTAMT (its exceptions, its log lines, its error
output) leaves this module.  RTAMT is imported when the first formula is parsed.

One rule differs from RTAMT's: a comparison compares numbers and a connective joins conditions, so `x > y > z`, `(x >
0) + 1` and a bare signal used as a condition are refused (a verdict needs a condition; RTAMT only computes numbers).
"""

from __future__ import annotations

import bisect
import math
import sys
import types
import typing
import warnings
from collections.abc import Iterable
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.logic.stl import formula as stl
from bbfalsify.logic.stl.normalise import Normalised, Token, normalise

_ARITHMETIC = {"Addition": "+", "Subtraction": "-", "Multiplication": "*", "Division": "/", "Pow": "pow"}
_FUNCTIONS = {"Abs": "abs", "Sqrt": "sqrt", "Exp": "exp"}
_CONNECTIVES = {"Conjunction": "and", "Disjunction": "or", "Implies": "implies", "Iff": "iff", "Xor": "xor"}
_WINDOWS = {"Always": "always", "Eventually": "eventually", "Historically": "historically", "Once": "once"}
_REACHES = {"Until": "until", "Since": "since"}
_STEPS = {
    "Next": "next", "StrongNext": "s_next", "Previous": "prev", "StrongPrevious": "s_prev",
    "Rise": "rise", "Fall": "fall",
}  # fmt: skip


def parse_stl(
    text: str, *, signals: Iterable[str] | None = None, file: str | None = None, line: int | None = None
) -> stl.Formula:
    """Read a formula; `signals` are the names allowed in it (None: any); `line` is where the text begins in `file`."""
    if not isinstance(text, str) or not text.strip():
        raise UserError(Problem("the formula is empty.", file=file, line=line))
    source = normalise(text, signals=signals, file=file, line=line)
    if source.problems:
        raise UserError(source.problems)
    try:
        root = _Reader(source).condition(_rtamt_tree(source))
    except _Refused as refused:
        place = "" if refused.token is None else f", column {refused.token.column}"
        if refused.token is not None and refused.token.line > 1 and line is None:
            place = f", line {refused.token.line}{place}"
        shown = line if line is None or refused.token is None else line + refused.token.line - 1
        raise UserError(Problem(f"formula{place}: {refused.message}.", file=file, line=shown)) from None
    return stl.Formula(root, text.strip())


class _Refused(Exception):
    def __init__(self, message: str, token: Token | None = None) -> None:
        super().__init__(message)
        self.message, self.token = message, token


def _rtamt_grammar() -> tuple[Any, Any, Any, Any, Any]:
    """Import RTAMT's lexer, parser, tree builder and factory, and ANTLR's listener class."""
    # ANTLR's old runtime imports typing.io, which warns and which Python 3.13 no longer has.
    if "typing.io" not in sys.modules:
        replacement = types.ModuleType("typing.io")
        replacement.TextIO = typing.TextIO  # type: ignore[attr-defined]
        sys.modules["typing.io"] = replacement
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from antlr4.error.ErrorListener import ErrorListener
        from rtamt.antlr.parser.stl.LtlLexer import LtlLexer
        from rtamt.antlr.parser.stl.StlParser import StlParser
        from rtamt.syntax.ast.parser.abstract_ast_parser import ast_factory
        from rtamt.syntax.ast.parser.stl.parser_visitor import StlAstParserVisitor
    return LtlLexer, StlParser, StlAstParserVisitor, ast_factory, ErrorListener


def _rtamt_tree(source: Normalised) -> Any:
    """Let RTAMT parse the normalised text and return the root of its syntax tree."""
    lexer, parser, visitor, factory, listener = _rtamt_grammar()

    class Listener(listener):  # type: ignore[misc,valid-type]
        def syntaxError(self, recognizer, offendingSymbol, line, column, msg, e):  # noqa: N802, N803 (ANTLR's names)
            raise _Refused("", _origin(source, column))

    tree = factory(visitor)(lexer, parser, Listener)
    for name in [*(f"v{i}" for i in range(len(source.names))), "vtrue", "vfalse"]:
        tree.declare_var(name, "float")
    tree.spec = source.text
    try:
        tree.parse()
    except _Refused as refused:
        token = refused.token
        assert token is not None
        message = "the formula ends too early" if token.kind == "end" else f"unexpected '{token.text}'"
        raise _Refused(message, token) from None
    except RecursionError:
        raise _Refused("the formula is nested too deeply") from None
    if len(tree.specs) != 1:
        raise _Refused("give exactly one formula")
    return tree.specs[0]


def _origin(source: Normalised, column: int) -> Token:
    starts = [start for start, _ in source.origins]
    return source.origins[max(0, bisect.bisect_right(starts, column) - 1)][1]


class _Reader:
    """Conversion of RTAMT's tree to ours, which checks that conditions and numbers stand where they belong."""

    def __init__(self, source: Normalised) -> None:
        self.source = source

    def condition(self, node: Any) -> stl.Condition:
        kind = type(node).__name__
        timed = kind.startswith("Timed")
        kind = kind.removeprefix("Timed")
        if kind == "Variable" and node.var in ("vtrue", "vfalse"):
            return stl.Truth(node.var == "vtrue")
        if kind == "Predicate":
            return stl.Compare(str(node.operator), self.term(node.children[0]), self.term(node.children[1]))
        if kind == "Neg":
            return stl.Not(self.condition(node.children[0]))
        if kind in _CONNECTIVES:
            return stl.Connective(_CONNECTIVES[kind], *(self.condition(child) for child in node.children))
        if kind in _STEPS:
            return stl.Step(_STEPS[kind], self.condition(node.children[0]))
        if kind in _WINDOWS or kind in _REACHES:
            lower, upper = self.interval(node) if timed else (0.0, math.inf)
            if kind in _WINDOWS:
                return stl.Window(_WINDOWS[kind], lower, upper, self.condition(node.children[0]))
            return stl.Reach(_REACHES[kind], lower, upper, *(self.condition(child) for child in node.children))
        raise _Refused(
            f"'{stl.render(self.term(node))}' is a number where a condition is needed; compare it, as in '… > 0'"
        )

    def interval(self, node: Any) -> tuple[float, float]:
        lower, upper = self.source.intervals[int(node.end)]
        # RTAMT rewrites `p unless[a:b] q` to `always[0:b] p or p until[a:b] q`: a begin of 0 beside a number k.
        return (lower if int(node.begin) == int(node.end) else 0.0, upper)

    def term(self, node: Any) -> stl.Term:
        kind = type(node).__name__
        if kind == "Constant":
            return stl.Number(float(node.val))
        if kind == "Variable" and node.var not in ("vtrue", "vfalse"):
            return stl.Signal(self.source.names[int(node.var[1:])])
        if kind in _ARITHMETIC:
            return stl.Arithmetic(_ARITHMETIC[kind], self.term(node.children[0]), self.term(node.children[1]))
        if kind in _FUNCTIONS:
            return stl.Function(_FUNCTIONS[kind], self.term(node.children[0]))
        raise _Refused(f"the condition '{stl.render(self.condition(node))}' is used as a number")
