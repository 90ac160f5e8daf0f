"""A run that is continued: the same end whatever was lost, nothing executed twice, and nothing mixed."""

import json
import os
import shutil
import signal
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, StopReason, Verdict
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.records.event_log import read_events
from bbfalsify.records.recorded_answers import RecordedAnswers
from bbfalsify.records.recording import RunRecord
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.running import Driver, Execution
from bbfalsify.systems import FunctionSystem, system
from tests import heater
from tests.support.recorded import unsealed

SMALL = Options(simulations=220, passes=2, traces=10)


def requirement(stl="always[0:20](T <= 75)"):
    return Requirement("R1", "", parse_stl(stl, signals=["T", "heat"]))


def run(directory, box=heater_system, **arguments):
    settings = {"horizon": 20.0, "options": SMALL, "seed": 1, "requirements": [requirement()], **arguments}
    return falsify(box, heater.profile(), settings.pop("requirements"), directory=directory, **settings)


def named(row):
    """Its files without their folder; also that of what is left of it."""
    shrunk = {} if row.get("shrunk") is None else {"shrunk": named(row["shrunk"])}
    return {**row, **shrunk, "file": os.path.basename(row["file"])}


def told(result) -> dict:
    """All that a run concludes, without how long it took and where it is."""
    data = {**result.as_json(), "seconds": None, "run_directory": None}
    data["counterexamples"] = [named(c) for c in data["counterexamples"]]
    data["modes"] = [{**mode, "typical": os.path.basename(mode["typical"] or "")} for mode in data["modes"]]
    return data


def interrupted(whole, copy, keep):
    """The directory as a kill leaves it: the first `keep` bytes of the record, and no results."""
    shutil.copytree(whole, copy)
    events = copy / "events.jsonl"
    events.write_bytes(events.read_bytes()[:keep])
    shutil.rmtree(copy / "counterexamples")
    shutil.rmtree(copy / "shrunk")
    (copy / "results.json").unlink()
    return copy


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    baseline = smc.SmcOptions(simulations=100)
    return directory, run(directory, baseline=baseline), baseline


@pytest.mark.parametrize("share", [0.0, 0.002, 0.1, 0.45, 0.6, 0.9, 1.0])
def test_whatever_was_lost_the_end_is_the_same(undisturbed, tmp_path, share):
    whole, expected, baseline = undisturbed
    size = (whole / "events.jsonl").stat().st_size
    again = run(interrupted(whole, tmp_path / "again", int(share * size)), baseline=baseline)
    assert told(again) == told(expected)
    assert [f.name for f in RunDirectory(tmp_path / "again").counterexamples()] == [
        f.name for f in RunDirectory(whole).counterexamples()
    ]
    for file in (*RunDirectory(whole).counterexamples(), *(whole / "shrunk").iterdir()):
        assert (tmp_path / "again" / file.relative_to(whole)).read_text() == file.read_text()
    events = list(read_events(tmp_path / "again" / "events.jsonl"))
    assert [e.sequence for e in events] == list(range(len(events)))
    asked = [r["query"] for e in events if e.kind in ("BatchAnswered", "Repeated") for r in e.data["answers"]]
    assert len(asked) == len(set(asked)), "no simulation is recorded twice"
    sessions = ("BatchAnswered", "RunResumed", "RunStopped")
    said = [(e.kind, json.dumps(e.data)) for e in events if e.kind not in sessions]
    assert len(said) == len(set(said)), "nothing is said twice"


def test_what_is_on_record_is_not_executed_again(undisturbed, tmp_path):
    """Zero bytes at the end, as a power failure may leave them, are no record."""
    whole, expected, baseline = undisturbed
    directory = interrupted(whole, tmp_path / "again", None)
    with open(directory / "events.jsonl", "ab") as file:
        file.write(bytes(3000) + b"\n" + bytes(100))

    def never(stimulus):
        raise AssertionError("executed")

    box = FunctionSystem(never, inputs={"heat": "1"}, outputs={"T": "degC"}, name=heater_system.name)
    assert told(run(directory, box, baseline=baseline)) == told(expected)


def test_a_record_is_small(undisturbed):
    whole, result, _ = undisturbed
    assert (whole / "events.jsonl").stat().st_size < 300 * result.simulations


