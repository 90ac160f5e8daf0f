"""Reading formulas: what is accepted, how it is understood, and what is said about mistakes."""

import logging
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import Verdict
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.logic.stl.formula import Arithmetic, Compare, Connective, Number, Reach, Signal, Window
from bbfalsify.logic.stl.stl_monitor import judge

SIGNALS = ["T", "x", "y", "house.T_in"]


def problems(text, signals=SIGNALS, **facts):
    with pytest.raises(UserError) as caught:
        parse_stl(text, signals=signals, **facts)
    return caught.value.problems


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("always[0:20](T <= 75)", "always[0:20](T <= 75)"),
        ("G[0,20] T<=75", "always[0:20](T <= 75)"),
        ("always x>0 and y>0", "(always(x > 0)) and (y > 0)"),
        ("x>0 or y>0 and T>1", "(x > 0) or ((y > 0) and (T > 1))"),
        ("x>0 -> y>0 -> T>1", "((x > 0) implies (y > 0)) implies (T > 1)"),
        ("x>0 <-> y>0 xor T>1", "((x > 0) iff (y > 0)) xor (T > 1)"),
        ("!(x>0) && y>0 || T>1", "((not(x > 0)) and (y > 0)) or (T > 1)"),
        ("x>0 until[1:2] y>0", "(x > 0) until[1:2] (y > 0)"),
        ("x>0 U y>0", "(x > 0) until (y > 0)"),
        ("x>0 S[0:3] y>0", "(x > 0) since[0:3] (y > 0)"),
        ("H[1:2] x>0 and O y>0", "(historically[1:2](x > 0)) and (once(y > 0))"),
        ("x>0 unless y>0", "(always(x > 0)) or ((x > 0) until (y > 0))"),
        ("x>0 unless[1:3] y>0", "(always[0:3](x > 0)) or ((x > 0) until[1:3] (y > 0))"),
        ("rise(x>0) implies next fall(y>0)", "(rise(x > 0)) implies (next(fall(y > 0)))"),
        ("s_next(x>0) and prev(x>0) and s_prev(x>0)", "((s_next(x > 0)) and (prev(x > 0))) and (s_prev(x > 0))"),
        ("always[2:inf] x>0", "always[2:inf](x > 0)"),
        ("always[0:inf] x>0", "always(x > 0)"),
        ("eventually[1:5ms] x>0", "eventually[0.001:0.005](x > 0)"),
        ("eventually[1ms:2s] x>0", "eventually[0.001:2](x > 0)"),
        ("x != 3 and y !== 4", "(x != 3) and (y != 4)"),
        ("abs(x - y) <= pow(x, 2) + sqrt(y) * exp(-x)", "abs(x - y) <= pow(x, 2) + (sqrt(y) * exp(-1 * x))"),
        ("true implies x > .5e1", "(true) implies (x > 5)"),
        ("house.T_in > -1.5 // in the living room", "house.T_in > -1.5"),
    ],
)
def test_reading_and_printing(text, canonical):
    formula = parse_stl(text, signals=SIGNALS)
    assert str(formula) == canonical
    assert parse_stl(canonical, signals=SIGNALS) == formula
    assert formula.text == text
    assert pickle.loads(pickle.dumps(formula)) == formula


@pytest.mark.parametrize(
    "text, value",
    [("x - 1 + 2 > 0", 1.0 - 1 + 2), ("x / 2 * 3 > 0", 1.0 / 2 * 3), ("x-1-2>0", 1.0 - 1 - 2), ("-x*-2>0", 2.0)],
)
def test_arithmetic_is_read_as_at_school(text, value):
    """RTAMT alone reads a - b + c as a - (b + c), and x/2 as the name of a signal."""
    from bbfalsify.logic.stl.program import term_values

    compare = parse_stl(text, signals=SIGNALS).root
    assert isinstance(compare, Compare)
    assert term_values(compare.left, {"x": 1.0}) == value


