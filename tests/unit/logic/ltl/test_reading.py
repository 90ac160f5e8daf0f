"""Reading temporal formulas: what is accepted, how it binds, and what is said about mistakes."""

import json
import os
import pickle
import subprocess
import sys

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.logic import parse_stl
from bbfalsify.logic.ltl import Property, hoa, ltl, ltlf, monitor, patterns, read_property
from bbfalsify.logic.ltl.ltl_formula import Atom, Unary
from bbfalsify.logic.ltl.ltl_parser import parse
from bbfalsify.logic.ltl.sampled_stl import Sampling


def message(text, **facts):
    with pytest.raises(UserError) as caught:
        ltl(text, **facts)
    return str(caught.value)


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("in == connect", "in == connect"),
        ("out != error", "out != error"),
        ("!in==a", "in != a"),
        ("in in {a, b, a}", "in in {a, b}"),
        ("output not in {a, 'b c'}", 'out not in {a, "b c"}'),
        ('out =~ "ack.*"', 'out =~ "ack.*"'),
        (r'out !~ "a\d\"x"', r'out !~ "a\\d\"x"'),
        ("in == 220", "in == 220"),
        ("in == a-b->out==c", "in == a-b -> out == c"),
        ("in == X U out == until", "in == X U out == until"),
        ("GF in == a", "G(F(in == a))"),
        ("XXG in == a", "X(X(G(in == a)))"),
        ("always eventually in == a", "G(F(in == a))"),
        ("never out == x and in == a", "G(out != x) & in == a"),
        ("next in == a", "X(in == a)"),
        ("weak next in == a", "WX(in == a)"),
        ("in == a U in == b U in == c", "in == a U (in == b U in == c)"),
        ("in == a until out == b & in == c", "(in == a U out == b) & in == c"),
        ("in == a weak until in == b", "in == a W in == b"),
        ("in == a unless in == b", "in == a W in == b"),
        ("in == a release in == b", "in == a R in == b"),
        ("in == a strong release in == b", "in == a M in == b"),
        ("in == a | in == b & in == c", "in == a | (in == b & in == c)"),
        ("in == a || in == b && !(in == c)", "in == a | (in == b & in != c)"),
        ("in == a -> in == b -> in == c", "in == a -> (in == b -> in == c)"),
        ("in == a <-> in == b implies true", "in == a <-> (in == b -> true)"),
        ("G(in == a -> F out == b) # a comment", "G(in == a -> F(out == b))"),
        ("next(in == a, out == b)", "G(in == a -> X(out == b))"),
        ("response(in == a, out == b)", "G(in == a -> F(out == b))"),
        ("absence(out == e, after(in == a))", "G(in == a -> G(out != e))"),
    ],
)
def test_canonical_text(text, canonical):
    formula = parse(text)
    assert str(formula) == canonical
    assert parse(canonical) == formula


def test_a_pattern_matches_the_whole_symbol():
    atom = parse('out =~ "ack|nack"')
    assert isinstance(atom, Atom)
    assert [atom.holds(s) for s in ("ack", "nack", "ack2", "")] == [True, True, False, False]


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["empty"]),
        ("G(in == a -> ", ["ends too early"]),
        ("G(in = a)", ["column 6", "unexpected '='", "'=='"]),
        ("G(connect -> F out == ok)", ["column 3", "neither a condition nor a pattern", "'in == connect'"]),
        ("in == a )", ["column 9", "unexpected ')'"]),
        ("always[0:5](T <= 3)", ["column 7", "STL", "about signals", "without windows"]),
        ("G(in == ACK(V,V,0))", ["column 12", "unexpected '('", "need quotes"]),
        ("in == SYN/ACK & out == a", ["need quotes"]),
        ("in in {a, SYN+ACK}", ["need quotes"]),
        ("respons(in == a, out == b)", ["unknown pattern 'respons'", "Did you mean 'response'?"]),
        ("response(in == a)", ["response needs 2 arguments, not 1"]),
        ("absence(out == e, in == a)", ["must be a scope", "after, before, between"]),
        ("G after(in == a)", ["last argument of a pattern"]),
        ("after(in == a)", ["last argument of a pattern"]),
        ("G no_overflow(in == a, in == b, 3)", ["cannot be part of a larger formula"]),
        ("no_overflow(in == a, in == b, in == c)", ["needs a size"]),
        ("no_overflow(in == a, X in == b, 2)", ["condition about one letter"]),
        ("response(in == a, 3)", ["a formula is needed here, not 3"]),
        ('out =~ "(a"', ["regular expression '(a' is wrong"]),
        ('out =~ "(a*)*b"', ["repeats a repetition"]),
        ("!" * 400 + "in == a", ["nested more than"]),
        ("(" * 5000 + "in == a", ["ends too early"]),
    ],
)
def test_mistakes(text, words):
    said = message(text)
    assert [w for w in words if w not in said] == []


def test_mistakes_have_their_place():
    assert message("G(in == a\n  -> out = b)", file="spec.yaml", line=7).startswith("spec.yaml:8: formula, column 10")
    assert message("in ==", file="spec.yaml", line=7).startswith("spec.yaml:7: ")


def test_ends_is_a_condition():
    with pytest.raises(UserError, match="condition about one letter"):
        ltlf("F out == a", ends="X in == quit")
    with pytest.raises(UserError, match="requirement of its own"):
        ltlf("no_overflow(in == a, in == b, 2)")