def test_an_interrupted_run_goes_on_with_a_list_of_its_own(undisturbed, tmp_path):
    """Ctrl-C leaves results and files; they are replaced by those of the end."""
    _, expected, baseline = undisturbed
    seen = []

    def stop(event):
        seen.append(type(event).__name__)
        if seen[-1] == "EstimateMade" and seen.count("EstimateMade") == 2:
            os.kill(os.getpid(), signal.SIGINT)

    first = run(tmp_path / "run", baseline=baseline, listeners=[stop])
    assert first.stop_reason is StopReason.INTERRUPTED and first.counterexamples
    assert not RunDirectory(tmp_path / "run").finished
    again = run(tmp_path / "run", baseline=baseline)
    assert told(again) == told(expected) and RunDirectory(tmp_path / "run").finished
    assert len(RunDirectory(tmp_path / "run").counterexamples()) == len(expected.counterexamples)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": 2}, "seed was 1, and is 2 now"),
        ({"horizon": 21.0}, "horizon was 20.0, and is 21.0 now"),
        ({"options": replace(SMALL, traces=11)}, "engine.traces was 10, and is 11 now"),
        ({"requirements": [requirement("always[0:20](T <= 74)")]}, "requirements.R1 was .*75.*and is .*74"),
        ({"on_failure": "violation"}, "on_failure was inconclusive, and is violation now"),
    ],
)
def test_another_run_is_refused_and_nothing_is_touched(undisturbed, tmp_path, change, reason):
    whole, _, baseline = undisturbed
    directory = interrupted(whole, tmp_path / "again", 5000)
    before = {p.name: p.read_bytes() for p in directory.iterdir() if p.is_file()}
    with pytest.raises(UserError, match=f"manifest.json: this run cannot be continued: {reason}"):
        run(directory, **{"baseline": baseline, **change})
    assert {p.name: p.read_bytes() for p in directory.iterdir() if p.is_file()} == before


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("format_version", 0, "a run directory of format 0; this version continues format 1"),
        ("versions", {"numpy": "1.0"}, "numpy was 1.0, and is "),
    ],
)
def test_a_run_of_another_version_is_refused(undisturbed, tmp_path, key, value, reason):
    whole, _, baseline = undisturbed
    directory = interrupted(whole, tmp_path / "again", 5000)
    manifest = RunDirectory(directory).read_manifest()
    (directory / "manifest.json").write_text(json.dumps({**manifest, key: value}))
    with pytest.raises(UserError, match=reason):
        run(directory, baseline=baseline)


def test_a_record_of_other_inputs_is_refused(undisturbed, tmp_path):
    """Same manifest, other questions: as when arithmetic differs between machines."""
    whole, _, baseline = undisturbed
    directory = interrupted(whole, tmp_path / "again", None)
    text = unsealed(directory / "events.jsonl")
    at = text.index('"asked":"') + 9
    (directory / "events.jsonl").write_text(text[:at] + "00000000" + text[at + 8 :])
    with pytest.raises(UserError, match="events.jsonl: this run cannot be continued: it now asks another 'search/1'"):
        run(directory, baseline=baseline)


def test_two_processes_cannot_continue_one_run(undisturbed, tmp_path, monkeypatch):
    monkeypatch.setattr("bbfalsify.records.locks._LOCK_WAIT_S", 0.0)
    whole, _, baseline = undisturbed
    directory = interrupted(whole, tmp_path / "again", 5000)
    with RunDirectory(directory).recorder():
        with pytest.raises(UserError, match=rf"another process \({os.getpid()}\) is still writing"):
            run(directory, baseline=baseline)


# ---------------------------------------------------------------------- the driver's part


def judge(trace):
    value = float(trace.signals["y"][-1])
    return (Judgement(Verdict.VIOLATED if value < 0 else Verdict.SATISFIED, value, 1.0 if value < 0 else np.inf),)


def query(name, value=1.0, **more):
    return Query(name, Stimulus(np.array([0.0, 1.0]), {"x": np.array([value, value])}), **more)


@system(inputs=["x"], outputs=["y"])
def twice(stimulus):
    return {"y": 2 * stimulus.inputs["x"] / 3}


def test_whole_traces_come_back_bit_by_bit(tmp_path):
    directory = RunDirectory.create(tmp_path, "x")
    value = np.nextafter(0.1, 1.0)

    def engine(ask):
        return driver_of[0].rerun([query("a", value, keep_trace=True), query("b", value, keep_trace=True)])

    driver_of = []
    results = []
    for _ in range(2):
        answers = RecordedAnswers(directory.events)
        with directory.recorder(again=answers.events) as recorder:
            with Driver(twice, judge, record=RunRecord(recorder, answers)) as driver:
                driver_of[:] = [driver]
                results.append(engine(driver.ask))
    first, second = results
    for one, two in zip(first, second, strict=True):
        assert one.judgements == two.judgements
        assert one.trace.signals["y"].tobytes() == two.trace.signals["y"].tobytes()
        assert set(two.trace.signals) == {"x", "y"}
    stored = [r for e in read_events(directory.events) if e.kind == "Repeated" for r in e.data["answers"]]
    assert [type(r["outputs"]) for r in stored] == [dict, str], "equal outputs are stored once"


def test_a_limit_of_time_is_reached_at_the_same_simulation(tmp_path):
    """The first session has no time at all after its second batch; the second one has plenty, and stops there too."""
    directory = RunDirectory.create(tmp_path, "x")

    def engine(ask, limits):
        batches = 0
        while not limits(batches):
            ask([query(f"{batches}/{i}") for i in range(3)])
            batches += 1
        return batches

    def over(driver, patience, batches):
        return batches >= 9 or driver.out_of_time(patience(batches))

    counts = []
    for patience in (lambda batches: 0.0 if batches == 2 else 1e9, lambda batches: 1e9):
        answers = RecordedAnswers(directory.events)
        with directory.recorder(again=answers.events) as recorder:
            with Driver(twice, judge, record=RunRecord(recorder, answers)) as driver:
                counts.append(engine(driver.ask, partial(over, driver, patience)))
    assert counts == [2, 2]


