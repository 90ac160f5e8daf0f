"""Rewrite the text of an STL formula so that RTAMT reads it as the user means it.

RTAMT's grammar has traps that would silently change a requirement or end in a bare exception: `x/2` is one
identifier, `a - b + c` means `a - (b + c)`, `x - 1 > 0` is refused, `!=` must be `!==`, `[1:0]` and negative bounds
are accepted, units are scaled the wrong way in dense time, `import` and `topic` are commands.  So the text is cut
into tokens here, and a new text is written in which arithmetic is fully parenthesised, every signal is called `v0`,
`v1`, … and every time interval is replaced by its number `[k:k]` in a table.  Positions are kept, so that every error
names line and column of the original.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from bbfalsify.core.errors import Problem, unknown_name

_TOKENS = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*(?P<index>\[\d+(?:,\d+)*\])?)"
    r"|(?P<sign><->|->|!==|!=|==|<=|>=|&&|\|\||[<>&|!+\-*/()\[\]:,])",
    re.DOTALL,
)
_OPERATORS = {
    "not": "not", "!": "not", "and": "and", "&": "and", "&&": "and", "or": "or", "|": "or", "||": "or",
    "implies": "implies", "->": "implies", "iff": "iff", "<->": "iff", "xor": "xor",
    "always": "always", "G": "always", "eventually": "eventually", "F": "eventually",
    "until": "until", "U": "until", "unless": "unless", "W": "unless",
    "historically": "historically", "H": "historically", "once": "once", "O": "once", "since": "since", "S": "since",
    "next": "next", "X": "next", "prev": "prev", "Y": "prev", "s_next": "s_next", "s_prev": "s_prev",
    "rise": "rise", "fall": "fall",
    "<=": "<=", "<": "<", ">=": ">=", ">": ">", "==": "==", "!=": "!==", "!==": "!==",
}  # fmt: skip
_TIMED = {"always", "eventually", "until", "unless", "historically", "once", "since"}
_PREFIX = {"not", "always", "eventually", "historically", "once", "next", "prev", "s_next", "s_prev", "rise", "fall"}
_ARGUMENTS = {"abs": 1, "sqrt": 1, "exp": 1, "pow": 2}
_TRUTHS = {"true": "vtrue", "TRUE": "vtrue", "false": "vfalse", "FALSE": "vfalse"}
_UNITS = {"s": Fraction(1), "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}
_MEANT = {
    "=": "'==' compares",
    ";": "give one formula, without ';'",
    "^": "write pow(x, 2)",
    "%": "there is no remainder",
}
DEPTH_LIMIT = 60
"""Deepest nesting of parentheses; the recursive parsers (ours and RTAMT's) would run out of stack beyond."""


@dataclass(frozen=True)
class Token:
    kind: str
    """number, name, operator, function, truth, sign or end."""
    text: str
    line: int
    column: int


@dataclass
class Normalised:
    """The text for RTAMT, and tables to translate its answer back."""

    text: str = ""
    names: list[str] = field(default_factory=list)
    """names[i] is the signal called v{i} in the text."""
    intervals: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, math.inf)])
    """Interval k of the text.  Interval 0 is reserved: RTAMT itself writes a lower bound 0 when it rewrites unless."""
    origins: list[tuple[int, Token]] = field(default_factory=list)
    """(column in the text, original token), in order."""
    problems: list[Problem] = field(default_factory=list)


class Stop(Exception):
    """Parsing cannot go on; the problem is already noted."""


def normalise(text: str, *, signals: Iterable[str] | None, file: str | None, line: int | None) -> Normalised:
    """Check the tokens, arithmetic and intervals of a formula and rewrite it for RTAMT."""
    writer = _Writer(None if signals is None else list(signals), file, line)
    try:
        writer.tokens = writer.cut(text)
        position = writer.sequence(0, depth=0)
        if writer.tokens[position].kind != "end":
            writer.stop(f"unexpected '{writer.tokens[position].text}'", writer.tokens[position])
    except Stop:
        pass
    return writer.finish()


