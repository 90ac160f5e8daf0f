"""Functions that UPPAAL calls by itself, and strings, which only functions of external libraries take."""

import pytest

from bbfalsify import reach, verify
from bbfalsify.core.errors import UserError
from bbfalsify.modelling import load_network
from bbfalsify.modelling.formats.uppaal import uppaal_text

DECLARED = """int before, after, begun, seen; bool ok = true; chan c; broadcast chan d;
void before_update() { before++; ok = ok && after == before - 1; }
void after_update() { after++; }
void __ON_CONSTRUCT__() { begun = 5; }
void __ON_BEGIN__() { begun = begun * 2; }
"""
MODEL = """
process P() {
  state A, E;
  init A;
  trans A -> A { guard before < 6; sync c!; assign ok = ok && before == after + 1; },
        A -> A { guard before < 6; sync d!; assign ok = ok && before == after + 1; },
        A -> E { guard before >= 6; };
}
process Q() {
  state A;
  init A;
  trans A -> A { sync c?; assign ok = ok && before == after + 1, seen++; },
        A -> A { sync d?; assign ok = ok && before == after + 1, seen++; };
}
system P, Q;
"""
AS_BLOCKS = DECLARED.replace("before_update() { before++; ok = ok && after == before - 1; }", "").replace(
    "void after_update() { after++; }", "after_update { after++ }"
)
AS_BLOCKS = AS_BLOCKS.replace("void \n", "before_update {\n  before++,\n  ok = ok && after == before - 1 }\n")


@pytest.mark.parametrize("declared", [DECLARED, AS_BLOCKS])
def test_updates_are_called_around_each_transition_of_every_kind(tmp_path, declared):
    """Handshakes and broadcasts in any order, and an internal edge at the end."""
    file = tmp_path / "around.xta"
    file.write_text(declared + MODEL)
    assert verify(file, "A[] ok && before == after && begun == 10").verdict == "holds"
    found = verify(file, "E<> P.E && before == 7 && seen == 6")
    assert (found.verdict, len(found.steps)) == ("holds", 7)
    assert reach(file, "E<> P.E && before == 7 && seen == 6", walks=20).found.best is not None


def test_mistakes_in_blocks_have_their_line(tmp_path):
    file = tmp_path / "around.xta"
    file.write_text("int n;\nbefore_update {\n  n = 1,\n  m = 2 }\nprocess P() { state A; init A; }\nsystem P;\n")
    with pytest.raises(UserError, match=r"around.xta:4: .*'m'"):
        load_network(file)


def test_random_initial_values_are_refused(tmp_path):
    file = tmp_path / "begin.xta"
    file.write_text("double n;\nvoid __ON_BEGIN__() { n = random(3); }\nprocess P() { state A; init A; }\nsystem P;\n")
    with pytest.raises(UserError, match="gives no initial values: it draws at random"):
        load_network(file)


def test_strings_are_left_out_with_a_note(tmp_path):
    file = tmp_path / "strings.xta"
    file.write_text('const string path = "a.csv";\nint n = 3;\nprocess P() { state A; init A; }\nsystem P;\n')
    assert load_network(file).initial_integers() == [3]
    notes = uppaal_text(file, []).notes
    assert [(note.line, note.message.split(";")[0]) for note in notes] == [(1, "constants of type string are left out")]


def test_an_index_with_effects_is_evaluated_once(tmp_path):
    """`a[f()] += 5` and as a value; `a[f()]++` gives the old value."""
    file = tmp_path / "once.xta"
    file.write_text("""int a[4] = {1, 2, 3, 4}; int calls; int value;
int f() { calls++; return calls; }
process P() { state A, B; init A;
  trans A -> B { assign a[f()] += 5, value = (a[f()] -= 1), value = value * 10 + a[f()]++; }; }
system P;
""")
    query = "P.B && calls == 3 && a[1] == 7 && a[2] == 2 && a[3] == 5 && value == 24"
    assert verify(file, f"E<> {query}").verdict == "holds"
    assert reach(file, f"E<> {query}", walks=4).found.best is not None
