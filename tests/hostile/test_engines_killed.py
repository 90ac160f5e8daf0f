"""SIGKILL at random moments of every engine: resumed, the run ends with the results of one that nobody disturbed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bbfalsify import check
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.engines.verification.settings import VerifySettings
from bbfalsify.examples.models import named_model
from bbfalsify.records import checkpoint
from bbfalsify.records.recording import Recording
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.running import Execution
from bbfalsify.running.estimate.closed_loop import estimate_use
from bbfalsify.running.estimate.estimate_run import EstimateRun
from bbfalsify.running.query_run import Question, QuestionRun, answer_all
from bbfalsify.running.reach import team
from bbfalsify.running.reach.reach_run import ReachRun
from bbfalsify.running.verify.verify_run import VerifyRun
from tests import heater
from tests.hostile.test_kills import REQUIREMENT, heater_system, killed_after
from tests.hostile.test_kills import run as run_falsify
from tests.support.machines import random_machine

BOX = random_machine(np.random.default_rng(5), states=20, inputs=3, outputs=2)
FORMULAS = ["G(out != no)", "G F in == i0"]


def run_check(directory: Path) -> None:
    check(BOX, FORMULAS, max_states=21, seed=3, jobs=2, directory=directory)


def run_check_within_a_budget(directory: Path) -> None:
    check(BOX, FORMULAS, max_states=23, seed=3, max_queries=500, directory=directory)


def ask_model(kind: type[QuestionRun], example: str, queries: list[str], settings: Any, directory: Path) -> None:
    network, _ = named_model(example)
    questions = [Question(f"Q{number}", "", query) for number, query in enumerate(queries, 1)]
    answer_all(
        kind,
        network,
        questions,
        about={"example": example},
        settings=settings,
        seed=4,
        execution=Execution(jobs=2),
        recording=Recording(None, directory),
    )


def run_reach(directory: Path) -> None:
    settings = ReachSettings(heuristic="portfolio", trace="shortest", timeout=None, walks=2200)
    _, family = named_model("fischer-faulty:6")
    ask_model(ReachRun, "fischer-faulty:6", [family.query, "E<> deadlock"], settings, directory)


def run_verify(directory: Path) -> None:
    """Six processes: with nine, the states for deadlocks exceed the memory, and each run lasts until its timeout."""
    _, family = named_model("fischer:6")
    queries = [family.query, "A[] not deadlock", "E<> P(1).cs"]
    ask_model(VerifyRun, "fischer:6", queries, VerifySettings(heuristic="bfs", walks=0), directory)


def run_estimate(directory: Path) -> None:
    """One answer from the chain, two from simulations."""
    queries = ["P=? [ F<=100 sleep ]", "Pr[<=20] (<> sleep)", "P=? [ !sleep U[0,2.7] sleep ]"]
    settings = EstimateSettings(method="clopper_pearson", runs=20_000)
    ask_model(EstimateRun, "hubble", queries, settings, directory)


def run_estimate_of_use(directory: Path) -> None:
    estimate_use(
        heater_system,
        heater.profile(),
        [REQUIREMENT],
        EstimateSettings(horizon=20, runs=2000, method="wilson"),
        seed=3,
        execution=Execution(jobs=2),
        recording=Recording(None, directory),
    )


RUNS = {
    "falsify": run_falsify,
    "check": run_check,
    "budget": run_check_within_a_budget,
    "reach": run_reach,
    "verify": run_verify,
    "estimate": run_estimate,
    "use": run_estimate_of_use,
}
_PLACES = ("run_directory", "file", "typical", "model", "seconds", "cpu_seconds", "trace", "checksum")


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
            hit = killed_after(lasts * rng.uniform(0.02, 0.9), run, place)
            hits += hit
            lasts *= 1 if hit else 0.7  # measured while the machine was busy
        run(place)
        assert concluded(place) == expected, f"run {number} of seed {seed}"
        assert number < 3 * kills, "the kills come too late"
    assert RunDirectory(folder / "1").finished
    return hits


@pytest.mark.parametrize("engine", [engine for engine in RUNS if engine not in ("falsify", "verify")])
def test_killed_twice(engine, often, tmp_path):
    assert kill_and_resume(RUNS[engine], tmp_path / engine, kills=2, seed=1) == 2


@pytest.mark.slow
@pytest.mark.parametrize("engine", RUNS)
def test_killed_fifteen_times(engine, often, tmp_path):
    """More than a hundred kills over all engines."""
    assert kill_and_resume(RUNS[engine], tmp_path / engine, kills=15, seed=2) == 15
