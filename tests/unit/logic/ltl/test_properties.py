"""What the kinds of requirements say about words and machines."""

import pytest

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.errors import UserError
from bbfalsify.logic import parse_stl
from bbfalsify.logic.ltl import (
    Lasso,
    Property,
    find_violation,
    first_bad_prefix,
    hoa,
    hoa_text,
    ltl,
    ltlf,
    monitor,
    search,
    vacuity,
    violates,
)
from bbfalsify.logic.ltl.sampled_stl import Sampling

INPUTS = ["get", "put"]


def letters(text):
    """ "get/ok put/no" → pairs."""
    return [tuple(step.split("/")) for step in text.split()]


def bad_after(wanted, text):
    word = letters(text)
    return first_bad_prefix(wanted, [i for i, _ in word], [o for _, o in word], inputs=INPUTS)


def server(**changes):
    """connect, then publish; without connect publish is refused."""
    table = {
        ("idle", "connect"): ("ready", "ok"),
        ("idle", "publish"): ("idle", "error"),
        ("ready", "connect"): ("ready", "error"),
        ("ready", "publish"): ("ready", "done"),
    }
    return MealyMachine.from_transitions({**table, **changes.get("table", {})}, "idle")


# --- patterns: each scope on words made for it ------------------------------------------------------------------------

GOOD, BAD = True, False


@pytest.mark.parametrize(
    "text, prefix, loop, satisfied",
    [
        ("absence(out == e)", "", "a/x", GOOD),
        ("absence(out == e)", "a/x a/e", "a/x", BAD),
        ("absence(out == e, before(in == b))", "a/x b/x", "a/e", GOOD),
        ("absence(out == e, before(in == b))", "a/e b/x", "a/x", BAD),
        ("absence(out == e, before(in == b))", "a/e", "a/e", GOOD),
        ("absence(out == e, after(in == b))", "a/e b/x", "a/x", GOOD),
        ("absence(out == e, after(in == b))", "b/x a/e", "a/x", BAD),
        ("absence(out == e, between(in == b, in == c))", "b/x c/x a/e b/x", "a/e", GOOD),
        ("absence(out == e, between(in == b, in == c))", "b/x a/e c/x", "a/x", BAD),
        ("universality(out == x)", "a/x", "a/x", GOOD),
        ("universality(out == x, between(in == b, in == c))", "a/y b/x a/y c/x", "a/x", BAD),
        ("existence(out == x)", "a/y", "a/y", BAD),
        ("existence(out == x)", "a/y a/x", "a/y", GOOD),
        ("existence(out == x, before(in == b))", "a/y b/x", "a/x", BAD),
        ("existence(out == x, before(in == b))", "a/x b/y", "a/y", GOOD),
        ("existence(out == x, after(in == b))", "a/x b/y", "a/y", BAD),
        ("existence(out == x, after(in == b))", "a/y", "a/y", GOOD),
        ("existence(out == x, between(in == b, in == c))", "b/y c/y", "a/x", BAD),
        ("existence(out == x, between(in == b, in == c))", "b/y a/x c/y", "a/y", GOOD),
        ("response(in == a, out == x)", "a/y b/x", "b/y", GOOD),
        ("response(in == a, out == x)", "a/x a/y", "b/y", BAD),
        ("response(in == a, out == x, before(in == c))", "a/y c/x", "b/y", BAD),
        ("response(in == a, out == x, before(in == c))", "a/y", "b/y", GOOD),
        ("response(in == a, out == x, after(in == c))", "a/y c/y", "b/y", GOOD),
        ("response(in == a, out == x, after(in == c))", "c/y a/y", "b/y", BAD),
        ("response(in == a, out == x, between(in == b, in == c))", "b/y a/y c/y", "b/x", BAD),
        ("response(in == a, out == x, between(in == b, in == c))", "b/y a/y b/x c/y", "b/y", GOOD),
        ("precedence(in == a, out == x)", "b/y a/x", "b/x", GOOD),
        ("precedence(in == a, out == x)", "b/x a/x", "b/x", BAD),
        ("precedence(in == a, out == x)", "b/y", "b/y", GOOD),
        ("precedence(in == a, out == x, after(in == c))", "b/x c/y", "b/x", BAD),
        ("precedence(in == a, out == x, after(in == c))", "b/x c/y a/x", "b/x", GOOD),
        ("precedence(in == a, out == x, after(in == c))", "c/y b/x c/y", "b/y", BAD),
        ("precedence(in == a, out == x, before(in == c))", "b/x c/y", "b/y", BAD),
        ("precedence(in == a, out == x, between(in == b, in == c))", "b/y b/x c/y", "b/y", BAD),
        ("precedence(in == a, out == x, between(in == b, in == c))", "b/y a/x c/y", "b/y", GOOD),
        ("next(in == a, out == x)", "a/y b/x", "b/y", GOOD),
        ("next(in == a, out == x)", "a/x b/y", "b/x", BAD),
        ("handshake(in == a, out == x)", "a/y b/x b/y", "b/y", GOOD),
        ("handshake(in == a, out == x)", "a/y a/y b/x", "b/y", GOOD),
        ("handshake(in == a, out == x)", "a/y", "b/y", BAD),
        ("handshake(in == a, out == x)", "b/x", "a/x", BAD),
        ("handshake(in == a, out == x)", "a/y b/x b/x", "b/y", BAD),
        ("no_overflow(in == a, in == b, 2)", "a/x a/x b/x a/x", "c/x", GOOD),
        ("no_overflow(in == a, in == b, 2)", "a/x a/x c/x a/x", "c/x", BAD),
        ("no_overflow(in == a, in == b, 2)", "b/x b/x a/x a/x", "c/x", GOOD),
        ("no_overflow(in == a, in == b, 0)", "c/x", "b/x", GOOD),
    ],
)
def test_patterns(text, prefix, loop, satisfied):
    wanted = ltl(text)
    assert isinstance(wanted, Property)
    word = letters(prefix), letters(loop)
    assert violates(wanted, *word, inputs="abc") is not satisfied
    # The automaton says what the definition says.
    bad = wanted.bad_words("abc")
    assert bad.accepts(*([bad.number(*letter) for letter in part] for part in word)) is not satisfied


