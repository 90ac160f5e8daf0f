"""What comes from files and from systems is data: it is never executed, never leads out of its folder, never tells."""

from __future__ import annotations

import ast
import os
from contextlib import suppress
from pathlib import Path

import pytest

from bbfalsify.running import Driver
from bbfalsify.systems import load_system
from bbfalsify.systems.servers.server import free_port
from tests.cli.conftest import cli  # noqa: F401 - a fixture

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / "bbfalsify").rglob("*.py"))
ADAPTERS = sorted((ROOT / "adapters").rglob("*.py"))


HARMLESS = {"Element", "ParseError", "escape", "quoteattr", "SubElement", "indent", "tostring"}
"""Names of the standard library's XML that read nothing."""


def test_nothing_is_evaluated_and_no_shell_is_called():
    """No eval, exec or compile; no os.system, os.popen or shell=True; no loader of YAML or XML that could do more."""
    executing = {"eval", "exec", "compile"}
    shells = {("os", "system"), ("os", "popen"), ("subprocess", "getoutput"), ("subprocess", "getstatusoutput"),
              ("yaml", "load"), ("yaml", "unsafe_load"), ("yaml", "full_load")}  # fmt: skip
    for file in (*FILES, *ADAPTERS):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            place = f"{file}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Call):
                function = node.func
                assert not (isinstance(function, ast.Name) and function.id in executing), place
                if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                    assert (function.value.id, function.attr) not in shells, place
                assert not any(k.arg == "shell" for k in node.keywords), place
            elif isinstance(node, ast.Import):
                assert not any(name.name.split(".")[0] == "xml" for name in node.names), f"{place}: use defusedxml"
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "xml":
                assert {name.name for name in node.names} <= HARMLESS, f"{place}: use defusedxml"


PROFILE = """
format_version: 1
name: ../../../evil
automata:
  User:
    declarations: clock x;
    initial: S
    locations: {S: {invariant: "x <= 5"}}
    edges:
      - {from: S, to: S, action: "../../../../evil", guard: "x >= 3", update: "x = 0"}
      - {from: S, to: S, action: "$(touch${IFS}spoiled)", guard: "x >= 4", update: "x = 0"}
inputs:
  inflow: {actions: {"../../../../evil": 0, "$(touch${IFS}spoiled)": 1}, initial: 0}
outputs: {level: }
"""
PROGRAM = """
import os, sys
from bbfalsify.systems.programs.serve import serve

def run(times, inputs):
    token = os.environ["TANK_LICENSE"]
    print("connecting with", token, file=sys.stderr)
    if inputs["inflow"].count(1.0) > 40:
        raise ValueError(f"{token} was refused")
    return {"level": [sum(inputs["inflow"][:i]) for i in range(len(times))]}

serve(name="tank", inputs={"inflow": None}, outputs={"level": None}, run=run)
"""
ADAPTER = """
import sys
from bbfalsify.systems import ProcessSystem
system = ProcessSystem([sys.executable, "tank.py"], folder=__file__.rpartition("/")[0], secrets=["TANK_LICENSE"],
                       inputs=["inflow"], outputs=["level"])
"""


def test_names_are_only_names_and_secrets_stay_secret(cli, tmp_path, monkeypatch):  # noqa: F811
    """A run whose names are paths and commands, and whose program tells its secret whenever it can."""
    monkeypatch.setenv("TANK_LICENSE", "s3same-open-8")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    work = tmp_path / "a" / "b" / "c"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    (work / "user.yaml").write_text(PROFILE)
    (work / "tank.py").write_text(PROGRAM)
    (work / "tank_adapter.py").write_text(ADAPTER)
    (work / "campaign.yaml").write_text(
        "format_version: 1\nname: '../../evil; touch spoiled'\nsystem: tank_adapter.py\nprofile: user.yaml\n"
        "requirements: [{id: \"../../evil'; touch spoiled #\", stl: 'always[0:20](level <= 15)'}]\n"
        "engine: {kind: falsify, horizon: 20, simulations: 40, passes: 2, traces: 10, counterexamples: 5}\n"
        "on_failure: violation\nseed: 1\n"
    )
    called = cli("run", "campaign.yaml")
    assert called.code == 1, called.err
    known = {"user.yaml", "tank.py", "tank_adapter.py", "campaign.yaml", "runs", "__pycache__"}
    assert {p.name for p in work.iterdir()} <= known and sorted(p.name for p in tmp_path.iterdir()) == ["a"]
    [folder] = (work / "runs").iterdir()
    written = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert any(p.parent.name == "counterexamples" for p in written)
    assert all(b"s3same" not in data for data in written.values())
    assert "s3same" not in called.out + called.err
    assert b"connecting with ***" in written[folder / "workers.log"]
    assert any(b"*** was refused" in data for p, data in written.items() if p.name == "events.jsonl")


