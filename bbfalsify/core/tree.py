"""Trees of frozen nodes: formulas and expressions.

    class Binary(Node):
        operator: str
        left: Expression
        right: Expression

Every subclass of `Node` is a frozen dataclass.  Its children are the nodes in its fields, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

N = TypeVar("N")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Node:
    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


def children(node: N) -> tuple[N, ...]:
    """The nodes directly below this one."""
    found: list[Any] = []
    for value in vars(node).values():
        if isinstance(value, Node):
            found.append(value)
        elif type(value) is tuple:
            found += [part for part in value if isinstance(part, Node)]
    return tuple(found)


def depth(node: Any) -> int:
    """The number of levels; without recursion, so that it works for any depth."""
    deepest, level = 0, [node]
    while level:
        deepest, level = deepest + 1, [child for item in level for child in children(item)]
    return deepest


def nodes_of(node: N) -> Iterator[N]:
    """The node and everything below it, in reading order."""
    yield node
    for child in children(node):
        yield from nodes_of(child)
