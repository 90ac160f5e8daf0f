"""What a falsifier itself costs per simulation: bbfalsify beside psy-taliro, on a system that does nothing.

    python experiments/bench/overhead.py [--simulations 2000] [--jobs 1] [--repeat 3]

The system returns its input.  bbfalsify: random walk over the heater's user profile, stimulus, worker process, border
check, monitor (verdict, robustness, violation time), record in events.jsonl.  psy-taliro: uniform random control
points, interpolation, its RTAMT specification in discrete time.  CPU time of this process and its workers in
milliseconds per simulation, best of several repetitions; the start of the workers is counted, compiling (once, then
cached) is not.  Without psy-taliro (`pip install bbfalsify[bench]`) its columns are empty.  Targets: under 0.5 ms at
101 samples and under 2 ms at 1,001.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np
from arguments import whole_numbers

from bbfalsify.core.query import Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus
from bbfalsify.engines.falsification.search.accelerator import CYCLE
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage
from bbfalsify.kernel import accelerated_walks, compile_network
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import load_profile
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.recording import RunRecord
from bbfalsify.running import Driver, Execution, RequirementsJudge
from bbfalsify.systems import FunctionSystem

DURATION = 20.0
FORMULA = "always[0:20](T <= 75)"
BATCH = 44


def cpu_seconds() -> float:
    """Of this process and of all its children that have ended."""
    return sum(os.times()[:4])


def idle_box(stimulus: Stimulus) -> dict[str, np.ndarray]:
    return {"T": stimulus.inputs["heat"]}


def ours(samples: int, simulations: int, jobs: int) -> tuple[float, float]:
    """CPU milliseconds and bytes of record per simulation."""
    profile = load_profile(str(files("bbfalsify.examples") / "heater" / "profile.yaml"))
    usage = Usage(profile, compile_network(profile.network), DURATION, DURATION / (samples - 1))
    judge = RequirementsJudge([Requirement("R1", "", parse_stl(FORMULA, signals=["T"]))])
    judge.warm_up()
    system = FunctionSystem(idle_box, inputs=["heat"], outputs=["T"])
    seeds = SeedTree(1)
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.jsonl"
        started = cpu_seconds()
        with (
            Recorder(events) as recorder,
            Driver(system, judge, Execution(jobs=jobs), RunRecord(recorder), seeds=seeds) as driver,
        ):
            for first in range(0, simulations, BATCH):
                numbers = np.arange(first, min(first + BATCH, simulations))
                words = seeds.child("walks", first).words(len(numbers))
                rows = (numbers % CYCLE).astype(np.int32)
                walks = accelerated_walks(usage.model, words, rows, until=DURATION, max_steps=MAX_STEPS)
                driver.ask([Query(f"search/{n}", usage.stimulus(walks.walk(i))) for i, n in enumerate(numbers)])
        return 1000 * (cpu_seconds() - started) / simulations, events.stat().st_size / simulations


def psy_taliro(samples: int, simulations: int) -> float:
    import staliro
    from staliro.optimizers import UniformRandom
    from staliro.specifications.rtamt import parse_discrete

    @staliro.blackbox(step_size=DURATION / (samples - 1))
    def model(inputs: staliro.BlackboxInputs) -> staliro.Result:
        return staliro.Result(staliro.Trace({t: [values["heat"]] for t, values in inputs.times.items()}), None)

    options = staliro.TestOptions(
        tspan=(0.0, DURATION),
        signals={"heat": staliro.SignalInput(control_points=[(0.0, 1.0)] * 6)},
        iterations=simulations,
        seed=1,
    )
    started = cpu_seconds()
    [run] = staliro.staliro(model, parse_discrete(FORMULA, {"T": 0}), UniformRandom(), options)
    return 1000 * (cpu_seconds() - started) / len(run.evaluations)


def main() -> None:
    chosen = whole_numbers(__doc__, simulations=2000, jobs=1, repeat=3)
    ours(101, BATCH, chosen.jobs)  # compile
    print(f"CPU milliseconds per simulation, {FORMULA}, {chosen.simulations} simulations, {chosen.jobs} worker(s)")
    print(f"{'samples':>8}{'bbfalsify':>12}{'target':>9}{'psy-taliro':>12}{'ratio':>8}{'record':>14}")
    for samples, target in ((101, 0.5), (1001, 2.0)):
        mine, record = min(ours(samples, chosen.simulations, chosen.jobs) for _ in range(chosen.repeat))
        beside = f"{'-':>12}{'-':>8}"
        if importlib.util.find_spec("staliro") is not None:
            theirs = min(psy_taliro(samples, max(20, chosen.simulations // 20)) for _ in range(chosen.repeat))
            beside = f"{theirs:>12.2f}{theirs / mine:>8.1f}"
        print(f"{samples:>8}{mine:>12.3f}{target:>9}{beside}{record:>8.0f} bytes")


if __name__ == "__main__":
    main()