def test_the_tree_is_plain_data():
    formula = parse_stl("always[0:20](T + 1 <= 75) and (x > 0) until[0.1:0.3] (y > 0)")
    assert formula.root == Connective(
        "and",
        Window("always", 0.0, 20.0, Compare("<=", Arithmetic("+", Signal("T"), Number(1.0)), Number(75.0))),
        Reach("until", 0.1, 0.3, Compare(">", Signal("x"), Number(0.0)), Compare(">", Signal("y"), Number(0.0))),
    )
    assert formula.signals == ("T", "x", "y")
    assert hash(formula) == hash(parse_stl(str(formula)))


def test_a_signal_may_be_called_like_a_short_operator():
    formula = parse_stl("always(H <= 5 and S > 1)", signals=["H", "S"])
    assert formula.signals == ("H", "S")
    assert parse_stl(str(formula), signals=formula.signals) == formula
    with pytest.raises(UserError, match="the operator is written 'historically'"):
        parse_stl("H(x > 1)", signals=["H", "x"])


@pytest.mark.parametrize(
    "text, column, message",
    [
        ("always[1:0] x>0", 7, "its lower bound is the larger"),
        ("always[-1:2] x>0", 7, "negative"),
        ("always[0:5min] x>0", 11, "unknown unit of time 'min'"),
        ("always[1s:5] x>0", 7, "unit of both bounds"),
        ("always[0 5] x>0", 10, "is written [from:to]"),
        ("always[0:5 x>0", 12, "unknown unit of time 'x'"),
        ("always[a:5] x>0", 8, "is a number or inf, not 'a'"),
        ("next[0:1] x>0", 5, "'next' takes no time interval"),
        ("x >", 4, "ends too early"),
        ("x > 0 and", 10, "ends too early"),
        ("and x > 0", 1, "unexpected 'and'"),
        ("x > 0 y > 0", 7, "an operator is missing before 'y'"),
        ("x > 0 always(y > 0)", 7, "an operator is missing before 'always'"),
        ("x > 0)", 6, "unexpected ')'"),
        ("((x > 0)", 1, "this '(' is never closed"),
        ("x > ()", 6, "nothing stands before ')'"),
        ("x + * 2 > 0", 5, "a number, a signal or '('"),
        ("x = 3", 3, "'==' compares"),
        ("x ^ 2 > 1", 3, "write pow(x, 2)"),
        ("x > 1; y > 1", 6, "one formula"),
        ("log(x) > 0", 1, "unknown function 'log'"),
        ("pow(x) > 0", 1, "takes 2 argument(s), not 1"),
        ("abs x > 0", 1, "needs its argument in parentheses"),
        ("x(1) > 0", 1, "is followed by '('"),
        ("rise x > 0", 6, "unexpected 'x'"),
        ("x > 1e999", 5, "too large"),
        ("always[0:1e400] x>0", 10, "the number 1e400 is too large"),
        ("always[0:5", 11, "not closed by ']' but by 'the end'"),
        ("ltl: G (x > 0)", 1, "'ltl:'; LTL is about symbols, for 'bbfalsify check'; here is STL"),
        ("stl: G (x > 0)", 1, "a formula does not begin with 'stl:'; give it alone"),
        ("alw_[0,20](x > 0)", 1, "'alw_[0,20]' is written 'always[0:20]' here"),
        ("x > 0 and ev_[0:2.5] (y > 0)", 11, "'ev_[0:2.5]' is written 'eventually[0:2.5]' here"),
        ("[]_[0,20] x > 0", 1, "'[]_[0,20]' is written 'always[0:20]' here"),
        ("x > 0 -> <> y > 0", 10, "'<>' is written 'eventually' here"),
        ("x > 0 U_[0,20] y > 0", 7, "'U_[0,20]' is written 'until[0:20]' here"),
        ("globally(x > 0)", 1, "'globally' is written 'always' here"),
        ("x[t] > 0", 1, "'x[t]' is written 'x' here"),
        ("x > 0 <=> y > 0", 7, "'<=>' is written 'iff' here"),
        ("x > 0 => y > 0", 7, "write '->'"),
        ("x > 0 /\\ y > 0", 8, "write 'and'"),
    ],
)
def test_mistakes_are_located(text, column, message):
    found = problems(text)
    assert any(f"column {column}:" in p.message and message in p.message for p in found), [str(p) for p in found]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "the formula is empty"),
        ("  ", "the formula is empty"),
        ("x", "'x' is a number where a condition is needed"),
        ("always(x + 1)", "'x + 1' is a number where a condition is needed"),
        ("x > y > T", "the condition 'x > y' is used as a number"),
        ("(x > 0) + 1 > 2", "the condition 'x > 0' is used as a number"),
        ("abs(always(x > 0)) > 1", "used as a number"),
        ("x == true", "the condition 'true' is used as a number"),
        ("(" * 400 + "x > 0" + ")" * 400, "more than 300 nested parentheses"),
        ("(" * 100_000 + "x > 0" + ")" * 100_000, "more than 300 nested parentheses"),
        ("not " * 1200 + "x > 0", "nested more than 300 levels deep"),
        (" + ".join(["x"] * 1200), "is a number where a condition is needed"),
    ],
)
def test_what_is_not_a_condition_is_refused(text, message):
    assert message in str(problems(text)[0])


