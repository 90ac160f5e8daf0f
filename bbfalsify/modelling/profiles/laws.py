"""Laws of values: how likely each value of a signal or parameter is, as a function of its quantile.

    throttle: {range: [0, 100]}                          uniform
    mass:     {uniform: [1, 2]}                          the same, as a law by name
    load:     {normal: [50, 10]}                         mean and standard deviation
    load:     {normal: [50, 10], range: [0, 100]}        the same, cut off at the ends of the range
    gain:     {log_uniform: [0.01, 100]}                 the logarithm is uniform
    wait:     {exponential: 5}                           mean
    gear:     {values: [1, 2, 3]}                        equally likely
    gear:     {values: {1: 0.8, 2: 0.2}}                 with weights

`value(u)` is the value with quantile u in [0, 1).  The quantiles `LOWEST` and `HIGHEST` give the ends of a range
exactly; of a law without an end they give values that nobody ever draws, but finite ones.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Protocol

from bbfalsify.core.choices import HIGHEST, LOWEST
from bbfalsify.records.yaml_node import Node

LAWS = ("uniform", "normal", "log_uniform", "exponential", "values")
LAW_KEYS = ("range", *LAWS)
_STANDARD = NormalDist()
_HALF_A_QUANTILE = 2.0**-54


class Law(Protocol):
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    def value(self, u: float) -> float: ...


@dataclass(frozen=True)
class Uniform:
    low: float
    high: float

    def value(self, u: float) -> float:
        return self.high if u >= HIGHEST else min(self.low + (self.high - self.low) * u, self.high)


@dataclass(frozen=True)
class LogUniform:
    low: float
    high: float

    def value(self, u: float) -> float:
        if u <= LOWEST or u >= HIGHEST:
            return self.low if u <= LOWEST else self.high
        first, last = math.log(self.low), math.log(self.high)
        return min(max(math.exp(first + (last - first) * u), self.low), self.high)


@dataclass(frozen=True)
class Normal:
    """A normal law, cut off at `low` and `high`."""

    mean: float
    deviation: float
    low: float = -math.inf
    high: float = math.inf

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return tuple(_STANDARD.cdf((end - self.mean) / self.deviation) for end in (self.low, self.high))  # type: ignore[return-value]

    def value(self, u: float) -> float:
        if u <= LOWEST and math.isfinite(self.low):
            return self.low
        if u >= HIGHEST and math.isfinite(self.high):
            return self.high
        first, last = self._ends
        inside = min(max(first + (last - first) * (u + _HALF_A_QUANTILE), _HALF_A_QUANTILE), HIGHEST)
        return min(max(self.mean + self.deviation * _STANDARD.inv_cdf(inside), self.low), self.high)


@dataclass(frozen=True)
class Exponential:
    mean: float
    low: float = 0.0
    high: float = math.inf

    def value(self, u: float) -> float:
        if u >= HIGHEST and math.isfinite(self.high):
            return self.high
        beyond = math.exp(-(self.high - self.low) / self.mean)
        return min(self.low - self.mean * math.log1p(-u * (1.0 - beyond)), self.high)


@dataclass(frozen=True)
class Values:
    """Some values with their weights."""

    values: tuple[float, ...]
    weights: tuple[float, ...]

    @cached_property
    def _ends(self) -> list[float]:
        total = sum(self.weights)
        return [part / total for part in itertools.accumulate(self.weights)]

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def value(self, u: float) -> float:
        return self.values[min(bisect.bisect_right(self._ends, u), len(self.values) - 1)]


def read_law(node: Node) -> Law | None:
    """Read the law of an entry with some of `LAW_KEYS`; what is wrong is noted."""
    named = [key for key in LAWS if key in node]
    if len(named) > 1:
        node.problem(f"'{node.name}' has {' and '.join(repr(key) for key in named)}; choose one law.")
        return None
    ends = _range(node.child("range"), infinite=bool(named)) if "range" in node else None
    if not named:
        if "range" not in node:
            node.problem(f"'{node.name}' needs a range or a law.", allowed=LAW_KEYS)
        return None if ends is None else Uniform(*ends)
    law = _READERS[named[0]](node.child(named[0]))
    if law is None or "range" not in node:
        return law
    return None if ends is None else _cut(node, law, *ends)


def _cut(node: Node, law: Law, low: float, high: float) -> Law | None:
    """Cut a law off at the ends of a range."""
    if isinstance(law, Normal):
        cut = Normal(law.mean, law.deviation, low, high)
        if cut._ends[1] - cut._ends[0] > 1e-9:
            return cut
        node.child("range").problem(f"'{node.name}': hardly any value of the law is in this range.")
    elif isinstance(law, Exponential):
        if low >= 0:
            return Exponential(law.mean, low, high)
        node.child("range").problem(f"'{node.name}': an exponential law has no values below 0.")
    else:
        node.child("range").problem(f"'{node.name}': this law has a range of its own; leave 'range' out.")
    return None


def _range(node: Node, *, infinite: bool) -> tuple[float, float] | None:
    """Read [low, high]; an end may be infinite where a law says how values are spread."""
    ends = [_end(child, infinite) for child in node.elements()]
    if isinstance(node.value, list) and len(ends) != 2:
        node.problem(f"'{node.name}' must have two ends, [low, high], found {len(ends)}.")
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        return None
    if ends[0] > ends[1]:
        node.problem(f"'{node.name}' ends before it begins: {ends[0]:g} is above {ends[1]:g}.")
        return None
    return ends[0], ends[1]


def _end(node: Node, infinite: bool) -> float | None:
    if isinstance(node.value, float) and math.isinf(node.value):
        if infinite:
            return node.value
        node.problem(
            f"'{node.name}' is infinite, and no law says how values are spread.",
            allowed=("a finite end", "normal: [mean, deviation]", "exponential: mean"),
        )
        return None
    return node.number()


def _uniform(node: Node) -> Law | None:
    ends = _range(node, infinite=False)
    return None if ends is None else Uniform(*ends)


def _log_uniform(node: Node) -> Law | None:
    ends = _range(node, infinite=False)
    if ends is not None and ends[0] <= 0:
        node.problem(f"'{node.name}' must begin above 0, found {ends[0]:g}.")
        return None
    return None if ends is None else LogUniform(*ends)


def _normal(node: Node) -> Law | None:
    numbers = [child.number() for child in node.elements()]
    if isinstance(node.value, list) and len(numbers) != 2:
        node.problem(f"'{node.name}' must be [mean, standard deviation], found {len(numbers)} numbers.")
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        return None
    if numbers[1] <= 0:
        node.problem(f"'{node.name}': the standard deviation must be above 0, found {numbers[1]:g}.")
        return None
    return Normal(numbers[0], numbers[1])


def _exponential(node: Node) -> Law | None:
    mean = node.number()
    if mean is not None and mean <= 0:
        node.problem(f"'{node.name}': the mean must be above 0, found {mean:g}.")
        return None
    return None if mean is None else Exponential(mean)


def _values(node: Node) -> Law | None:
    if isinstance(node.value, dict):
        pairs = [(_key(node, key), child.number()) for key, child in node.items()]
    else:
        pairs = [(child.number(), 1.0) for child in node.elements()]
    if isinstance(node.value, list | dict) and not pairs:
        node.problem(f"'{node.name}' is empty.")
    known = [(value, weight) for value, weight in pairs if value is not None and weight is not None]
    if not known or len(known) < len(pairs):
        return None
    values, weights = zip(*known, strict=True)
    if min(weights) < 0 or not sum(weights) > 0:
        node.problem(f"'{node.name}': weights must not be negative, and some must be above 0.")
        return None
    return Values(values, weights)


def _key(node: Node, key: str) -> float | None:
    try:
        return float(key)
    except ValueError:
        node.problem(f"'{node.name}': values must be numbers, found '{key}'.")
        return None


_READERS: dict[str, Callable[[Node], Law | None]] = {
    "uniform": _uniform,
    "normal": _normal,
    "log_uniform": _log_uniform,
    "exponential": _exponential,
    "values": _values,
}
