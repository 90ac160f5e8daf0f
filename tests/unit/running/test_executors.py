"""The same results wherever simulations run; hostile systems stay contained; a task whose process dies is repeated."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import distributed
import pytest

from bbfalsify import check, falsify, reach
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.errors import SystemFailure, UserError
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.examples import example_folder
from bbfalsify.examples.models import named_model
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import load_profile
from bbfalsify.running import Execution
from bbfalsify.running.workers.assignment import Assignment
from bbfalsify.running.workers.executors import open_pool, opened
from bbfalsify.running.workers.remote import task_size
from bbfalsify.systems import load_system
from tests.hostile.hostile_systems import exits, hangs, judge, misbehaving, queries, raises
from tests.hostile.processes import descendants

HEATER = example_folder("heater")


def run(**arguments):
    requirement = Requirement("R1", "", parse_stl("always[0:20](T <= 75)", signals=["T", "heat"]))
    return falsify(
        load_system("system.py:heater", base=HEATER),
        load_profile(HEATER / "profile.yaml"),
        [requirement],
        horizon=20.0,
        options=Options(simulations=220, passes=2, traces=20),
        seed=1,
        out=None,
        **arguments,
    )


def told(result):
    return {**result.as_json(), "seconds": None}


@pytest.fixture(scope="module")
def local():
    return told(run(jobs=2))


@pytest.fixture(scope="module")
def cluster():
    """A real scheduler and two workers on loopback."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
    ) as cluster:
        yield cluster


def test_in_process(local):
    assert told(run(executor="in-process")) == local


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_of_the_standard_library(local, kind):
    more = {"mp_context": get_context("spawn")} if kind is ProcessPoolExecutor else {}
    with kind(2, **more) as executor:
        assert told(run(executor=executor)) == local


@pytest.mark.parametrize(
    ("queries", "seconds_per_query", "tasks"),
    [(200, 0.004, [100, 100]), (200, 0.001, [100, 100]), (201, 0.004, [101, 100]), (3, 10.0, [1, 1, 1]), (1, 0.1, [1])]
    + [(1000, 0.004, [250] * 4), (1000, 0.0061, [125] * 8), (10, None, [4, 4, 2]), (2, None, [1, 1])],
)
def test_tasks_are_few_and_equal(queries, seconds_per_query, tasks):
    """An executor takes milliseconds for each, whatever is in it."""
    size = task_size(queries, 2, seconds_per_query)
    assert [min(size, queries - start) for start in range(0, queries, size)] == tasks


def test_dask_by_its_address(local, cluster):
    assert told(run(executor=f"dask:{cluster.scheduler_address}")) == local


def test_a_dask_worker_that_is_killed_costs_nothing(local, cluster):
    """Killed in the middle of the run; Dask's nanny starts another, its task is repeated, its host goes with it."""
    with opened(Execution(jobs=2, executor=f"dask:{cluster.scheduler_address}")) as where:
        client = distributed.Client(cluster.scheduler_address)
        pids = client.run(os.getpid)
        victim = sorted(pids.values())[0]
        batches, killed, hosts = [], [], []

        def listener(event):
            if type(event).__name__ == "BatchAnswered":
                batches.append(event)
                if len(batches) == 3:
                    hosts.extend(descendants(victim))
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)

        result = told(run(executor=where.executor, listeners=[listener]))
        assert killed and hosts
        assert result == local
        until = time.monotonic() + 30
        while any(_alive(pid) for pid in hosts) and time.monotonic() < until:
            time.sleep(0.05)
        assert not [pid for pid in hosts if _alive(pid)]
        client.close()


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("executor", ["threads", "dask"])
def test_what_misbehaves_is_contained(cluster, executor):
    """One query hangs, one exits, one raises: each costs its own simulation and nothing else."""
    expected = {hangs: SimulationStatus.TIMED_OUT, exits: SimulationStatus.DIED, raises: SimulationStatus.RAISED}
    address = f"dask:{cluster.scheduler_address}"
    with (
        ThreadPoolExecutor(2) as threads,
        opened(Execution(jobs=2, executor=threads if executor == "threads" else address)) as where,
    ):
        for behaviour, status in expected.items():
            pool = open_pool(Assignment(misbehaving(behaviour), judge, replace(where, time_limit=0.5)))
            answers = list(pool.answers(queries([0, 1, 0, 0])))
            pool.close()
            assert [a.status for a in answers] == [
                SimulationStatus.OK, status, SimulationStatus.OK, SimulationStatus.OK
            ]  # fmt: skip


def test_an_executor_that_is_broken_is_named():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        with pytest.raises(BrokenProcessPool):
            executor.submit(os._exit, 1).result()
        with pytest.raises(SystemFailure, match="the executor takes no more tasks: BrokenProcessPool"):
            list(open_pool(Assignment(misbehaving(raises), judge, Execution(executor=executor))).answers(queries([0])))


def test_ctrl_c_reaches_a_run_in_this_process():
    at_work = threading.Event()

    def begins_and_hangs(good):
        at_work.set()
        hangs(good)

    def press():
        at_work.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    pool = open_pool(Assignment(misbehaving(begins_and_hangs), judge, Execution(executor="in-process")))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        list(pool.answers(queries([1])))
    thread.join()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dusk", "executor cannot be 'dusk'. Allowed: local, in-process, dask, dask:ADDRESS. Did you mean 'dask'?"),
        ("dask:tcp://127.0.0.1:1", "there is no Dask scheduler at 'tcp://127.0.0.1:1'"),
    ],
)
def test_executors_that_are_not_there(name, message, monkeypatch):
    client = distributed.Client
    # As it is, but with less patience.
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: client(address, timeout="1s"))
    with pytest.raises(UserError, match=message.replace("?", r"\?")):
        run(executor=name)


def test_checks_and_walks_on_dask_come_to_the_same(cluster, monkeypatch):
    """By its address, as users of Python give it."""
    machine = MealyMachine.from_transitions(
        {("s", "a"): ("t", "x"), ("s", "b"): ("s", "y"), ("t", "a"): ("s", "y"), ("t", "b"): ("t", "x")}, "s"
    )
    address = f"dask:{cluster.scheduler_address}"
    here, there = (
        check(machine, ["G(out != x)", "G(in == b -> out != z)"], max_states=3, seed=1, jobs=2, executor=executor)
        for executor in ("in-process", address)
    )
    assert [r.as_json() for r in here.requirements] == [r.as_json() for r in there.requirements]
    assert (here.queries, here.symbols) == (there.queries, there.symbols)
    monkeypatch.setattr("bbfalsify.running.reach.team.ALONE_S", -1.0)
    network = named_model("fischer-faulty:4")[0]
    asked = {"walks": 220, "timeout": None, "trace": "shortest", "seed": 4, "jobs": 2}
    here, there = (
        reach(network, "A[] (sum (i : id_t) P(i).cs) <= 1", executor=executor, **asked)
        for executor in ("in-process", address)
    )
    assert here.steps == there.steps and (here.found.walks, here.found.steps) == (there.found.walks, there.found.steps)


def test_hosts_that_wait_for_tasks_end_with_the_process_of_the_user():
    code = (
        "from bbfalsify.running.workers import host\nwaiting = host._take()\nhost._idle.append(waiting)\n"
        "print(waiting._process.pid)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", code], capture_output=True, text=True, check=True
    )
    assert "ResourceWarning" not in done.stderr
    assert not Path(f"/proc/{done.stdout.strip()}").exists()
