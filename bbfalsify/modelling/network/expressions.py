"""Resolved expressions and statements: the input of the kernel and of the reference interpreter.

Every name is resolved: a variable is a slot of the state, a bound name (function argument or local, quantifier) is a
slot of a small frame.  Types are decided; `Binary("/", …)` on two integers is integer division.

Values.  Integers and Booleans are 64-bit integers (false 0, true 1); doubles and clocks are reals.  Integer `/` and `%`
truncate towards zero as in C; dividing by zero, leaving an array's bounds or a bounded integer's range is a run-time
error of the model.  `&&`, `||`, `?:` and `imply` evaluate the right side only where it matters.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

from bbfalsify.core.tree import Node


class Kind(StrEnum):
    INT = "int"
    BOOL = "bool"
    DOUBLE = "double"
    CLOCK = "clock"

    is_real: bool

    def __init__(self, name: str) -> None:
        self.is_real = name in ("double", "clock")


# --- expressions -----------------------------------------------------------------------------------------------------
# `kind` of an expression is INT, BOOL or DOUBLE (reading a clock gives a DOUBLE).


class Constant(Node):
    value: int | Fraction
    """Exact: a decimal literal such as 0.1 is the fraction 1/10; the kernel rounds it to a float64 once."""
    kind: Kind


class Read(Node):
    """The value of a state variable; with `index`, of element `index` of the array that starts at `slot`."""

    slot: int
    kind: Kind
    """INT or BOOL: `slot` counts in the integer store.  DOUBLE or CLOCK: in the real store."""
    index: Expression | None = None
    size: int = 1
    """Number of elements of the array; an index outside 0…size-1 is a run-time error."""


class Bound(Node):
    """A function argument, local variable or quantified name: slot of the current frame."""

    slot: int
    kind: Kind
    index: Expression | None = None
    """For a local array, as in `Read`."""
    size: int = 1


class Unary(Node):
    operator: str
    """- ! ~"""
    operand: Expression
    kind: Kind


class Binary(Node):
    operator: str
    """+ - * / % & | ^ << >> && || imply == != < <= > >=   (min and max are builtins)"""
    left: Expression
    right: Expression
    kind: Kind


class Conditional(Node):
    condition: Expression
    then: Expression
    otherwise: Expression
    kind: Kind


class Builtin(Node):
    """A mathematical function: see BUILTINS for names and arities."""

    name: str
    arguments: tuple[Expression, ...]
    kind: Kind


class Random(Node):
    """A random draw; only in updates.  random(b): uniform on [0, b); see RANDOM_DRAWS."""

    name: str
    arguments: tuple[Expression, ...]
    kind: Kind = Kind.DOUBLE


class Call(Node):
    """A user function of the network, by index in `Network.functions`."""

    function: int
    arguments: tuple[Expression, ...]
    kind: Kind


class Quantifier(Node):
    """forall, exists or sum over the integers low…high (both included) bound to a frame slot."""

    name: str
    slot: int
    low: int
    high: int
    body: Expression
    kind: Kind


class AtLocation(Node):
    """True while process `process` is in its location `location` (queries and guards of observers)."""

    process: int
    location: int
    kind: Kind = Kind.BOOL


Expression = Constant | Read | Bound | Unary | Binary | Conditional | Builtin | Random | Call | Quantifier | AtLocation

# name: (arity, result kind or None for "that of the arguments")
BUILTINS: dict[str, tuple[int, Kind | None]] = {
    "abs": (1, None),
    "min": (2, None),
    "max": (2, None),
    "sqrt": (1, Kind.DOUBLE),
    "exp": (1, Kind.DOUBLE),
    "ln": (1, Kind.DOUBLE),
    "log": (1, Kind.DOUBLE),  # base 10, as in UPPAAL; ln is the natural one
    "sin": (1, Kind.DOUBLE),
    "cos": (1, Kind.DOUBLE),
    "tan": (1, Kind.DOUBLE),
    "asin": (1, Kind.DOUBLE),
    "acos": (1, Kind.DOUBLE),
    "atan": (1, Kind.DOUBLE),
    "atan2": (2, Kind.DOUBLE),
    "pow": (2, Kind.DOUBLE),
    "floor": (1, Kind.DOUBLE),
    "ceil": (1, Kind.DOUBLE),
    "fint": (1, Kind.INT),  # a real truncated to an integer
    "fmod": (2, Kind.DOUBLE),
}

RANDOM_DRAWS: dict[str, int] = {
    "random": 1,  # uniform on [0, b)
    "random_uniform": 2,  # uniform on [a, b)
    "random_normal": 2,  # mean, standard deviation
    "random_exponential": 1,  # rate
}


# --- statements ------------------------------------------------------------------------------------------------------


class Assign(Node):
    target: Read | Bound
    value: Expression
    low: int | None = None
    """For integer targets: the declared range; a value outside is a run-time error."""
    high: int | None = None
    line: int | None = None
    name: str = ""
    """In messages, instead of the target's: `assert` assigns 0 or 1 to a slot of the range [1, 1]."""


class If(Node):
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


class While(Node):
    """A loop; `for` becomes an assignment and a while whose body ends with the step."""

    condition: Expression
    body: tuple[Statement, ...]


class Return(Node):
    value: Expression | None = None


class Evaluate(Node):
    """A call of a function for its side effects."""

    expression: Expression


Statement = Assign | If | While | Return | Evaluate


class Function(Node):
    """Arguments occupy the first frame slots; all slots start at 0 on entry (arguments excepted)."""

    name: str
    parameters: tuple[Kind, ...]
    result: Kind | None
    frame_size: int
    body: tuple[Statement, ...]
    line: int | None = None
