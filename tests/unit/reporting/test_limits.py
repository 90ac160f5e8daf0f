"""Thresholds of formulas, as they are drawn into signals."""

from bbfalsify.logic import parse_stl
from bbfalsify.reporting.html.limits import limits_of


def drawn(text, end=30.0):
    found = limits_of(parse_stl(text).root, end)
    return {name: [(x["text"], x["from"], x["to"]) for x in limits] for name, limits in found.items()}


def test_a_limit_counts_within_its_window():
    assert drawn("always[0:20](T <= 75)") == {"T": [("≤ 75", 0.0, 20.0)]}


def test_windows_inside_windows_move_along_and_end_with_the_trace():
    found = drawn("always[0:20]((T < 16) implies (eventually[2:24](T >= 18)))")
    assert found == {"T": [("< 16", 0.0, 20.0), ("≥ 18", 2.0, 30.0)]}


def test_the_signal_may_stand_on_the_right():
    assert drawn("always[5:10](75 >= T)") == {"T": [("≤ 75", 5.0, 10.0)]}


def test_comparisons_of_two_signals_have_no_place():
    assert drawn("always[0:5](a <= b)") == {}
