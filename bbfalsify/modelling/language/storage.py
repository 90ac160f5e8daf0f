"""Lay out a declared type: one symbol per single field, one initial value per slot.

    leaves = initial_nodes(resolver, type_, node, "s")       {("f",): [node, node, …], …}
    symbol = laid_out("s", type_, lambda path, name, leaf_type: …)

Variables, constants, local variables and parameters all use it, so that structs work alike for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.resolve_wholes import WholeResolver
from bbfalsify.modelling.language.typed_symbols import StructSymbol, Symbol, Type
from bbfalsify.modelling.network.expressions import Kind

Path = tuple[str, ...]
Initial = tree.Expression | tree.ArrayInitialiser | tree.FieldInitialiser | None


def laid_out(name: str, type_: Type, make: Callable[[Path, str, Type], Symbol], path: Path = ()) -> Symbol:
    """Make the symbol of a variable; `make` is called for each part that is no struct."""
    if not type_.fields:
        return make(path, name, type_)
    fields = {
        key: laid_out(f"{name}.{key}", field.in_array(type_.dimensions, type_.origins), make, (*path, key))
        for key, field in type_.fields
    }
    return StructSymbol(name, type_, fields)


def initial_nodes(resolver: WholeResolver, type_: Type, node: Initial, name: str) -> dict[Path, list] | None:
    """The expression for each slot of each single field (None: default); None after reporting a problem."""
    if isinstance(node, tree.FieldInitialiser):
        resolver.fail(f"'{name}' is not a struct; it has no field '{node.name}'.", node.line)
        return None
    if type_.dimensions:
        return _of_array(resolver, type_, node, name)
    if type_.fields:
        return _of_struct(resolver, type_, node, name)
    if isinstance(node, tree.ArrayInitialiser):
        resolver.fail(f"'{name}' is not an array.", node.line)
        return None
    return {(): [node]}


def _whole(
    resolver: WholeResolver, type_: Type, node: tree.Expression | tree.ArrayInitialiser | tree.FieldInitialiser
) -> Type | None:
    """The type of a struct or array that is given by name and fits; None if the node is anything else."""
    if isinstance(node, tree.ArrayInitialiser | tree.FieldInitialiser):
        return None
    given = resolver.whole_type(node)
    return given if given is not None and given.shape == type_.shape else None


def _of_array(resolver: WholeResolver, type_: Type, node: Initial, name: str) -> dict[Path, list] | None:
    count, element = type_.dimensions[0], replace(type_, dimensions=type_.dimensions[1:], origins=type_.origins[1:])
    if node is None:
        once = initial_nodes(resolver, element, None, name)
        return None if once is None else {path: nodes * count for path, nodes in once.items()}
    source = _whole(resolver, type_, node)
    if source is not None and not isinstance(node, tree.ArrayInitialiser | tree.FieldInitialiser):
        numbers = (tree.Number(source.origins[0] + i, False, node.line) for i in range(count))
        node = tree.ArrayInitialiser(tuple(tree.Index(node, number, node.line) for number in numbers), node.line)
    if not isinstance(node, tree.ArrayInitialiser):
        resolver.fail(f"the array '{name}' needs a list of values in braces.", node.line)
        return None
    if len(node.elements) != count:
        resolver.fail(f"'{name}' has {count} elements, found {len(node.elements)} values.", node.line)
        return None
    parts = [initial_nodes(resolver, element, child, name) for child in node.elements]
    leaves: dict[Path, list] = {}
    for part in parts:
        if part is None:
            return None
        for path, nodes in part.items():
            leaves.setdefault(path, []).extend(nodes)
    return leaves


def _of_struct(resolver: WholeResolver, type_: Type, node: Initial, name: str) -> dict[Path, list] | None:
    names = [key for key, _ in type_.fields]
    given: dict[str, Initial] = {}
    if node is None or isinstance(node, tree.FieldInitialiser):
        pass
    elif not isinstance(node, tree.ArrayInitialiser) and _whole(resolver, type_, node) is not None:
        given = {key: tree.Member(node, key, node.line) for key in names}
    else:
        if not isinstance(node, tree.ArrayInitialiser) or len(node.elements) > len(names):
            resolver.fail(f"the struct '{name}' needs {len(names)} values in braces: {', '.join(names)}.", node.line)
            return None
        position = 0  # fields after a named one follow it, and those without a value get the default
        for child in node.elements:
            if isinstance(child, tree.FieldInitialiser):
                if child.name not in names:
                    resolver.unknown(f"field of '{name}'", child.name, names, child.line)
                    return None
                position, child = names.index(child.name), child.value
            if position >= len(names) or names[position] in given:
                resolver.fail(f"the struct '{name}' needs {len(names)} values: {', '.join(names)}.", node.line)
                return None
            given[names[position]] = child
            position += 1
    leaves: dict[Path, list] = {}
    for key, field in type_.fields:
        part = initial_nodes(resolver, field, given.get(key), f"{name}.{key}")
        if part is None:
            return None
        leaves.update({(key, *path): nodes for path, nodes in part.items()})
    return leaves


def element_suffix(position: int, type_: Type) -> str:
    """[1][2] for position 5 of a 2×3 array."""
    indices: list[int] = []
    for dimension, origin in zip(reversed(type_.dimensions), reversed(type_.origins), strict=True):
        position, index = divmod(position, dimension)
        indices.insert(0, index + origin)
    return "".join(f"[{i}]" for i in indices)


def kinds_in(type_: Type) -> Iterator[Kind | None]:
    """The kinds of all single values."""
    if not type_.fields:
        yield type_.kind
    for _, field in type_.fields:
        yield from kinds_in(field)
