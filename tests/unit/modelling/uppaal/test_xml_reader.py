"""XML files of UPPAAL: every part that a model can have, and every complaint with its line in the XML."""

from fractions import Fraction

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import load_model, load_network
from bbfalsify.modelling.formats.uppaal import uppaal_text
from tests.unit.modelling.helpers import after_first_edge, without_lines
from tests.unit.modelling.uppaal.uppaal_files import LINES, problems, read, xml_model

FISCHER = """<?xml version="1.0"?>
<nta>
  <declaration>typedef int[1,3] id_t;
int id;</declaration>
  <template>
    <name>P</name>
    <parameter>const id_t pid</parameter>
    <declaration>clock x; const int k = 2;</declaration>
    <location id="a"/>
    <location id="r"><name>req</name><label kind="invariant">x&lt;=k</label></location>
    <location id="w"><name>wait</name></location>
    <location id="c"><name>cs</name></location>
    <init ref="a"/>
    <transition><source ref="a"/><target ref="r"/>
      <label kind="guard">id== 0</label><label kind="assignment">x = 0</label></transition>
    <transition><source ref="r"/><target ref="w"/>
      <label kind="guard">x&lt;=k</label><label kind="assignment">x=0, id = pid</label></transition>
    <transition><source ref="w"/><target ref="c"/><label kind="guard">x&gt;k &amp;&amp; id==pid</label></transition>
    <transition><source ref="c"/><target ref="a"/><label kind="assignment">id = 0</label></transition>
  </template>
  <system>system P;</system>
  <queries>
    <query><formula>A[] forall (i : id_t) forall (j : id_t) P(i).cs &amp;&amp; P(j).cs imply i == j</formula>
      <comment>mutual exclusion</comment></query>
    <query><formula/><comment/></query><query><formula>/* all of */ // them</formula><comment/></query>
    <query>
      <formula>E&lt;&gt; P(1).cs</formula>
    </query>
  </queries>
</nta>
"""


def test_fischer_becomes_the_network_that_yaml_gives(tmp_path):
    (tmp_path / "fischer.yaml").write_text("""
format_version: 1
name: fischer
dialect: uppaal
declarations: |
  typedef int[1,3] id_t;
  int id;
automata:
  P:
    parameters: const id_t pid
    declarations: clock x; const int k = 2;
    initial: a
    locations: {a: {}, req: {invariant: x <= k}, wait: {}, cs: {}}
    edges:
      - {from: a, to: req, guard: id == 0, update: x = 0}
      - {from: req, to: wait, guard: x <= k, update: "x = 0, id = pid"}
      - {from: wait, to: cs, guard: x > k && id == pid}
      - {from: cs, to: a, update: id = 0}
""")
    (tmp_path / "fischer.xml").write_text(FISCHER)
    expected = without_lines(load_network(tmp_path / "fischer.yaml"))
    assert without_lines(load_network(tmp_path / "fischer.xml")) == expected
    assert [process.name for process in expected.processes] == ["P(1)", "P(2)", "P(3)"]


def test_queries_are_handed_over_with_their_lines(tmp_path):
    (tmp_path / "fischer.xml").write_text(FISCHER)
    _, queries = load_model(tmp_path / "fischer.xml")
    assert [(q.text, q.comment, q.line) for q in queries] == [
        ("A[] forall (i : id_t) forall (j : id_t) P(i).cs && P(j).cs imply i == j", "mutual exclusion", 23),
        ("E<> P(1).cs", "", 27),
    ]
    assert {q.file for q in queries} == {str(tmp_path / "fischer.xml")}


