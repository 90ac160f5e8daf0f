"""Parse CSL, the logic of Markov chains, as PRISM and Storm write it.

    P=? [ !sleep U[0,2.7] sleep ]          probability of a path; P>=0.95 [ … ], P[0.3,0.7] [ … ] ask yes or no
    F[5,5] φ, F<=10 φ, G φ, X φ, φ U ψ     intervals in units of time (steps of a discrete chain)
    S=? [ φ ]                              share of the time in the long run
    T=? [ F φ ]                            mean time until φ
    R{cost}=? [ F φ ], [ C<=10 ], [ I=5 ], [ S ]     cost until φ, up to a time, at a time, per unit of time

φ is a condition over the model (`Base.Sleeping && failed > 3`; a label may be quoted), combined by `!`, `&`, `|`, `=>`
with further operators: `P<=0.01 [ F[5,5] (!sleep & P>0 [ X sleep ]) ]`.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from bbfalsify.core.bracketed_text import outside
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.tree import Node

FORMS = ("P=? [ φ U[a,b] ψ ]", "P>=p [ F[a,b] φ ]", "S=? [ φ ]", "T=? [ F φ ]", "R{cost}=? [ C<=t ]")


class Bound(Node):
    """The numbers that satisfy an operator: an interval with or without its ends."""

    low: float = -math.inf
    high: float = math.inf
    low_strict: bool = False
    high_strict: bool = False

    def verdict(self, low: float, high: float) -> bool | None:
        """Decide a value known to lie in [low, high]; None: the bound lies inside."""
        if self._contains(low) and self._contains(high):
            return True
        below = high < self.low or (high == self.low and self.low_strict)
        above = low > self.high or (low == self.high and self.high_strict)
        return False if below or above else None

    def _contains(self, value: float) -> bool:
        over = value > self.low or (value == self.low and not self.low_strict)
        return over and (value < self.high or (value == self.high and not self.high_strict))


class Condition(Node):
    """A condition over the model, in its own language."""

    text: str


class Negation(Node):
    operand: Formula


class Junction(Node):
    operator: str
    """and, or"""
    left: Formula
    right: Formula


class Until(Node):
    """`left` holds until `right` does, at a time in [low, high]; left None: true (F)."""

    left: Formula | None
    right: Formula
    low: float = 0.0
    high: float = math.inf


class Globally(Node):
    """The operand holds at all times in [low, high]."""

    operand: Formula
    low: float = 0.0
    high: float = math.inf


class Next(Node):
    operand: Formula
    low: float = 0.0
    high: float = math.inf


Path = Until | Globally | Next


class Probability(Node):
    path: Path
    bound: Bound | None
    """None: the number is asked for."""


class LongRunShare(Node):
    operand: Formula
    bound: Bound | None


class Reward(Node):
    """Expected reward: until a condition, up to a time (C), at a time (I), or per unit of time in the long run (S)."""

    name: str
    """cost, time, or an expression over the model"""
    kind: str
    """until, up to, at, long run"""
    until: Formula | None
    time: float
    bound: Bound | None


Operator = Probability | LongRunShare | Reward
Formula = Condition | Negation | Junction | Operator

_ALONE = r"(?<![\w.]){}(?![\w.])"
"""A word that is no part of a longer one."""
_CONNECTIVES = {
    "implies": f"=>|->|{_ALONE.format('imply')}",
    "or": rf"\|\|?|{_ALONE.format('or')}",
    "and": f"&&?|{_ALONE.format('and')}",
}
"""Loosest first."""
_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_RATIO = rf"{_NUMBER}(?:\s*/\s*{_NUMBER})?"
_OPERATOR = re.compile(
    rf"(?<![\w.])([PSTR])\s*(\{{[^}}]*\}})?\s*(=\s*\?|(?:>=|<=|>|<)\s*{_RATIO}|\[\s*{_RATIO}\s*,\s*{_RATIO}\s*\])\s*(?=[\[(])"
)
_INTERVAL = re.compile(rf"\s*(?:\[\s*({_RATIO})\s*[,:]\s*({_RATIO}|inf)\s*\]|(<=|<|>=|>|=)\s*({_RATIO})(?![\w.]))")


def is_csl(text: str) -> bool:
    """Tell whether a text contains an operator of CSL."""
    return _OPERATOR.search(text) is not None


def parse_csl(text: str, *, file: str | None = None, line: int | None = None) -> Formula:
    """Parse a formula, or raise a UserError."""
    return _Reader(text.strip(), file, line).state(text.strip())


class _Reader:
    def __init__(self, whole: str, file: str | None, line: int | None) -> None:
        self.whole, self.file, self.line = whole, file, line

    def wrong(self, says: str) -> UserError:
        return UserError(Problem(f"query '{self.whole}': {says}.", self.file, self.line, allowed=FORMS))

    def state(self, text: str) -> Formula:
        text = self._without_parentheses(text.strip())
        if not text:
            raise self.wrong("a condition is missing")
        if not is_csl(text):
            return Condition(_in_our_words(text))
        for operator, words in _CONNECTIVES.items():
            place = outside(text, words, 1)
            if place is not None:
                left, right = text[: place.start()], text[place.end() :]
                if operator == "implies":
                    return Junction("or", Negation(self.state(left)), self.state(right))
                return Junction(operator, self.state(left), self.state(right))
        if text.startswith("!"):
            return Negation(self.state(text[1:]))
        return self._operator(text)

    def _without_parentheses(self, text: str) -> str:
        while text.startswith("(") and _closing(text, 0) == len(text) - 1:
            text = text[1:-1].strip()
        return text

    def _operator(self, text: str) -> Operator:
        match = _OPERATOR.match(text)
        if match is None:
            raise self.wrong(f"'{text}' is no formula")
        end = _closing(text, match.end())
        if end != len(text) - 1:
            raise self.wrong("a bracket is not closed" if end < 0 else f"'{text[end + 1 :].strip()}' is left over")
        letter, name, bound = match.group(1), match.group(2), self._bound(match.group(3))
        inside = text[match.end() + 1 : -1].strip()
        if name and letter != "R":
            raise self.wrong(f"only R has a name in braces, not {letter}")
        if bound is not None and letter in "PS" and not (_possible(bound.low) and _possible(bound.high)):
            raise self.wrong("a bound of a probability lies between 0 and 1")
        if letter == "P":
            return Probability(self.path(inside), bound)
        if letter == "S":
            return LongRunShare(self.state(inside), bound)
        if letter == "T":
            return self._reward("time", inside, bound)
        return self._reward("cost" if name is None else name[1:-1].strip().strip('"'), inside, bound)

    def _reward(self, name: str, inside: str, bound: Bound | None) -> Reward:
        if re.match(r"F(?![\w.])", inside):
            path = self.path(inside)
            if not isinstance(path, Until) or path.low > 0 or path.high < math.inf:
                raise self.wrong("an expectation until a condition takes no interval")
            return Reward(name, "until", path.right, math.inf, bound)
        if inside == "S":
            return Reward(name, "long run", None, math.inf, bound)
        match = re.fullmatch(rf"(C\s*<=|I\s*=)\s*({_RATIO})", inside)
        if match is None:
            raise self.wrong(f"'{inside}' must be F φ, C<=t, I=t or S")
        kind = "up to" if match.group(1)[0] == "C" else "at"
        return Reward(name, kind, None, _number(match.group(2)), bound)

    def path(self, text: str) -> Path:
        text = self._without_parentheses(text.strip())
        if match := re.match(r"([XFG])(?![\w.])", text):
            low, high, rest = self._interval(text[match.end() :])
            operand = self.state(rest)
            if match.group(1) == "X":
                return Next(operand, low, high)
            return Until(None, operand, low, high) if match.group(1) == "F" else Globally(operand, low, high)
        place = outside(text, _ALONE.format("U"), 1)
        if place is None:
            raise self.wrong(f"'{text}' is no path: it needs X, F, G or U")
        low, high, rest = self._interval(text[place.end() :])
        return Until(self.state(text[: place.start()]), self.state(rest), low, high)

    def _interval(self, text: str) -> tuple[float, float, str]:
        match = _INTERVAL.match(text)
        if match is None:
            if found := re.match(r"\s*(?:<=|<|>=|>|=|\[)\s*(-?[\w./]+)", text):
                raise self.wrong(f"a bound of time is a number from 0 on; found {found.group(1)}")
            return 0.0, math.inf, text
        first, second, operator, single = match.groups()
        if operator is None:
            low, high = _number(first), math.inf if second == "inf" else _number(second)
        else:
            low, high = (0.0, _number(single)) if operator[0] == "<" else (_number(single), math.inf)
            high = low if operator == "=" else high
        if low > high:
            raise self.wrong(f"the interval [{low:g}, {high:g}] is empty")
        return low, high, text[match.end() :]

    def _bound(self, text: str) -> Bound | None:
        text = "".join(text.split())
        if text == "=?":
            return None
        if text.startswith("["):
            low, high = (_number(part) for part in text[1:-1].split(","))
            if low > high:
                raise self.wrong(f"the bounds [{low:g}, {high:g}] are empty")
            return Bound(low, high)
        number, strict = _number(text.lstrip("<>=")), "=" not in text
        return Bound(low=number, low_strict=strict) if text[0] == ">" else Bound(high=number, high_strict=strict)


def _possible(number: float) -> bool:
    return math.isinf(number) or 0 <= number <= 1


def _number(text: str) -> float:
    above, _, below = text.partition("/")
    return float(Fraction(above.strip()) / Fraction(below.strip() or 1))


def _closing(text: str, start: int) -> int:
    """Place of the bracket that closes the one at `start`; −1: none."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place
    return -1


def _in_our_words(text: str) -> str:
    """Write a condition of PRISM in the modelling language: &, |, =>, =, and quoted labels."""
    text = re.sub(r'"(\w+)"', r"\1", text)
    text = re.sub(r"(?<!&)&(?!&)", "&&", re.sub(r"(?<!\|)\|(?!\|)", "||", text))
    text = re.sub(r"=>|->", " imply ", text)
    return re.sub(r"(?<![<>=!:])=(?!=)", "==", text)
