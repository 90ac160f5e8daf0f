"""Signal temporal logic formulas as frozen trees that can be printed, compared and pickled.

A *term* is a number over time (`Signal`, `Number`, `Arithmetic`, `Function`), a *condition* is true or false over
time (`Truth`, `Compare`, `Not`, `Connective`, `Window`, `Reach`, `Step`).  A `Formula` is a condition together with
its text and derived facts: which signals it reads and how far it looks ahead.

    parse_stl("always[0:20](T <= 75)", signals=["T"]).duration(20.0)      # 20.0

`str(formula)` is a canonical text that parses to an equal formula.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property

from bbfalsify.core.tree import Node as Node
from bbfalsify.core.tree import children as children
from bbfalsify.core.tree import nodes_of as nodes_of

FUNCTIONS = ("abs", "sqrt", "exp")
COMPARISONS = ("<=", "<", ">=", ">", "==", "!=")
CONNECTIVES = ("and", "or", "implies", "iff", "xor")
PAST_WINDOWS = ("historically", "once")
_PLAIN = re.compile(r"[^\W\d]\w*(\[\d+(,\d+)*\])*(\.[^\W\d]\w*(\[\d+(,\d+)*\])*)*")
"""Names of signals that need no quotes (SIGNAL in stl.lark)."""


class Signal(Node):
    name: str


class Number(Node):
    value: float


class Arithmetic(Node):
    operator: str
    """+, -, *, / or pow."""
    left: Term
    right: Term


class Function(Node):
    name: str
    """One of `FUNCTIONS`."""
    argument: Term


Term = Signal | Number | Arithmetic | Function


class Truth(Node):
    value: bool


class Compare(Node):
    operator: str
    """One of `COMPARISONS`."""
    left: Term
    right: Term


class Not(Node):
    body: Condition


class Connective(Node):
    operator: str
    """One of `CONNECTIVES`."""
    left: Condition
    right: Condition


class Window(Node):
    """always, eventually (t + lower to t + upper), historically, once (t - upper to t - lower); ends included."""

    operator: str
    lower: float
    upper: float
    body: Condition


class Reach(Node):
    """`left until[lower:upper] right`, or `since` for the past.

    until: at some t' in [t + lower, t + upper] right holds, and left holds on [t, t') — not necessarily at t' itself.
    since: at some t' in [t - upper, t - lower] right holds, and left holds on (t', t].
    """

    operator: str
    lower: float
    upper: float
    left: Condition
    right: Condition


class Step(Node):
    """next, prev, rise, fall, and the strong s_next and s_prev: operators on neighbouring samples in discrete time."""

    operator: str
    body: Condition


Condition = Truth | Compare | Not | Connective | Window | Reach | Step


def lookahead(node: Condition | Term, period: float = 0.0) -> float:
    """Time after t on which a condition at t can depend; an unbounded operator counts its lower bound."""
    parts = [lookahead(child, period) for child in children(node)]
    inner = max(parts, default=0.0)
    if isinstance(node, Window | Reach):
        if node.operator in ("always", "eventually", "until"):
            return inner + (node.lower if math.isinf(node.upper) else node.upper)
        # Left of since is needed up to t itself, right of it and the body of a past window only up to t - lower.
        return max([0.0, parts[-1] - node.lower, *parts[:-1]])
    if isinstance(node, Step):
        ahead = {"next": 1, "s_next": 1, "prev": -1, "s_prev": -1}.get(node.operator, 0)
        return max(0.0, inner + ahead * period)
    return inner


def can_be_certain(node: Condition, value: bool) -> bool:
    """Tell whether a finite trace can decide the condition to be `value`; False only where certainly none can.

    An unbounded eventually can never be seen to fail, an unbounded always never be seen to hold.
    """
    match node:
        case Truth():
            return node.value == value
        case Not():
            return can_be_certain(node.body, not value)
        case Connective("and" | "or" | "implies"):
            left_value = not value if node.operator == "implies" else value
            sides = can_be_certain(node.left, left_value), can_be_certain(node.right, value)
            return all(sides) if value == (node.operator == "and") else any(sides)
        case Window("always" | "eventually"):
            bounded = node.upper < math.inf or value == (node.operator == "eventually")
            return bounded and can_be_certain(node.body, value)
        case Window():
            return can_be_certain(node.body, value)
        case Reach("until") if not value and node.upper == math.inf:
            return can_be_certain(node.left, False) and can_be_certain(node.right, False)
        case Reach():
            return can_be_certain(node.right, value)
    return True


@dataclass(frozen=True)
class Formula:
    root: Condition
    text: str = field(default="", compare=False)
    """As the user wrote it."""

    @cached_property
    def signals(self) -> tuple[str, ...]:
        """The signals read, in order of appearance."""
        return tuple(dict.fromkeys(node.name for node in nodes_of(self.root) if isinstance(node, Signal)))

    @cached_property
    def lookahead(self) -> float:
        return lookahead(self.root)

    @cached_property
    def unbounded(self) -> bool:
        """Some future operator has no upper bound, so that only a violation (or only a witness) can be final."""
        return any(
            isinstance(n, Window | Reach) and n.operator in ("always", "eventually", "until") and math.isinf(n.upper)
            for n in nodes_of(self.root)
        )

    @cached_property
    def falsifiable(self) -> bool:
        """True if a finite trace can violate it."""
        return can_be_certain(self.root, False)

    @cached_property
    def discrete_only(self) -> tuple[str, ...]:
        """The operators used that only make sense between neighbouring samples."""
        return tuple(dict.fromkeys(n.operator for n in nodes_of(self.root) if isinstance(n, Step)))

    def duration(self, horizon: float, period: float = 0.0) -> float:
        """Length of a trace on which everything up to the horizon can be decided."""
        return max(horizon, (horizon if self.unbounded else 0.0) + lookahead(self.root, period))

    def __str__(self) -> str:
        return render(self.root)

    def __getstate__(self) -> dict:
        return {"root": self.root, "text": self.text}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)


def render_number(value: float) -> str:
    if math.isinf(value):
        return "inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def render_interval(lower: float, upper: float) -> str:
    return "" if lower == 0 and math.isinf(upper) else f"[{render_number(lower)}:{render_number(upper)}]"


def render(node: Condition | Term) -> str:
    """Canonical text, with parentheses wherever precedence could be unclear."""
    match node:
        case Signal(name):
            return name if _PLAIN.fullmatch(name) else f'"{name}"' if "'" in name else f"'{name}'"
        case Number(value):
            return render_number(value)
        case Truth(value):
            return "true" if value else "false"
        case Function(name, argument):
            return f"{name}({render(argument)})"
        case Arithmetic("pow", left, right):
            return f"pow({render(left)}, {render(right)})"
        case Arithmetic(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"
        case Compare(operator, left, right):
            return f"{render(left)} {operator} {render(right)}"
        case Not(body):
            return f"not({render(body)})"
        case Connective(operator, left, right):
            return f"({render(left)}) {operator} ({render(right)})"
        case Window(operator, lower, upper, body):
            return f"{operator}{render_interval(lower, upper)}({render(body)})"
        case Reach(operator, lower, upper, left, right):
            return f"({render(left)}) {operator}{render_interval(lower, upper)} ({render(right)})"
        case Step(operator, body):
            return f"{operator}({render(body)})"
    raise TypeError(f"not part of a formula: {node!r}")


def _operand(term: Term) -> str:
    text = render(term)
    return f"({text})" if isinstance(term, Arithmetic) and term.operator != "pow" else text
