"""Text → tree: precedence, literals, comments, and random expressions printed and read again."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify.core.errors import Place, UserError
from bbfalsify.modelling.language.syntax import parse, parse_declarations
from tests.drawing import examples
from tests.unit.modelling.helpers import value_of

PLACE = Place("f", 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("2 - 3 - 4", -5),
        ("-2 * -3", 6),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("7.0 / 2", Fraction(7, 2)),
        ("1 << 2 + 1", 8),
        ("6 & 3 == 3", None),  # == binds tighter than &, so this is 6 & (a bool)
        ("(6 & 3) + (6 | 3) + (6 ^ 3)", 2 + 7 + 5),
        ("~5", -6),
        ("3 <? 2 + 5", 3),
        ("3 >? 2 * 5", 10),
        ("true || false && false", 1),
        ("not true and false", 0),
        ("not 1 == 2", 1),
        ("!(1 == 2)", 1),
        ("false imply false imply false", 1),
        ("true or false imply false", 0),
        ("true ? 1 : false ? 2 : 3", 1),
        ("false ? 1 : false ? 2 : 3", 3),
        ("1 < 2 == true", 1),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("1e-3 * 1000", 1),
        ("2.5e2", 250),
        ("forall (i : int[0,3]) i < 4 && i >= 0", 1),
        ("exists (i : int[0,3]) i * i == 9", 1),
        ("sum (i : int[1,4]) i * i", 30),
        ("1 + sum (i : int[1,3]) i + 1", 1 + 2 + 3 + 4),
        ("sum (i : int[1,3]) sum (j : int[1,i0]) j", None),
        ("min(3, max(1, 2)) + abs(-4)", 6),
        ("fint(3.9) + fint(-3.9)", 0),
    ],
)
def test_values(text, expected):
    if expected is None:
        with pytest.raises(UserError):
            value_of(text)
    else:
        assert value_of(text) == expected


def test_comments_and_lines():
    declarations, problems, _ = parse_declarations("// one\nint a; /* two\nlines */ int b;\n", Place("f", 10))
    assert not problems
    assert [d.declarators[0].line for d in declarations] == [2, 3]


def test_words_are_not_cut_inside_names():
    assert value_of("order + android + notes + summary", "int order = 1, android = 2, notes = 3, summary = 4;") == 10


@pytest.mark.parametrize(
    ("start", "text", "message"),
    [
        ("expression", "x = 3", "guard: unexpected '=' at column 3 of 'x = 3'. '=' assigns; '==' compares."),
        ("expression", "x >=", "guard: the text 'x >=' ends too early."),
        ("expression", "x # 3", "guard: the character '#' has no meaning here."),
        ("expression", "", "guard: the text '' ends too early."),
        ("instance", "3 = P", "guard: unexpected '3' at column 1 of '3 = P'."),
    ],
)
def test_syntax_errors_say_what_and_where(start, text, message):
    with pytest.raises(UserError) as caught:
        parse(text, start, Place("f.yaml", 7), what="guard")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.message) == ("f.yaml", 7, message)


def test_every_wrong_declaration_is_reported_and_the_others_are_kept():
    text = "int a = ;\nint b;\nint f() { return 3 }\nclock c;\nint d[2 = {1, 2};\nint e[2] = {1, 2};\n"
    declarations, problems, words = parse_declarations(text, Place("f", 1))
    assert [p.line for p in problems] == [1, 3, 5]
    assert [d.declarators[0].name for d in declarations] == ["b", "c", "e"]
    assert {"a", "f", "d"} <= words


@pytest.mark.parametrize("text", ["-" + " -" * 5000 + " 1", "1" + " + 1" * 5000, "1 ? " * 5000 + "1" + " : 1" * 5000])
def test_deep_nesting_is_refused(text):
    with pytest.raises(UserError, match="nested more than 250 levels deep"):
        value_of(text)


def test_parentheses_alone_are_not_nesting():
    assert value_of("(" * 3000 + "1" + ")" * 3000) == 1


# --- random expressions: print with all parentheses, or with as few as Python needs, and read again -------------------

INTEGER_SIGNS = ["+", "-", "*", "&", "|", "^"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
NAMES = {"a": 3, "b": -2, "c": 0}
DECLARATIONS = "int a = 3, b = -2, c = 0;"

integers = st.recursive(
    st.one_of(
        st.integers(0, 9).map(lambda n: (str(n), n)), st.sampled_from(sorted(NAMES)).map(lambda n: (n, NAMES[n]))
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(INTEGER_SIGNS), inner).map(
            lambda t: (f"({t[0][0]} {t[1]} {t[2][0]})", _python(t[0][1], t[1], t[2][1]))
        ),
        inner.map(lambda t: (f"(-{t[0]})", -t[1])),
        inner.map(lambda t: (f"(~{t[0]})", ~t[1])),
    ),
    max_leaves=12,
)


def _python(a, sign, b):
    return {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[sign]


def _compare(a, sign, b):
    return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign]


conditions = st.recursive(
    st.tuples(integers, st.sampled_from(COMPARISONS), integers).map(
        lambda t: (f"({t[0][0]} {t[1]} {t[2][0]})", _compare(t[0][1], t[1], t[2][1]))
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "and"]), inner).map(
            lambda t: (f"({t[0][0]} {t[1]} {t[2][0]})", t[0][1] and t[2][1])
        ),
        st.tuples(inner, st.sampled_from(["||", "or"]), inner).map(
            lambda t: (f"({t[0][0]} {t[1]} {t[2][0]})", t[0][1] or t[2][1])
        ),
        st.tuples(inner, inner).map(lambda t: (f"({t[0][0]} imply {t[1][0]})", not t[0][1] or t[1][1])),
        st.tuples(inner, inner, inner).map(
            lambda t: (f"({t[0][0]} ? {t[1][0]} : {t[2][0]})", t[1][1] if t[0][1] else t[2][1])
        ),
        inner.map(lambda t: (f"(!{t[0]})", not t[1])),
    ),
    max_leaves=6,
)


@examples(150)
@given(integers)
def test_random_integer_expressions(case):
    text, expected = case
    assert value_of(text, DECLARATIONS) == expected


@examples(150)
@given(conditions)
def test_random_conditions(case):
    text, expected = case
    assert bool(value_of(text, DECLARATIONS)) == bool(expected)


@examples(150)
@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from(["+", "-", "*"])), min_size=1, max_size=8))
def test_precedence_agrees_with_python(chain):
    """Without parentheses: + - * chains mean the same in both languages."""
    text = "".join(f"{n} {sign} " for n, sign in chain) + "1"
    total, term, sign = 0, 1, 1
    for n, following in chain:
        term *= n
        if following != "*":
            total, term, sign = total + sign * term, 1, 1 if following == "+" else -1
    assert value_of(text) == total + sign * term