def test_all_mistakes_at_once_with_file_line_and_closest_name():
    found = problems("always[3:1](TT > 0)\n  and eventually[0:5min](z < 1)", file="r.yaml", line=7)
    assert [(p.file, p.line) for p in found] == [("r.yaml", 7), ("r.yaml", 7), ("r.yaml", 8), ("r.yaml", 8)]
    assert "unknown signal 'TT'" in found[1].message and found[1].closest == "T"
    assert found[1].allowed == ("T", "house.T_in", "x", "y")
    assert problems("allways(x > 0)")[0].closest == "always"
    assert len(problems("z > 0 and z < 1")) == 1
    assert problems("x > 0\nand and", file="r.yaml", line=7)[0].line == 8


@pytest.mark.parametrize("text", ["not " * 290 + "x > 0", " and ".join(["x > 0"] * 290), "0" + " - x" * 290 + " > 0"])
def test_deep_formulas_survive_printing_and_pickling(text):
    formula = parse_stl(text)
    assert parse_stl(str(formula)) == formula
    assert pickle.loads(pickle.dumps(formula)) == formula
    assert hash(formula) == hash(parse_stl(text)) and formula.lookahead == 0


def test_facts_about_time():
    assert parse_stl("always[0:20](T<=75)").duration(20) == 20
    assert parse_stl("always[0:20](T<=75)").duration(5) == 20
    house = parse_stl("always((T<=16) implies (eventually[0:24](T>=18)))")
    assert (house.lookahead, house.unbounded, house.duration(8712)) == (24, True, 8736)
    nested = parse_stl("always[0:10](x>0 implies eventually[1:5](always[0:2] y>0))")
    assert (nested.lookahead, nested.unbounded) == (17, False)
    assert parse_stl("eventually[3:inf] x>0").lookahead == 3
    assert parse_stl("once[2:4] eventually[0:3] x>0").lookahead == 1
    assert parse_stl("once[1:2] " * 100 + "eventually[0:200] x>0").lookahead == 100
    assert parse_stl("(eventually[0:3] x>0) since[2:4] y>0").lookahead == 3
    assert parse_stl("next next x>0").duration(0, period=0.5) == 1.0
    assert not parse_stl("historically x>0").unbounded


def test_a_requirement_checks_its_kind_of_time():
    step = parse_stl("always(rise(x > 0) implies next(y > 0))")
    with pytest.raises(UserError, match="uses rise, next: dense time has no next sample"):
        Requirement("R", "", step)
    with pytest.raises(UserError, match="the bound 0.25 is not a multiple of the sampling period 0.1"):
        Requirement("R", "", parse_stl("always[0:0.25](x > 0)"), "discrete", 0.1)
    with pytest.raises(UserError, match="unknown kind of time 'continuous'"):
        Requirement("R", "", step, "continuous")
    assert Requirement("R", "", parse_stl("always[0:0.3](x > 0)"), "discrete", 0.1).duration(0.2) == 0.3
    assert math.isclose(Requirement("R", "", step, "discrete", 0.1).duration(1.0), 1.1)


