"""Parse STL formulas by the grammar in stl.lark; every error names file, line and column.

The kind of a word depends on the signals: `G[0,20]` is an operator with its interval, but an element of an array where
a signal has that name.  So words are classified between lexer and parser.  A comparison compares numbers and a
connective joins conditions: `x > y > z`, `(x > 0) + 1` and a bare signal used as a condition are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.tree import depth
from bbfalsify.logic.stl import formula as stl
from bbfalsify.logic.stl.syntax_errors import SHORT, WORDS, explain, explain_character

DEEPEST = 300
"""Deepest nesting: all code walks formulas recursively."""

_ELEMENT = re.compile(r"\w+(\.\w+)*\[[\d,]+\]")
"""A name with one index, which may also be an operator with its interval."""
_UNITS = {"s": Fraction(1), "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}


def parse_stl(
    text: str, *, signals: Iterable[str] | None = None, file: str | None = None, line: int | None = None
) -> stl.Formula:
    """Read a formula; `signals` are the names allowed in it (None: any); `line` is where the text begins in `file`."""
    if not isinstance(text, str) or not text.strip():
        raise UserError(Problem("the formula is empty.", file=file, line=line))
    reader = _Reader(text, None if signals is None else tuple(signals), file, line)
    root = reader.read()
    if reader.problems:
        raise UserError([problem for _, problem in sorted(reader.problems, key=lambda found: found[0])])
    return stl.Formula(root, text.strip())


@cache
def _parser() -> Any:
    from bbfalsify.core.cached_parser import cached_parser

    return cached_parser(Path(__file__).with_name("stl.lark"), lexer="basic")


class _Reader:
    """One reading; the methods called like rules of the grammar build the formula from below."""

    def __init__(self, text: str, signals: tuple[str, ...] | None, file: str | None, line: int | None) -> None:
        self.text, self.signals, self.file, self.first_line = text, signals, file, line
        self.problems: list[tuple[int, Problem]] = []
        self.reported: set[str] = set()
        """Unknown signals; each is reported once."""

    def complain(self, message: str, at: Any = None, **facts: Any) -> None:
        """Note a problem at a token (None: in the whole formula)."""
        place, line = "", self.first_line
        if at is not None:
            place = f", line {at.line}" if at.line > 1 and line is None else ""
            place += f", column {at.column}"
            line = None if line is None else line + at.line - 1
        problem = Problem(f"formula{place}: {message.rstrip('.')}.", file=self.file, line=line, **facts)
        self.problems.append((len(self.text) if at is None else at.start_pos, problem))

    def unknown(self, what: str, token: Any, known: Iterable[str]) -> None:
        found = unknown_name(what, str(token), known)
        self.complain(found.message, token, allowed=found.allowed, closest=found.closest)

    def read(self) -> Any:
        """Return the root; anything if there are problems."""
        import lark

        try:
            tokens = list(self.classified(_parser().lex(self.text)))
        except lark.exceptions.UnexpectedCharacters as error:
            here = lark.Token("", error.char, error.pos_in_stream, error.line, error.column)
            return self.complain(explain_character(self.text, here.start_pos or 0), here)
        state, opened = _parser().parse_interactive(), 0
        for number, token in enumerate(tokens):
            opened += (token.type == "LPAR") - (token.type == "RPAR")
            if opened > DEEPEST:
                return self.complain(f"more than {DEEPEST} nested parentheses", token)
            try:
                tree = state.feed_token(token)
            except lark.exceptions.UnexpectedToken:
                message, at, facts = explain(self.text, tokens, number, self.signals)
                return self.complain(message, at, **facts)
            if not (token.type == "SIGNAL" and tokens[number + 1].type in ("LPAR", "LSQB")):
                self.check(token)
        return self.build(tree)

    def classified(self, tokens: Iterable[Any]) -> Iterator[Any]:
        """Give words their kinds and add the end; `y[0]` is one name, but `G[0,20]` begins with an operator."""
        from lark import Token

        names, inside = self.signals or (), False
        for token in tokens:
            if token.type == "QUOTED":
                yield Token("SIGNAL", token[1:-1], token.start_pos, token.line, token.column)
                continue
            base, index = token, None
            if token.type == "SIGNAL" and _ELEMENT.fullmatch(token) and token not in names:
                base, _, index = token.partition("[")
                known = base in names or WORDS.get(SHORT.get(base, base), "FUNCTION") not in ("FUNCTION", "TRUTH")
                base, index = (base, f"[{index}") if known else (token, None)
            inside = token.type == "LSQB" or (inside and token.type != "RSQB")
            kind = token.type
            if kind == "SIGNAL" and inside:
                kind = "INFINITY" if base == "inf" else "UNIT"
            elif kind == "SIGNAL":
                kind = "SIGNAL" if base in names else WORDS.get(SHORT.get(base, base), "SIGNAL")
            yield Token(kind, str(base), token.start_pos, token.line, token.column)
            for part in re.finditer(r"\d+|\D", index or ""):
                kind = {"[": "LSQB", "]": "RSQB", ",": "COMMA"}.get(part.group(), "NUMBER")
                offset = len(base) + part.start()
                yield Token(kind, part.group(), token.start_pos + offset, token.line, token.column + offset)
        row, start = self.text.count("\n") + 1, self.text.rfind("\n") + 1
        yield Token("$END", "the end", len(self.text), row, len(self.text) - start + 1)

    def check(self, token: Any) -> None:
        if token.type == "SIGNAL" and self.signals is not None and token not in (*self.signals, *self.reported):
            self.unknown("signal", token, self.signals)
            self.reported.add(str(token))
        elif token.type == "UNIT" and token not in _UNITS:
            self.unknown("unit of time", token, _UNITS)
        elif token.type == "NUMBER" and math.isinf(float(token)):
            self.complain(f"the number {token if len(token) < 40 else token[:20] + '…'} is too large", token)

    def build(self, tree: Any) -> Any:
        """Call the method of every rule, the inner ones first; no recursion, for the tree may be deep."""
        built: dict[int, Any] = {}
        for part in tree.iter_subtrees():
            built[id(part)] = getattr(self, part.data)(*(built.get(id(child), child) for child in part.children))
        root = built[id(tree)]
        if not self.problems and depth(root) > DEEPEST:
            self.complain(f"the formula is nested more than {DEEPEST} levels deep")
        return root

    # --- one method per rule ----------------------------------------------------------------------------------------

    def start(self, root: Any) -> Any:
        return self.condition(root, None)

    def connective(self, left: Any, operator: Any, right: Any) -> stl.Condition:
        return stl.Connective(_name(operator), self.condition(left, operator), self.condition(right, operator))

    def reach(self, left: Any, operator: Any, interval: Any, right: Any) -> stl.Condition:
        lower, upper = interval or (0.0, math.inf)
        left, right = self.condition(left, operator), self.condition(right, operator)
        if operator.type != "UNLESS":
            return stl.Reach(_name(operator), lower, upper, left, right)
        return stl.Connective(
            "or", stl.Window("always", 0.0, upper, left), stl.Reach("until", lower, upper, left, right)
        )

    def prefix(self, operator: Any, body: Any) -> stl.Condition:
        name, body = _name(operator), self.condition(body, operator)
        return stl.Not(body) if name == "not" else stl.Step(name, body)

    def window(self, operator: Any, interval: Any, body: Any) -> stl.Condition:
        lower, upper = interval or (0.0, math.inf)
        return stl.Window(_name(operator), lower, upper, self.condition(body, operator))

    def compare(self, left: Any, operator: Any, right: Any) -> stl.Condition:
        return stl.Compare(_name(operator), self.term(left, operator), self.term(right, operator))

    def arithmetic(self, left: Any, operator: Any, right: Any) -> stl.Term:
        return stl.Arithmetic(str(operator), self.term(left, operator), self.term(right, operator))

    def negative(self, minus: Any, operand: Any) -> stl.Term:
        return stl.Arithmetic("*", stl.Number(-1.0), self.term(operand, minus))

    def number(self, *parts: Any) -> stl.Term:
        return stl.Number(float("".join(parts)))

    def signal(self, name: Any) -> stl.Term:
        return stl.Signal(str(name))

    def truth(self, word: Any) -> stl.Condition:
        return stl.Truth(word.lower() == "true")

    def call(self, name: Any, *arguments: Any) -> stl.Term:
        number = 2 if name == "pow" else 1
        if len(arguments) != number:
            self.complain(f"'{name}' takes {number} argument(s), not {len(arguments)}", name)
            return stl.Number(0.0)
        terms = [self.term(argument, name) for argument in arguments]
        return stl.Arithmetic("pow", *terms) if name == "pow" else stl.Function(str(name), *terms)

    def bound(self, *parts: Any) -> tuple[Fraction | None, str | None]:
        """Return value (None: infinity) and unit."""
        if parts[0].type == "INFINITY":
            return None, None
        sign, (number, *unit) = (-1, parts[1:]) if parts[0].type == "MINUS" else (1, parts)
        # Decimal keeps 0.1 exact; but the fraction of 1e-999999999 would fill the memory.
        value = Fraction(Decimal(str(number))) if 0 < float(number) < math.inf else Fraction(0)
        return sign * value, str(unit[0]) if unit else None

    def interval(self, opening: Any, first: Any, last: Any) -> tuple[float, float]:
        (lower, lower_unit), (upper, upper_unit) = first, last
        if lower_unit and not upper_unit and upper is not None:
            self.complain("give the unit of both bounds of a time interval", opening)
        start = None if lower is None else lower * _UNITS.get(lower_unit or upper_unit or "s", 1)
        end = None if upper is None else upper * _UNITS.get(upper_unit or "s", 1)
        if start is None:
            self.complain("a time interval cannot begin at infinity", opening)
        elif start < 0 or (end is not None and end < 0):
            past = "the past has historically, once, since"
            self.complain(f"the bounds of a time interval cannot be negative; {past}", opening)
        elif end is not None and start > end:
            found = f"[{float(start):g}:{float(end):g}]"
            self.complain(f"the time interval {found} is empty, its lower bound is the larger", opening)
        return float(start or 0), math.inf if end is None else float(end)

    # --- numbers and conditions -------------------------------------------------------------------------------------

    def condition(self, part: Any, user: Any) -> Any:
        if isinstance(part, stl.Condition):
            return part
        self.complain(f"'{_shown(part)}' is a number where a condition is needed; compare it, as in '… > 0'", user)
        return stl.Truth(True)

    def term(self, part: Any, user: Any) -> Any:
        if isinstance(part, stl.Term):
            return part
        self.complain(f"the condition '{_shown(part)}' is used as a number", user)
        return stl.Number(0.0)


def _name(operator: Any) -> str:
    return SHORT.get(operator, str(operator))


def _shown(part: Any) -> str:
    return stl.render(part) if depth(part) <= DEEPEST else "…"