def test_queries_beside_the_model_come_after_those_in_it(tmp_path):
    (tmp_path / "fischer.xml").write_text(FISCHER)
    (tmp_path / "fischer.q").write_text(
        "//This file was generated from (Academic) UPPAAL\n\n/*\nthe second\nprocess\n*/\nE<> P(2).cs // soon\n\n"
        "E<> P(1).cs && \\\n  P(2).wait\nA[] not deadlock"
    )
    _, queries = load_model(tmp_path / "fischer.xml")
    assert [(q.text, q.comment, q.line) for q in queries[2:]] == [
        ("E<> P(2).cs", "the second process", 7),
        ("E<> P(1).cs && P(2).wait", "", 9),
        ("A[] not deadlock", "", 11),
    ]
    assert {q.file for q in queries[2:]} == {str(tmp_path / "fischer.q")}


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("declarations", "int n = m;", "unknown name 'm' in the declaration."),
        ("parameters", "const nothing n", "unknown type 'nothing'."),
        ("local", "clock x\nint n;", "declarations: unexpected 'int' at column 1 of 'int n;'."),
        ("invariant", "y <= 3", "unknown name 'y' in the invariant."),
        ("select", "i : int", "select: 'i' needs a range such as int[0,3], found int."),
        ("guard", "1 <= n", "unknown name 'n' in the guard."),
        ("sync", "go!", "unknown channel 'go'."),
        ("update", "n := 1", "unknown name 'n' in the update."),
        ("system", "system P, Q;", "unknown automaton 'Q'."),
        ("update", "\n\n n := 1", "unknown name 'n' in the update."),
    ],
)
def test_a_mistake_is_named_with_its_line_in_the_xml(tmp_path, part, text, message):
    found = problems(tmp_path, xml_model(**{part: text}))
    further = 1 if part == "local" else text.count("\n")
    assert found == [(LINES[part] + further, message)]


def test_all_mistakes_at_once(tmp_path):
    text = xml_model(guard="n > 1", update="m = 1", invariant="z < 3")
    assert [line for line, _ in problems(tmp_path, text)] == [LINES["invariant"], LINES["guard"], LINES["update"]]


@pytest.mark.parametrize(
    ("declarations", "update", "variable", "value"),
    [
        ("int n;", "n := 3", "n", 3),
        ("int n = 7;", "n++, n += 2, n--", "n", 9),
        ("int a, b;", "a = b = 4", "a", 4),
        ("int a, b = 2;", "a = b++", "a", 2),
        ("int a, b = 2;", "a = ++b", "a", 3),
        ("int n; bool b = 1;", "n = b + 2", "n", 3),
        ("int n; const bool B = 3 > 2;", "n = B ? 5 : 6", "n", 5),
        ("int n = 6; int m;", "m = (n > 5 and not false) or n == 0 ? 1 : 2", "m", 1),
        ("int list[4]; int len = 1;", "list[len++] = 9", "list", [0, 9, 0, 0]),
        ("int n; /* a comment */ // and\n int m = 1;", "n = m /* here */ + 1 // there", "n", 2),
        ("int n; int[-2,5] d;", "n = d <? 3", "n", 0),
        ("double d;", "d = 1.5e1 / 2", "d", Fraction(15, 2)),
        ("const int N = 3; int a[N]; typedef int[0,N-1] i_t; void f() { for (i : i_t) a[i] = i * i; }",
         "f()", "a", [0, 1, 4]),
        ("int s; void f() { int i; for (i = 0, s = 0; i < 4; i++) { if (i == 2) s += 10; else s += i; } }",
         "f()", "s", 14),
        ("int s; void f() { do { s++; } while (s < 5); }", "f()", "s", 5),
        ("int n; const int a[3] = {4, 5, 6};", "n = sum (i : int[0,2]) a[i]", "n", 15),
        ("int n; int a[2] = {1, 2};", "n = forall (i : int[0,1]) a[i] > 0", "n", 1),
        ("meta int n; hybrid clock c;", "n = 1, c = 2", "n", 1),
        ("typedef scalar[4] id_t; id_t s; int n;", "n = s == s ? 1 : 2", "n", 1),
    ],
)  # fmt: skip
def test_the_language(tmp_path, declarations, update, variable, value):
    network = read(tmp_path, xml_model(declarations=declarations, update=update))
    assert after_first_edge(network, variable) == value


def test_integers_are_conditions_as_in_uppaal(tmp_path):
    network = read(tmp_path, xml_model(declarations="int n = 2;", guard="n && !(n - 2)"))
    assert network.as_uppaal
    assert network.processes[0].edges[0].guard is not None


