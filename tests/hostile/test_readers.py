"""Foreign files: bombs that once crashed or filled the memory, and seeded mutations of everything that we read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bbfalsify.automata.mealy import MealyMachine, dot_text, parse_dot
from bbfalsify.core.errors import UserError
from bbfalsify.core.foreign_files import read_text
from bbfalsify.logic.ltl.hoa import hoa
from bbfalsify.logic.ltl.properties import ltl
from bbfalsify.logic.stl.parser import parse_stl
from bbfalsify.modelling import load_network
from bbfalsify.records.documents import parse_yaml
from bbfalsify.records.json_files import read_json
from tests.support.reader_targets import HOA, ROOT, XTA, make_records, targets

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(8)
)

ALIASES = "".join(f"Alias: @a{i} @a{i - 1 if i else ''} & @a{i - 1 if i else ''}\n" for i in range(40))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (LAUGHS, 6, "aliases repeat more than 100000 values"),
        ("a:\n  " + "[" * 100_000, 2, "nested more than 100 levels deep"),
        ("[" * 3000 + "]" * 3000, 1, "nested more than 100 levels deep"),
        ("- " * 5000, 1, "nested more than 100 levels deep"),
        ("a: 1\nuntil: 2026-13-45", 2, "'2026-13-45' is not a valid timestamp (quote it if it is a text)"),
        ("seed: " + "9" * 5000, 1, "a number of 5000 digits; at most 300 are read"),
        ("seed: !!int x", 1, "'x' is not a valid int"),
        ("seed: !!timestamp x", 1, "'x' is not a valid timestamp"),
        ("a: \x00", None, "not valid YAML"),
    ],
)
def test_yaml_that_is_not_worth_building_is_refused_with_its_line(text: str, line: int | None, said: str) -> None:
    with pytest.raises(UserError) as error:
        parse_yaml(text, file="bad.yaml")
    [problem] = error.value.problems
    assert said in problem.message and problem.file == "bad.yaml" and problem.line == line


def test_a_few_aliases_are_read() -> None:
    assert parse_yaml("a: &a [1, 2]\nb: *a\nc: [*a, *a]").data == {"a": [1, 2], "b": [1, 2], "c": [[1, 2], [1, 2]]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"seed": ' + b"9" * 5000 + b"}", "a number of 5000 digits; at most 300 are allowed"),
        (b'{"a": 1,\n "b": }', "not valid JSON: Expecting value."),
        (b'{"a": "\xff"}', "not a text in UTF-8: byte 0xff"),
    ],
)
def test_json_that_cannot_be_read_is_a_message(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(UserError) as error:
        read_json(tmp_path / "x.json")
    assert said in error.value.problems[0].message and error.value.problems[0].file == str(tmp_path / "x.json")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "always[0:20](" + "T" * 300 + " <= 75)"])
def test_names_that_no_file_can_have_are_messages(name: str) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_text(name)
    for target in ("formula", "reference"):
        with pytest.raises(UserError):
            targets()[target](name.encode(), Path())


def test_a_file_that_never_ends_is_cut_off() -> None:
    with pytest.raises(UserError, match="larger than 1 MB"):
        read_text("/dev/zero", largest=1 << 20)


def test_bytes_that_are_no_text_have_a_line(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    with pytest.raises(UserError) as error:
        read_text(tmp_path / "x.yaml")
    assert error.value.problems[0].line == 2


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (parse_stl, "always[0:1e400](x > 1)", "the number 1e400 is too large"),
        (parse_stl, "not " * 1200 + "x > 1", "nested more than 300 levels deep"),
        (ltl, "!" * 1200 + "in == a", "nested more than 150 levels deep"),
        (ltl, "G in == a\x85", "unexpected"),
        (hoa, HOA.replace("States: 2", "States: " + "9" * 5000), "is too large: up to 18 digits are read"),
        (hoa, HOA.replace("[@a]", f"[{'!' * 5000}0]"), "a label is nested too deeply"),
        (
            hoa,
            HOA.replace("--BODY--", f"{ALIASES}--BODY--"),
            "a label of more than 10000 parts or 150 levels",
        ),
    ],
)  # fmt: skip
def test_formulas_and_automata_are_bounded(read, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(text)


@pytest.mark.parametrize("number", ["9" * 5000, "1e999999999", "1.5e-999999999"])
def test_numbers_of_models_are_bounded(tmp_path: Path, number: str) -> None:
    (tmp_path / "x.xta").write_text(XTA.replace("const int N = 3;", f"const int N = 3; double d = {number};"))
    with pytest.raises(UserError, match="too many digits or too large an exponent") as error:
        load_network(tmp_path / "x.xta")
    assert error.value.problems[0].line == 2


def test_names_with_line_breaks_survive_dot() -> None:
    moves = {("s\n0", "a\\"): ("s\n0", 'an "answer"\r\nof two lines'), ("s\n0", "b"): ("s\n0", "\u2028\x0c\\n")}
    machine = MealyMachine.from_transitions(moves, "s\n0", name="m\nm")
    again = parse_dot(dot_text(machine), name=machine.name)
    assert (again.states, again.inputs, again.outputs) == (machine.states, machine.inputs, machine.outputs)


# ---------------------------------------------------------------------- mutations


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    make_records(folder)
    return folder


def fuzz(records: Path, target: str, count: int, place: Path) -> list[str]:
    """Mutations that the reader does not answer cleanly; a crash of its process is one, too."""
    place.write_bytes(bytes(8))
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.reader_fuzzing", records, target, "0", str(count), place],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=3600,
    )
    found = [f"{target}/{f['number']}: {f['what']}" for f in map(json.loads, done.stdout.splitlines())]
    if done.returncode != 0:
        at = int.from_bytes(place.read_bytes(), "little")
        found.append(f"{target}/{at}: the process ended with {done.returncode}: {done.stderr[-2000:]}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("target", sorted(targets()))
def test_four_thousand_mutations_of_every_format_are_read_or_refused(
    records: Path, target: str, tmp_path: Path
) -> None:
    """26 formats, 104,000 inputs: no traceback, no crash, no hang (20 s), at most 500 MB."""
    assert fuzz(records, target, 4000, tmp_path / "place") == []


@pytest.mark.parametrize("target", sorted(targets()))
def test_some_mutations_of_every_format_are_read_or_refused(records: Path, target: str) -> None:
    from tests.support.reader_fuzzing import failures

    assert list(failures(target, range(15), records, lambda number: None)) == []
