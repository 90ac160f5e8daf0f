"""Parse LTL formulas by the grammar in ltl.lark; every error names file, line and column."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.tree import depth
from bbfalsify.logic.ltl import patterns
from bbfalsify.logic.ltl.ltl_formula import Atom, Binary, Formula, Truth, Unary
from bbfalsify.logic.ltl.patterns import Counting, Scope

DEEPEST = 150
"""Deepest nesting: all code walks formulas recursively, and people write flatter ones."""

_CONDITIONS = "A condition begins with 'in' or 'out', such as 'in == {}'."
_PREFIXES = {
    "not": "!", "next": "X", "weak next": "WX", "eventually": "F", "finally": "F", "always": "G", "globally": "G",
}  # fmt: skip
_INFIXES = {
    "&&": "&", "and": "&", "||": "|", "or": "|", "=>": "->", "implies": "->", "<=>": "<->", "iff": "<->",
    "until": "U", "release": "R", "weak until": "W", "unless": "W", "strong release": "M",
}  # fmt: skip


def parse(text: str, *, file: str | None = None, line: int | None = None) -> Formula | Counting:
    """Read a formula; `line` is where the text begins in `file`."""
    import lark

    def wrong(message: str, at: Any = None, **facts: Any) -> UserError:
        row, column = (getattr(at, "line", None) or 1), getattr(at, "column", None)
        place = "" if at is None else f", column {column}" if line or row == 1 else f", line {row}, column {column}"
        shown = (line or 1) + row - 1 if file is not None else None
        return UserError(Problem(f"formula{place}: {message}", file=file, line=shown, **facts))

    if not isinstance(text, str) or not text.strip():
        raise UserError(Problem("the formula is empty.", file=file, line=line))
    try:
        formula = _parser().parse(text)
    except lark.exceptions.UnexpectedToken as error:
        last = (error.token_history or [None])[-1]
        if last is not None and last.type == "NAME":
            raise wrong(f"'{last}' is neither a condition nor a pattern. {_CONDITIONS.format(last)}", last) from None
        if error.token.type == "$END":
            raise wrong("the text ends too early.") from None
        raise wrong(f"unexpected '{error.token}'.{_hint(text, error.token)}", error.token) from None
    except lark.exceptions.UnexpectedCharacters as error:
        found = (text[error.pos_in_stream :].split() or [error.char])[0][:20]
        raise wrong(f"unexpected '{found}'.{_hint(text, error)}", error) from None
    except _Refused as refused:
        raise wrong(refused.problem.message, refused.token, allowed=refused.problem.allowed,
                    closest=refused.problem.closest) from None  # fmt: skip
    except RecursionError:
        formula = None
    if formula is None or _depth(formula) > DEEPEST:
        raise wrong(f"the text is nested more than {DEEPEST} levels deep.")
    return formula


def _hint(text: str, place: Any) -> str:
    """Explain frequent mistakes."""
    start = getattr(place, "start_pos", None)
    start = place.pos_in_stream if start is None else start
    if re.match(r"=(?![=~])", text[start:]):
        return " Write '==' for a comparison."
    if text[start : start + 1] == "[" and re.search(
        r"(always|eventually|until|since|once|historically)\s*$", text[:start]
    ):
        return " A window of time is STL, about signals; here is LTL, about symbols: G, F, X, U without windows."
    if re.search(r"(==|!=|[{,])\s*[\w.-]+$", text[:start]) and re.match(r"[^\s&|)}]", text[start:]):
        return " Symbols with such characters need quotes."
    word = re.match(r"[A-Za-z_]\w*", text[start:])
    if word and re.search(r"(^|[(&|!>])\s*$", text[:start]):
        return f" {_CONDITIONS.format(word.group())}"
    return ""


class _Refused(Exception):
    def __init__(self, problem: Problem | str, token: Any) -> None:
        self.problem, self.token = problem if isinstance(problem, Problem) else Problem(problem), token


def _depth(formula: Formula | Counting) -> int:
    return 1 + max(depth(formula.put), depth(formula.take)) if isinstance(formula, Counting) else depth(formula)


@cache
def _parser() -> Any:
    import lark

    from bbfalsify.core.cached_parser import cached_parser

    class Builder(lark.Transformer):
        """Bottom-up, while parsing."""

        def start(self, parts):
            if isinstance(parts[0], Scope):
                raise _Refused("a scope (before, after, between) is the last argument of a pattern.", None)
            return parts[0]

        def infix(self, parts):
            left, operator, right = parts
            _formulas(operator, left, right)
            return Binary(_INFIXES.get(_words(operator), str(operator)), left, right)

        def prefix(self, parts):
            operator, body = parts
            _formulas(operator, body)
            word = _words(operator)
            if word == "never":
                return patterns.never(body)
            return Unary(_PREFIXES.get(word, str(operator)), body)

        def next_call(self, parts):
            operator, p, q = parts
            _formulas(operator, p, q)
            return patterns.next_step(p, q)

        def arguments(self, parts):
            return parts

        def integer(self, parts):
            return int(parts[0])

        def call(self, parts):
            return _call(parts[0], parts[1])

        def true(self, _):
            return Truth(True)

        def false(self, _):
            return Truth(False)

        def side(self, parts):
            return "in" if parts[0].startswith("in") else "out"

        def symbol(self, parts):
            return _unquoted(parts[0]) if parts[0].type == "STRING" else str(parts[0])

        def equal(self, parts):
            side, operator, symbol = parts
            return _perhaps_not(operator == "!=", Atom(side, (symbol,)))

        def member(self, parts):
            side, operator, *symbols = parts
            return _perhaps_not(operator.startswith("not"), Atom(side, tuple(dict.fromkeys(symbols))))

        def match(self, parts):
            side, operator, string = parts
            pattern = _unquoted(string)
            _check_pattern(pattern, string)
            return _perhaps_not(operator == "!~", Atom(side, pattern=pattern))

    return cached_parser(Path(__file__).with_name("ltl.lark"), lexer="contextual", transformer=Builder())


def _words(operator: str) -> str:
    return " ".join(operator.split())


def _unquoted(string: str) -> str:
    return re.sub(r'\\(["\'\\])', r"\1", string[1:-1])


def _perhaps_not(negative: bool, atom: Atom) -> Formula:
    return Unary("!", atom) if negative else atom


def _formulas(token: Any, *parts: Any) -> None:
    for part in parts:
        if isinstance(part, Counting):
            raise _Refused("no_overflow counts and cannot be part of a larger formula; make it a requirement.", token)
        if isinstance(part, Scope):
            raise _Refused("a scope (before, after, between) is the last argument of a pattern.", token)
        if not isinstance(part, Truth | Atom | Unary | Binary):
            raise _Refused(f"a formula is needed here, not {part!r}.", token)


def _call(name: Any, arguments: list[Any]) -> Any:
    word = str(name)
    if word in patterns.SCOPES:
        scope, number = patterns.SCOPES[word]
        _count(name, arguments, number)
        _formulas(name, *arguments)
        return scope(*arguments)
    if word == "no_overflow":
        _count(name, arguments, 3)
        _formulas(name, *arguments[:2])
        if not isinstance(arguments[2], int) or arguments[2] > 10_000:
            raise _Refused("no_overflow(put, take, size) needs a size up to 10000.", name)
        return Counting(*arguments)
    if word not in patterns.PATTERNS:
        known = [*patterns.PATTERNS, *patterns.SCOPES, "no_overflow", "always", "never", "next"]
        raise _Refused(unknown_name("pattern", word, known), name)
    function, number, scoped = patterns.PATTERNS[word]
    last = arguments[number:] if scoped and len(arguments) == number + 1 else []
    if last and not isinstance(last[0], Scope):
        raise _Refused(Problem(f"the last argument of {word} must be a scope.", allowed=tuple(patterns.SCOPES)), name)
    _count(name, arguments[: len(arguments) - len(last)], number)
    _formulas(name, *arguments[:number])
    return function(*arguments)


def _count(name: Any, arguments: list[Any], number: int) -> None:
    if len(arguments) != number:
        raise _Refused(f"{name} needs {number} argument{'s' * (number > 1)}, not {len(arguments)}.", name)


def _check_pattern(pattern: str, token: Any) -> None:
    """Refuse expressions that do not compile, and nested repetitions, which can search for ever."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise _Refused(f"the regular expression '{pattern}' is wrong: {error}.", token) from None
    from re import _parser as sre

    def explodes(items: Any, repeated: bool) -> bool:
        for operator, argument in items:
            name = str(operator)
            if name in ("MAX_REPEAT", "MIN_REPEAT"):
                low, high, body = argument
                variable = high != low and high == sre.MAXREPEAT
                if (repeated and variable) or explodes(body, repeated or high == sre.MAXREPEAT):
                    return True
            elif name == "SUBPATTERN":
                if explodes(argument[-1], repeated):
                    return True
            elif name == "BRANCH" and any(explodes(branch, repeated) for branch in argument[1]):
                return True
        return False

    if explodes(sre.parse(pattern), False):
        raise _Refused(f"the regular expression '{pattern}' repeats a repetition, which can take for ever; "
                       "write it without.", token)  # fmt: skip