TELLING = """
import json, os, sys, urllib.parse
from bbfalsify.systems.programs.serve import serve

token = os.environ["DOOR_TOKEN"]
FORMS = {"plain": token, "url": urllib.parse.quote(token), "repr": repr(token), "json": json.dumps({"token": token})}

def step(symbol):
    if symbol == "raise":
        raise ValueError("x" * 480 + token)
    return FORMS[symbol]

serve(name="door", alphabet=[*FORMS, "raise"], reset=lambda: None, step=step)
"""


def test_no_answer_tells_a_secret(cli, tmp_path, monkeypatch):  # noqa: F811
    """A secret with quotes and letters beyond ASCII, in answers, errors, the machine, the report and on the screen."""
    token = 'Grüße "zqx" \\o/'
    monkeypatch.setenv("DOOR_TOKEN", token)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "door.py").write_text(TELLING)
    (tmp_path / "a.py").write_text(
        "import sys\nfrom bbfalsify.systems import ProcessSymbolSystem\n"
        "system = ProcessSymbolSystem([sys.executable, 'door.py'], folder=__file__.rpartition('/')[0], "
        "secrets=['DOOR_TOKEN'])\n"
    )
    called = cli("check", "--system", "a.py", "--max-states", 2, "--require", "G(out != '***')", "--seed", 1)
    assert called.code == 1, called.err
    [folder] = (tmp_path / "runs").iterdir()
    everything = {p.name: p.read_text(errors="replace") for p in folder.rglob("*") if p.is_file()}
    everything["the screen"] = called.out + called.err
    assert {"events.jsonl", "observations.jsonl", "results.json", "report.html"} <= everything.keys()
    for name, text in everything.items():
        for part in ("Gr\u00fc", "Gr\\u00fc", "Gr%C3", "Gr\\xfc", "zqx"):
            assert part not in text, (name, part)
    assert any("***" in text for text in everything.values())


@pytest.mark.parametrize("adapter", ["mosquitto", "smtp", "ftp"])
def test_servers_listen_on_loopback_only(adapter):
    system = load_system(f"adapters/{adapter}", base=ROOT)
    system.prepare()
    try:
        inodes = set()
        for link in Path(f"/proc/{system.server.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # a connection that has just been closed
                inodes.add(os.readlink(link).removeprefix("socket:[").rstrip("]"))
        addresses = set()
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                columns = line.split()
                if columns[3] == "0A" and columns[9] in inodes:
                    addresses.add(columns[1].split(":")[0])
        assert addresses == {"0100007F"}, "127.0.0.1"
    finally:
        system.close()


def test_free_ports_are_those_of_loopback():
    import socket

    with socket.create_server(("127.0.0.1", free_port())) as door:
        assert door.getsockname()[0] == "127.0.0.1"


def test_a_word_with_commands_in_it_is_a_word(tmp_path):
    """Symbols reach a server as bytes of its protocol, not a shell; unknown ones do not reach it at all."""
    from bbfalsify.core.errors import UserError
    from bbfalsify.core.query import WordQuery
    from bbfalsify.systems.symbols import check_word

    (tmp_path / "m.dot").write_text('digraph g {\na -> a [label="$(touch spoiled)/`touch spoiled`"];\n}')
    system = load_system("m.dot", base=tmp_path)
    with Driver(system, None) as driver:
        [answer] = driver.ask([WordQuery("w", ("$(touch spoiled)",))])
    assert answer.symbols == ("`touch spoiled`",)
    with pytest.raises(UserError, match="unknown input symbol"):
        check_word(system, ("; touch spoiled",))
    assert [p.name for p in tmp_path.iterdir()] == ["m.dot"]
