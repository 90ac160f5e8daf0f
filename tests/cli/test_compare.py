"""What a release manager asks: what is new, what is gone, what moved."""

import json
from pathlib import Path

import pytest

from bbfalsify.automata.mealy import MealyMachine, dot_text
from bbfalsify.records.json_files import read_json
from tests.cli.test_run import falsify


@pytest.fixture
def run(cli, heater) -> Path:
    return Path(falsify(cli, heater, "--json", "-q").json["run_directory"])


def changed(run: Path, name: str, change) -> Path:
    """A copy of a run with other results."""
    data = read_json(run / "results.json")
    change(data)
    copy = run.parent / name
    copy.mkdir()
    (copy / "results.json").write_text(json.dumps(data))
    (copy / "manifest.json").write_text((run / "manifest.json").read_text())
    return copy


def test_the_same_run_twice_has_nothing_new(cli, run):
    same = cli("compare", run, run)
    assert same.code == 0 and same.out.splitlines()[-1] == "nothing is new"
    data = cli("compare", run, run, "--json").json
    assert data["news"] is False and data["runs"][0]["new"] == data["runs"][0]["gone"] == []
    assert all(shift["explained_by_intervals"] for shift in data["runs"][0]["shifts"])


def test_new_gone_and_moved(cli, run):
    rows = json.loads((run / "results.json").read_text())["counterexamples"]

    def without_the_first_and_ten_times_the_second(data):
        del data["counterexamples"][0]
        for part in ("value", "low", "high"):
            data["counterexamples"][0]["probability"][part] *= 10

    other = changed(run, "other", without_the_first_and_ten_times_the_second)
    back = cli("compare", other, run)
    assert back.code == 1
    first, second = ("·".join(rows[i]["actions"]) for i in (0, 1))
    lines = back.out.splitlines()
    assert lines[0].startswith(f"new: R1 {first}, ") and lines[1].startswith("  bbfalsify replay ")
    assert any(line.startswith(f"less probable: R1 {second}, ") and "(× 0.1)" in line for line in lines)
    there = cli("compare", run, other)
    assert there.code == 0 and f"gone: R1 {first}, " in there.out and f"more probable: R1 {second}, " in there.out
    [shift] = [
        s for s in cli("compare", run, other, "--json").json["runs"][0]["shifts"] if s["actions"] == rows[1]["actions"]
    ]
    assert not shift["explained_by_intervals"] and shift["difference"]["low"] > 0


def test_a_requirement_that_fails_only_now_is_news(cli, run):
    def nothing_found(data):
        data["counterexamples"] = data["modes"] = []
        data["requirements"][0] |= {"violation": None, "outcome": "not_falsified", "found_probability": None}

    clean = changed(run, "clean", nothing_found)
    assert cli("compare", run, clean).code == 0
    worse = cli("compare", clean, run)
    assert worse.code == 1 and "R1: not falsified before, falsified now" in worse.out
    assert "new mode: R1 on 4 times" in worse.out


def test_modes_are_compared_by_name(cli, run):
    """One mode hits ten times as often, another is called otherwise; the rows are the same, so nothing is new."""

    def other_modes(data):
        first, second = data["modes"]
        for part in ("value", "low", "high"):
            first["probability"][part] *= 10
        second |= {"name": "on·off", "sentence": "on, then off"}

    often, seldom = (mode["sentence"] for mode in read_json(run / "results.json")["modes"])
    other = changed(run, "other", other_modes)
    called = cli("compare", run, other)
    assert called.code == 0
    lines = called.out.splitlines()
    assert lines[0].startswith("new mode: R1 on, then off, 1 in ")
    assert lines[0].endswith("(its counterexamples were in on×3 before)")
    assert lines[1].startswith(f"gone mode: R1 {seldom}, 1 in ")
    assert lines[1].endswith("(its counterexamples are in on·off now)")
    assert lines[2].startswith(f"more probable mode: R1 {often}, 1 in ") and lines[2].endswith(" now (× 10)")
    modes = cli("compare", run, other, "--json").json["runs"][0]["modes"]
    assert [found["name"] for found in modes["new"]] == ["on·off"] and modes["gone"][0]["elsewhere"] == ["on·off"]
    [shift] = modes["shifts"]
    assert shift["name"] == "on×4" and not shift["explained_by_intervals"] and shift["difference"]["low"] > 0
    same = cli("compare", run, run, "-v").out
    assert f"as before mode: R1 {often}, " in same and "2 failure modes are in both" in same


@pytest.mark.parametrize("how", ["older version", "modes: false"])
def test_runs_without_modes_are_compared_by_their_rows(cli, run, how):
    def no_modes(data):
        data["requirements"][0]["violation"] = None
        data["modes"] = []
        if how == "older version":
            del data["modes"]

    other = changed(run, "other", no_modes)
    for pair in ((run, other), (other, run)):
        called = cli("compare", *pair, "--json")
        assert called.code == 0 and called.json["runs"][0]["modes"] is None and called.json["runs"][0]["shifts"]
        assert "mode" not in cli("compare", *pair).out


def machine(tmp_path: Path, name: str, answer: str, *more: str) -> Path:
    steps = {("idle", "coin"): ("paid", "ok"), ("idle", "button"): ("idle", "no"), ("paid", "coin"): ("paid", "no")}
    steps[("paid", "button")] = ("idle", answer)
    for symbol in more:
        steps |= {(state, symbol): (state, "hm") for state in ("idle", "paid")}
    file = tmp_path / f"{name}.dot"
    file.write_text(dot_text(MealyMachine.from_transitions(steps, "idle", name=name)))
    return file


def test_machines_are_told_apart_by_the_shortest_word(cli, tmp_path):
    coffee, tea = machine(tmp_path, "coffee", "coffee"), machine(tmp_path, "tea", "tea")
    told = cli("compare", coffee, tea)
    assert told.code == 1
    assert told.out.splitlines()[1:] == [
        "they differ after 2 symbols: coin button",
        "  old: ok coffee",
        "  new: ok tea",
    ]
    assert cli("compare", coffee, coffee).code == 0
    more = cli("compare", coffee, machine(tmp_path, "more", "coffee", "sugar"), "--json")
    assert more.code == 1 and more.json["machine"]["only_new_inputs"] == ["sugar"]
    assert more.json["machine"]["word"] is None


def test_what_cannot_be_compared(cli, run, tmp_path):
    missing = cli("compare", tmp_path / "a", tmp_path / "b")
    assert missing.code == 2 and len(missing.problems) == 2
    assert "no results.json" in cli("compare", run, tmp_path).err
    (tmp_path / "campaign.json").write_text('{"runs": []}')
    assert "give one of its runs" in cli("compare", run, tmp_path).err
