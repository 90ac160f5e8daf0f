"""Simulations until the first counterexample on the ARCH benchmarks: bbfalsify beside psy-taliro, in the same run.

    python experiments/bench/arch.py [--seeds 2,4,…] [--guide portfolio] [--requirements AT1,CC5] [--only-ours]

Automatic transmission and chasing cars, instance 2 (inputs change every 5 s), judged at every step of 0.01 s by the
same monitor; psy-taliro 3.2.0 (uniform random, dual annealing) gets the same systems, control points every 5 s with
piecewise constant interpolation, and the same budget.  Mean over the successful seeds; (k/n) where not all succeeded.
The settings of the guides were chosen on odd seeds; even ones are the default here.  The pacemaker cannot be falsified
and must not be.

Overhead: CPU time per simulation of guide, stimulus and score, without the system and without the verdict.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from in_process import Bench, open_plan

from bbfalsify.core.choices import HIGHEST
from bbfalsify.core.query import Answer, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.search.guided import GuidedRuns, open_guide
from bbfalsify.engines.falsification.search.search import FirstSearch, Search, WalkPlan
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.systems.parameters import open_session

SYSTEMS = {"AT": "automatic_transmission", "CC": "chasing_cars", "PM": "pacemaker"}
BUDGET = {"CC4": 2000}
GOALS = {"AT1": 5, "AT2": 4, "AT51": 15, "AT52": 12, "AT53": 6, "AT54": 35, "AT6a": 45, "AT6b": 75, "AT6c": 55,
         "CC1": 5, "CC2": 4, "CC3": 5, "CC5": 20}  # fmt: skip
PUBLISHED = {"AT1": "2.3", "AT2": "9.2", "AT51": "8.7", "AT52": "35", "AT53": "23", "AT54": "56 (47/50)", "AT6a": "43",
             "AT6b": "130 (8/50)", "AT6c": "262 (3/50)", "CC1": "8.8", "CC2": "4.7", "CC3": "23"}  # fmt: skip
"""zlscheck 2020, which reads the model (white box), instance 2, 50 repetitions."""


def open_requirement(name: str) -> Bench:
    return open_plan(f"arch/{SYSTEMS[name[:2]]}.yaml", only=name)


@dataclass
class Clock:
    """Simulations, and the CPU seconds of system and verdict, which every falsifier pays."""

    seconds: float = 0.0
    simulations: int = 0

    def judgement(self, bench: Bench, stimulus: Stimulus, *, shortfalls: bool = False) -> Judgement:
        started = time.process_time()
        with open_session(bench.system, 0, stimulus.parameters) as session:
            outputs = session.execute(stimulus)
        trace = Trace(stimulus.times, {**stimulus.inputs, **outputs}, stimulus.events)
        simulated = time.process_time()
        [judgement] = bench.judge(trace)
        judged = time.process_time()
        self.seconds += judged - started
        self.simulations += 1
        if shortfalls:  # it contains the verdict, which is not overhead
            [judgement] = bench.judge(trace, shortfalls=True)
            self.seconds += judged - simulated
        return judgement


@dataclass
class Found:
    """Listener of the search: nothing is shown."""

    findings: list = field(default_factory=list)

    def found(self, finding) -> None:
        self.findings.append(finding)

    def advanced(self, search, masses) -> None:
        pass


def ours(bench: Bench, guide: str, seed: int, budget: int, clock: Clock) -> int | None:
    """Simulations until the first violation; None where the budget was not enough."""
    violated_at: list[int] = []

    def ask(queries: Sequence[Query]) -> list[Answer]:
        judgements = []
        for query in queries:
            judgements.append(clock.judgement(bench, query.stimulus, shortfalls=query.shortfalls))
            if judgements[-1].verdict is Verdict.VIOLATED and not violated_at:
                violated_at.append(clock.simulations - first)
        return [Answer(SimulationStatus.OK, (judgement,)) for judgement in judgements]

    first = clock.simulations
    space, search, seeds, plan = ProfileSpace(bench.usage), Search(), SeedTree(seed), WalkPlan(1, budget, 1)
    guided = GuidedRuns(ask, bench.usage, search, plan, space, open_guide(guide, space, search, 1, seeds), seeds)
    hunt = FirstSearch(bench.usage, search, plan, guided, Found())
    hunt.begin(requirements=1)
    hunt.go_on()
    return violated_at[0] if violated_at else None


class Violated(Exception):
    """Ends psy-taliro's search at the first violation (a robustness of 0 does not tell)."""


def theirs(bench: Bench, kind: str, seed: int, budget: int) -> int | None:
    """psy-taliro over the same space: its sample are the levels of the pieces, its cost is the robustness."""
    import staliro
    from staliro.optimizers import DualAnnealing, UniformRandom

    space, clock = ProfileSpace(bench.usage), Clock()
    names = [f"u{i}" for i in range(len(space.labels))]

    @staliro.costfunc
    def cost(sample: staliro.Sample) -> float:
        levels = np.array([sample.static[name] for name in names])
        judgement = clock.judgement(bench, bench.usage.stimulus(space.run(levels, 0).walk))
        if judgement.verdict is Verdict.VIOLATED:
            raise Violated
        return float(judgement.robustness)

    options = staliro.TestOptions(static_inputs=dict.fromkeys(names, (0.0, HIGHEST)), iterations=budget, seed=seed)
    try:
        staliro.staliro(cost, UniformRandom() if kind == "uniform" else DualAnnealing(), options)
    except Violated:
        return clock.simulations
    return None


def told(results: Sequence[int | None]) -> str:
    found = [result for result in results if result is not None]
    share = "" if len(found) == len(results) else f" ({len(found)}/{len(results)})"
    return f"{np.mean(found):.3g}{share}" if found else "–"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seeds", default="2,4,6,8,10,12,14,16,18,20")
    options.add_argument("--guide", default="portfolio")
    options.add_argument("--requirements", default=",".join([*GOALS, "CC4", "PM"]))
    options.add_argument("--only-ours", action="store_true")
    chosen = options.parse_args()
    seeds = [int(seed) for seed in chosen.seeds.split(",")]
    print(f"{'':6}{chosen.guide:>14}{'goal':>6}{'overhead':>10}{'uniform':>14}{'annealing':>14}{'published':>14}")
    for name in chosen.requirements.split(","):
        bench, budget = open_requirement(name), BUDGET.get(name, 300)
        ours(bench, chosen.guide, 0, 20, Clock())  # compile
        clock, started = Clock(), time.process_time()
        mine = [ours(bench, chosen.guide, seed, budget, clock) for seed in seeds]
        overhead = 1000 * (time.process_time() - started - clock.seconds) / clock.simulations
        others = ["", ""]
        if not chosen.only_ours:
            others = [told([theirs(bench, kind, s, budget) for s in seeds]) for kind in ("uniform", "annealing")]
        cells = f"{name:6}{told(mine):>14}{GOALS.get(name, ''):>6}{overhead:>7.2f} ms"
        print(f"{cells}{others[0]:>14}{others[1]:>14}{PUBLISHED.get(name, ''):>14}", flush=True)


if __name__ == "__main__":
    main()
