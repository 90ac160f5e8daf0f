"""Signals and parameters of a profile that are drawn by a law, without an automaton.

    signals:
      throttle: {range: [0, 100], every: 5}                     a new value every 5 time units, held in between
      brake:    {range: [0, 325], pieces: 4, shape: linear}     straight lines between 5 values over the whole use
      load:     {values: [0, 1], pieces: 3, every: free}        2 switches at times drawn uniformly over the use
    parameters:
      mass: {uniform: [900, 1500], unit: kg}                    of the system, set before each use
      drag: 0.3                                                 the same in every use

`range` and laws are explained in `laws.py`; all values are independent.  Shapes: `constant` holds each value, `linear`
and `spline` join them (a monotone spline, which does not leave the range).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bbfalsify.core.errors import Place, Problem
from bbfalsify.modelling.formats.yaml_reader import unit_of
from bbfalsify.modelling.profiles.laws import LAW_KEYS, Law, Uniform, Values, read_law
from bbfalsify.records.yaml_node import Node

SHAPES = ("constant", "linear", "spline")
FREE = "free"
MOST_PIECES = 100_000
"""More pieces of a signal than this take seconds per simulation and are surely a typo."""
SIGNAL_KEYS = (*LAW_KEYS, "every", "pieces", "shape", "unit")
STAND_IN = Uniform(0.0, 1.0)
"""Law of a signal whose own cannot be read: that is noted, and what else is wrong with its profile is found as well."""


@dataclass(frozen=True)
class Curve:
    """A signal of one run: values at their times; what is between them depends on the shape."""

    shape: str
    times: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class SignalInput:
    """An input whose values are drawn by a law, piece by piece."""

    name: str
    unit: str | None
    law: Law
    every: float | None
    """Length of a piece; None: pieces of equal or free length over the whole use."""
    pieces: int | None
    shape: str = "constant"
    free: bool = False
    """The times between pieces are drawn, too: uniformly over the use, in order."""
    place: Place = field(default=Place(None), compare=False, repr=False)

    def count(self, duration: float) -> int:
        """The number of pieces."""
        if self.every is None:
            return self.pieces or 1
        return max(1, math.ceil(duration / self.every - 1e-9))

    def length_problem(self, duration: float) -> Problem | None:
        """Return the problem with a signal that changes too often in a use of this duration."""
        if (count := self.count(duration)) <= MOST_PIECES:
            return None
        message = f"signal '{self.name}' has {count} pieces in a use of {duration:g}. Allowed: at most {MOST_PIECES}."
        return self.place.problem(message)

    def choices(self, duration: float) -> Iterator[tuple[str, str]]:
        """The kinds and names of the choices of one run."""
        last = self.count(duration) - 1
        for piece in range(last + 1):
            yield "value", self.name
            if self.free and piece < last:
                yield "delay", self.name
        if self.shape != "constant":
            yield "value", self.name

    def curve(self, quantiles: Sequence[float], duration: float) -> Curve:
        """The signal with these quantiles, one per choice."""
        kinds = [kind for kind, _ in self.choices(duration)]
        pieces = self.count(duration)
        values = [self.law.value(u) for u, kind in zip(quantiles, kinds, strict=True) if kind == "value"]
        if self.free:
            switches = [u for u, kind in zip(quantiles, kinds, strict=True) if kind == "delay"]
            times = [0.0, *_in_order(switches, duration), duration]
        else:
            length = duration / pieces if self.every is None else self.every
            times = [length * piece for piece in range(pieces + 1)]
        return Curve(self.shape, tuple(times[: len(values)]), tuple(values))


@dataclass(frozen=True)
class SystemParameter:
    """A parameter of the system that is drawn by a law before each use."""

    name: str
    unit: str | None
    law: Law
    place: Place = field(default=Place(None), compare=False, repr=False)

    @property
    def varies(self) -> bool:
        return self.law.low < self.law.high


def _in_order(quantiles: Sequence[float], duration: float) -> list[float]:
    """Uniform moments in increasing order: the first of m lies where the least of m uniform numbers does."""
    times: list[float] = []
    for number, u in enumerate(quantiles):
        before = times[-1] if times else 0.0
        left = len(quantiles) - number
        times.append(min(before + (duration - before) * (1.0 - (1.0 - u) ** (1.0 / left)), duration))
    return times


def read_signals(root: Node) -> list[SignalInput]:
    """Read all signals; what is wrong is noted, and something stands in for it."""
    return [_signal(name, node) for name, node in _entries(root, "signals")]


def _entries(root: Node, key: str) -> list[tuple[str, Node]]:
    """The entries of a section; none where it is missing, empty or wrong."""
    section = root.get(key)
    if section is None or not section.mapping():
        return []
    if not section.value:
        section.problem(f"'{key}' is empty.")
    return list(section.items())


def _signal(name: str, node: Node) -> SignalInput:
    if not node.mapping(SIGNAL_KEYS):
        return SignalInput(name, None, STAND_IN, None, None, place=node.place)
    law, unit, shape = read_law(node) or STAND_IN, unit_of(node), _shape(node)
    every, pieces = node.get("every"), node.get("pieces")
    free = every is not None and every.value == FREE
    length = None if every is None or free else every.number()
    count = None if pieces is None else _whole(pieces)
    if every is None and pieces is None:
        node.problem(f"signal '{name}' does not say when its value changes.", allowed=("every: TIME", "pieces: NUMBER"))
    elif free and pieces is None:
        node.problem(f"signal '{name}': 'every: free' also needs 'pieces', their number.")
    elif every is not None and not free and pieces is not None:
        node.problem(f"signal '{name}' has both 'every' and 'pieces'; choose one, or 'every: free'.")
    elif every is not None and length is not None and length <= 0:
        every.problem(f"'{every.name}' must be above 0, found {length:g}.")
        length = None
    return SignalInput(name, unit, law, length, count, shape, free, node.place)


def _shape(node: Node) -> str:
    child = node.get("shape")
    if child is None:
        return SHAPES[0]
    if child.value in SHAPES:
        return str(child.value)
    child.problems.append(child.place.unknown("shape", str(child.value), SHAPES))
    return SHAPES[0]


def _whole(node: Node) -> int | None:
    if isinstance(node.value, bool) or not isinstance(node.value, int) or node.value < 1:
        node.problem(f"'{node.name}' must be a whole number of at least 1, found {node.value!r}.")
        return None
    return node.value


def read_parameters(root: Node) -> list[SystemParameter]:
    found = []
    for name, node in _entries(root, "parameters"):
        law: Law | None
        if isinstance(node.value, dict):
            law = read_law(node) if node.mapping((*LAW_KEYS, "unit")) else None
            unit = unit_of(node)
        else:
            number, unit = node.number(), None
            law = None if number is None else Values((number,), (1.0,))
        if law is not None:
            found.append(SystemParameter(name, unit, law, node.place))
    return found