def test_old_guards_are_lists(tmp_path):
    old = read(tmp_path, xml_model(local="clock x, y;", guard="x >= 2, y < f(1,2)", declarations="int f(int a, int b)"
                                   " { return a + b; }"))  # fmt: skip
    new = read(tmp_path, xml_model(local="clock x, y;", guard="x >= 2 && y < f(1,2)", declarations="int f(int a, int b)"
                                   " { return a + b; }"))  # fmt: skip
    assert old.processes[0].edges[0].guard == new.processes[0].edges[0].guard


def test_old_constants_and_parameters(tmp_path):
    text = xml_model(declarations="const N 5, M -2;\nint n;", parameters="const k; int &v", update="v := k + N + M")
    network = read(tmp_path, text.replace("system P;", "Q := P(4, n); system Q;"))
    assert after_first_edge(network, "n") == 7


BRANCHES = """<branchpoint id="b0" x="3" y="3"/>
<transition><source ref="id1"/><target ref="b0"/><label kind="assignment">n = 5</label></transition>
<transition><source ref="b0"/><target ref="id0"/><label kind="probability">3</label>
  <label kind="assignment">n = n + 1</label></transition>
<transition><source ref="b0"/><target ref="id1"/><label kind="probability">N</label></transition>
"""


def test_branch_points(tmp_path):
    network = read(tmp_path, xml_model(declarations="int n; const int N = 7;", more=BRANCHES))
    through = network.processes[0].edges[1]
    assert [(b.target, b.weight.value, len(b.updates)) for b in through.branches] == [(0, 3, 2), (1, 7, 1)]


def test_a_branch_point_that_leads_nowhere_or_on(tmp_path):
    lost = BRANCHES.replace('source ref="b0"', 'source ref="id0"').replace('<label kind="probability">3</label>', "")
    assert problems(tmp_path, xml_model(declarations="int n; const int N = 7;", more=lost)) == [
        (17, "no edge leaves the branch point that this one leads to."),
        (20, "a weight is only allowed on an edge that leaves a branch point."),
    ]
    guarded = BRANCHES.replace('kind="assignment">n = n + 1', 'kind="guard">n == 1')
    assert problems(tmp_path, xml_model(declarations="int n; const int N = 7;", more=guarded)) == [
        (19, "an edge that leaves a branch point has no guard; put it on the edge that leads there."),
    ]


def test_kinds_of_locations(tmp_path):
    more = (
        '<location id="u"><urgent/></location><location id="c"><committed/><urgent/></location>'
        '<location id="e"><name>E</name><label kind="exponentialrate">1:4</label></location>'
        '<location id="s"><name>S</name><label kind="invariant">forall (i : int[0,1]) c[i]\' == i &amp;&amp; '
        "d' == 2 - d &amp;&amp; d &lt;= 9</label></location>"
    )
    locations = read(tmp_path, xml_model(declarations="clock c[2], d;", more=more)).processes[0].locations
    by_name = {location.name: location for location in locations}
    assert by_name["u"].urgent
    assert by_name["c"].committed
    assert not by_name["c"].urgent
    assert by_name["E"].exponential_rate.value == Fraction(1, 4)
    assert sorted(rate.slot for rate in by_name["S"].rates) == [0, 1, 2]
    assert by_name["S"].invariant is not None


def test_channels(tmp_path):
    declarations = "chan a; broadcast chan b[2]; urgent chan u; urgent broadcast chan w; typedef broadcast chan bc;"
    network = read(tmp_path, xml_model(declarations=declarations + "bc c;", sync="b[1]?"))
    assert [(c.name, c.broadcast, c.urgent) for c in network.channels] == [
        ("a", False, False), ("b[0]", True, False), ("b[1]", True, False), ("u", False, True), ("w", True, True),
        ("c", True, False),
    ]  # fmt: skip
    assert network.processes[0].edges[0].channel == 2


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("declarations", "dynamic Q(int n);",
         "dynamic templates are not supported; declare as many instances as can live at once, with a location in "
         "which they wait to be spawned."),
        ("declarations", 'import "lib.so" { int f(int n); };',
         "functions of external libraries are not supported; write them in the model's own language."),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_refused_by_name(tmp_path, part, text, message):
    found = problems(tmp_path, xml_model(**{part: text}))
    assert (LINES[part], message) in found


