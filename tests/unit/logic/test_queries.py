import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.examples.models.protocols import fischer
from bbfalsify.logic.reach_query import parse_query, simplified
from bbfalsify.modelling.language.folding import FALSE, TRUE
from bbfalsify.modelling.network.expressions import AtLocation, Binary, Kind, Read, Unary

NETWORK = fischer(3)
A, B = AtLocation(0, 1), AtLocation(1, 1)


def test_what_is_looked_for_is_the_condition_or_its_opposite():
    assert parse_query("E<> P(2).cs", NETWORK).alive == AtLocation(1, 3)
    assert parse_query(" A[] P(2).cs ", NETWORK).alive == Unary("!", AtLocation(1, 3), Kind.BOOL)
    assert parse_query("A [ ] id <= 2", NETWORK).alive == Binary(">", Read(0, Kind.INT), _two(), Kind.BOOL)
    assert parse_query("A[] P(2).cs", NETWORK).holds_word == "violated"
    assert parse_query("E<> P(2).cs", NETWORK).holds_word == "reached"


def _two():
    return parse_query("E<> id == 2", NETWORK).alive.right


def test_bound_names_choose_processes():
    query = parse_query("E<> exists (i : id_t) i > 2 && P(i).cs", NETWORK)
    assert query.alive == AtLocation(2, 3)


def test_deadlock_splits_a_query_in_two():
    query = parse_query("A[] not deadlock", NETWORK)
    assert (query.alive, query.dead) == (FALSE, TRUE)
    query = parse_query("E<> P(1).x > 3 && deadlock", NETWORK)
    assert query.alive == FALSE
    assert query.dead == parse_query("E<> P(1).x > 3", NETWORK).alive
    query = parse_query("A[] deadlock imply P(1).cs", NETWORK)
    assert (query.alive, query.dead) == (FALSE, Unary("!", AtLocation(0, 3), Kind.BOOL))
    assert parse_query("E<> P(1).cs", NETWORK).dead is None


def test_negations_go_to_the_leaves():
    both = Binary("&&", A, B, Kind.BOOL)
    not_a, not_b = Unary("!", A, Kind.BOOL), Unary("!", B, Kind.BOOL)
    assert simplified(both, negated=True) == Binary("||", not_a, not_b, Kind.BOOL)
    assert simplified(Binary("imply", A, B, Kind.BOOL), negated=True) == Binary("&&", A, not_b, Kind.BOOL)
    assert simplified(Unary("!", Unary("!", A, Kind.BOOL), Kind.BOOL)) == A
    assert simplified(Binary("&&", A, FALSE, Kind.BOOL)) == FALSE
    assert simplified(Binary("||", A, FALSE, Kind.BOOL)) == A


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("P(1).cs", ["must start with E<> or A[]", "Allowed: E<>"]),
        ("A<> P(1).cs", ["A<>", "whole runs"]),
        ("P(1).req --> P(1).cs", ["-->", "whole runs"]),
        ("E[] P(1).cs", ["E[]", "whole runs"]),
        ("Pr[<=10] (<> P(1).cs)", ["probabilities", "'bbfalsify estimate'"]),
        ("simulate [<=10] { id }", ["simulations", "'bbfalsify estimate'"]),
        ("E<>", ["condition is missing"]),
        ("E<> P(9).cs", ["unknown process 'P(9)'", "P(1), P(2), P(3)"]),
        ("E<> P(1).sc", ["unknown location or variable of P(1) 'sc'", "Did you mean 'cs'?"]),
        ("E<> P(1).x + 1", ["a condition is needed"]),
        ("A[] sum (i : id_t) P(i).cs <= 1", ["'<=' needs two numbers"]),
        ("A[] sum (i : id_t) (P(i).cs ? 1 : 0)", ["Quantifiers reach as far to the right"]),
        ("E<> id = 2", ["'=' assigns; '==' compares"]),
        ("E<> random(2) > 1", ["only allowed in updates"]),
    ],
)
def test_what_cannot_be_asked_is_named(text, words):
    with pytest.raises(UserError) as caught:
        parse_query(text, NETWORK, file="queries.q", line=7)
    message = str(caught.value)
    assert message.startswith("queries.q:7: ")
    for word in words:
        assert word in message
