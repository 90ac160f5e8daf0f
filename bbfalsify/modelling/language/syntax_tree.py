"""The nodes of the syntax tree, before names are resolved.

`line` counts from 1 within the parsed text; a `Place` turns it into the line of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import dataclass_transform


@dataclass_transform(eq_default=False)
class Syntax:
    """A node; never changed (but not `frozen`, which would double the time to import them all)."""

    def __init_subclass__(cls) -> None:
        dataclass(eq=False)(cls)


# --- expressions -----------------------------------------------------------------------------------------------------


class Number(Syntax):
    value: int | Fraction
    is_decimal: bool
    line: int


class Truth(Syntax):
    value: bool
    line: int


class Name(Syntax):
    name: str
    line: int


class Index(Syntax):
    base: Expression
    index: Expression
    line: int


class Member(Syntax):
    """`P.loc` or `P.x`."""

    base: Expression
    name: str
    line: int


class Prime(Syntax):
    """`x'`, the rate of a clock."""

    base: Expression
    line: int


class Invocation(Syntax):
    name: str
    arguments: tuple[Expression, ...]
    line: int
    process: Expression | None = None
    """The process whose function is called: `P.f(1)`, in queries."""


class Unary(Syntax):
    operator: str
    operand: Expression
    line: int


class Binary(Syntax):
    operator: str
    left: Expression
    right: Expression
    line: int


class Conditional(Syntax):
    condition: Expression
    then: Expression
    otherwise: Expression
    line: int


class Quantified(Syntax):
    name: str
    """forall, exists or sum"""
    variable: Selection
    body: Expression
    line: int


class Assignment(Syntax):
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


class TypeName(Syntax):
    """int, bool, double, clock, void or the name of a typedef; with bounds, int[low, high]; scalar[high]; struct."""

    name: str
    line: int
    low: Expression | None = None
    high: Expression | None = None
    fields: tuple[Declaration, ...] = ()


class Selection(Syntax):
    """`i : int[0,3]` in select, quantifiers and iterations."""

    name: str
    type: TypeName
    line: int


class ArrayInitialiser(Syntax):
    elements: tuple[Expression | ArrayInitialiser | FieldInitialiser, ...]
    line: int


class FieldInitialiser(Syntax):
    """`a: 1` among the values of a struct."""

    name: str
    value: Expression | ArrayInitialiser
    line: int


Dimension = Expression | TypeName


class Declarator(Syntax):
    name: str
    dimensions: tuple[Dimension, ...]
    initial: Expression | ArrayInitialiser | None
    line: int


class VariableDeclaration(Syntax):
    type: TypeName
    constant: bool
    declarators: tuple[Declarator, ...]
    line: int


class ChannelType(Syntax):
    broadcast: bool
    urgent: bool
    line: int


class ChannelDeclaration(Syntax):
    type: ChannelType
    declarators: tuple[Declarator, ...]
    line: int


class TypeDefinition(Syntax):
    name: str
    type: TypeName | ChannelType
    dimensions: tuple[Dimension, ...]
    line: int


class FormalParameter(Syntax):
    name: str
    type: TypeName | ChannelType
    reference: bool
    dimensions: tuple[Dimension, ...]
    line: int
    constant: bool = False


class FunctionDefinition(Syntax):
    name: str
    result: TypeName
    parameters: tuple[FormalParameter, ...]
    body: Block
    line: int


Declaration = VariableDeclaration | ChannelDeclaration | TypeDefinition | FunctionDefinition


# --- statements ------------------------------------------------------------------------------------------------------


class Evaluation(Syntax):
    expression: Expression
    line: int


class Block(Syntax):
    statements: tuple[Statement, ...]
    line: int


class If(Syntax):
    condition: Expression
    then: Statement
    otherwise: Statement | None
    line: int


class While(Syntax):
    condition: Expression
    body: Statement
    line: int
    body_first: bool = False
    """do … while"""


class For(Syntax):
    start: tuple[Statement, ...]
    condition: Expression | None
    step: tuple[Statement, ...]
    body: Statement
    line: int


class Iteration(Syntax):
    variable: Selection
    body: Statement
    line: int


class Return(Syntax):
    value: Expression | None
    line: int


class Assertion(Syntax):
    condition: Expression
    line: int


Statement = (
    Assignment | Evaluation | Block | If | While | For | Iteration | Return | Assertion | VariableDeclaration
    | TypeDefinition
)  # fmt: skip


# --- edges and systems -----------------------------------------------------------------------------------------------


class Synchronisation(Syntax):
    channel: Expression
    sends: bool | None
    """None: neither ! nor ?, as in CSP."""
    line: int


class Instance(Syntax):
    name: str | None
    template: str
    arguments: tuple[Expression, ...]
    line: int
    parameters: tuple[FormalParameter, ...] = ()
    """The open parameters of a definition such as `Fast(int[0,3] i) = Train(i, 10)`."""