# --- finite words -----------------------------------------------------------------------------------------------------


def test_every_word_is_complete_unless_ends_says_so():
    assert bad_after(ltlf("F out == ok"), "get/no get/ok") == 1
    wanted = ltlf("F out == ok", ends="in == put")
    assert bad_after(wanted, "get/no get/ok put/no") is None
    assert bad_after(wanted, "get/no put/no put/ok") == 2


def test_outputs_never_seen_before_are_letters_too():
    assert bad_after(ltl("G out != crash"), "get/ok get/whatever put/crash") == 3
    assert bad_after(ltl('G out =~ "2.."'), "get/200 get/2 put/crash") == 2


def test_a_bad_prefix_is_seen_before_the_operators_have_run_out():
    """After the first letter nothing can satisfy the rest, although the formula itself would look two steps further."""
    assert bad_after(ltl("out == ok & XX(in == get & in == put)"), "get/ok") == 0
    assert bad_after(ltl("(out == ok -> X X in == get) & (out == ok -> X X in == put)"), "get/ok get/ok") == 1


# --- monitors ---------------------------------------------------------------------------------------------------------

DOOR = """
initial: closed
bad: [broken]
states:
  closed: {"in == put & out == ok": opened, "out == data": broken}
  opened: {"in == put": closed}
"""


def test_a_monitor():
    wanted = monitor(DOOR)
    assert bad_after(wanted, "put/ok get/data put/ok get/data get/x") == 4
    assert bad_after(wanted, "put/ok get/data") is None
    assert violates(wanted, letters("get/data"), [], inputs=INPUTS)
    assert not violates(wanted, letters("put/ok"), letters("get/data"), inputs=INPUTS)


