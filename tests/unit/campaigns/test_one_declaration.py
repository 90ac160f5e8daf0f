"""A setting that an engine declares once is found in all five places."""

import importlib.metadata
import inspect
import json
import sys
from importlib.metadata import EntryPoint

import jsonschema
import pytest

from bbfalsify.campaigns.json_schema import schema_of
from bbfalsify.campaigns.plan import load_campaign, plan_document
from bbfalsify.campaigns.settings_tables import settings_table, tables
from bbfalsify.cli import main as command_line
from bbfalsify.cli.new_files import campaign_text
from bbfalsify.core.errors import UserError
from bbfalsify.core.settings import Settings, engine_name, setting
from bbfalsify.examples import example_folder
from bbfalsify.records.documents import Document
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.registry import ENGINES, ENTRY_POINTS, EngineKind

HEATER = example_folder("heater")


class ToySettings(Settings):
    kind: str = engine_name("toy")
    depth: int = setting("Steps of each walk.", default=3, at_least=1, unit="steps")


def run_toy(plan, recording):
    place = RunDirectory.create(recording.out, plan.name)
    place.write_manifest(seed=plan.seed, configuration=recording.configuration)
    results = {
        "engine": "toy", "name": plan.name, "outcome": "inconclusive", "seed": plan.seed, "simulations": 0,
        "requirements": [], "counterexamples": [], "stop_reason": "completed", "run_directory": str(place.path),
        "found_probability": None, "depth": plan.engine.depth,
    }  # fmt: skip
    place.write_results(results)
    return results


TOY = EngineKind("tries nothing", f"{__name__}:ToySettings", f"{__name__}:run_toy", needs=("system",))


@pytest.fixture
def toy(monkeypatch):
    """An engine of another package, named by an entry point."""
    sys.modules.setdefault(__name__, inspect.getmodule(run_toy))
    entry = EntryPoint("toy", f"{__name__}:TOY", ENTRY_POINTS)
    real = importlib.metadata.entry_points
    ours = lambda **which: [entry] if which.get("group") == ENTRY_POINTS else real(**which)  # noqa: E731
    monkeypatch.setattr("importlib.metadata.entry_points", ours)


def planned(**engine):
    data = {"format_version": 1, "system": "system.py:heater", "engine": {"kind": "toy", **engine}, "seed": 1}
    return data, plan_document(Document("c.yaml", data, {}), ENGINES, base=HEATER).runs


def test_as_a_key_of_a_campaign(toy):
    _, runs = planned(depth=[1, 2])
    assert [run.engine.depth for run in runs] == [1, 2] and planned()[1][0].engine.depth == 3
    with pytest.raises(UserError, match="engine.depth must be at least 1; found 0"):
        planned(depth=0)
    with pytest.raises(UserError, match="unknown key 'deepth' in engine.*Did you mean 'depth'"):
        planned(deepth=1)


def test_in_the_json_schema(toy):
    data, _ = planned(depth=2)
    jsonschema.validate(data, schema_of("campaign", ENGINES))
    assert schema_of("campaign", ENGINES)["$defs"]["ToySettings"]["properties"]["depth"]["default"] == 3
    data["engine"]["depth"] = 0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema_of("campaign", ENGINES))


def test_as_an_option_of_the_command_line(toy, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command_line, "COMMANDS", dict(command_line.COMMANDS))
    monkeypatch.setattr(command_line.app, "registered_commands", [*command_line.app.registered_commands])

    def call(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["bbfalsify", "toy", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        captured = capsys.readouterr()
        return ended.value.code, captured.out + captured.err

    monkeypatch.setattr(sys, "argv", ["bbfalsify", "--help"])
    with pytest.raises(SystemExit):
        command_line.main()
    assert "Engines of other packages, each a command: toy." in " ".join(capsys.readouterr().out.split())
    code, shown = call("--help")
    assert code == 0 and "--depth <int>" in shown and "Steps of each walk.  [default: 3]" in shown
    system = ("--system", HEATER / "system.py:heater", "--out", tmp_path, "--json", "--quiet", "--seed", 1)
    code, shown = call(*system, "--depth", 7)
    assert json.loads(shown)["depth"] == 7
    code, shown = call(*system, "--depth", 0)
    assert code == 2 and "--depth must be at least 1; found 0." in shown


def test_in_a_new_campaign(toy, tmp_path):
    text, _ = campaign_text("toy", "pump", str(HEATER / "system.py:heater"), "p.yaml")
    assert "# pump: tries nothing\n" in text and "  # depth: 3\n" in text and "profile:" not in text
    (tmp_path / "c.yaml").write_text(text)
    assert load_campaign(tmp_path / "c.yaml", ENGINES).runs[0].engine.depth == 3
    with pytest.raises(UserError, match="unknown engine 'toi'.*Did you mean 'toy'"):
        campaign_text("toi", "pump", "s", "p")


def test_in_the_checks_of_the_python_api():
    assert ToySettings().depth == 3
    with pytest.raises(UserError, match="depth must be at least 1; found 0"):
        ToySettings(depth=0)


def test_in_the_tables_of_the_manual(toy):
    assert "toy" in tables(ENGINES)
    row = settings_table("toy", ENGINES)[1]
    assert (row.key, row.values, row.default, row.unit) == ("depth", "whole number ≥ 1", "3", "steps")
    assert row.sentence == "Steps of each walk."
    assert all(row.sentence for name in tables(ENGINES) for row in settings_table(name, ENGINES))


def other_engine(monkeypatch, **declared):
    """An engine of another package with this declaration."""
    fields = {"says": "s", "settings": f"{__name__}:ToySettings", "run": f"{__name__}:run_toy", "needs": ("system",)}
    monkeypatch.setattr(sys.modules[__name__], "TOY", EngineKind(**(fields | declared)))


class Unnamed(Settings):
    depth: int = setting("Steps of each walk.", default=3)


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"settings": f"{__name__}:ToySetings"}, "unknown name 'ToySetings' in settings=.*Did you mean 'ToySettings'"),
        (
            {"settings": "no_such:Toy"},
            "a module that is not there, 'no_such', in settings='no_such:Toy'",
        ),
        ({"settings": f"{__name__}:Unnamed"}, r"lack kind: str = engine_name\("),
        ({"needs": ("sistem",)}, "unknown section 'sistem' in needs or ignores of the engine 'toy'.*'system'"),
    ],
)
def test_a_wrong_declaration_of_an_engine_is_named(toy, monkeypatch, declared, says):
    other_engine(monkeypatch, **declared)
    with pytest.raises(UserError, match=says):
        ENGINES.kind("toy")


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ({"abov": 0}, r"unknown keyword 'abov' of setting\(\"Steps.\"\).*Did you mean 'above'"),
        ({"default": [1]}, "a default is a tuple, not a list"),
    ],
)
def test_a_wrong_declaration_of_a_setting_is_named(rules, says):
    with pytest.raises(UserError, match=says):
        setting("Steps.", **rules)
