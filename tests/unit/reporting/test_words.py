from hypothesis import given
from hypothesis import strategies as st

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.odds import probability
from bbfalsify.reporting.formatting import interval, number, shorten_word


def test_a_word_that_fits_is_shown_whole():
    assert shorten_word(("on", "on", "on", "off"), 12) == "on·on·on·off"


def test_runs_are_counted_before_anything_is_left_out():
    assert shorten_word(("on",) * 12 + ("off", "on", "on"), 20) == "on×12·off·on·on"


def test_the_middle_is_left_out_and_the_end_stays():
    word = tuple(f"a{i}" for i in range(10, 40))
    assert shorten_word(word, 20) == "a10·a11·…26…·a38·a39"
    assert shorten_word(word, 19) == "a10·a11·…·a38·a39"


def test_a_single_long_action_keeps_its_end():
    assert shorten_word(("press_the_big_red_button",), 11) == "…red_button"


def test_no_action():
    assert shorten_word((), 20) == "(no action)"


@given(st.lists(st.sampled_from(["on", "off", "unlock_door", "x"]), min_size=1), st.integers(4, 60))
def test_never_wider_than_asked_and_ends_as_the_word_ends(actions, width):
    text = shorten_word(actions, width)
    assert len(text) <= width
    assert text.split("×")[0].endswith(actions[-1][-2:]) or text.endswith(actions[-1][-1]) or "×" in text


def test_numbers_take_little_space():
    assert probability(9.554e-4) == "9.55e-4"
    assert probability(0.25) == "0.25"
    assert probability(0.0) == "0"
    assert probability(1.2e-56) == "1.20e-56"
    assert number(float("inf")) == number(None) == "–"
    assert (number(2000.0), number(-1425.2), number(999.96), number(1.5e6)) == ("2000", "-1425", "1000", "1.5e+06")
    assert interval(Estimate(9.554e-4, 9e-4, 0.00101, 0.95, "m", 10)) == "9.55e-4 [9.00e-4, 1.01e-3]"
    assert interval(Estimate(0.0, 0.0, 1.6e-13, 0.95, "upper bound", 1000, none_seen=True)) == "< 1.60e-13, none seen"
    assert interval(Estimate(1.0, 0.0, 1.0, 0.95, "not estimated", 0)) == "not estimated"
