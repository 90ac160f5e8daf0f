"""Trees of frozen nodes."""

import dataclasses
import pickle

import pytest

from bbfalsify.core.tree import Node, children, nodes_of


class Leaf(Node):
    name: str


class Pair(Node):
    operator: str
    left: Node
    right: Node | None = None


class Many(Node):
    parts: tuple[Node, ...]
    names: tuple[str, ...] = ()


TREE = Many((Pair("+", Leaf("a"), Leaf("b")), Leaf("c")), ("x",))


def test_nodes_are_compared_printed_pickled_and_never_changed():
    assert Pair("+", Leaf("a")) == Pair("+", Leaf("a")) != Pair("-", Leaf("a"))
    assert repr(Leaf("a")) == "Leaf(name='a')" and hash(TREE) == hash(pickle.loads(pickle.dumps(TREE)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        TREE.names = ()


def test_children_are_the_nodes_in_the_fields_in_their_order():
    assert children(TREE) == TREE.parts and children(TREE.parts[0]) == (Leaf("a"), Leaf("b"))
    assert children(Pair("!", Leaf("a"))) == (Leaf("a"),) and children(Leaf("a")) == ()
    assert [getattr(node, "name", "") for node in nodes_of(TREE)] == ["", "", "a", "b", "c"]