def test_a_dfa_accepts_every_prefix():
    states = {"even": {"in == put": "odd"}, "odd": {"in == put": "even"}}
    assert bad_after(monitor({"states": states, "accepting": ["even", "odd"]}), "put/x put/x") is None
    assert bad_after(monitor({"states": states, "accepting": "even"}), "get/x put/x put/x") == 2


def test_the_truth_values_of_yaml_are_conditions():
    assert bad_after(monitor("states: {s: {in == put: s, true: bad}}\nbad: bad"), "put/x get/x") == 2


def test_the_first_condition_wins():
    wanted = monitor({"states": {"s": {"in == put": "s", "true": "bad"}}, "bad": "bad"})
    assert bad_after(wanted, "put/x get/x") == 2


@pytest.mark.parametrize(
    "content, words",
    [
        ("[1, 2]", ["needs 'states'"]),
        ("states: {a: {true: b}}\nbad: c", ["unknown state 'b'", "unknown state 'c'"]),
        ("states: {a: {}}\nbad: a\naccepting: a", ["one of the two"]),
        ("states: {a: {}}\nbad: a\ninital: a", ["unknown key 'inital'", "'initial'?"]),
        ("states: {a: {X in == b: a, in = b: a}}\nbad: a", ["about one letter", "unexpected '='"]),
        ("states: {a: b}\nbad: a", ["state 'a' needs conditions"]),
        ("states: [", ["not valid YAML"]),
    ],
)
def test_wrong_monitors(content, words):
    with pytest.raises(UserError) as caught:
        monitor(content)
    assert [w for w in words if w not in str(caught.value)] == []


# --- Büchi automata ---------------------------------------------------------------------------------------------------

INFINITELY_OFTEN = """HOA: v1
name: "GF ok"
States: 2
Start: 0
AP: 1 "out == ok"
acc-name: Buchi
Acceptance: 1 Inf(0)
--BODY--
State: 0
[!0] 0
[0] 1
State: 1 {0}
[!0] 0
[0] 1
--END--
"""


def test_an_automaton_of_the_requirement_is_complemented():
    wanted = hoa(INFINITELY_OFTEN)
    assert wanted.text == "GF ok"
    assert violates(wanted, letters("get/ok"), letters("get/no"), inputs=INPUTS)
    assert not violates(wanted, letters("get/no"), letters("get/no get/ok"), inputs=INPUTS)
    assert bad_after(wanted, "get/no get/no") is None


def test_an_automaton_of_violations_is_taken_as_it_is(tmp_path):
    file = tmp_path / "spec.hoa"
    file.write_text(INFINITELY_OFTEN)
    wanted = hoa(file, accepts="violations")
    assert not violates(wanted, letters("get/ok"), letters("get/no"), inputs=INPUTS)
    assert violates(wanted, [], letters("get/no get/ok"), inputs=INPUTS)


def test_edges_may_accept_and_labels_may_be_left_out():
    text = """HOA: v1 Start: 0 AP: 1 "out == ok" Acceptance: 1 Inf(0) --BODY-- State: 0 0 0 {0} --END--"""
    wanted = hoa(text, accepts="violations")
    assert violates(wanted, [], letters("get/no get/ok"), inputs=INPUTS)
    assert not violates(wanted, letters("get/ok"), letters("get/no"), inputs=INPUTS)


def test_aliases_and_an_automaton_in_which_everything_accepts():
    """Never put after put: non-deterministic, but complemented, since every state accepts."""
    text = """HOA: v1 States: 3 Start: 0 AP: 1 "in == put" Alias: @p 0 Acceptance: 0 t --BODY--
    State: 0 [t] 2 [!@p] 0 [@p] 1
    State: 1 [!@p] 0
    State: 2 [f] 2
    --END--"""
    wanted = hoa(text)
    assert bad_after(wanted, "put/x get/x put/x put/x") == 4
    assert not violates(wanted, [], letters("put/x get/x"), inputs=INPUTS)


