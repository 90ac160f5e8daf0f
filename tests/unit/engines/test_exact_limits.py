"""Exact largest and smallest values by zones, on models whose values are known."""

import pytest

from bbfalsify import load_network, verify
from bbfalsify.core.errors import UserError

ROUNDS = """clock t, y; int[0,4] n = 0;
process P() { state A { y < 5 }, B; init A;
trans A -> A { guard y >= 3 && n < 3; assign y = 0, n = n + 1; }, A -> B { guard n == 3; };}
system P;"""
"""Three rounds of 3 to 5 time units, the last stay less than 5; then anything."""
LOOP = """clock t, y;
process P() { state A { y <= 5 }, B { y <= 5}; init A;
trans A -> A { guard y >= 3; assign y = 0; }, A -> B { guard y == 2; }, B -> A { guard y >= 4; assign y = 0;};}
system P;"""
"""Every stay is bounded, and time goes on for ever."""
STOPWATCH = """clock x, y; int[0,9] n = 0;
process P() { state A { x' == 0 && y <= 4 }, B { y <= 6 }, C; init A;
trans A -> B { guard y >= 3; assign n = 7; }, B -> C { };}
system P;"""
COPIES = """clock x, y, z;
process P() { state A { y <= 4 }, B { x <= 9 }; init A;
trans A -> B { guard y >= 1; assign x = y + 2, y = 0; }, B -> A { assign y = 0; };}
system P;"""


def asked(tmp_path, text, query, **settings):
    file = tmp_path / "m.xta"
    file.write_text(text)
    return verify(load_network(file), query, seed=1, **settings)


def limits(tmp_path, text, query, **settings):
    result = asked(tmp_path, text, query, **settings)
    assert result.verdict == "exact", result.in_words()
    return [
        "unbounded" if limit.unbounded else None if limit.value is None else (float(limit.value), limit.reached)
        for limit in result.limits
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sup{P.A}: t", [(20, False)]),
        ("sup{n == 2}: t, n, t + n", [(15, False), (2, True), (17, False)]),
        ("inf{P.B}: t, -n", [(9, True), (-3, True)]),
        ("inf{n == 1 && y > 1}: t", [(4, False)]),
        ("bounds{P.A}: y, n", [(0, True), (5, False), (0, True), (3, True)]),
        ("sup{n == 2}: t - y", [(10, False)]),
        ("sup{P.A && t <= 7}: t", [(7, True)]),
        ("sup: t, y, P.B", ["unbounded", "unbounded", (1, True)]),
        ("sup{P.A && n > 3}: t", [None]),
    ],
)
def test_values_of_rounds(tmp_path, query, expected):
    assert limits(tmp_path, ROUNDS, query) == expected


def test_a_value_that_is_approached_is_shown_from_near(tmp_path):
    [limit] = asked(tmp_path, ROUNDS, "sup{P.A}: t").limits
    assert 20 - 1 / 64 <= limit.trace.time < 20 and len(limit.trace.steps) == 3


def test_a_clock_that_grows_by_repetition_has_no_bound(tmp_path):
    assert limits(tmp_path, LOOP, "sup: t") == ["unbounded"]
    assert limits(tmp_path, LOOP, "bounds: y") == [(0, True), (5, True)]
    assert limits(tmp_path, LOOP, "inf{P.B && t > 20}: t") == [(20, False)]


def test_zones_that_are_too_large_give_no_value(tmp_path):
    """With a stopwatch only what a run shows counts."""
    assert limits(tmp_path, STOPWATCH, "sup: n") == [(7, True)]
    assert limits(tmp_path, STOPWATCH, "sup{P.B}: x") == [(3, True)]
    assert limits(tmp_path, STOPWATCH, "sup{P.C}: x") == ["unbounded"]
    result = asked(tmp_path, STOPWATCH.replace("C; init", "C { x <= 9 }; init"), "sup{P.C}: y - x")
    assert result.verdict in ("exact", "undecided") and all(e.value is None or e.value <= 4 for e in result.limits)


def test_values_of_clocks_that_are_copied(tmp_path):
    assert limits(tmp_path, COPIES, "bounds{P.B}: x") == [(3, True), (9, True)]
    assert limits(tmp_path, COPIES, "sup: y") == [(6, True)]


def test_what_is_not_known_is_at_least_what_a_run_shows(tmp_path):
    text = LOOP.replace("clock t, y;", "clock t, y, z;").replace("assign y = 0;", "assign y = 0, z = 0;")
    result = asked(tmp_path, text, "sup: t - y", timeout=0.3)
    [limit] = result.limits
    assert result.verdict == "undecided" and "the time is up" in limit.why and limit.value > 100
    assert ">= " in result.in_words() and limit.trace is not None


def test_expressions_without_zones_are_refused_by_name(tmp_path):
    with pytest.raises(UserError, match="only one clock or the difference of two"):
        asked(tmp_path, ROUNDS, "sup: t + y")
    with pytest.raises(UserError, match="fastest trace is for"):
        asked(tmp_path, ROUNDS, "sup: t", trace="fastest")
