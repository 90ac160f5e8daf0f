"""kill -9 at any moment: what was recorded is continued, and the run ends as if nothing had happened."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.cli.main import main
from bbfalsify.core.events import WalksMade
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.examples.models import named_model
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.records.event_log import read_events
from bbfalsify.records.recording import Recording
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.results.reach_result import ReachResult
from bbfalsify.running import Execution
from bbfalsify.running.query_run import Question, answer_all
from bbfalsify.running.reach.reach_run import ReachRun
from tests import heater
from tests.hostile.processes import descendants, survivors, worker_sessions
from tests.unit.running.test_resume import named

FORK = multiprocessing.get_context("fork")
REQUIREMENT = Requirement("R1", "", parse_stl("always[0:20](T <= 75)", signals=["T", "heat"]))


def run(directory: Path) -> None:
    falsify(
        heater_system,
        heater.profile(),
        [REQUIREMENT],
        horizon=20.0,
        options=Options(simulations=660, passes=5, traces=40),
        seed=1,
        jobs=2,
        directory=directory,
    )


def ranked(directory: Path) -> list:
    """The list as it was stored, without the paths."""
    rows = RunDirectory(directory).read_results()["counterexamples"]
    return [named(row) for row in rows]


def recorded(directory: Path) -> int:
    file = directory / "events.jsonl"
    return file.stat().st_size if file.exists() else 0


def executed(directory: Path) -> list[str]:
    """The names of the simulations on record, sorted."""
    return sorted(
        record["query"]
        for event in read_events(directory / "events.jsonl")
        if event.kind == "BatchAnswered"
        for record in event.data["answers"]
    )


def killed_after(seconds: float | None, target, *arguments, once=lambda: True) -> bool:
    """Call it in a process of its own, which is killed so long (if at all) after `once` has come true; whether it was
    still at work then."""
    child = FORK.Process(target=target, args=arguments)
    child.start()
    while not once() and child.exitcode is None:
        child.join(0.001)
    child.join(seconds)
    at_work = child.exitcode is None
    workers = worker_sessions(child.pid) if at_work else set()
    child.kill()
    child.join()
    assert survivors(workers) == set()
    return at_work


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """The run that nobody interrupts."""
    directory = tmp_path_factory.mktemp("runs") / "whole"
    run(directory)
    return directory


def kill_and_resume(whole: Path, folder: Path, kills: int, seed: int) -> tuple[int, list]:
    """Runs killed at moments spread over the whole run, each resumed; how many were really interrupted."""
    rng, interrupted, lists = np.random.default_rng(seed), 0, []
    for number, amount in enumerate((np.arange(kills) + rng.random(kills)) / kills * recorded(whole)):
        directory = folder / str(number)
        enough = lambda place=directory, amount=amount: recorded(place) >= amount  # noqa: E731
        interrupted += killed_after(0.03 * rng.random(), run, directory, once=enough)
        run(directory)
        lists.append(ranked(directory))
        asked = executed(directory)
        assert len(asked) == len(set(asked))
    assert len(ranked(whole)) == 4
    assert all(found == ranked(whole) for found in lists)
    return interrupted, lists


def test_killed_three_times(whole, tmp_path):
    interrupted, _ = kill_and_resume(whole, tmp_path, kills=3, seed=1)
    assert interrupted >= 1


@pytest.mark.slow
def test_killed_fifty_times(whole, tmp_path):
    interrupted, lists = kill_and_resume(whole, tmp_path, kills=50, seed=2)
    assert len(lists) == 50 and interrupted >= 35


@pytest.mark.slow
def test_one_run_killed_again_and_again_comes_to_its_end(whole, tmp_path):
    """Each session gets a little further, because nothing recorded is executed again."""
    sessions = 0
    while killed_after(0.3 + 0.2 * sessions, run, tmp_path / "again"):
        sessions += 1
        assert sessions < 60
    assert ranked(tmp_path / "again") == ranked(whole)


def search(directory: Path, *listeners: Callable[[object], None]) -> ReachResult:
    """Two workers look for a state that cannot be reached, so they would walk on for an hour."""
    network, family = named_model("fischer:4")
    return answer_all(
        ReachRun,
        network,
        [Question("Q1", "", family.query)],
        about={"example": "fischer:4"},
        settings=ReachSettings(timeout=3600.0),
        seed=1,
        execution=Execution(jobs=2),
        recording=Recording(None, directory, listeners=listeners),
    )


def test_a_killed_search_for_states_leaves_no_worker_and_can_be_resumed(tmp_path):
    child = FORK.Process(target=search, args=(tmp_path / "run",))
    child.start()
    while len(workers := descendants(child.pid)) < 2:
        assert child.exitcode is None
        time.sleep(0.01)
    child.kill()
    child.join()
    assert survivors(workers) == set()

    def interrupt(event: object) -> None:
        if isinstance(event, WalksMade):
            raise KeyboardInterrupt

    assert search(tmp_path / "run", interrupt).stop_reason is StopReason.INTERRUPTED
    kinds = [event.kind for event in read_events(tmp_path / "run" / "events.jsonl")]
    assert kinds.count("RunStarted") == 1 and kinds.count("RunResumed") == 1


# ---------------------------------------------------------------------- a campaign of several runs


def command(folder: Path, *arguments: str) -> None:
    """In a child: the command line, silently."""
    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.argv = ["bbfalsify", *arguments]
    main()


def command_killed_when(happens: Callable[[], bool], folder: Path, *arguments: str) -> None:
    """The child looks itself: whoever looks from outside may look too late, on a busy machine."""

    def watch() -> None:
        while not happens():
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    command(folder, *arguments)


def campaign(folder: Path) -> Path:
    """Four runs, of which the third is slow; without a seed, so that the one drawn has to be remembered."""
    from bbfalsify.examples import example_folder

    text = (example_folder("heater") / "campaign.yaml").read_text()
    for name in ("system.py", "profile.yaml", "specification.yaml"):
        (folder / name).write_text((example_folder("heater") / name).read_text())
    file = folder / "campaign.yaml"
    text = text.replace("seed: 1", "").replace("simulations: 2000", "simulations: [44, 88, 660, 132]")
    file.write_text(text.replace("traces: 100", "traces: 20"))
    return file


def test_finished_runs_of_a_campaign_are_not_run_again(tmp_path, monkeypatch, capsys):
    file = campaign(tmp_path)
    monkeypatch.chdir(tmp_path)

    def in_the_third() -> bool:
        return any(p.stat().st_size > 30_000 for p in tmp_path.glob("runs/*/runs/0003/events.jsonl"))

    child = FORK.Process(target=command_killed_when, args=(in_the_third, tmp_path, "run", str(file), "-q"))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    [directory] = (tmp_path / "runs").iterdir()
    finished = {p: p.stat().st_mtime_ns for p in directory.glob("runs/*/results.json")}
    assert {p.parent.name for p in finished} == {"0001", "0002"}
    monkeypatch.setattr(sys, "argv", ["bbfalsify", "run", str(file), "--resume", "--json", "-q"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, 1), "whether 44 simulations find what is expected is up to the seed"
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [Path(r["run_directory"]).name for r in runs] == ["0001", "0002", "0003", "0004"]
    assert len({r["seed"] for r in runs}) == 1
    assert {p: p.stat().st_mtime_ns for p in finished} == finished
    assert len(list((tmp_path / "runs").iterdir())) == 1
    summary = json.loads((directory / "summary.json").read_text())
    assert [row["outcome"] for row in summary["runs"]] == [run["outcome"] for run in runs]
    # The same campaign, undisturbed, from the same seed.
    seed = runs[0]["seed"]
    monkeypatch.setattr(sys, "argv", ["bbfalsify", "run", str(file), "--seed", str(seed), "--json", "-q"])
    with pytest.raises(SystemExit):
        main()
    again = json.loads(capsys.readouterr().out)["runs"]

    def lists(results):
        return [[(c["actions"], c["probability"], c["robustness"]) for c in r["counterexamples"]] for r in results]

    assert lists(runs) == lists(again)


@pytest.mark.slow
def test_the_thermal_house_killed_at_random_moments_ends_with_the_same_list(tmp_path):
    """A year of weather per simulation, two workers, search, estimates and shrinking: probabilities included."""
    file = Path(__file__).parents[2] / "experiments" / "thermal_house" / "campaign.yaml"
    places = [tmp_path / name for name in ("whole", "killed")]
    for place in places:
        place.mkdir()
    started = time.monotonic()
    assert not killed_after(None, command, places[0], "run", str(file), "-q")
    lasts, rng = time.monotonic() - started, np.random.default_rng(3)
    for share in rng.uniform(0.2, 0.35, size=3):
        assert killed_after(share * lasts, command, places[1], "run", str(file), "--resume", "-q")
    assert not killed_after(None, command, places[1], "run", str(file), "--resume", "-q")
    [whole], [killed] = ([RunDirectory(path) for path in (place / "runs").iterdir()] for place in places)
    assert len(ranked(whole.path)) == 20 and ranked(killed.path) == ranked(whole.path)
    for key in ("found_probability", "simulations", "requirements", "profile_coverage"):
        assert killed.read_results()[key] == whole.read_results()[key]
    kinds = [event.kind for event in read_events(killed.events)]
    assert kinds.count("RunStarted") == 1 and kinds.count("RunResumed") >= 2
    assert executed(killed.path) == executed(whole.path), "no simulation was executed twice"


def test_a_full_disk_ends_the_run_in_words_and_it_goes_on_when_there_is_room(whole, tmp_path):
    """A limit on the size of files fails like a full disk does: in the middle of a line."""
    directory = tmp_path / "again"

    def in_a_small_space():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            run(directory)
        except Exception as error:
            (tmp_path / "error").write_text(f"{type(error).__name__}: {error}")

    child = FORK.Process(target=in_a_small_space)
    child.start()
    child.join()
    said = (tmp_path / "error").read_text()
    assert said.startswith("WritingFailed: ") and "events.jsonl: events cannot be recorded: File too large" in said
    text = (directory / "events.jsonl").read_bytes()
    assert text.endswith(b"\n") and len(text) <= 20_000, "a line that has no room leaves no half of it"
    run(directory)
    assert ranked(directory) == ranked(whole)
