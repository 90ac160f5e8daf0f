"""Counting what of a profile walks have used."""

from __future__ import annotations

import numpy as np

from bbfalsify.engines.falsification.coverage import Visits, coverage_of, path_of
from bbfalsify.kernel import compile_network, stochastic_walks
from bbfalsify.modelling import parse_network

MODEL = """\
format_version: 1
name: shy
declarations: "broadcast chan done;"
automata:
  User:
    declarations: "clock x; int n = 0;"
    initial: S
    locations:
      S: {invariant: x <= 1}
      T: {invariant: x <= 1}
    edges:
      - {from: S, to: S, action: often, update: "x = 0"}
      - {from: S, to: T, action: never, guard: n >= 5, update: "x = 0"}
      - {from: T, to: S, sync: done!, update: "x = 0"}
      - from: S
        action: choose
        branches:
          - {to: S, weight: 1, update: "x = 0"}
          - {to: S, weight: 0, update: "x = 0, n = 5"}
  Ear:
    initial: L
    locations: {L: }
    edges: [{from: L, to: L, sync: done?}]
"""


def test_counts_names_and_what_was_never_taken():
    model = compile_network(parse_network(MODEL))
    walks = stochastic_walks(model, np.arange(1, 8, dtype=np.uint64), until=10.0, max_steps=1000)
    search, listed = Visits(), Visits()
    search.add(model, walks)
    listed.add_walk(model, walks.walk(0))
    coverage = coverage_of(model, {"search": search, "simulation": Visits(), "counterexamples": listed}).as_json()
    assert coverage["walks"] == {"search": 7, "counterexamples": 1}
    assert coverage["never_taken"] == {
        "locations": ["User.T"],
        "edges": ["User.S -> T (never)", "User.T -> S (done)"],
        "branches": ["User.S -> S (choose) no. 2"],
        "actions": ["never", "done"],
    }
    edges = {e["name"]: e for e in coverage["edges"]}
    assert list(edges) == ["User.S -> S (often)", "User.S -> T (never)", "User.T -> S (done)", "User.S -> S (choose)"]
    assert edges["User.S -> T (never)"]["line"] == 13
    assert sum(e["search"] for e in edges.values()) == walks.steps.sum()
    assert sum(e["counterexamples"] for e in edges.values()) == walks.steps[0]
    [first, second] = coverage["branches"]
    assert first["search"] == edges["User.S -> S (choose)"]["search"] > 0 == second["search"]
    assert {place["name"]: place["search"] for place in coverage["locations"]} == {
        "User.S": walks.steps.sum() + 7,
        "User.T": 0,
        "Ear.L": walks.steps.sum() + 7,
    }


def test_walks_that_did_not_reach_the_end_do_not_count():
    model = compile_network(parse_network(MODEL))
    visits = Visits()
    visits.add(model, stochastic_walks(model, np.array([1], np.uint64), until=10.0, max_steps=2))
    assert visits.walks == 0
    assert not visits.edges.any() and not visits.locations.any()


def test_automata_carry_the_times_of_their_branches_and_walks_their_way():
    model = compile_network(parse_network(MODEL))
    walks = stochastic_walks(model, np.arange(1, 8, dtype=np.uint64), until=10.0, max_steps=1000)
    visits = Visits()
    visits.add(model, walks)
    user, ear = coverage_of(model, {"search": visits}).automata
    assert (user.name, user.initial, user.locations) == ("User", "S", ("S", "T"))
    assert [(e.source, e.target, e.action) for e in user.edges] == [
        ("S", "S", "often"), ("S", "T", "never"), ("T", "S", "done"), ("S", "S", "choose"), ("S", "S", "choose"),
    ]  # fmt: skip
    assert ear.edges == (), "an edge that receives follows the one that sends"
    ways = [path_of(model, walks.walk(i)) for i in range(7)]
    for edge in user.edges:
        assert edge.times == sum(way.count(edge.number) for way in ways)
    named = {edge.number: edge.action for edge in user.edges}
    assert tuple(named[number] for number in ways[0]) == walks.walk(0).actions(model)