def test_what_changes_nothing_is_noted(tmp_path):
    system = "system P;\nprogress { n; }\ngantt { G: n -> 1; }"
    text = xml_model(declarations="int n;", system=system, more='<transition controllable="false"><source ref="id1"/>'
                     '<target ref="id0"/><label kind="testcode">x</label></transition>')  # fmt: skip
    read(tmp_path, text)
    notes = uppaal_text(tmp_path / "model.xml", []).notes
    assert [(note.line, note.message) for note in notes] == [
        (16, "test code is left out."),
        (16, "uncontrollable edges (of games) are read like all others."),
        (18, "progress measures steer another tool's search; they are left out."),
        (19, "the Gantt chart is left out."),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("<nta>\n<declaration></nta>", 2, "not valid XML: mismatched tag."),
        ("<nta>\n<declaration>x < 3</declaration></nta>", 2, "not valid XML: not well-formed (invalid token)."),
        ("", 1, "not valid XML: no element found."),
        ("<html/>", 1, "an UPPAAL model begins with <nta>, found <html>."),
        ("<nta><template><name>P</name><location id='a'/></template><system>system P;</system></nta>", 1,
         "template 'P' has no initial location."),
        ("<nta>\n<template><name>P</name><location id='a'/><init ref='b'/></template><system>system P;</system></nta>",
         2, "unknown location 'b'."),
        ("<nta><template><name>P</name><location id='a'/><init ref='a'/></template></nta>", 1,
         "the line 'system …;' is missing: it names the processes of the model."),
        ("<nta><lsc/><template><name>P</name><location id='a'/><init ref='a'/></template><system>system P;</system>"
         "</nta>", 1,
         "live sequence charts are not supported; draw the scenario as a template with an error location."),
        ("<nta><template><name>P</name><location id='a'/><location id='a'/><init ref='a'/></template><system>system P;"
         "</system></nta>", 1, "there are two locations with the id 'a'."),
        ("<nta><template><name>P</name><location id='a'><label kind='colour'>1</label></location><init ref='a'/>"
         "</template><system>system P;</system></nta>", 1, "unknown kind of label 'colour'."),
        ("<nta><template><name>P</name><location id='a'/><init ref='a'/><transition><source ref='a'/></transition>"
         "</template><system>system P;</system></nta>", 1, "the transition has no target."),
    ],
)  # fmt: skip
def test_broken_files(tmp_path, text, line, message):
    assert problems(tmp_path, text) == [(line, message)]


BOMB = """<?xml version="1.0"?>
<!DOCTYPE nta [
<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<nta><declaration>&b;</declaration></nta>"""
OUTSIDE = """<?xml version="1.0"?>
<!DOCTYPE nta [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<nta><declaration>&a;</declaration></nta>"""


@pytest.mark.parametrize("text", [BOMB, OUTSIDE])
def test_entities_are_not_read(tmp_path, text):
    found = problems(tmp_path, text)
    assert [message for _, message in found] == [
        "the file declares entities; they are not read. Write out what they stand for."
    ]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="there is no such file"):
        load_model(tmp_path / "no.xml")


def test_int_alone_has_the_range_that_uppaal_gives_it(tmp_path):
    network = read(tmp_path, xml_model(declarations="int n; int[,5] m; clock x;", update="n = m", guard="x < n"))
    assert (network.variable("n").low, network.variable("n").high) == (-32768, 32767)
    assert (network.variable("m").low, network.variable("m").high) == (-32768, 5)
    (update,) = network.processes[0].edges[0].branches[0].updates
    assert (update.low, update.high) == (-32768, 32767)
    assert network.largest_constant == 0  # nobody chose 32767


def test_costs(tmp_path):
    network = read(tmp_path, xml_model(declarations="int n;", update="n = 1, cost += 3", invariant="cost' == 2"))
    process = network.processes[0]
    assert (process.edges[0].cost.value, process.locations[0].cost_rate.value) == (3, 2)
    assert len(process.edges[0].branches[0].updates) == 1