def test_mistakes_are_user_errors_and_nothing_is_printed(capfd, caplog):
    with caplog.at_level(logging.DEBUG):
        parse_stl("always[0:2](T <= 1) and once(q.r > 3)")
        for bad in ("always(", "T ^ 2 > 1", "log(T) > 1", "T > 1 and", "import os T > 1", "always[0:1] T", "T > 0x10"):
            with pytest.raises(Exception) as caught:
                parse_stl(bad, signals=["T"])
            assert type(caught.value).__name__ == "UserError", bad
            assert caught.value.__cause__ is None, bad
    assert capfd.readouterr() == ("", "") and not caplog.records


def test_reading_is_light():
    script = (
        "import sys; from bbfalsify.logic import parse_stl, Requirement; a = set(sys.modules);"
        "Requirement('R', '', parse_stl('always(x > 0)'));"
        "print([m for m in ('numpy', 'numba', 'scipy', 'rtamt') if m in a], 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[] False", "")


@pytest.mark.parametrize(
    "text, signals, canonical",
    [
        ("always[0:20](y[0] <= 3)", ["y[0]", "y[1]"], "always[0:20](y[0] <= 3)"),
        ("G[0,20](y[0] + m[1,2]<= 3)", ["y[0]", "m[1,2]"], "always[0:20](y[0] + m[1,2] <= 3)"),
        ("x > 0 U[0,2] y[0] > 1", ["x", "y[0]"], "(x > 0) until[0:2] (y[0] > 1)"),
        ("G[0,2] y[10] > 1", None, "always[0:2](y[10] > 1)"),
        ("G[0,2] pipe[3].T[1,2] > 1", ["pipe[3].T[1,2]"], "always[0:2](pipe[3].T[1,2] > 1)"),
        ("m[0][1] > 1", ["m[0][1]"], "m[0][1] > 1"),
    ],
)
def test_elements_of_arrays_are_signals(text, signals, canonical):
    assert str(parse_stl(text, signals=signals)) == canonical


def test_an_element_that_does_not_exist():
    with pytest.raises(UserError, match=r"unknown signal 'y\[3\]'. Allowed: y\[0\], y\[1\]"):
        parse_stl("always[0:20](y[3] <= 3)", signals=["y[0]", "y[1]"])


@pytest.mark.parametrize("name", ["der(h)", "tank.level-2", "water level", "2nd", "it's", "obs[ 0 ]", "a[1"])
def test_a_signal_with_any_name_is_written_in_quotes(name):
    quote = '"' if "'" in name else "'"
    formula = parse_stl(f"always[0:5]({quote}{name}{quote} <= 3 and x > 1)", signals=[name, "x"])
    assert set(formula.signals) == {name, "x"}
    assert parse_stl(str(formula), signals=[name, "x"]) == formula
    times = np.array([0.0, 5.0])
    judgement = judge(formula, times, {name: np.array([1.0, 4.0]), "x": np.array([2.0, 2.0])})
    assert judgement.verdict is Verdict.VIOLATED


def test_an_unknown_name_in_quotes_is_named_with_its_place():
    (problem,) = problems("always('der(x)' <= 1)", ["der(h)"])
    assert "column 8: unknown signal 'der(x)'" in str(problem) and problem.closest == "der(h)"


def test_a_quote_that_is_not_closed_is_a_clear_problem():
    (problem,) = problems("always('der(x) <= 1)", ["der(x)"])
    assert "has no meaning here; close the quote" in str(problem)


def test_a_text_in_place_of_a_formula_is_named_with_what_to_write():
    with pytest.raises(
        UserError, match=r'R1: the formula must be a Formula, not str; write parse_stl\("always\(x > 1\)"\)'
    ):
        Requirement("R1", "", "always(x > 1)")  # type: ignore[arg-type]