NOT_DETERMINISTIC = """HOA: v1 States: 2 Start: 0 AP: 1 "out == ok" Acceptance: 1 Inf(0) --BODY--
State: 0 [t] 0 [0] 1
State: 1 {0} [0] 1
--END--"""


def test_what_cannot_be_complemented_is_refused():
    said = str(hoa(NOT_DETERMINISTIC).problems(INPUTS)[0])
    assert "not deterministic" in said and "accepts='violations'" in said
    assert hoa(NOT_DETERMINISTIC, accepts="violations").problems(INPUTS) == []


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("HOA: v1", "never claim", ["expected HOA:"]),
        ("1 Inf(0)", "2 Inf(0)&Inf(1)", ["'2 Inf(0)&Inf(1)' is not Büchi", "line 6"]),
        ("1 Inf(0)", "1 Fin(0)", ["is not Büchi"]),
        ('"out == ok"', '"ok"', ["'ok' is not a condition such as 'in == connect'"]),
        ('"out == ok"', '"X in == a"', ["about one letter"]),
        ("[0] 1", "[3] 1", ["'3' is not part of a label"]),
        ("[0] 1", "[0] 7", ["state 7 does not exist: there are 2"]),
        ("States: 2", "States: 99999999999", ["too many"]),
        ("[0] 1", "[0] 1&0", ["alternating"]),
        ("Start: 0\n", "", ["needs 'Start:'"]),
        ("--END--", "", ["expected State:", "end of the text"]),
        ("AP:", "~AP:", ["unexpected '~AP:'"]),
    ],
)
def test_wrong_automata(old, new, words, tmp_path):
    file = tmp_path / "wrong.hoa"
    file.write_text(INFINITELY_OFTEN.replace(old, new))
    with pytest.raises(UserError) as caught:
        hoa(file)
    said = str(caught.value)
    assert said.startswith(str(file))
    assert [w for w in words if w not in said and not (w.startswith("line") and f":{w[5:]}: " not in said)] == []


def test_wrong_kind_of_words_and_missing_files(tmp_path):
    with pytest.raises(UserError, match="Did you mean 'violations'"):
        hoa(INFINITELY_OFTEN, accepts="violation")
    for read in (hoa, monitor):
        with pytest.raises(UserError, match="there is no such file"):
            read(tmp_path / "none.hoa")


def test_an_automaton_that_accepts_nothing_can_be_written():
    text = hoa_text(ltl("G(in == get | in == put)").bad_words(INPUTS))
    assert "always true" in str(hoa(text, accepts="violations").problems(INPUTS)[0])


# --- machines ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, lasso",
    [
        ("G(out != error)", Lasso(("publish",))),
        ("G(in == publish -> out != error)", Lasso(("publish",))),
        ("GF out == done", Lasso((), ("publish",))),
        ("G(out == done -> G out != error)", Lasso(("connect", "publish", "connect"))),
        ("F out == ok", Lasso((), ("publish",))),
        ("GF in == publish -> GF out == done", Lasso((), ("publish",))),
        ("precedence(in == connect & out == ok, out == done)", None),
        ("G(in == connect -> X(in == publish -> out == done))", None),
        ("no_overflow(out == ok, false, 1)", None),
        ("no_overflow(out == done, false, 1)", Lasso(("connect", "publish", "publish"))),
    ],
)
def test_shortest_violations(text, lasso):
    assert find_violation(server(), ltl(text)) == lasso


def test_a_lasso_in_words():
    assert str(Lasso(("a", "b"), ("c",))) == "a b (c)^ω"
    assert str(Lasso((), ("c",))) == "(nothing) (c)^ω"
    assert str(Lasso(("a",))) == "a"


def chain(length):
    """a goes on, b goes back; the last answer is different."""
    table = {}
    for k in range(length):
        table[str(k), "a"] = (str(min(k + 1, length - 1)), "last" if k == length - 1 else "x")
        table[str(k), "b"] = ("0", "x")
    return MealyMachine.from_transitions(table, "0")


