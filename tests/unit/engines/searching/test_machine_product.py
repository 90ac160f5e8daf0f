"""Learned machines searched for words that violate a requirement."""

import numpy as np
import pytest

import bbfalsify
from bbfalsify import UserError, check
from bbfalsify.automata import parse_dot
from bbfalsify.engines.searching import search
from bbfalsify.engines.searching.machine_product import MachineProduct
from bbfalsify.logic.ltl import find_violation, first_bad_prefix, ltl
from tests.support.machines import random_machine

DOOR = """
digraph door {
__start0 -> closed;
closed -> open [label="push/opens"];
closed -> locked [label="key/locks"];
open -> closed [label="push/closes"];
open -> open [label="key/nothing"];
locked -> locked [label="push/nothing"];
locked -> closed [label="key/unlocks"];
}
"""


def test_breadth_first_finds_a_shortest_violating_word():
    machine = parse_dot(DOOR)
    found = search(MachineProduct(machine, ltl("G !(out == unlocks)")))
    assert (found.verdict, found.labels) == ("reached", ("key/locks", "key/unlocks"))
    assert [step.state for step in found.trace] == ["closed", "locked", "closed"]
    assert search(MachineProduct(machine, ltl("G(out == locks -> X !(out == opens))"))).verdict == "unreachable"


@pytest.mark.parametrize("seed", range(15))
def test_every_method_agrees_with_the_model_checker(seed):
    machine = random_machine(np.random.default_rng(seed), states=12, inputs=3, outputs=3)
    a, b = machine.outputs[:2]
    requirement = ltl(f"G(out == {a} -> X !(out == {b}))")
    wanted = find_violation(machine, requirement)
    for method in ("bfs", "dfs", "rdfs", "drs", "highway"):
        found = search(MachineProduct(machine, requirement), method=method, width=100, seed=seed)
        assert found.verdict == ("undecided" if method == "highway" else "unreachable") if wanted is None else "reached"
        if wanted is not None:
            word = [label.split("/")[0] for label in found.labels]
            assert first_bad_prefix(requirement, word, machine.run(word), inputs=machine.inputs) == len(word)
            assert method != "bfs" or len(word) == len(wanted.prefix)


def test_a_learned_machine_is_searched_by_every_method(tmp_path):
    learned = check(parse_dot(DOOR), max_states=4, seed=1, out=tmp_path)
    for method in ("bfs", "dfs", "rdfs", "drs", "highway", "random"):
        found = bbfalsify.search(learned.machine, "G !(out == unlocks)", method=method, seed=1)
        assert found.verdict == "reached" and found.labels[-1] == "key/unlocks"
    assert bbfalsify.search(learned.model, "G !(out == unlocks)").length == 2


def test_unknown_symbols_are_named():
    with pytest.raises(UserError, match="opns"):
        MachineProduct(parse_dot(DOOR), ltl("G !(out == opns)"))


def test_without_a_requirement_a_state_is_looked_for():
    product = MachineProduct(parse_dot(DOOR))
    locked = product.machine.states.index("locked")
    assert search(product, lambda state: state[0] == locked).labels == ("key/locks",)
