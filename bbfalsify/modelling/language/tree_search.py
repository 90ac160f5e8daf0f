"""Search syntax trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.syntax_tree import Assignment, Prime, Quantified


def _parts(node: object) -> Iterable[object]:
    if isinstance(node, tuple):
        return node
    return vars(node).values() if hasattr(node, "__dataclass_fields__") else ()


def contains_prime(node: object) -> bool:
    """Tell whether the expression contains a rate x'."""
    return isinstance(node, Prime) or any(contains_prime(part) for part in _parts(node))


def contains_step(node: object, also: Callable[[tree.Invocation], bool]) -> bool:
    """Tell whether the expression contains an assignment, or one of these calls, outside quantifiers."""
    if isinstance(node, Quantified):
        return False
    if isinstance(node, Assignment) or (isinstance(node, tree.Invocation) and also(node)):
        return True
    return any(contains_step(part, also) for part in _parts(node))


def calls_in(node: object) -> Iterator[tree.Invocation]:
    if isinstance(node, tree.Invocation):
        yield node
    for part in _parts(node):
        yield from calls_in(part)


def names_process(node: object) -> bool:
    """Tell whether a part of a process with arguments is named, as `P(i).idle`."""
    owner = node.base if isinstance(node, tree.Member) else node.process if isinstance(node, tree.Invocation) else None
    return isinstance(owner, tree.Invocation) or any(names_process(part) for part in _parts(node))


def contains_call(node: object) -> bool:
    return next(calls_in(node), None) is not None


def declared_names(node: object) -> set[str]:
    """The names of all local variables declared inside."""
    names = {name for part in _parts(node) for name in declared_names(part)}
    return names | {node.name} if isinstance(node, tree.Declarator) else names


def assigned_names(node: object) -> set[str]:
    """The names of all variables that are assigned, whole or in part."""
    names = {name for part in _parts(node) for name in assigned_names(part)}
    if isinstance(node, Assignment):
        target = node.target
        while isinstance(target, tree.Index | tree.Member):
            target = target.base
        names |= {target.name} if isinstance(target, tree.Name) else set()
    return names


def written(node: tree.Expression) -> str:
    """A variable as the user wrote it; "…" for anything else."""
    match node:
        case tree.Name(name=name) if not name.startswith("#"):
            return name
        case tree.Index(base=base, index=tree.Number(value=value)):
            return f"{written(base)}[{value}]"
        case tree.Index(base=base, index=index):
            return f"{written(base)}[{written(index)}]"
        case tree.Member(base=base, name=name):
            return f"{written(base)}.{name}"
    return "…"


def depth(node: object) -> int:
    """The depth of a tree; without recursion, so that it works for any depth."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [part for item in level for part in _parts(item)]
    return deepest