def test_the_search_is_linear_in_the_product():
    wanted = ltl("GF out == x")
    costs = [search(chain(n), wanted) for n in (100, 1000)]
    assert [c.lasso for c in costs] == [Lasso(("a",) * (n - 1), ("a",)) for n in (100, 1000)]
    per_state = [c.edges / n for c, n in zip(costs, (100, 1000), strict=True)]
    assert per_state[1] < 1.1 * per_state[0] < 10


def test_the_search_stops_where_the_violation_is():
    found = search(chain(1000), ltl("G(in == a -> X in == a)"))
    assert found.lasso == Lasso(("a", "b")) and found.states < 10


# --- vacuity ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, words",
    [
        ("G(in == publish & out == denied -> F out == done)", "'in == publish & out == denied' never happens"),
        ("precedence(in == connect, out == data)", "'out == data' never happens"),
        ("existence(out == done, after(out == denied))", "'out == denied' never happens"),
        ("absence(out == error, after(out == denied))", "'out == denied' never happens"),
        ("G(in == publish -> (out == denied -> X out == ok))", "'out == denied' never happens"),
        ("G(out != denied | X out == ok)", "'out == denied' never happens"),
        ("!F(out == denied & X out == error)", "'out == denied' never happens"),
        ("in != connect R (out != denied)", "'out == denied' never happens"),
        ("G(in == connect -> out == ok | X true | X out == ok)", None),
        ("F out == ok | G in == publish", None),
        ("response(in == connect, out in {ok, error})", None),
        ("G(in == connect -> out in {ok, error, busy})", None),
        ("G(in == connect -> X(in == publish -> out == done))", None),
        ("G out != crash", None),
    ],
)
def test_triggers_that_never_come(text, words):
    wanted = ltl(text)
    assert find_violation(server(), wanted) is None
    why = vacuity(server(), wanted)
    assert why is None if words is None else words in why


def test_an_input_that_is_always_refused():
    deaf = server(table={("idle", "connect"): ("idle", "error")})
    assert "publish was never accepted" in vacuity(deaf, ltl("G(in == publish -> X out != crash)"))
    why = vacuity(deaf, ltl("G(in == publish & out == done -> X out != crash)"))
    assert "never happens" in why and "publish is always answered error" in why
    assert vacuity(deaf, ltl("G out != crash")) == "the system answers error to every input"
    assert vacuity(deaf, ltl("G out == error")) is None


def test_windows_of_samples_are_no_triggers():
    table = {("s", "i"): ("s", "x>3"), ("s", "j"): ("s", "x<=3")}
    machine = MealyMachine.from_transitions(table, "s")
    assert (
        vacuity(machine, Sampling([parse_stl("always((x > 3) implies (eventually[0:100](x > 3)))")], 1.0).properties[0])
        is None
    )
    high = Sampling([parse_stl("always((x > 9) implies (eventually[0:5](x > 3)))")], 1.0).properties[0]
    assert vacuity(machine, high) == "'x > 9' never happens where 'eventually[0:5](x > 3)' would be asked for"
    nested = "always[0:60](eventually[0:60](not((x > 9) and (x > 3))))"
    assert vacuity(machine, Sampling([parse_stl(nested)], 1.0).properties[0]) is None


def test_of_an_empty_word_nothing_is_known():
    assert first_bad_prefix(ltl("G in == get"), [], [], inputs=["get", "put"]) is None
    assert violates(ltl("G in == get"), [], [], inputs=["get", "put"]) is False


def test_vacuity_of_other_kinds():
    assert "connect" not in (vacuity(server(), ltlf("G(in == connect -> out in {ok, error})")) or "")
    assert "never happens" in vacuity(server(), ltlf("G(out == denied -> X out == ok)"))
    quiet = monitor({"states": {"first": {"out == denied": "second"}, "second": {"out == ok": "bad"}}, "bad": "bad"})
    assert vacuity(server(), quiet) == "the monitor never leaves its first state 'first'"
    busy = monitor({"states": {"first": {"out == ok": "second"}, "second": {"out == denied": "bad"}}, "bad": "bad"})
    assert vacuity(server(), busy) is None
