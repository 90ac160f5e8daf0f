"""An independent, slow reading of signal temporal logic in exact rationals, written from the definitions only.

Conditions change at finitely many moments.  `Oracle` quantifies over a window by looking at its ends, at every such
moment inside it and at one moment between any two of them.  Truth, uncertainty and robustness are one recursion of
minima and maxima over numbers: 1, -1, 0 for true, false and unknown (Kleene), or margins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from bbfalsify.logic.stl.formula import Compare, Connective, Not, Number, Reach, Signal, Step, Truth, Window

TOP, BOTTOM = math.inf, -math.inf


def representatives(start, end, critical, *, with_start=True, with_end=True):
    """Moments that stand for all of [start, end] when nothing changes except at `critical` ones."""
    inside = sorted({c for c in critical if start < c < end} | {start, end})
    points = [(a + b) / 2 for a, b in zip(inside, inside[1:], strict=False)] + inside
    return [p for p in points if (with_start or p != start) and (with_end or p != end)]


class Oracle:
    """`atom(compare, t)` gives the value of an atom; it may change only at the moments in `changes`."""

    def __init__(self, atom: Callable, changes: set[Fraction], top: float, *, end: Fraction) -> None:
        self.atom, self.changes, self.top, self.end = atom, frozenset(changes), top, end
        self.memo: dict = {}
        self.critical_memo: dict = {}

    def critical(self, node) -> frozenset:
        if node not in self.critical_memo:
            self.critical_memo[node] = frozenset(self._critical(node))
        return self.critical_memo[node]

    def _critical(self, node) -> set:
        if isinstance(node, Compare):
            return set(self.changes)
        if isinstance(node, Truth):
            return set()
        if isinstance(node, Not):
            return set(self.critical(node.body))
        if isinstance(node, Connective):
            return set(self.critical(node.left) | self.critical(node.right))
        below = (
            self.critical(node.body)
            if isinstance(node, Window)
            else self.critical(node.left) | self.critical(node.right)
        )
        sign = -1 if node.operator in ("always", "eventually", "until") else 1
        bounds = [Fraction(b).limit_denominator(1000) for b in (0, node.lower, node.upper) if b != math.inf]
        moved = {c + sign * b for c in below | {Fraction(0)} for b in bounds}
        return {c for c in moved if c >= 0}

    def value(self, node, t: Fraction) -> float:
        key = (node, t)
        if key not in self.memo:
            self.memo[key] = self._value(node, t)
        return self.memo[key]

    def _value(self, node, t: Fraction) -> float:
        if isinstance(node, Truth):
            return self.top if node.value else -self.top
        if isinstance(node, Compare):
            return self.atom(node, t)
        if isinstance(node, Not):
            return -self.value(node.body, t)
        if isinstance(node, Connective):
            a, b = self.value(node.left, t), self.value(node.right, t)
            both, either = min(a, b), max(a, b)
            return {
                "and": both, "or": either, "implies": max(-a, b),
                "iff": max(both, -either), "xor": -max(both, -either),
            }[node.operator]  # fmt: skip
        future = node.operator in ("always", "eventually", "until")
        lower = Fraction(node.lower).limit_denominator(1000)
        below = (
            self.critical(node.body)
            if isinstance(node, Window)
            else self.critical(node.left) | self.critical(node.right)
        )
        # After the last critical moment nothing changes any more, so one moment there stands for the rest.
        far = max([*below, t + lower, self.end]) + 1
        upper = None if node.upper == math.inf else Fraction(node.upper).limit_denominator(1000)
        if future:
            start, stop = t + lower, far if upper is None else t + upper
        else:
            start, stop = Fraction(0) if upper is None else max(Fraction(0), t - upper), t - lower
        moments = representatives(start, stop, below) if stop >= start else []
        if isinstance(node, Window):
            found = [self.value(node.body, u) for u in moments]
            if node.operator in ("always", "historically"):
                return min(found, default=self.top)
            return max(found, default=-self.top)
        best = -self.top
        for u in moments:
            between = (
                representatives(t, u, below, with_end=False)
                if future
                else representatives(u, t, below, with_start=False)
            )
            between = [] if u == t else between
            best = max(best, min([self.value(node.right, u), *(self.value(node.left, w) for w in between)]))
        return best


def holds(compare: Compare, values: dict[str, float]) -> bool:
    a, b = (values[x.name] if isinstance(x, Signal) else x.value for x in (compare.left, compare.right))
    return {"<=": a <= b, "<": a < b, ">=": a >= b, ">": a > b, "==": a == b, "!=": a != b}[compare.operator]


def margin(compare: Compare, values: dict[str, float]) -> float:
    a, b = (values[x.name] if isinstance(x, Signal) else x.value for x in (compare.left, compare.right))
    gap = b - a if compare.operator in ("<=", "<") else a - b
    return {"==": -abs(gap), "!=": abs(gap)}.get(compare.operator, gap)


class DenseTrace:
    def __init__(self, times: list[Fraction], rows: list[dict[str, float]]) -> None:
        self.times, self.rows = times, rows

    def at(self, t: Fraction) -> dict[str, float]:
        return self.rows[max(i for i, u in enumerate(self.times) if u <= t)]

    def kleene(self, node, prefix_end: Fraction) -> int:
        """1, -1 or 0 at time 0 when everything after `prefix_end` is unknown."""
        oracle = Oracle(
            lambda c, t: 0 if t > prefix_end else (1 if holds(c, self.at(t)) else -1),
            {*self.times, prefix_end},
            1,
            end=self.times[-1],
        )
        return oracle.value(node, Fraction(0))

    def robustness(self, node) -> float:
        oracle = Oracle(lambda c, t: margin(c, self.at(t)), set(self.times), TOP, end=self.times[-1])
        return oracle.value(node, Fraction(0))

    def prefix_ends(self, node) -> list[Fraction]:
        """Every moment at which certainty can arise, and moments in between."""
        oracle = Oracle(lambda c, t: 0, set(self.times), 1, end=self.times[-1])
        bounds = {Fraction(0)}
        for part in _parts(node):
            extra = [Fraction(b).limit_denominator(1000) for b in (part.lower, part.upper) if b != math.inf]
            bounds |= {b + e for b in bounds for e in extra}
        moments = set(oracle.critical(node)) | {t + b for t in self.times for b in bounds} | bounds
        end = self.times[-1]
        return sorted(representatives(Fraction(0), end, moments)) if end > 0 else [Fraction(0)]


def _parts(node):
    if isinstance(node, Window | Reach):
        yield node
    for name in ("left", "right", "body"):
        child = getattr(node, name, None)
        if child is not None and not isinstance(child, Signal | Number):
            yield from _parts(child)


class DiscreteTrace:
    """The definitions on sample numbers; `seen` samples are known."""

    def __init__(self, rows: list[dict[str, float]], period: float = 1.0) -> None:
        self.rows, self.period = rows, period

    def value(self, node, i: int, seen: int | None) -> float:
        """Kleene value when `seen` is given, else robustness with windows cut at the ends."""
        n, top = len(self.rows), TOP if seen is None else 1
        again = lambda part, k: self.value(part, k, seen)  # noqa: E731
        if isinstance(node, Truth):
            return top if node.value else -top
        if isinstance(node, Compare):
            if seen is None:
                return margin(node, self.rows[i])
            return 0 if i >= seen else (1 if holds(node, self.rows[i]) else -1)
        if isinstance(node, Not):
            return -again(node.body, i)
        if isinstance(node, Connective):
            a, b = again(node.left, i), again(node.right, i)
            both, either = min(a, b), max(a, b)
            equal = max(both, -either)
            return {"and": both, "or": either, "implies": max(-a, b), "iff": equal, "xor": -equal}[node.operator]
        if isinstance(node, Step):
            return self.step(node, i, seen, top)
        future = node.operator in ("always", "eventually", "until")
        low = round(node.lower / self.period)
        high = None if node.upper == math.inf else round(node.upper / self.period)
        limit = n - 1 if seen is None else n + 8  # beyond the trace everything is 0, far enough to matter
        if future:
            window = range(i + low, (limit if high is None else min(limit, i + high)) + 1)
            if seen is not None and high is not None:
                window = range(i + low, i + high + 1)
        else:
            window = range(0 if high is None else max(0, i - high), i - low + 1)
        if isinstance(node, Window):
            found = [again(node.body, k) for k in window]
            every = node.operator in ("always", "historically")
            if seen is not None and future and high is None:
                found.append(0)
            return min(found, default=top) if every else max(found, default=-top)
        best = -top
        for k in window:
            between = range(i, k) if future else range(k + 1, i + 1)
            best = max(best, min([again(node.right, k), *(again(node.left, w) for w in between)]))
        if seen is not None and future and high is None:
            best = max(best, min([0, *(again(node.left, w) for w in range(i, max(i, n)))]))
        return best

    def step(self, node, i: int, seen: int | None, top: float) -> float:
        n, body = len(self.rows), node.body
        again = lambda k: self.value(body, k, seen)  # noqa: E731
        if node.operator in ("next", "s_next"):
            if seen is None and i + 1 >= n:
                return top if node.operator == "next" else -top
            return again(i + 1)
        if node.operator in ("prev", "s_prev"):
            return again(i - 1) if i > 0 else (top if node.operator == "prev" else -top)
        before = again(i - 1) if i > 0 else (-top if node.operator == "rise" else top)
        return min(-before, again(i)) if node.operator == "rise" else min(before, -again(i))


class Generator:
    """Random small formulas over signals x and y."""

    def __init__(
        self, rng: np.random.Generator, *, unit: float, most: int = 3, avoid: tuple[str, ...] = (), steps=False
    ):
        self.rng, self.unit, self.most, self.avoid, self.steps = rng, unit, most, avoid, steps

    def pick(self, options):
        return options[int(self.rng.integers(len(options)))]

    def interval(self) -> tuple[float, float]:
        if self.rng.random() < 0.2:
            return 0.0, math.inf
        lower, width = int(self.rng.integers(self.most)), int(self.rng.integers(self.most))
        upper = math.inf if self.rng.random() < 0.1 and "late" not in self.avoid else (lower + width) * self.unit
        return lower * self.unit, upper

    def atom(self):
        other = Signal("y") if self.rng.random() < 0.2 else Number(float(self.rng.integers(-2, 3)))
        return Compare(
            self.pick(["<=", "<", ">=", ">", "==", "!="]), Signal("x" if self.rng.random() < 0.6 else "y"), other
        )

    def condition(self, depth: int):
        kinds = ["not", "connective", "window", "window", "past", "until", "since", *(["step"] if self.steps else [])]
        kind = self.pick([k for k in kinds if k not in self.avoid])
        if depth == 0 or self.rng.random() < 0.1:
            return self.atom()
        if kind == "not":
            return Not(self.condition(depth - 1))
        if kind == "step":
            return Step(self.pick(["next", "s_next", "prev", "s_prev", "rise", "fall"]), self.condition(depth - 1))
        if kind == "connective":
            allowed = [c for c in ("and", "or", "implies", "iff", "xor") if c not in self.avoid]
            return Connective(self.pick(allowed), self.condition(depth - 1), self.condition(depth - 1))
        if kind in ("window", "past"):
            names = ["always", "eventually"] if kind == "window" else ["historically", "once"]
            return Window(self.pick(names), *self.interval(), self.condition(depth - 1))
        return Reach(kind, *self.interval(), self.condition(depth - 1), self.condition(depth - 1))

    def hand_over(self, depth: int):
        """until and since in each other, over conditions that change together at the bounds."""
        if depth == 0:
            atom = Compare(self.pick([">", "<="]), Signal(self.pick(["x", "y"])), Number(0.0))
            return Window(self.pick(["always", "once"]), *self.interval(), atom) if self.rng.random() < 0.1 else atom
        lower = float(self.rng.integers(3)) * self.unit
        upper = self.pick([lower, lower + self.unit, lower + 2 * self.unit, math.inf])
        parts = (self.hand_over(int(self.rng.integers(depth))), self.hand_over(depth - 1))
        if self.rng.random() < 0.3:
            parts = tuple(Not(part) for part in parts)
        left, right = parts if self.rng.random() < 0.5 else parts[::-1]
        return Reach(self.pick(["until", "since"]), lower, upper, left, right)

    def rows(self, n: int) -> list[dict[str, float]]:
        """Values that often repeat and often lie exactly on a threshold."""
        return [{"x": float(self.rng.integers(-3, 4)), "y": float(self.rng.integers(-3, 4))} for _ in range(n)]
