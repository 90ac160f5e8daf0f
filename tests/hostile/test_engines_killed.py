"""SIGKILL at random moments of every engine: resumed, the run ends with the results of one that nobody disturbed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bbfalsify import check
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.examples.models import named_model
from bbfalsify.records import checkpoint
from bbfalsify.records.recording import Recording
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.running import Execution
from bbfalsify.running.query_run import Question, answer_all
from bbfalsify.running.reach import team
from bbfalsify.running.reach.reach_run import ReachRun
from tests.hostile.test_kills import killed_after
from tests.hostile.test_kills import run as run_falsify
from tests.support.machines import random_machine

BOX = random_machine(np.random.default_rng(5), states=20, inputs=3, outputs=2)
FORMULAS = ["G(out != no)", "G F in == i0"]


def run_check(directory: Path) -> None:
    check(BOX, FORMULAS, max_states=21, seed=3, jobs=2, directory=directory)


def run_check_within_a_budget(directory: Path) -> None:
    check(BOX, FORMULAS, max_states=23, seed=3, max_queries=500, directory=directory)


def run_reach(directory: Path) -> None:
    network, family = named_model("fischer-faulty:6")
    answer_all(
        ReachRun,
        network,
        [Question("Q1", "", family.query), Question("Q2", "", "E<> deadlock")],
        about={"example": "fischer-faulty:6"},
        settings=ReachSettings(heuristic="portfolio", trace="shortest", timeout=None, walks=2200),
        seed=4,
        execution=Execution(jobs=2),
        recording=Recording(None, directory),
    )


RUNS = {"falsify": run_falsify, "check": run_check, "budget": run_check_within_a_budget, "reach": run_reach}
_PLACES = ("run_directory", "file", "typical", "model", "seconds", "trace", "checksum")


def conclusion(value: Any) -> Any:
    """Results without how long they took and where they lie."""
    if isinstance(value, dict):
        return {key: conclusion(item) for key, item in value.items() if key not in _PLACES}
    return [conclusion(item) for item in value] if isinstance(value, list) else value


def concluded(directory: Path) -> Any:
    return conclusion(RunDirectory(directory).read_results())


@pytest.fixture
def often(monkeypatch):
    """Checkpoints of searches come often enough to be used, and workers are started at once."""
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.05)
    monkeypatch.setattr(team, "ALONE_S", 0.05)


def kill_and_resume(run: Callable[[Path], None], folder: Path, kills: int, seed: int) -> int:
    """Kill runs one to three times each and let them come to their end; how many kills hit a run at work."""
    rng, hits, number = np.random.default_rng(seed), 0, 0
    folder.mkdir()
    run(folder / "warm")
    started = time.monotonic()
    assert not killed_after(None, run, folder / "whole")
    lasts, expected = time.monotonic() - started, concluded(folder / "whole")
    while hits < kills:
        number += 1
        place = folder / str(number)
        for _ in range(min(kills - hits, int(rng.integers(1, 4)))):
            hits += killed_after(lasts * rng.uniform(0.02, 0.9), run, place)
        run(place)
        assert concluded(place) == expected, f"run {number} of seed {seed}"
        assert number < 3 * kills, "the kills come too late"
    assert RunDirectory(folder / "1").finished
    return hits


@pytest.mark.parametrize("engine", ["check", "budget", "reach"])
def test_killed_twice(engine, often, tmp_path):
    assert kill_and_resume(RUNS[engine], tmp_path / engine, kills=2, seed=1) == 2


@pytest.mark.slow
@pytest.mark.parametrize("engine", RUNS)
def test_killed_fifteen_times(engine, often, tmp_path):
    """Sixty kills over all engines."""
    assert kill_and_resume(RUNS[engine], tmp_path / engine, kills=15, seed=2) == 15