@pytest.mark.parametrize(
    "text, inputs, outputs, words",
    [
        ("G(in == conect -> out == ok)", ["connect"], None, ["unknown input 'conect'", "'connect'?"]),
        ("G(in == connect -> out == okk)", ["connect"], ["ok"], ["unknown output 'okk'", "'ok'?"]),
        ("G(in == x -> out == y)", ["a"], ["b"], ["unknown input 'x'", "unknown output 'y'"]),
        ('G(in =~ "pub.*" -> out == b)', ["a"], ["b"], ["'pub.*' matches no input"]),
        ("G(in == a | in != a)", ["a", "b"], None, ["always true"]),
        ("G(in == a)", ["a"], None, ["always true"]),
        ("F(in == a & in == b)", ["a", "b"], None, ["always false"]),
        ("X(X(out == x & out == y))", ["a"], None, ["always false"]),
        ("G(out == x)", [], None, ["alphabet is empty"]),
    ],
)
def test_problems_with_the_alphabet(text, inputs, outputs, words):
    said = "\n".join(map(str, ltl(text, file="s.yaml", line=3).problems(inputs, outputs)))
    assert [w for w in words if w not in said] == []
    assert said.startswith("s.yaml:3: ")


def test_no_problems():
    wanted = ltl("G(in == connect -> out in {ok, busy})")
    assert wanted.problems(["connect", "close"]) == []
    assert wanted.problems(["connect", "close"], ["ok", "busy", "crash"]) == []


def test_finite_ltl_that_no_word_satisfies():
    assert "always false" in str(ltlf("X in == a").problems(["a", "b"])[0])  # a word may end after one letter
    assert ltlf("WX in == a").problems(["a", "b"]) == []


AUTOMATON = """HOA: v1 name: "never b" Start: 0 AP: 1 "in == b" Acceptance: 0 t --BODY-- State: 0 [!0] 0 --END--"""
MONITOR = {"name": "M", "states": {"s": {"in == a": "t"}, "t": {"out == b": "u"}}, "bad": ["u"]}
EVERY_KIND = (
    ltl("G in == a"),
    ltl("absence(out == x, after(in == a))"),
    ltl(Unary("G", Atom("in", ("a",)))),
    ltl("no_overflow(in == a, in == b, 2)"),
    ltlf("F in == a"),
    ltlf("F in == a", ends="in == b"),
    ltlf("F in == a ends with in == b"),
    monitor(MONITOR),
    hoa(AUTOMATON),
    hoa(AUTOMATON, accepts="violations"),
    Sampling([parse_stl("always((T > 3) implies (eventually[0:2](T < 2)))")], 0.5).properties[0],
)


@pytest.mark.parametrize("wanted", EVERY_KIND, ids=lambda p: f"{p.form} {p.text[:40]}")
def test_properties_travel_as_objects_and_as_texts(wanted):
    assert isinstance(wanted, Property)
    before = wanted.bad_words(["a", "b"])
    copies = pickle.loads(pickle.dumps(wanted)), read_property(wanted.form, wanted.source)
    for again in copies:
        assert (again.text, again.form, again.source) == (wanted.text, wanted.form, wanted.source)
        after = again.bad_words(["a", "b"])
        assert (after.edges, after.accepting, after.initial) == (before.edges, before.accepting, before.initial)


def test_files_lie_in_a_folder(tmp_path):
    (tmp_path / "m.yaml").write_text(json.dumps(MONITOR))
    (tmp_path / "a.hoa").write_text(AUTOMATON)
    assert read_property("monitor", "m.yaml", folder=tmp_path).text == "M"
    assert read_property("hoa", "a.hoa", folder=tmp_path).text == "never b"


@pytest.mark.parametrize(
    "form, source, words",
    [
        ("lttl", "true", "unknown form of a requirement 'lttl'"),
        ("ltl", 3, "a text is needed, not 3"),
        ("hoa", {"a": 1}, "a text is needed"),
        ("stl", "always(x > 0)", "needs its sampling"),
    ],
)
def test_wrong_forms(form, source, words):
    with pytest.raises(UserError, match="s.yaml:4: .*" + words):
        read_property(form, source, file="s.yaml", line=4)


def test_a_formula_may_be_given_as_a_tree():
    assert ltl(Unary("G", Atom("in", ("a",)))).text == "G(in == a)"


def test_the_hash_seed_changes_nothing():
    code = (
        "from bbfalsify.logic.ltl import ltl, hoa_text\n"
        "texts = ['G(in == a -> (out == x U in in {b, c})) & GF out =~ \"[xy]\"', 'handshake(in == a, out == x)']\n"
        "print([hoa_text(ltl(t).bad_words(['c', 'b', 'a'])) for t in texts])"
    )
    seen = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        seen.add(done.stdout)
    assert len(seen) == 1 and "HOA: v1" in seen.pop()


def test_patterns_are_functions_too():
    assert patterns.response("in == a", "out == b", patterns.after("in == c")) == parse(
        "response(in == a, out == b, after(in == c))"
    )
    made = {
        "absence(out == e, before(in == a))": patterns.absence("out == e", patterns.before("in == a")),
        "existence(out == e)": patterns.existence("out == e"),
        "universality(out == e, between(in == a, in == b))": patterns.universality(
            parse("out == e"), patterns.between("in == a", "in == b")
        ),
        "precedence(in == a, out == e)": patterns.precedence("in == a", "out == e"),
        "handshake(in == a, out == e)": patterns.handshake("in == a", "out == e"),
        "next(in == a, out == e)": patterns.next_step("in == a", "out == e"),
        "never in == a": patterns.never("in == a"),
    }
    for text, formula in made.items():
        assert parse(text) == formula
        assert ltl(formula).text == str(formula)


def test_the_text_may_say_what_ends_a_word():
    wanted = ltlf("F out == x\n ends with in == b")
    assert (wanted.text, str(wanted.ends)) == ("F out == x", "in == b")
    assert ltlf('F out == "it ends with"').text == 'F out == "it ends with"'
    assert str(ltlf('F out == "a ends with b" ends with in == "ends with"').ends) == 'in == "ends with"'
