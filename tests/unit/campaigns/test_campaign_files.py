"""What a campaign may say: engines and options are all reachable, the JSON Schema agrees with the reader."""

import copy
import inspect
from datetime import date
from importlib.metadata import EntryPoint
from pathlib import Path

import jsonschema
import pytest
import yaml

from bbfalsify.campaigns.categories import category, worst
from bbfalsify.campaigns.json_schema import schema_of
from bbfalsify.campaigns.plan import plan_document
from bbfalsify.campaigns.requirements.stl import load_requirements
from bbfalsify.campaigns.schema import CAMPAIGN_SECTIONS
from bbfalsify.cli.check import check
from bbfalsify.cli.falsify import falsify
from bbfalsify.cli.options import Session
from bbfalsify.cli.reach import reach
from bbfalsify.cli.session import run_campaign
from bbfalsify.core.engine_kind import EngineKind
from bbfalsify.core.errors import UserError
from bbfalsify.core.settings import Settings, engine_name, keys_of, setting
from bbfalsify.examples import example_folder
from bbfalsify.records.documents import Document
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.registry import ENGINES, ENTRY_POINTS
from bbfalsify.reporting.compare import compare_runs

ROOT = Path(__file__).parents[3]
HEATER = example_folder("heater")
CAMPAIGN = yaml.safe_load((HEATER / "campaign.yaml").read_text())


def read(data) -> None:
    plan_document(Document("c.yaml", data, {}), ENGINES, base=HEATER)


def read_specification(data, folder) -> None:
    file = folder / "s.yaml"
    file.write_text(yaml.safe_dump(data))
    load_requirements(file)


def changed(path, value):
    data = copy.deepcopy(CAMPAIGN)
    *where, last = path
    at = data
    for key in where:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return data


VALID = [
    ((), "seed", [1, 2]),
    ((), "jobs", 2),
    ((), "executor", "dask:tcp://127.0.0.1:8786"),
    ((), "budget", {"simulations": 10}),
    ((), "budget", [{"seconds": 1.5}, {}]),
    ((), "votes", [1, 3]),
    ((), "expected", "inconclusive"),
    ((), "requirements", [{"id": "R2", "stl": "always(T <= 3)", "expected": "error"}, "specification.yaml"]),
    (("engine",), "horizon", [1, 2.5]),
    (("engine",), "max_time", [None, 3]),
    (("engine",), "columns", "d6"),
    (("engine",), "columns", ["d6", "d8"]),
    (("engine",), "adaptive_duration", [True, False]),
]
WRONG = [
    ((), "seed", "one"),
    ((), "seed", -1),
    ((), "seed", []),
    ((), "sead", 1),
    ((), "jobs", 0),
    ((), "jobs", [1, 2]),
    ((), "executor", "dusk"),
    ((), "budget", {"seconds": -1}),
    ((), "budget", {"minutes": 1}),
    ((), "format_version", 2),
    ((), "engine", None),
    ((), "expected", "broken"),
    ((), "on_failure", "violate"),
    ((), "requirements", [{"id": "R1"}]),
    ((), "requirements", []),
    (("engine",), "kind", "falsfy"),
    (("engine",), "kind", None),
    (("engine",), "horizon", -1),
    (("engine",), "horizon", None),
    (("engine",), "columns", ["d7"]),
    (("engine",), "pases", 3),
    (("engine",), "adaptive_duration", "perhaps"),
    (("engine",), "plain_walks", 1.5),
]


@pytest.mark.parametrize(("where", "key", "value"), VALID)
def test_what_the_reader_takes_the_schema_takes(where, key, value):
    data = changed((*where, key), value)
    read(data)
    jsonschema.validate(data, schema_of("campaign", ENGINES))


@pytest.mark.parametrize(("where", "key", "value"), WRONG)
def test_what_the_reader_refuses_the_schema_refuses(where, key, value):
    data = changed((*where, key), value)
    with pytest.raises(UserError):
        read(data)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema_of("campaign", ENGINES))


@pytest.mark.parametrize("file", sorted((ROOT / "experiments").glob("*/*.yaml")), ids=lambda file: file.name)
def test_every_campaign_of_ours_fits_the_schema(file):
    jsonschema.validate(yaml.safe_load(file.read_text()), schema_of("campaign", ENGINES))


def test_specifications_too(tmp_path):
    good = {"format_version": 1, "requirements": [{"id": "R1", "stl": "always(T <= 3)"}]}
    read_specification(good, tmp_path)
    jsonschema.validate(good, schema_of("specification", ENGINES))
    for wrong in ({**good, "requirements": []}, {**good, "engine": 1}, {"format_version": 1}):
        with pytest.raises(UserError):
            read_specification(wrong, tmp_path)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema_of("specification", ENGINES))


def test_the_schema_is_one():
    for what in ("campaign", "specification"):
        jsonschema.Draft202012Validator.check_schema(schema_of(what, ENGINES))


