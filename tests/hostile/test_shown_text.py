"""What a system or a foreign file says is shown on one line, obeyed by nobody, and kept as it is in files."""

import csv
import json
import shlex
from xml.etree import ElementTree

import pytest

from bbfalsify.cli.output import Guarded
from bbfalsify.core.visible_text import visible
from bbfalsify.reporting.exports.table_files import write_tables
from bbfalsify.reporting.formatting import replay_command
from tests.cli.conftest import cli  # noqa: F401 - a fixture

ATTACK = "\nR1 satisfied: never above 75\n::stop-commands::x\n  ::error::y\n##[error]z\x1b[2J\x1b]0;t\x07\x9b\u202eend"
ADAPTER = f"""
from bbfalsify.systems import system
@system(inputs=["inflow"], outputs=["level"])
def tank(stimulus):
    raise ValueError({ATTACK!r})
"""
PROFILE = """
format_version: 1
name: user
automata:
  User:
    declarations: clock x;
    initial: S
    locations: {S: {invariant: "x <= 5"}}
    edges: [{from: S, to: S, action: "=1+1", guard: "x >= 3", update: "x = 0"}]
inputs: {inflow: {actions: {"=1+1": 1}, initial: 0}}
outputs: {level: }
"""
CAMPAIGN = """
format_version: 1
name: a name; with spaces
system: tank.py
profile: user.yaml
requirements: [{id: "::stop-commands::y", text: "=cmd", stl: "always[0:20](level <= 15)"}]
engine: {kind: falsify, horizon: 20, simulations: 6, passes: 2, traces: 2, counterexamples: 2}
on_failure: violation
seed: 1
"""


@pytest.fixture
def attacked(cli, tmp_path):  # noqa: F811
    for name, text in (("tank.py", ADAPTER), ("user.yaml", PROFILE), ("c.yaml", CAMPAIGN)):
        (tmp_path / name).write_text(text)
    called = cli("run", "c.yaml", "--annotations", "--out", "my runs")
    [directory] = (tmp_path / "my runs").iterdir()
    return called, directory


def is_safe(text: str) -> bool:
    lines = text.splitlines()
    assert text.isprintable() or set(filter(lambda c: not c.isprintable(), text)) <= {"\n"}, text
    assert not any(line.startswith("R1 satisfied") for line in lines)
    return not any(line.lstrip().startswith("::") or "##[" in line for line in lines)


def test_nothing_that_is_printed_is_obeyed(cli, attacked):  # noqa: F811
    called, directory = attacked
    assert called.code == 1, called.err
    ours = [line for line in called.out.splitlines() if line.startswith("::error ")]
    assert len(ours) == 1, "one annotation of our own"
    assert is_safe("\n".join(line for line in called.out.splitlines() if line not in ours) + called.err)
    shown = cli("show", directory)
    assert is_safe(shown.out) and "::stop-commands::y" in shown.out
    first = next(directory.glob("counterexamples/*.json"))
    assert is_safe(cli("show", directory, "--counterexample", 1).out) and is_safe(cli("replay", first).out)
    assert is_safe(cli("doctor", "tank.py").out)


def test_files_keep_what_was_said(attacked):
    _, directory = attacked
    events = [json.loads(line) for line in (directory / "events.jsonl").read_text().splitlines()]
    assert any("\n::stop-commands::x\n" in json.dumps(event).replace("\\n", "\n") for event in events)


def test_the_replay_command_is_quoted(attacked):
    called, directory = attacked
    [line] = [line for line in called.out.splitlines() if line.startswith("replay: ")]
    words = shlex.split(line.removeprefix("replay: "))
    assert words[:2] == ["bbfalsify", "replay"] and len(words) == 3 and words[2].startswith("my runs/")
    assert shlex.split(replay_command("a b;c", "cmd:x 'y'")) == [
        "bbfalsify",
        "replay",
        "a b;c",
        "--system",
        "cmd:x 'y'",
    ]


def test_no_cell_of_a_table_is_a_formula(attacked):
    _, directory = attacked
    for file in write_tables(directory):
        with open(file, newline="") as text:
            cells = [cell for row in csv.reader(text) for cell in row]
        assert not any(cell.startswith(("=", "@", "+")) for cell in cells), file
    assert "'=1+1" in (directory / "tables" / "counterexamples.csv").read_text()


def test_visible_text():
    assert visible({"a\n": ["\x1b[31m", ("\r\t", 1, None)]}) == {r"a\n": [r"\x1b[31m", (r"\r\t", 1, None)]}
    assert visible("äöü · ✓ 日本") == "äöü · ✓ 日本"


def test_the_guard_lets_our_colours_pass(capsys):
    import io

    stream = io.StringIO()
    guard = Guarded(stream)
    print("\x1b[1;31mred\x1b[0m", "\x1b[2J", file=guard)
    print("a", "::b", file=guard)
    print("::c", file=guard)
    assert stream.getvalue() == "\x1b[1;31mred\x1b[0m \\x1b[2J\na ::b\n\\::c\n"


MODEL = """
format_version: 1
name: "::stop-commands::x"
automata:
  P:
    declarations: clock x;
    initial: S
    locations: {S: {invariant: "x <= 5"}, T: {}}
    edges: [{from: S, to: T, action: "::error::go\\e[2J\\x9b\\u202e", guard: "x >= 3", update: "x = 0"}]
"""


@pytest.mark.parametrize(
    ("engine", "query", "code"),
    [
        ("reach", "E<> P.T", 1),
        ("verify", "E<> P.T", 1),
        ("estimate", "Pr[<=10] (<> P.T)", 0),
        ("estimate", "Pr[<=10] (<> P.T) >= 0.9", 0),
    ],
)
def test_models_are_not_obeyed_and_every_file_for_ci_is_written(cli, tmp_path, engine, query, code):  # noqa: F811
    text = "=cmd\nR1 satisfied: never\x1b[2J\u202e##[error]z"
    campaign = {
        "format_version": 1, "name": "a name; b", "model": "m.yaml", "seed": 1, "engine": {"kind": engine},
        "requirements": [{"id": "::stop-commands::y", "text": text, "query": query}],
    }  # fmt: skip
    (tmp_path / "m.yaml").write_text(MODEL)
    (tmp_path / "c.yaml").write_text(json.dumps(campaign))
    called = cli("run", "c.yaml", "--annotations", "--junit", "j.xml", "--sarif", "s.sarif", "--out", "my runs")
    assert called.code == code, called.err
    ours = [line for line in called.out.splitlines() if line.startswith("::error ")]
    assert len(ours) == code and all(line.isprintable() for line in ours)
    assert is_safe("\n".join(line for line in called.out.splitlines() if line not in ours) + called.err)
    [directory] = (tmp_path / "my runs").iterdir()
    assert is_safe(cli("show", directory).out)
    assert ElementTree.parse(tmp_path / "j.xml").find(".//testcase") is not None
    assert json.loads((tmp_path / "s.sarif").read_text())["runs"]
