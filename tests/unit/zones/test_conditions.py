"""Splitting conditions into data and bounds on clocks."""

import pytest

from bbfalsify.modelling import parse_condition
from bbfalsify.modelling.formats.python_builder import NetworkBuilder
from bbfalsify.zones.zone_conditions import Conditions, NoZones


@pytest.fixture(scope="module")
def network():
    b = NetworkBuilder("m")
    b.declare("clock x, y, z[3]; int[0,5] n; int D[2] = {3, 4}; bool b; bool late(int k) { return x > k; }")
    p = b.automaton("P")
    p.location("A")
    p.edge("A", "A", guard="late(2)", update="n = 1, D[0] = 2")
    b.instance("P")
    return b.build()


def cases(network, text, *, negated=False):
    return Conditions(network.functions).cases(parse_condition(text, network, {}), negated=negated)


def in_words(network, atom):
    names = {
        slot: name for v in network.variables if v.kind.is_real for slot, name in enumerate(v.element_names(), v.slot)
    }
    left, right = (None if clock is None else names[clock.slot] for clock in (atom.left, atom.right))
    return f"{left or 0} - {right or 0} {'<' if atom.strict else '<='}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x <= 3", [["x - 0 <="]]),
        ("3 < x", [["0 - x <"]]),
        ("x == 2", [["x - 0 <=", "0 - x <="]]),
        ("x != 2", [["x - 0 <"], ["0 - x <"]]),
        ("x - y >= 2", [["y - x <="]]),
        ("n > 1 && (x < 2 || y < 3)", [["x - 0 <"], ["y - 0 <"]]),
        ("late(n)", [["0 - x <"]]),
        ("forall (i : int[0,2]) z[i] <= n", [["z[0] - 0 <=", "z[1] - 0 <=", "z[2] - 0 <="]]),
        ("n > 1", [[]]),
        ("b ? x < 1 : y < 1", [["x - 0 <"], ["y - 0 <"]]),
    ],
)
def test_a_condition_is_a_union_of_cases(network, text, expected):
    assert [[in_words(network, atom) for atom in case.atoms] for case in cases(network, text)] == expected


def test_a_negation_turns_bounds_around(network):
    found = cases(network, "x <= 3 && n > 1", negated=True)
    assert [[in_words(network, a) for a in case.atoms] for case in found] == [["0 - x <"], []]
    assert [len(case.data) for case in found] == [0, 1]


@pytest.mark.parametrize(
    ("text", "why"), [("x + y < 3", "difference"), ("x * n < 3", "compared, added"), ("2 * x < 3", "difference")]
)
def test_other_uses_of_clocks_have_no_zones(network, text, why):
    with pytest.raises(NoZones, match=why):
        cases(network, text)


def test_cases_that_are_empty_or_inside_others_do_not_count(network):
    """2^12 products of `x <= 1 || x >= k && n != k`, of which two are not empty."""
    parts = [f"(x <= 1 || (x >= {k} && n != {k}))" for k in range(2, 14)]
    found = cases(network, " && ".join(parts))
    assert len(found) <= 8, "a few more are left as they are"
    assert {"x - 0 <="} in [{in_words(network, atom) for atom in case.atoms} for case in found]
    with pytest.raises(NoZones, match="more than 256"):
        cases(network, " && ".join(f"(x <= {k} || y <= {k} && n != {k})" for k in range(13)))


def test_cases_of_different_locations_are_empty(network):
    here, there = "P.A", "!P.A"
    text = " && ".join(f"(({here} && x <= {k}) || ({there} && y <= {k}))" for k in range(8))
    assert 2 <= len(cases(network, text)) <= 8