class _Writer:
    def __init__(self, signals: list[str] | None, file: str | None, line: int | None) -> None:
        self.signals = signals
        self.file, self.first_line = file, line
        self.tokens: list[Token] = []
        self.result = Normalised()
        self.written: list[tuple[str, Token]] = []

    def where(self, token: Token) -> str:
        line = f"line {token.line}, " if token.line > 1 and self.first_line is None else ""
        return f"formula, {line}column {token.column}"

    def problem(self, message: str, token: Token, **facts: object) -> Problem:
        line = None if self.first_line is None else self.first_line + token.line - 1
        return Problem(f"{self.where(token)}: {message}.", file=self.file, line=line, **facts)  # type: ignore[arg-type]

    def complain(self, message: str, token: Token, **facts: object) -> None:
        self.result.problems.append(self.problem(message, token, **facts))

    def stop(self, message: str, token: Token, **facts: object) -> None:
        self.complain(message, token, **facts)
        raise Stop

    # --- tokens -----------------------------------------------------------------------------------------------------

    def cut(self, text: str) -> list[Token]:
        tokens: list[Token] = []
        position, line, line_start = 0, 1, 0
        while position < len(text):
            match = _TOKENS.match(text, position)
            here = Token("sign", text[position], line, position - line_start + 1)
            if match is None:
                hint = _MEANT.get(here.text)
                self.stop(f"'{here.text}' has no meaning here" + (f"; {hint}" if hint else ""), here)
            assert match is not None
            word = self.without_interval(match)
            if match.lastgroup != "space":
                tokens.append(Token(self.kind(match.lastgroup or "", word), word, line, here.column))
            if "\n" in word:
                line += word.count("\n")
                line_start = position + word.rindex("\n") + 1
            position += len(word)
        tokens.append(Token("end", "the end", line, position - line_start + 1))
        return tokens

    def without_interval(self, match: re.Match[str]) -> str:
        """Return the token: `y[0]` is one name, an element of an array, but `G[0,20]` begins with an operator."""
        word, index = match.group(), match["index"]
        if index is None or (self.signals is not None and word in self.signals):
            return word
        base = word.removesuffix(index)
        known = base in _OPERATORS or (self.signals is not None and base in self.signals)
        return base if known else word

    def kind(self, group: str, word: str) -> str:
        if group == "name" and self.signals is not None and word in self.signals:
            return "name"  # a system may well have an output called H or S
        if word in _OPERATORS:
            return "operator"
        if word in _ARGUMENTS:
            return "function"
        return "truth" if word in _TRUTHS else group

    # --- Boolean structure: copied as it is, RTAMT checks it -------------------------------------------------------

    def sequence(self, at: int, depth: int) -> int:
        """Write everything up to a closing parenthesis, a comma or the end; return its position."""
        if depth > DEPTH_LIMIT:
            self.stop(f"more than {DEPTH_LIMIT} nested parentheses", self.tokens[at])
        after_operand = False
        while True:
            token = self.tokens[at]
            if token.kind == "end" or token.text in (")", ","):
                return at
            prefix = token.kind == "operator" and _OPERATORS[token.text] in _PREFIX
            operand = token.kind in ("number", "name", "function", "truth") or token.text in ("(", "-")
            if after_operand and (prefix or operand):
                self.stop(f"an operator is missing before '{token.text}'", token)
            if operand:
                at, words = self.sum(at, depth)
                self.written += words
                after_operand = True
            elif token.kind == "operator":
                at = self.operator(at)
                after_operand = False
            else:
                self.stop(f"unexpected '{token.text}'", token)

    def operator(self, at: int) -> int:
        token = self.tokens[at]
        name = _OPERATORS[token.text]
        self.written.append((name, token))
        if self.tokens[at + 1].text == "[":
            if name not in _TIMED:
                self.stop(f"'{name}' takes no time interval", self.tokens[at + 1], allowed=tuple(sorted(_TIMED)))
            interval, at = self.interval(at + 1)
        elif name == "unless":
            interval = (0.0, math.inf)  # without an interval RTAMT raises a bare AttributeError
        else:
            return at + 1
        self.result.intervals.append(interval)
        number = len(self.result.intervals) - 1
        self.written.append((f"[{number}:{number}]", token))
        return at + 1

    def interval(self, at: int) -> tuple[tuple[float, float], int]:
        opening = self.tokens[at]
        lower, lower_unit, at = self.bound(at + 1)
        if self.tokens[at].text not in (":", ","):
            self.stop(f"a time interval is written [from:to], but here is '{self.tokens[at].text}'", self.tokens[at])
        upper, upper_unit, at = self.bound(at + 1)
        if self.tokens[at].text != "]":
            self.stop(f"the time interval is not closed by ']' but by '{self.tokens[at].text}'", self.tokens[at])
        if lower_unit and not upper_unit and upper is not None:
            self.complain("give the unit of both bounds of a time interval", opening)
        start = None if lower is None else lower * _UNITS.get(lower_unit or upper_unit or "s", Fraction(1))
        end = None if upper is None else upper * _UNITS.get(upper_unit or "s", Fraction(1))
        if start is None:
            self.complain("a time interval cannot begin at infinity", opening)
        elif start < 0 or (end is not None and end < 0):
            self.complain(
                "the bounds of a time interval cannot be negative; the past has historically, once, since", opening
            )
        elif end is not None and start > end:
            self.complain(
                f"the time interval [{float(start):g}:{float(end):g}] is empty, its lower bound is the larger", opening
            )
        return (float(start or 0), math.inf if end is None else float(end)), at

    def bound(self, at: int) -> tuple[Fraction | None, str | None, int]:
        """Parse a bound: (value or None for infinity, unit, next position)."""
        sign = -1 if self.tokens[at].text == "-" else 1
        at += sign < 0
        token = self.tokens[at]
        if token.kind == "number":
            value = sign * Fraction(Decimal(token.text))
        elif token.text == "inf" and sign > 0:
            return None, None, at + 1
        else:
            self.stop(f"a bound of a time interval is a number or inf, not '{token.text}'", token)
        unit = self.tokens[at + 1]
        if unit.kind not in ("name", "operator") or not unit.text.isidentifier():
            return value, None, at + 1
        if unit.text not in _UNITS:
            self.result.problems.append(self.named("unit of time", unit, _UNITS))
        return value, unit.text, at + 2

    # --- arithmetic: rewritten with all its parentheses -------------------------------------------------------------

    def sum(self, at: int, depth: int) -> tuple[int, list[tuple[str, Token]]]:
        return self.chain(at, depth, ("+", "-"), self.product)

    def product(self, at: int, depth: int) -> tuple[int, list[tuple[str, Token]]]:
        return self.chain(at, depth, ("*", "/"), self.signed)

    def chain(self, at: int, depth: int, signs: tuple[str, str], part) -> tuple[int, list[tuple[str, Token]]]:
        """Left-associative chain of equally strong operators."""
        at, words = part(at, depth)
        while (token := self.tokens[at]).text in signs:
            at, right = part(at + 1, depth)
            words = [("(", token), *words, (token.text, token), *right, (")", token)]
        return at, words

    def signed(self, at: int, depth: int) -> tuple[int, list[tuple[str, Token]]]:
        token = self.tokens[at]
        if token.text != "-":
            return self.primary(at, depth)
        if self.tokens[at + 1].kind == "number":
            return at + 2, [("(", token), ("-", token), self.number(self.tokens[at + 1]), (")", token)]
        at, words = self.signed(at + 1, depth)
        return at, [*((sign, token) for sign in "((-1)*"), *words, (")", token)]

    def number(self, token: Token) -> tuple[str, Token]:
        if math.isinf(float(token.text)):
            self.complain(f"the number {token.text} is too large", token)
        return repr(float(token.text)), token

    def primary(self, at: int, depth: int) -> tuple[int, list[tuple[str, Token]]]:
        token = self.tokens[at]
        if token.kind == "number":
            return at + 1, [self.number(token)]
        if token.kind == "truth":
            return at + 1, [(_TRUTHS[token.text], token)]
        if token.kind == "function":
            return self.call(at, depth)
        if token.text == "(":
            end, words = self.group(at + 1, depth)
            return end, [("(", token), *words, (")", self.tokens[end - 1])]
        if token.kind == "name":
            if self.tokens[at + 1].text == "(":
                self.not_a_function(token)
            return at + 1, [(self.signal(token), token)]
        self.stop(f"here should be a number, a signal or '(', not '{token.text}'", token)
        raise Stop

    def call(self, at: int, depth: int) -> tuple[int, list[tuple[str, Token]]]:
        token = self.tokens[at]
        if self.tokens[at + 1].text != "(":
            self.stop(f"the function '{token.text}' needs its argument in parentheses", token)
        words = [(token.text, token), ("(", token)]
        at, count = at + 1, 0
        while True:
            at, argument = self.group(at + 1, depth, closing=(")", ","))
            words += argument
            count += 1
            at -= 1
            words.append((self.tokens[at].text, self.tokens[at]))
            if self.tokens[at].text == ")":
                break
        if count != _ARGUMENTS[token.text]:
            self.stop(f"'{token.text}' takes {_ARGUMENTS[token.text]} argument(s), not {count}", token)
        return at + 1, words

    def group(self, at: int, depth: int, closing: tuple[str, ...] = (")",)) -> tuple[int, list[tuple[str, Token]]]:
        """Parse the content of parentheses; return it with the position after the closing one."""
        opening = self.tokens[at - 1]
        outer, self.written = self.written, []
        end = self.sequence(at, depth + 1)
        words, self.written = self.written, outer
        closer = self.tokens[end]
        if closer.kind == "end":
            self.stop(f"this '{opening.text}' is never closed", opening)
        if closer.text not in closing:
            self.stop(f"unexpected '{closer.text}'", closer)
        if not words:
            self.stop(f"nothing stands before '{closer.text}'", closer)
        return end + 1, words

    # --- names ------------------------------------------------------------------------------------------------------

    def named(self, what: str, token: Token, known: Iterable[str]) -> Problem:
        facts = unknown_name(what, token.text, known)
        return self.problem(facts.message.rstrip("."), token, allowed=facts.allowed, closest=facts.closest)

    def not_a_function(self, token: Token) -> None:
        if self.signals is not None and token.text in self.signals:
            operator = _OPERATORS.get(token.text)
            hint = f"; here it is a signal, the operator is written '{operator}'" if operator else ""
            self.stop(f"the signal '{token.text}' is followed by '('{hint}", token)
        words = sorted(w for w in _OPERATORS if len(w) > 1 and w.isidentifier())
        close = difflib.get_close_matches(token.text, [*_ARGUMENTS, *words], n=1, cutoff=0.6)
        known = tuple(sorted(_ARGUMENTS))
        self.stop(f"unknown function '{token.text}'", token, allowed=known, closest=close[0] if close else None)

    def signal(self, token: Token) -> str:
        if token.text not in self.result.names:
            if self.signals is not None and token.text not in self.signals:
                self.result.problems.append(self.named("signal", token, self.signals))
            self.result.names.append(token.text)
        return f"v{self.result.names.index(token.text)}"

    def finish(self) -> Normalised:
        column = 0
        for word, token in self.written:
            self.result.origins.append((column, token))
            column += len(word) + 1
        self.result.origins.append((column - 1, self.tokens[-1] if self.tokens else Token("end", "the end", 1, 1)))
        self.result.text = " ".join(word for word, _ in self.written)
        return self.result
