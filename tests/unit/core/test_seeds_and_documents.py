import subprocess
import sys

import pytest

from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.core.seeds import SeedTree
from bbfalsify.records.documents import parse_yaml


def test_seeds_depend_on_names_only():
    tree = SeedTree(7)
    assert tree.child("a", 1).word() == tree.child("a").child(1).word()
    assert tree.child("a", 1).word() != tree.child("a", 2).word() != SeedTree(8).child("a", 2).word()
    assert tree.child("ab").word() != tree.child("a", "b").word()
    assert list(tree.child("w").words(3)) == list(tree.child("w").words(5))[:3]
    assert tree.child("x").rng().random() == tree.child("x").rng().random()


def test_seeds_do_not_depend_on_the_hash_seed():
    code = "from bbfalsify.core.seeds import SeedTree; print(SeedTree(3).child('q', 5).word())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": h, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for h in ("1", "2")
    }
    assert outputs == {f"{SeedTree(3).child('q', 5).word()}\n"}


def test_documents_know_the_line_of_every_value():
    document = parse_yaml("a: 1\nb:\n  - x: on\n    y: [1, 2]\ntext: |\n  first\n  second\n", file="f.yaml")
    assert document.data == {"a": 1, "b": [{"x": "on", "y": [1, 2]}], "text": "first\nsecond\n"}
    assert document.line(("b", 0, "y")) == 4 and document.line(("b", 0, "y", "missing")) == 4
    assert document.line(("text",)) == 5 and document.text_line(("text",)) == 6
    assert str(document.problem(("b", 0, "x"), "no.")) == "f.yaml:3: no."


def test_only_true_and_false_are_booleans():
    assert parse_yaml("{a: on, b: no, c: true, off: False}").data == {"a": "on", "b": "no", "c": True, "off": False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "f.yaml:2: key 'a' is given twice (first on line 1)."),
        ("a: [1\n", "f.yaml:2: not valid YAML"),
        ("a: !!python/object/apply:os.system [x]\n", "f.yaml:1:"),
        ("a: !mine 3\n", "f.yaml:1: not allowed"),
        ("", "f.yaml:1: the file is empty."),
        ("a: &x [*x]\n", "f.yaml:1: an anchor refers to itself."),
    ],
)
def test_bad_yaml_is_one_message_with_its_line(text, message):
    with pytest.raises(UserError) as caught:
        parse_yaml(text, file="f.yaml")
    assert str(caught.value).startswith(message)


def test_unknown_names_come_with_the_closest_match():
    problem = unknown_name("signal", "tmp", ["temp", "gate"], file="s.yaml", line=3)
    assert str(problem) == "s.yaml:3: unknown signal 'tmp'. Allowed: gate, temp. Did you mean 'temp'?"
    assert "Did you mean" not in str(unknown_name("signal", "zzz", ["temp"]))
