"""Search syntax trees."""

from __future__ import annotations

from collections.abc import Iterable

from bbfalsify.modelling.language.syntax_tree import Assignment, Name, Prime, Quantified


def _parts(node: object) -> Iterable[object]:
    if isinstance(node, tuple):
        return node
    return vars(node).values() if hasattr(node, "__dataclass_fields__") else ()


def contains_prime(node: object) -> bool:
    """Tell whether the expression contains a rate x'."""
    return isinstance(node, Prime) or any(contains_prime(part) for part in _parts(node))


def contains_assignment(node: object) -> bool:
    """Tell whether the expression contains an assignment outside quantifiers."""
    if isinstance(node, Quantified):
        return False
    return isinstance(node, Assignment) or any(contains_assignment(part) for part in _parts(node))


def names_in(node: object) -> list[str]:
    """All names that are read or written."""
    return [node.name] if isinstance(node, Name) else [name for part in _parts(node) for name in names_in(part)]


def depth(node: object) -> int:
    """The depth of a tree; without recursion, so that it works for any depth."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [part for item in level for part in _parts(item)]
    return deepest
