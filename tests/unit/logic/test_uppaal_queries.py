"""The forms of UPPAAL's queries, and what is said about texts that are none."""

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.logic import uppaal_queries as forms

CASES = [
    ("E<> P.a && (x > 3)", forms.StateQuery("E<>", "P.a && (x > 3)")),
    ("A [ ] not deadlock", forms.StateQuery("A[]", "not deadlock")),
    ("E[] x <= 3", forms.StateQuery("E[]", "x <= 3")),
    ("A <> P.done", forms.StateQuery("A<>", "P.done")),
    ("P.a --> (Q.b and y < 2)", forms.LeadsTo("P.a", "(Q.b and y < 2)")),
    ("sup: x, a[f(1, 2)]", forms.Extremes("sup", None, ("x", "a[f(1, 2)]"))),
    ("inf{P.a and x > 1}: y", forms.Extremes("inf", "P.a and x > 1", ("y",))),
    ("bounds { P.a } : n", forms.Extremes("bounds", "P.a", ("n",))),
    ("Pr[<=100](<> P.a)", forms.Probability(forms.RunBound("100"), "<>", "P.a")),
    ("Pr [#<=2*N; 500] ([] x<=3)", forms.Probability(forms.RunBound("2*N", "steps", "500"), "[]", "x<=3")),
    ("Pr[P.x<=5](a U b)", forms.Probability(forms.RunBound("5", "P.x"), "U", "b", "a")),
    ("Pr(<>[0,10] (a && b))", forms.Probability(None, "mitl", "<>[0,10] (a && b)")),
    ("Pr[<=10](<> a) >= 0.9", forms.ProbabilityTest(forms.Probability(forms.RunBound("10"), "<>", "a"), ">=", "0.9")),
    (
        "Pr[<=10](<> a) >= Pr[<=20]([] b)",
        forms.ProbabilityComparison(
            forms.Probability(forms.RunBound("10"), "<>", "a"), ">=", forms.Probability(forms.RunBound("20"), "[]", "b")
        ),
    ),
    ("E[<=10; 50](max: x + y)", forms.Expectation(forms.RunBound("10", runs="50"), "max", "x + y")),
    ("E[#<=10](min:n)", forms.Expectation(forms.RunBound("10", "steps"), "min", "n")),
    ("simulate [<=20; 5] {x, f(a, b)}", forms.Simulation(forms.RunBound("20", runs="5"), ("x", "f(a, b)"))),
    ("simulate 3 [<=20] {x} : 2 : P.a", forms.Simulation(forms.RunBound("20", runs="3"), ("x",), "P.a", "2")),
    ("simulate [<=20] {x} : P.a", forms.Simulation(forms.RunBound("20"), ("x",), "P.a")),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text for text, _ in CASES])
def test_each_form_is_read(text, expected):
    query = forms.read_query(text)
    assert query == expected
    assert query.text == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("control: A<> P.a", "control"),
        ("{ x, P.a } control: A[] not P.b", "control"),
        ("E<> control: A<> P.a", "control"),
        ("strategy s = control: A[] a", "strategy"),
        ("minE(cost)[<=100]: <> P.a", "minE"),
        ('saveStrategy("s.json", s)', "saveStrategy"),
        ("A[] x > 3 under s", "under"),
        ("sat: chart", "sat"),
        ("refinement: A <= B", "refinement"),
        ("A[ a U b ]", "A[ U ]"),
        ("E[ a U b ]", "E[ U ]"),
    ],
)
def test_queries_of_other_tools_are_told_apart(text, word):
    query = forms.read_query(text)
    assert isinstance(query, forms.Elsewhere)
    assert query.word == word
    assert query.command is None


def test_the_command_that_answers_is_named():
    texts = (
        "E<> a",
        "a --> b",
        "sup: x",
        "Pr[<=1](<> a)",
        "Pr[<=1](<> a) <= 0.1",
        "E[<=1](max: x)",
        "simulate [<=1] {x}",
    )
    assert [forms.read_query(text).command for text in texts] == ["reach"] * 3 + ["estimate"] * 4


def test_variables_may_be_called_like_words_of_queries():
    assert forms.read_query("E<> control == 3") == forms.StateQuery("E<>", "control == 3")
    assert forms.read_query("strategy_on --> sup > 3") == forms.LeadsTo("strategy_on", "sup > 3")
    assert forms.read_query("Pr.a --> E.b") == forms.LeadsTo("Pr.a", "E.b")


def test_comments_are_no_part_of_a_query():
    assert forms.read_query("/* why */ E<> a // and this\n && b") == forms.StateQuery("E<>", "a && b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("P.a", "must start with E<> or A[]"),
        ("E<>", "a condition is missing"),
        ("a -->", "a condition is missing"),
        ("A[] a --> b", "without E<>"),
        ("sup x", "must start with"),
        ("sup{x}", "':' and an expression are missing"),
        ("sup: x,", "an expression is missing"),
        ("Pr[<=10](P.a)", "<> or [] is missing"),
        ("Pr[10](<> a)", "'[10]' is no bound of a run"),
        ("Pr[<=10](<> a", "')' is missing"),
        ("Pr[<=10](<> a) maybe", "unexpected 'maybe'"),
        ("E[<=10](x)", "(max: e)"),
        ("simulate [<=10]", "{e} is missing"),
        ("simulate [<=10] {x} x", "unexpected 'x'"),
        ("", "must start with"),
    ],
)
def test_texts_that_are_no_query_are_refused(text, words):
    with pytest.raises(UserError) as caught:
        forms.read_query(text, file="m.q", line=3)
    assert str(caught.value).startswith("m.q:3: ")
    assert words in str(caught.value)
    assert "Allowed: E<> φ" in str(caught.value)
