"""A cluster that goes away ends the run in words, or leaves it to this machine; one of other versions is refused."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from bbfalsify import falsify, reach
from bbfalsify.core.errors import ExecutorLost, UserError
from bbfalsify.core.events import BatchAnswered
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.examples import example_folder
from bbfalsify.examples.models import named_model
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import load_profile
from bbfalsify.records.event_log import read_events
from bbfalsify.running import Execution
from bbfalsify.running.workers import lost_executor
from bbfalsify.running.workers.assignment import Assignment
from bbfalsify.running.workers.executors import open_pool, opened
from bbfalsify.running.workers.lost_executor import Connection, versions_here, watched
from bbfalsify.systems import load_system
from tests.hostile.hostile_systems import judge, misbehaving, queries, raises

HEATER = example_folder("heater")


def run(**arguments):
    return falsify(
        load_system("system.py:heater", base=HEATER),
        load_profile(HEATER / "profile.yaml"),
        [Requirement("R1", "", parse_stl("always[0:20](T <= 75)", signals=["T", "heat"]))],
        horizon=20.0,
        options=Options(simulations=220, passes=2, traces=20),
        seed=1,
        **arguments,
    )


def rows(result):
    return [(row.actions, row.probability) for row in result.counterexamples], result.simulations


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and a worker as processes of their own: (process of the scheduler, its address)."""
    file = tmp_path / "scheduler.json"
    python, quiet = [sys.executable, "-m"], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    where = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"]
    scheduler = subprocess.Popen([*python, "distributed.cli.dask_scheduler", *where, "--port", "0"], **quiet)
    worker = subprocess.Popen(
        [*python, "distributed.cli.dask_worker", *where, "--nthreads", "1", "--no-nanny", "--death-timeout", "5"],
        **quiet,
    )
    try:
        from distributed import Client

        while not file.is_file():
            assert scheduler.poll() is None
            threading.Event().wait(0.05)
        with Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(1, timeout=120)
            address = client.scheduler.address
        yield scheduler, address
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr("bbfalsify.running.workers.executors._CONNECT_S", 1.0)


def killing(scheduler) -> list:
    """Listeners of which one kills the scheduler once some answers are recorded."""

    def listen(event) -> None:
        if isinstance(event, BatchAnswered) and scheduler.poll() is None:
            scheduler.kill()

    return [listen]


def test_a_dead_scheduler_ends_the_run_which_is_then_resumed(cluster, soon, tmp_path):
    scheduler, address = cluster
    whole = run(directory=tmp_path / "whole")
    with pytest.raises(ExecutorLost, match=f"the Dask scheduler at {address} is gone"):
        run(directory=tmp_path / "run", executor=f"dask:{address}", listeners=killing(scheduler))
    last = list(read_events(tmp_path / "run" / "events.jsonl"))[-1]
    assert last.kind == "RunStopped" and last.data["reason"] == "interrupted" and "is gone" in last.data["message"]
    assert rows(run(directory=tmp_path / "run")) == rows(whole)


def test_a_run_goes_on_here_where_that_is_wanted(cluster, soon, tmp_path):
    scheduler, address = cluster
    result = run(
        directory=tmp_path / "run", executor=f"dask:{address}", executor_lost="local", listeners=killing(scheduler)
    )
    assert rows(result) == rows(run(directory=tmp_path / "whole"))
    assert "goes on with workers of this machine" in (tmp_path / "run" / "workers.log").read_text()


def lost_after(tasks: int):
    """An executor of threads that is connected for so many tasks, and then answers nothing any more."""

    class Losing(ThreadPoolExecutor):
        left = tasks

        def submit(self, function, /, *arguments, **more):
            if self.left <= 0:
                return super().submit(threading.Event().wait, 3)  # never a result that counts
            self.left -= 1
            return super().submit(function, *arguments, **more)

    executor = Losing(1)
    return watched(executor, Connection("the cluster", lambda: "running" if executor.left > 0 else "closed"))


def test_walks_of_reach_are_lost_with_their_cluster_or_made_here(monkeypatch):
    monkeypatch.setattr("bbfalsify.running.reach.team.ALONE_S", -1.0)
    monkeypatch.setattr(lost_executor, "LOOK_EVERY_S", 0.05)
    network, family = named_model("fischer:3")
    asked = {"query": family.query, "walks": 330, "timeout": None, "seed": 3}
    alone = reach(network, **asked)
    with lost_after(2) as executor, pytest.raises(ExecutorLost, match="the cluster is gone"):
        reach(network, **asked, executor=executor, jobs=2)
    with lost_after(2) as executor:
        here = reach(network, **asked, executor=executor, jobs=2, executor_lost="local")
    assert (here.found.walks, here.found.steps) == (alone.found.walks, alone.found.steps)


def test_a_cluster_that_is_away_for_a_moment_is_waited_for(monkeypatch):
    states = iter(["running", "connecting", "connecting", "running", "connecting"])
    connection = Connection("it", lambda: next(states))
    assert [connection.is_there for _ in range(4)] == [True, False, False, True]
    monkeypatch.setattr(lost_executor, "PATIENCE_S", -1.0)
    with pytest.raises(ExecutorLost):
        connection.is_there  # noqa: B018


def test_workers_of_other_versions_refuse_to_work(monkeypatch):
    """The run says which versions it has; every worker compares them with its own before it begins."""
    other = {**versions_here(), "numpy": "1.0.0"}
    monkeypatch.setattr("bbfalsify.running.workers.remote.versions_here", lambda: other)
    with ThreadPoolExecutor(1) as executor, pytest.raises(UserError, match=r"has numpy \S+ \(here 1.0.0\)"):
        pool = open_pool(Assignment(misbehaving(raises), judge, Execution(executor=executor)))
        list(pool.answers(queries([0])))


def test_workers_of_other_versions_are_named_when_the_run_begins(cluster, monkeypatch):
    _, address = cluster
    other = {**versions_here(), "bbfalsify": "0.0.1"}
    monkeypatch.setattr("bbfalsify.running.workers.executors.versions_here", lambda: other)
    with pytest.raises(UserError, match=r"tcp://.*the worker on .* has bbfalsify \S+ \(here 0.0.1\): results would"):
        with opened(replace(Execution(), executor=f"dask:{address}")):
            pass
