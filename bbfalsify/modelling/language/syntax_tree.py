"""The nodes of the syntax tree, before names are resolved.

Nodes are never changed (they are not `frozen`, which would double the time to import them).  `line` counts from 1
within the parsed text; a `Place` turns it into the line of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

# --- expressions -----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Number:
    value: int | Fraction
    is_decimal: bool
    line: int


@dataclass(eq=False)
class Truth:
    value: bool
    line: int


@dataclass(eq=False)
class Name:
    name: str
    line: int


@dataclass(eq=False)
class Index:
    base: Expression
    index: Expression
    line: int


@dataclass(eq=False)
class Member:
    """`P.loc` or `P.x`."""

    base: Expression
    name: str
    line: int


@dataclass(eq=False)
class Prime:
    """`x'`, the rate of a clock."""

    base: Expression
    line: int


@dataclass(eq=False)
class Invocation:
    name: str
    arguments: tuple[Expression, ...]
    line: int
    process: Expression | None = None
    """The process whose function is called: `P.f(1)`, in queries."""


@dataclass(eq=False)
class Unary:
    operator: str
    operand: Expression
    line: int


@dataclass(eq=False)
class Binary:
    operator: str
    left: Expression
    right: Expression
    line: int


@dataclass(eq=False)
class Conditional:
    condition: Expression
    then: Expression
    otherwise: Expression
    line: int


@dataclass(eq=False)
class Quantified:
    name: str
    """forall, exists or sum"""
    variable: Selection
    body: Expression
    line: int


@dataclass(eq=False)
class Assignment:
    operator: str
    """= or one of += -= *= /= %= &= |= ^= <<= >>=; `n++` is `n += 1`"""
    target: Expression
    value: Expression
    """`a = b = 0` has an assignment as value."""
    line: int
    later: bool = False
    """True for `b++`: its value is the one before the assignment."""


Expression = (
    Number | Truth | Name | Index | Member | Prime | Invocation | Unary | Binary | Conditional | Quantified | Assignment
)


# --- types and declarations ------------------------------------------------------------------------------------------


@dataclass(eq=False)
class TypeName:
    """int, bool, double, clock, void or the name of a typedef; with bounds, int[low, high]; scalar[high]; struct."""

    name: str
    line: int
    low: Expression | None = None
    high: Expression | None = None
    fields: tuple[Declaration, ...] = ()


@dataclass(eq=False)
class Selection:
    """`i : int[0,3]` in select, quantifiers and iterations."""

    name: str
    type: TypeName
    line: int


@dataclass(eq=False)
class ArrayInitialiser:
    elements: tuple[Expression | ArrayInitialiser | FieldInitialiser, ...]
    line: int


@dataclass(eq=False)
class FieldInitialiser:
    """`a: 1` among the values of a struct."""

    name: str
    value: Expression | ArrayInitialiser
    line: int


Dimension = Expression | TypeName


@dataclass(eq=False)
class Declarator:
    name: str
    dimensions: tuple[Dimension, ...]
    initial: Expression | ArrayInitialiser | None
    line: int


@dataclass(eq=False)
class VariableDeclaration:
    type: TypeName
    constant: bool
    declarators: tuple[Declarator, ...]
    line: int


@dataclass(eq=False)
class ChannelType:
    broadcast: bool
    urgent: bool
    line: int


@dataclass(eq=False)
class ChannelDeclaration:
    type: ChannelType
    declarators: tuple[Declarator, ...]
    line: int


@dataclass(eq=False)
class TypeDefinition:
    name: str
    type: TypeName | ChannelType
    dimensions: tuple[Dimension, ...]
    line: int


@dataclass(eq=False)
class FormalParameter:
    name: str
    type: TypeName | ChannelType
    reference: bool
    dimensions: tuple[Dimension, ...]
    line: int
    constant: bool = False


@dataclass(eq=False)
class FunctionDefinition:
    name: str
    result: TypeName
    parameters: tuple[FormalParameter, ...]
    body: Block
    line: int


Declaration = VariableDeclaration | ChannelDeclaration | TypeDefinition | FunctionDefinition


# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Evaluation:
    expression: Expression
    line: int


@dataclass(eq=False)
class Block:
    statements: tuple[Statement, ...]
    line: int


@dataclass(eq=False)
class If:
    condition: Expression
    then: Statement
    otherwise: Statement | None
    line: int


@dataclass(eq=False)
class While:
    condition: Expression
    body: Statement
    line: int
    body_first: bool = False
    """do … while"""


@dataclass(eq=False)
class For:
    start: tuple[Statement, ...]
    condition: Expression | None
    step: tuple[Statement, ...]
    body: Statement
    line: int


@dataclass(eq=False)
class Iteration:
    variable: Selection
    body: Statement
    line: int


@dataclass(eq=False)
class Return:
    value: Expression | None
    line: int


@dataclass(eq=False)
class Assertion:
    condition: Expression
    line: int


Statement = (
    Assignment | Evaluation | Block | If | While | For | Iteration | Return | Assertion | VariableDeclaration
    | TypeDefinition
)  # fmt: skip


# --- edges and systems -----------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Synchronisation:
    channel: Expression
    sends: bool | None
    """None: neither ! nor ?, as in CSP."""
    line: int


@dataclass(eq=False)
class Instance:
    name: str | None
    template: str
    arguments: tuple[Expression, ...]
    line: int
    parameters: tuple[FormalParameter, ...] = ()
    """The open parameters of a definition such as `Fast(int[0,3] i) = Train(i, 10)`."""
