"""The store across runs: still there, fixed, changed, back again; concurrent writers; files that cannot be read."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.errors import UserError
from bbfalsify.core.events import KnownReplayed
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import parse_profile
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.records.json_files import read_json
from bbfalsify.records.store import State, Store, name_of
from bbfalsify.running.replay import ReplayOutcome, replay
from bbfalsify.systems import FunctionSystem
from tests import heater

SMALL = Options(simulations=220, passes=3, traces=10)


def requirement(stl="always[0:20](T <= 75)", name="R1"):
    return Requirement(name, "", parse_stl(stl, signals=["T", "heat"]))


def weaker(factor):
    """The heater after somebody has worked on it; it keeps its name."""

    def answer(stimulus):
        return {"T": factor * heater_system.open(0).execute(stimulus)["T"]}

    return FunctionSystem(answer, inputs=["heat"], outputs=["T"], name=heater_system.name)


def run(store, box=heater_system, **arguments):
    arguments = {
        "horizon": 20.0,
        "options": SMALL,
        "seed": 1,
        "out": None,
        "requirements": [requirement()],
        **arguments,
    }
    profile = arguments.pop("profile", heater.profile())
    return falsify(box, profile, arguments.pop("requirements"), store=store, **arguments)


def history(store):
    lines = (store / "history.jsonl").read_text().splitlines()
    return [(entry["file"], entry["state"]) for entry in map(json.loads, lines)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled") / "store"
    return folder, run(folder)


@pytest.fixture
def store(filled, tmp_path):
    """A copy of a store after a first run, for tests that change it."""
    folder = tmp_path / "store"
    folder.mkdir()
    for file in filled[0].iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_what_is_found_is_kept_once_and_can_be_replayed(filled):
    folder, result = filled
    entries, problems = Store(folder).read()
    assert problems == [] and {e.counterexample.actions for e in entries} == {c.actions for c in result.counterexamples}
    assert all(e.state is State.OPEN and e.counterexample.system.name == "heater" for e in entries)
    assert all(replay(e.file, heater_system).outcome is ReplayOutcome.SAME for e in entries)
    assert not any(c.known for c in result.counterexamples) and result.known == ()


def test_known_ones_are_replayed_ranked_and_not_found_again(store):
    before = {file.name: file.read_bytes() for file in store.glob("*.json")}
    result = run(store, options=replace(SMALL, simulations=110), seed=7)
    assert len(result.known) == len(before) and {k.outcome for k in result.known} == {"same"}
    keys = [c.actions for c in result.counterexamples]
    assert len(keys) == len(set(keys)) and set(keys) <= set(heater.EXACT)
    assert all(c.known and c.iteration is None and c.traces == 30 for c in result.counterexamples)
    assert {file.name: file.read_bytes() for file in store.glob("*.json")} == before


def test_known_ones_do_not_use_up_the_number_asked_for(tmp_path):
    first = run(tmp_path, options=replace(SMALL, counterexamples=1))
    second = run(tmp_path, options=replace(SMALL, counterexamples=1))
    assert len(first.counterexamples) == 1 and sorted(c.known for c in second.counterexamples) == [False, True]


def test_the_result_does_not_depend_on_the_number_of_workers(store, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for file in store.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    assert run(store, jobs=1).counterexamples == run(other, jobs=2).counterexamples


def test_fixed_is_marked_not_deleted_and_noticed_when_it_comes_back(store):
    files = sorted(store.glob("*.json"))
    fixed = run(store, weaker(0.5))
    assert fixed.outcome is Outcome.NOT_FALSIFIED and {k.outcome for k in fixed.known} == {"fixed"}
    assert sorted(store.glob("*.json")) == files
    assert {e.state for e in Store(store).read()[0]} == {State.FIXED}
    length = len(history(store))
    run(store, weaker(0.5))
    assert len(history(store)) == length  # nothing changed, nothing is written
    again = run(store)
    assert {(k.before, k.outcome) for k in again.known} == {("fixed", "same")}
    assert {e.state for e in Store(store).read()[0]} == {State.OPEN}


def test_what_fails_at_another_moment_has_changed_and_is_kept_as_it_is_now(store):
    """A little less heat: still violated, later; where that is another step, the key is another one."""
    result = run(store, weaker(0.97), options=replace(SMALL, simulations=0))
    assert {k.outcome for k in result.known} <= {"changed", "fixed"} and "changed" in {k.outcome for k in result.known}
    assert result.outcome is Outcome.FALSIFIED and result.counterexamples
    entries = {e.counterexample.actions: e for e in Store(store).read()[0]}
    for found in result.counterexamples:
        entry = entries[found.actions]
        assert entry.state is State.OPEN
        assert entry.counterexample.judgement.first_violation_time == found.first_violation_time
        assert replay(entry.file, weaker(0.97)).outcome is ReplayOutcome.SAME


def test_another_formula_of_the_same_name_is_another_requirement(store):
    result = run(store, requirements=[requirement("always[0:20](T <= 200)")])
    assert result.known == () and any("another formula called R1" in note for note in result.notes)
    assert {e.state for e in Store(store).read()[0]} == {State.OPEN}


def test_another_system_is_not_asked(store):
    other = FunctionSystem(lambda s: {"T": np.zeros(len(s.times))}, inputs=["heat"], outputs=["T"], name="fridge")
    assert run(store, other).known == ()


def test_what_cannot_be_read_is_named_and_left_alone(store):
    first, second, *rest = sorted(store.glob("*.json"))
    first.write_text("{ broken")
    data = read_json(second)
    second.write_text(json.dumps({**data, "format_version": 99}))
    with (store / "history.jsonl").open("a") as file:
        file.write("nonsense\n")
    texts = [first.read_text(), second.read_text()]
    result = run(store)
    assert len(result.known) == len(rest)
    assert sum(note.startswith("store: ") for note in result.notes) == 3
    assert any("not valid JSON" in note for note in result.notes)
    assert any("format_version 99" in note for note in result.notes)
    assert any("history.jsonl:" in note for note in result.notes)
    assert [first.read_text(), second.read_text()] == texts


def test_a_word_that_this_profile_never_does_is_told_but_not_ranked(store):
    text = heater.PROFILE.replace("action: on", "action: heat").replace("{on: 1,", "{heat: 1,")
    result = run(store, profile=parse_profile(text), options=replace(SMALL, simulations=0))
    assert {k.outcome for k in result.known} == {"same"} and result.counterexamples == ()
    assert all("no action on" in k.explanation for k in result.known)
    never_on_twice = (
        heater.PROFILE.replace("locations:", 'locations:\n      Q: {invariant: "x <= 5"}')
        .replace("to: S, action: on,", "to: Q, action: on,")
        .replace("inputs:", '      - {from: Q, to: S, action: off, guard: "x >= 3", update: "x = 0"}\ninputs:')
    )
    result = run(store, profile=parse_profile(never_on_twice), options=replace(SMALL, simulations=0))
    assert result.counterexamples == () and all("never does" in k.explanation for k in result.known)


def test_a_failing_simulation_is_known_where_failing_violates(tmp_path):
    def raising(stimulus):
        answer = heater_system.open(0).execute(stimulus)
        if answer["T"].max() > 75:
            raise RuntimeError("too hot")
        return answer

    box = FunctionSystem(raising, inputs=["heat"], outputs=["T"], name="fragile")
    options = replace(SMALL, counterexamples=2)
    first = run(tmp_path, box, on_failure="violation", options=options)
    second = run(tmp_path, box, on_failure="violation", options=replace(options, simulations=0))
    assert {c.actions for c in second.counterexamples} == {c.actions for c in first.counterexamples}
    third = run(tmp_path, box, options=replace(options, simulations=0))
    assert third.counterexamples == () and all("no violation here" in k.explanation for k in third.known)


def test_the_same_failure_stored_by_many_at_once_is_one_whole_file(filled, tmp_path):
    example = Store(filled[0]).read()[0][0].counterexample
    store = Store.open(tmp_path)

    def keep(number):
        file = store.keep(replace(example, reproduced=3, tries=3 + number % 2))
        store.mark(file, State.OPEN, run=f"run {number}")
        return file

    with ThreadPoolExecutor(8) as threads:
        files = set(threads.map(keep, range(32)))
    assert len(files) == 1 and [p.name for p in tmp_path.iterdir() if p.suffix == ".json"] == [files.pop().name]
    assert len(history(tmp_path)) == 32 and len(Store(tmp_path).read()[0]) == 1


def test_names_are_the_same_for_the_same_failure_only(filled):
    example = Store(filled[0]).read()[0][0].counterexample
    others = [
        replace(example, requirement=replace(example.requirement, id="R2")),
        replace(example, requirement=replace(example.requirement, stl="always(T <= 1)")),
        replace(example, actions=example.actions[:-1]),
        replace(example, system=replace(example.system, name="other")),
    ]
    assert len({name_of(c) for c in [example, *others]}) == 5
    assert name_of(replace(example, tries=9, versions={})) == name_of(example)


def test_an_interrupt_while_the_store_is_replayed_loses_nothing(store):
    def impatient(event):
        if isinstance(event, KnownReplayed):
            raise KeyboardInterrupt

    files = {file.name: file.read_bytes() for file in store.iterdir()}
    result = run(store, listeners=[impatient])
    assert result.stop_reason is StopReason.INTERRUPTED and len(result.known) == 1
    assert [c.probability.method for c in result.counterexamples] == ["not estimated"]
    assert {file.name: file.read_bytes() for file in store.iterdir()} == files


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be a store"):
        run(tmp_path / "file")


def test_a_file_put_in_by_hand_counts_and_is_not_doubled(filled, tmp_path):
    file = next(filled[0].glob("*.json"))
    data = read_json(file)
    del data["system"]["name"]  # as versions before the store wrote it
    (tmp_path / "from_a_colleague.json").write_text(json.dumps(data))
    assert Counterexample.read(tmp_path / "from_a_colleague.json").system.name == ""
    result = run(tmp_path, options=replace(SMALL, simulations=0))
    assert [k.outcome for k in result.known] == ["same"]
    assert [p.name for p in tmp_path.glob("*.json")] == ["from_a_colleague.json"]
