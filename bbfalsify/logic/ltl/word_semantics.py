"""Evaluate a formula on one infinite word by the definition, without automata.

A letter is a pair (input, output); a word is given as prefix and loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from bbfalsify.logic.ltl.ltl_formula import Atom, Binary, Formula, Truth, Unary, deep_recursion

Letter = tuple[str, str]


def satisfies(formula: Formula, prefix: Sequence[Letter], loop: Sequence[Letter]) -> bool:
    """Tell whether prefix·loop·loop·… satisfies the formula."""
    if not loop:
        raise ValueError("an infinite word needs a loop")
    with deep_recursion():
        return _Word([*prefix, *loop], len(prefix)).values(formula)[0]


class _Word:
    """Truth values at all positions; after the last position comes `back`."""

    def __init__(self, word: list[Letter], back: int) -> None:
        self.word, self.back = word, back
        self._known: dict[int, list[bool]] = {}

    def values(self, formula: Formula) -> list[bool]:
        known = self._known.get(id(formula))
        if known is None:
            known = self._known[id(formula)] = self._values(formula)
        return known

    def _values(self, formula: Formula) -> list[bool]:
        match formula:
            case Truth(value):
                return [value] * len(self.word)
            case Atom(side):
                return [formula.holds(letter[side == "out"]) for letter in self.word]
            case Unary("!", body):
                return [not v for v in self.values(body)]
            case Unary("X" | "WX", body):
                values = self.values(body)
                return [*values[1:], values[self.back]]
            case Unary("F", body):
                return self.reach([True] * len(self.word), self.values(body), False)
            case Unary("G", body):
                return self.reach([False] * len(self.word), self.values(body), True)
        assert isinstance(formula, Binary)
        p, q = self.values(formula.left), self.values(formula.right)
        match formula.operator:
            case "&":
                return [a and b for a, b in zip(p, q, strict=True)]
            case "|":
                return [a or b for a, b in zip(p, q, strict=True)]
            case "->":
                return [b or not a for a, b in zip(p, q, strict=True)]
            case "<->":
                return [a == b for a, b in zip(p, q, strict=True)]
            case "U":
                return self.reach(p, q, False)
            case "R":
                return self.reach(p, q, True)
            case "W":
                always = self.reach([False] * len(p), p, True)
                return [a or b for a, b in zip(always, self.reach(p, q, False), strict=True)]
            case "M":
                return self.reach(q, [a and b for a, b in zip(p, q, strict=True)], False)
        raise TypeError(f"not a formula: {formula!r}")

    def reach(self, p: list[bool], q: list[bool], release: bool) -> list[bool]:
        """p U q (the least solution of its unfolding) or p R q (the greatest)."""
        n = len(self.word)
        values = [release] * n
        for _ in range(2):  # the second time round the loop knows its own beginning
            for k in reversed(range(n)):
                following = values[k + 1 if k + 1 < n else self.back]
                values[k] = q[k] and (p[k] or following) if release else q[k] or (p[k] and following)
        return values