def test_votes_that_differed_are_remembered(tmp_path):
    directory = RunDirectory.create(tmp_path, "x")
    notes = []
    for _ in range(2):
        (tmp_path / "count").write_text("0")

        @system(inputs=["x"], outputs=["y"], name="fickle")
        def fickle(stimulus):
            count = int((tmp_path / "count").read_text()) + 1
            (tmp_path / "count").write_text(str(count))
            return {"y": stimulus.inputs["x"] * (1 if count % 3 else 5)}

        answers = RecordedAnswers(directory.events)
        with directory.recorder(again=answers.events) as recorder:
            with Driver(fickle, judge, Execution(votes=3), RunRecord(recorder, answers)) as driver:
                driver.ask([query("a"), query("b")])
        notes.append((driver.poll.notes(), driver.spent.simulations))
    assert notes[0] == notes[1] and "2 of 2 simulations" in notes[0][0][0] and notes[0][1] == 6
    assert (tmp_path / "count").read_text() == "0", "nothing was executed again"


# ---------------------------------------------------------------------- after a power failure


def lost(file):
    file.unlink()


def emptied(file):
    file.write_bytes(b"")


def zeros(file):
    file.write_bytes(bytes(file.stat().st_size))


def cut_off(file):
    file.write_bytes(file.read_bytes()[:-200])


WAYS = [lost, emptied, zeros, cut_off]


@pytest.mark.parametrize("way", WAYS)
def test_a_run_whose_manifest_never_came_to_the_disk_goes_on(undisturbed, tmp_path, way):
    whole, expected, baseline = undisturbed
    directory = interrupted(whole, tmp_path / "again", 20_000)
    recorded = (directory / "events.jsonl").read_bytes()
    way(directory / "manifest.json")
    assert not RunDirectory(directory).begun
    assert told(run(directory, baseline=baseline)) == told(expected)
    assert (directory / "events.jsonl").read_bytes().startswith(recorded[: recorded.rfind(b"\n") + 1])
    assert RunDirectory(directory).read_manifest() == RunDirectory(whole).read_manifest()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", ["results.json", "counterexamples", "shrunk"])
def test_results_that_never_came_to_the_disk_are_made_again_without_a_simulation(undisturbed, tmp_path, what, way):
    whole, expected, baseline = undisturbed
    directory = tmp_path / "again"
    shutil.copytree(whole, directory)
    assert RunDirectory(directory).finished
    way(directory / what if what.endswith(".json") else sorted((directory / what).iterdir())[-1])
    assert not RunDirectory(directory).finished

    def never(stimulus):
        raise AssertionError("executed")

    box = FunctionSystem(never, inputs={"heat": "1"}, outputs={"T": "degC"}, name=heater_system.name)
    assert told(run(directory, box, baseline=baseline)) == told(expected)
    assert RunDirectory(directory).finished
    for folder in ("counterexamples", "shrunk"):
        assert {f.name: f.read_text() for f in (directory / folder).iterdir()} == {
            f.name: f.read_text() for f in (whole / folder).iterdir()
        }


def test_results_of_a_record_without_its_end_do_not_count(undisturbed, tmp_path):
    """Of a campaign, results may reach the disk before the record that they were made from."""
    whole, expected, baseline = undisturbed
    directory = tmp_path / "again"
    shutil.copytree(whole, directory)
    cut_off(directory / "events.jsonl")
    assert not RunDirectory(directory).finished
    assert told(run(directory, baseline=baseline)) == told(expected)
    assert RunDirectory(directory).finished


def test_a_folder_of_other_things_is_no_run_directory(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UserError, match="not a run directory"):
        run(tmp_path)


@pytest.mark.parametrize("named_by_caller", [True, False])
def test_what_must_survive_is_on_disk_before_what_rests_on_it(tmp_path, monkeypatch, named_by_caller):
    """fsync is called as always; here it also notes what it was called for, and what was there by then."""
    waits, really = [], os.fsync

    def fsync(handle):
        path = os.readlink(f"/proc/self/fd/{handle}")
        waits.append((path, {f.name for f in tmp_path.rglob("*") if f.is_file() and f.stat().st_size}))
        really(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    place = {"directory": tmp_path / "runs" / "0001"} if named_by_caller else {"directory": None, "out": tmp_path}
    path = run(**place).directory
    kinds = [os.path.basename(p).split(".")[1] if "." in os.path.basename(p) else p for p, _ in waits]
    first = next(number for number, kind in enumerate(kinds) if kind == "jsonl")
    assert "results.json" not in waits[first][1], "the results come after the record"
    folders = {p for p, _ in waits if os.path.isdir(p)}
    assert {str(path), str(path.parent)} <= folders, "a file is lost without its name"
    if named_by_caller:
        assert len({p for p, _ in waits}) == 3, "what can be made again, nobody waits for"
    else:
        assert kinds.index("manifest") < first and not waits[kinds.index("manifest")][1] & {"events.jsonl"}
        assert "results" in kinds[first:]