@pytest.mark.parametrize(
    ("command", "only_in_files"),
    [(falsify, {"batch", "fan"}), (check, set()), (reach, set())],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_every_option_of_the_command_line_is_a_key_of_a_campaign(command, only_in_files):
    """And the other way round, but for a few that only a file can give."""
    about_output = {"out", "as_json", "junit", "sarif", "annotations", "quiet", "verbose", "resume"}
    renamed = {"require": "requirements", "accept": "accepted", "symbol": "symbols", "query": "requirements",
               "signal": "signals", "parameter": "parameters",
               "example": "model", "set": "constants"}  # fmt: skip
    options = {renamed.get(name, name) for name in inspect.signature(command).parameters} - about_output
    kind = ENGINES.kind(command.__name__)
    keys = {*CAMPAIGN_SECTIONS, *keys_of(kind.named("settings"))} - set(kind.ignores)
    assert options <= keys
    assert keys - options == {"format_version", "name", "engine", "expected", "kind", "budget", *only_in_files}


def test_every_engine_is_complete():
    for name in ENGINES.names():
        kind = ENGINES.kind(name)
        assert keys_of(kind.named("settings"))["kind"].default == name and kind.says
        for function in ("run", "shown", "page"):
            assert callable(kind.named(function))
        for function in ("files", "compiling", "found", "progress"):
            assert kind.named(function) is None or callable(kind.named(function))
        assert {*kind.needs, *kind.ignores} <= set(CAMPAIGN_SECTIONS)
        assert not {*kind.needs} & {*kind.ignores}


class MineSettings(Settings):
    kind: str = engine_name("mine")
    depth: int = setting("How deep to look.", default=3)


def mine(plan, recording):
    """An engine that says no more than every engine must."""
    place = RunDirectory.create(recording.out, plan.name)
    place.write_manifest(seed=plan.seed, configuration=recording.configuration)
    row = {"id": "M1", "text": "not <3> deep", "outcome": "falsified" if plan.engine.depth == 3 else "not_falsified"}
    results = {
        "engine": "mine", "name": plan.name, "outcome": row["outcome"], "seed": plan.seed, "requirements": [row],
        "counterexamples": [], "stop_reason": "completed", "run_directory": str(place.path), "simulations": 0,
        "found_probability": None, "varies": {},
    }  # fmt: skip
    place.write_results(results)
    return results


def test_an_engine_of_another_package(monkeypatch):
    """Named by an entry point, loaded when a campaign names it; what it does not need may be left out."""
    mine = EngineKind("tries nothing", f"{__name__}:MineSettings", f"{__name__}:mine", needs=("system",))
    monkeypatch.setitem(ENGINES.built_in, "mine", mine)
    data = {"format_version": 1, "system": "system.py:heater", "engine": {"kind": "mine"}, "seed": 1}
    [plan] = plan_document(Document("c.yaml", data, {}), ENGINES, base=HEATER).runs
    assert (plan.engine.kind, plan.engine.depth, plan.profile, plan.requirements) == ("mine", 3, None, ())
    with pytest.raises(UserError, match="unknown key 'deep' in engine.*Did you mean 'depth'"):
        plan_document(Document("c.yaml", {**data, "engine": {"kind": "mine", "deep": 1}}, {}), ENGINES, base=HEATER)


def test_the_results_of_another_packages_engine_are_shown_reported_and_compared(monkeypatch, tmp_path, capsys):
    """With no function of its own to show them."""
    mine = EngineKind("tries nothing", f"{__name__}:MineSettings", f"{__name__}:mine", needs=("system",))
    monkeypatch.setitem(ENGINES.built_in, "mine", mine)
    runs = []
    for depth in (4, 3):
        engine = {"kind": "mine", "depth": depth}
        data = {"format_version": 1, "name": "m", "system": "system.py:heater", "engine": engine, "seed": 1}
        campaign = plan_document(Document("c.yaml", data, {}), ENGINES, base=HEATER)
        assert run_campaign(campaign, Session(out=tmp_path, quiet=True)) == (depth == 3)
        shown = capsys.readouterr().out
        assert ("M1 falsified: not <3> deep" in shown) == (depth == 3) and "seed: 1" in shown
        runs.append(tmp_path / f"m-{date.today().isoformat()}-{len(runs) + 1}")
    assert "not &lt;3&gt; deep" in (runs[1] / "report.html").read_text()
    assert compare_runs(*runs, ENGINES).outcomes == (("M1", "not_falsified", "falsified"),)
    monkeypatch.delitem(ENGINES.built_in, "mine")
    with pytest.raises(UserError, match="results of the engine 'mine', which is not installed here"):
        compare_runs(*runs, ENGINES)


def test_an_engine_that_cannot_be_loaded_is_named(monkeypatch):
    broken = EntryPoint("broken", "no.such.module:kind", ENTRY_POINTS)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **which: [broken])
    assert ENGINES.names() == [*ENGINES.built_in, "broken"]
    with pytest.raises(UserError, match="the engine 'broken' of the package .* cannot be loaded: No module named 'no'"):
        read(changed(("engine", "kind"), "broken"))


@pytest.mark.parametrize(
    ("outcome", "expected", "word"),
    [
        ("falsified", "falsified", "correct"),
        ("not_falsified", "falsified", "wrong"),
        ("falsified", "not_falsified", "wrong"),
        ("inconclusive", "falsified", "unknown"),
        ("inconclusive", "inconclusive", "correct"),
        ("error", "falsified", "error"),
        ("error", "error", "correct"),
        ("falsified", None, None),
    ],
)
def test_categories(outcome, expected, word):
    assert category(outcome, expected) == word


def test_a_run_is_as_good_as_its_worst_requirement():
    assert worst(["correct", None, "unknown"]) == "unknown"
    assert worst(["wrong", "error", "correct"]) == "error"
    assert worst([None]) is None
