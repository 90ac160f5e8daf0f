"""What campaigns cost beside their simulations.

    python experiments/bench/campaign.py [--runs 1000] [--simulations 2000]

1. Bookkeeping: many short runs of the heater, once as a campaign (run directories, events, tables, summary), once with
   nothing written; the difference in CPU time per run, and how memory grows from the first tenth to the end.  Files are
   written where TMPDIR says; on ext4 a new file costs up to ten times as much for a minute after many were deleted.
2. Workers: the same simulations of the thermal house by one worker, by two, and on a Dask cluster of two; CPU time of
   all processes together, start-up and simulations apart (the second is the slope between a short run and a long one).
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
BATCH = 200


def cpu(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def memory_mb() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def bookkeeping(runs: int) -> dict[str, float]:
    """In this process, without workers: forking costs what it costs in both.

    Each run is made twice, recorded and not, one right after the other, so that a busy machine is as busy for both.
    """
    from bbfalsify.campaigns.execute import Recording
    from bbfalsify.campaigns.falsifying import run_falsify
    from bbfalsify.campaigns.plan import load_campaign
    from bbfalsify.campaigns.run_all import run_all
    from bbfalsify.reporting.html import write_report
    from bbfalsify.reporting.table_files import write_campaign_tables

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
        nothing = Recording(campaign, None, executor="in-process")
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
        write_report(directory)
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
    """Years of weather as the profile has them, 200 at a time, in a process of its own."""
    import numpy as np

    from bbfalsify.campaigns.plan import load_campaign
    from bbfalsify.core.query import Query
    from bbfalsify.engines.falsification.usage import Usage
    from bbfalsify.kernel import compile_network, stochastic_walks
    from bbfalsify.running.executors import open_pool, opened
    from bbfalsify.running.judging import RequirementsJudge

    [plan] = load_campaign(ROOT / "experiments/thermal_house/campaign.yaml").runs
    requirements = [planned.requirement for planned in plan.requirements]
    duration = max(r.duration(plan.engine.horizon) for r in requirements)
    usage = Usage(plan.profile, compile_network(plan.profile.network), duration, plan.engine.period)
    began = time.monotonic()
    with opened(executor, jobs) as where:
        pool = open_pool(where, plan.system, RequirementsJudge(requirements), jobs=jobs, shared=[usage])
        for first in range(0, simulations, BATCH):
            seeds = np.arange(first, first + BATCH, dtype=np.uint64)
            walks = stochastic_walks(usage.model, seeds, until=duration, max_steps=20_000)
            queries = [Query(f"q/{first + i}", usage.draft(walks.walk(i))) for i in range(BATCH)]
            assert all(answer.ok for answer in pool.answers(queries))
        pool.close()
    print(json.dumps({"simulations": -(-simulations // BATCH) * BATCH, "seconds": time.monotonic() - began}))


def measured(executor: str, jobs: int, simulations: int) -> dict[str, float]:
    """CPU time of the process and of everything it started, also of what outlives it for a moment."""
    before = cpu(resource.RUSAGE_CHILDREN)
    command = [sys.executable, __file__, "--house", executor, str(jobs), str(simulations)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    return {**json.loads(done.stdout), "cpu": cpu(resource.RUSAGE_CHILDREN) - before}


def workers(simulations: int) -> list[dict[str, float]]:
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # orphans become ours, so that their CPU time is counted
    rows = []
    for executor, jobs in (("local", 1), ("local", 2), ("dask", 2)):
        short, long = measured(executor, jobs, 2 * BATCH), measured(executor, jobs, max(simulations, 3 * BATCH))
        slope = (long["cpu"] - short["cpu"]) / (long["simulations"] - short["simulations"])
        start = long["cpu"] - slope * long["simulations"]
        rows.append({"executor": executor, "jobs": jobs, "ms": 1000 * slope, "start": start, **long})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--simulations", type=int, default=2000)
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
        rows = workers(arguments.simulations)
        first, second = rows[0]["ms"], rows[1]["ms"]
        for row, other in zip(rows, (first, first, second), strict=True):
            print(
                f"{row['executor']:6} {row['jobs']} workers: {row['ms']:.3f} ms CPU per simulation "
                f"({row['ms'] / other - 1:+.0%}), {row['start']:.1f} s to start, {row['seconds']:.1f} s in all"
            )


if __name__ == "__main__":
    main()
