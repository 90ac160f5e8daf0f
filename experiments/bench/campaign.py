"""What campaigns cost beside their simulations.

    python experiments/bench/campaign.py [--runs 1000] [--simulations 2000] [--repetitions 5]

1. Bookkeeping: many short runs of the heater, once as a campaign (run directories, events, tables, summary), once with
   nothing written; the difference in CPU time per run, and how memory grows from the first tenth to the end.  Files are
   written where TMPDIR says; on ext4 a new file costs up to ten times as much for a minute after many were deleted.
2. Workers: the same simulations of the thermal house by one worker, by two, and on a Dask cluster of two; CPU time of
   all processes together, start-up apart.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
BATCH = 200
WARM = 2 * BATCH


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory_mb() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def bookkeeping(runs: int) -> dict[str, float]:
    """In this process, without workers: forking costs what it costs in both.

    Each run is made twice, recorded and not, one right after the other, so that a busy machine is as busy for both.
    """
    from bbfalsify import load_campaign
    from bbfalsify.campaigns.execute_falsify import run_falsify
    from bbfalsify.campaigns.run_all import run_all
    from bbfalsify.records.recording import Recording
    from bbfalsify.registry import ENGINES
    from bbfalsify.reporting.exports.table_files import write_campaign_tables
    from bbfalsify.reporting.html import write_report

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "campaign.yaml"
        heater = ROOT / "bbfalsify/examples/heater"
        file.write_text(
            f"format_version: 1\nname: short\nsystem: {heater}/system.py:heater\nprofile: {heater}/profile.yaml\n"
            f"requirements: {heater}/specification.yaml\nexecutor: in-process\n"
            "engine: {kind: falsify, horizon: 20, counterexamples: 1, simulations: 44, passes: 1, traces: 5, shrink: 0}"
            "\n"
            f"seed: [{', '.join(map(str, range(runs)))}]\n"
        )
        campaign = load_campaign(file)
        nothing = Recording(None)
        for plan in campaign.runs[:20]:  # what is loaded at first use
            run_falsify(plan, nothing)
        recorded = plain = 0.0
        simulations, memory = 0, []
        began = cpu()
        for number, done in enumerate(run_all(campaign, out=Path(folder) / "runs"), start=1):
            between = cpu()
            run_falsify(done.plan, nothing)
            recorded, began, plain = recorded + between - began, cpu(), plain + cpu() - between
            simulations += done.results["simulations"]
            if number in (max(1, runs // 10), runs):
                memory.append(memory_mb())
        [directory] = (Path(folder) / "runs").iterdir()
        write_campaign_tables(directory)
        write_report(directory, ENGINES)
        recorded += cpu() - began
        memory.append(memory_mb())
        files = [f for f in directory.rglob("*") if f.is_file()]
        events = sum(f.stat().st_size for f in files if f.name == "events.jsonl")
        return {
            "runs": runs,
            "cpu_ms_per_run": 1000 * recorded / runs,
            "bookkeeping_ms": 1000 * (recorded - plain) / runs,
            "memory_mb_after_a_tenth": memory[0],
            "memory_mb_at_the_end": memory[-1],
            "kb_on_disk_per_run": sum(f.stat().st_size for f in files) / runs / 1024,
            "kb_of_events_per_simulation": events / simulations / 1024,
        }


def house(executor: str, jobs: int, simulations: int) -> None:
    """Years of weather as the profile has them, 200 at a time, in a process of its own: what they cost all processes
    together from the third 200 on, when everything is started and its speed is known."""
    import numpy as np

    from bbfalsify import load_campaign
    from bbfalsify.core.query import Query
    from bbfalsify.engines.falsification.usage import Usage
    from bbfalsify.kernel import compile_network, stochastic_walks
    from bbfalsify.running.execution import Execution
    from bbfalsify.running.judge import RequirementsJudge
    from bbfalsify.running.workers.executors import open_pool, opened

    [plan] = load_campaign(ROOT / "experiments/thermal_house/campaign.yaml").runs
    requirements = [planned.requirement for planned in plan.requirements]
    duration = max(r.duration(plan.engine.horizon) for r in requirements)
    usage = Usage(plan.profile, compile_network(plan.profile.network), duration, plan.engine.period)
    with opened(Execution(jobs=jobs, executor=executor)) as where:
        pool = open_pool(plan.system, RequirementsJudge(requirements), where, shared=[usage])
        for first in range(0, WARM + simulations, BATCH):
            if first == WARM:
                before, began = cpu_of_all(), time.monotonic()
                workers_before = cpu_of_all(leaves=True)
            seeds = np.arange(first, first + BATCH, dtype=np.uint64)
            walks = stochastic_walks(usage.model, seeds, until=duration, max_steps=20_000)
            queries = [Query(f"q/{first + i}", usage.draft(walks.walk(i))) for i in range(BATCH)]
            assert all(answer.ok for answer in pool.answers(queries))
        done, cost = first + BATCH - WARM, cpu_of_all() - before
        measured = {
            "ms": 1000 * cost / done,
            "beside": cost / (cpu_of_all(leaves=True) - workers_before) - 1,
            "wall_ms": 1000 * (time.monotonic() - began) / done,
            "start": before,
        }
        pool.close()
    print(json.dumps(measured))


def cpu_of_all(*, leaves: bool = False) -> float:
    """CPU time of this process and of all that it has started and that still live; or of those only that have started
    nothing themselves, which are the workers in which simulations run."""
    from bbfalsify.systems.programs.process_cost import cpu_seconds
    from bbfalsify.systems.programs.process_tree import descendants

    processes = [os.getpid(), *(pid for pid, _ in descendants(os.getpid()))]
    return sum(cpu_seconds(pid) or 0.0 for pid in processes if not leaves or not descendants(pid))


def workers(simulations: int, repetitions: int) -> None:
    """One worker, two, and Dask take turns, so that a busy machine is as busy for all of them."""
    rows: dict[tuple[str, int], list[dict[str, float]]] = {("local", 1): [], ("local", 2): [], ("dask", 2): []}
    for _ in range(repetitions):
        for (executor, jobs), found in rows.items():
            command = [sys.executable, __file__, "--house", executor, str(jobs), str(simulations)]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
            found.append(json.loads(done.stdout))
    beside = {("local", 1): ("local", 1), ("local", 2): ("local", 1), ("dask", 2): ("local", 2)}
    for kind, found in rows.items():
        ratios = [mine["ms"] / other["ms"] - 1 for mine, other in zip(found, rows[beside[kind]], strict=True)]
        middle = {key: statistics.median(row[key] for row in found) for key in found[0]}
        print(
            f"{kind[0]:6} {kind[1]} workers: {middle['ms']:.2f} ms CPU per simulation ({middle['beside']:.1%} more "
            f"than the system takes), {middle['wall_ms']:.2f} ms on the clock, {middle['start']:.1f} s CPU to start; "
            f"than {' '.join(map(str, beside[kind]))}: {statistics.median(ratios):+.1%} CPU "
            f"({min(ratios):+.1%} to {max(ratios):+.1%})"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--house", nargs=3, metavar=("EXECUTOR", "JOBS", "SIMULATIONS"))
    arguments = parser.parse_args()
    if arguments.house:
        executor, jobs, simulations = arguments.house
        return house(executor, int(jobs), int(simulations))
    if arguments.runs:
        kept = bookkeeping(arguments.runs)
        print(
            f"{kept['runs']} short runs: {kept['cpu_ms_per_run']:.1f} ms CPU each, of which bookkeeping "
            f"{kept['bookkeeping_ms']:.1f} ms; {kept['kb_on_disk_per_run']:.0f} KB on disk each, of which events "
            f"{kept['kb_of_events_per_simulation']:.2f} KB per simulation; memory "
            f"{kept['memory_mb_after_a_tenth']:.0f} MB after a tenth, {kept['memory_mb_at_the_end']:.0f} MB at the end"
        )
    if arguments.simulations:
        workers(arguments.simulations, arguments.repetitions)


if __name__ == "__main__":
    main()
