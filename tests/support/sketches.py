"""Small networks written down directly as data: for tests that must not depend on any reader.

sketch = Sketch()
x = sketch.clock("x")
sketch.process("User", [Location("S", op("<=", x, 5))], [edge(0, 0, op(">=", x, 3), [let(x, 0)], action="off")])
network = sketch.network()
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bbfalsify.modelling.network.expressions import (
    Assign,
    Binary,
    Bound,
    Constant,
    Expression,
    Function,
    Kind,
    Read,
    Statement,
    Unary,
)
from bbfalsify.modelling.network.network import Branch, Channel, Edge, Location, Network, Process, Variable

Operand = Expression | int | float | Fraction
_LOGICAL = ("&&", "||", "imply", "==", "!=", "<", "<=", ">", ">=")


def term(value: Operand) -> Expression:
    """Numbers become constants: int an integer, anything else a real."""
    if isinstance(value, int):
        return Constant(value, Kind.INT)
    if isinstance(value, float | Fraction):
        return Constant(Fraction(value), Kind.DOUBLE)
    return value


def op(operator: str, left: Operand, right: Operand) -> Binary:
    first, second = term(left), term(right)
    if operator in _LOGICAL:
        kind = Kind.BOOL
    else:
        kind = Kind.DOUBLE if first.kind.is_real or second.kind.is_real else Kind.INT
    return Binary(operator, first, second, kind)


def both(*conditions: Expression) -> Expression:
    result = conditions[0]
    for condition in conditions[1:]:
        result = op("&&", result, condition)
    return result


def negation(condition: Expression) -> Unary:
    return Unary("!", condition, Kind.BOOL)


def let(target: Read | Bound, value: Operand, low: int | None = None, high: int | None = None) -> Assign:
    return Assign(target, term(value), low, high)


def element(array: Read, index: Operand) -> Read:
    """`array` as `Sketch.integer` or `Sketch.clock` gave it with a size."""
    return Read(array.slot, array.kind, term(index), array.size)


def edge(
    source: int,
    target: int,
    guard: Expression | None = None,
    updates: Sequence[Statement] = (),
    *,
    action: str = "",
    send: int | None = None,
    receive: int | None = None,
    weight: Operand | None = None,
    branches: Sequence[Branch] | None = None,
) -> Edge:
    return Edge(
        source=source,
        branches=tuple(branches) if branches is not None else (Branch(target, tuple(updates)),),
        guard=guard,
        guard_frame_size=4,
        channel=send if send is not None else receive,
        sends=send is not None,
        action=action or f"{source}->{target}",
        weight=None if weight is None else term(weight),
    )


class Sketch:
    """Collects variables, channels, functions and processes; slots are given in the order of declaration."""

    def __init__(self, name: str = "sketch") -> None:
        self.name = name
        self.variables: list[Variable] = []
        self.channels: list[Channel] = []
        self.functions: list[Function] = []
        self.processes: list[Process] = []
        self.integer_count = 0
        self.real_count = 0

    def clock(self, name: str, initial: Operand = 0, size: int = 1) -> Read:
        return self._real(name, Kind.CLOCK, initial, size)

    def real(self, name: str, initial: Operand = 0, size: int = 1) -> Read:
        return self._real(name, Kind.DOUBLE, initial, size)

    def _real(self, name: str, kind: Kind, initial: Operand, size: int) -> Read:
        slot, self.real_count = self.real_count, self.real_count + size
        self.variables.append(
            Variable(name, kind, slot, size, (size,) if size > 1 else (), initial=(Fraction(initial),) * size)
        )
        return Read(slot, kind, None, size)

    def integer(self, name: str, low: int = -100, high: int = 100, initial: int = 0, size: int = 1) -> Read:
        slot, self.integer_count = self.integer_count, self.integer_count + size
        dimensions = (size,) if size > 1 else ()
        self.variables.append(Variable(name, Kind.INT, slot, size, dimensions, low, high, (initial,) * size))
        return Read(slot, Kind.INT, None, size)

    def channel(self, name: str, *, broadcast: bool = False, urgent: bool = False) -> int:
        self.channels.append(Channel(name, broadcast, urgent))
        return len(self.channels) - 1

    def function(self, function: Function) -> int:
        self.functions.append(function)
        return len(self.functions) - 1

    def process(self, name: str, locations: Sequence[Location], edges: Sequence[Edge], initial: int = 0) -> int:
        self.processes.append(Process(name, tuple(locations), initial, tuple(edges)))
        return len(self.processes) - 1

    def network(self, largest_constant: int = 10) -> Network:
        return Network(
            self.name,
            tuple(self.variables),
            tuple(self.channels),
            tuple(self.functions),
            tuple(self.processes),
            self.integer_count,
            self.real_count,
            largest_constant=largest_constant,
        )
