"""How long each heuristic needs to a target, on models of growing size.  One command, from the top of the repository:

    python experiments/bench/reachability.py [--runs 5] [--seconds 5] [--only fischer-faulty]
    python experiments/bench/reachability.py --shares [--runs 3] [--seconds 60] [--only herschel]

Cells are the average CPU seconds of the runs that met the target (re-checking included; compiling not), with how many
did where some did not within their seconds; "nf" is none.  The models are our own (`bbfalsify list models`), so the
times of papers are not comparable; what can be compared is the pattern: which heuristic is good at what.

`--shares` prints every run of the portfolio on the studies with stopwatches: CPU seconds, and how many of them the
exact re-check takes.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.reachability.schedule import Unit
from bbfalsify.engines.reachability.walk_search import (
    PORTFOLIO,
    Bounds,
    Coverage,
    SearchPlan,
    UnitAnswer,
    in_this_process,
    search,
)
from bbfalsify.examples.models import named_model
from bbfalsify.kernel import compile_network
from bbfalsify.kernel.target_search import Heuristic, Target, TargetSearch
from bbfalsify.logic.reach_query import ReachQuery, parse_query

MODELS = (
    "fischer-faulty:10", "fischer-faulty:25", "fischer-faulty:50",
    "fischer-crowd:10", "fischer-crowd:15", "fischer-crowd:20",
    "csma-cd-broadcast:20", "csma-cd-broadcast:50",
    "train-gate:20", "train-gate:50",
    "milner:100", "milner:500",
    "leader-channels:4", "leader-channels:5", "leader-hops:4", "leader-hops:5",
    "gossip-masks:6", "gossip-masks:8", "gossip-table:6", "gossip-exchange:6", "gossip-exchange:8", "gossip-clusters:6",
    "satellite:40", "satellite:60", "satellite:80", "herschel:71", "herschel:75", "herschel:77",
    "lock:6", "lock:8",
    "difficult-a7", "difficult-b2", "difficult-b3", "difficult-b8",
)  # fmt: skip


STOPWATCHES = ("satellite", "herschel")


@dataclass
class Run:
    """A search that met its target."""

    seconds: float
    """CPU time."""
    rechecking: float
    steps: int
    """Steps of the trace."""


def searched(
    target: Target, query: ReachQuery, heuristics: tuple[Heuristic, ...], seed: int, limit: float
) -> Run | None:
    start, walking = time.process_time(), 0.0

    def go_on() -> bool:
        return time.process_time() - start < limit

    in_process = in_this_process(target, go_on)

    def execute(units: Sequence[Unit], bounds: Bounds, coverage: Coverage) -> Iterator[UnitAnswer]:
        nonlocal walking
        before = time.process_time()
        for answer in in_process(units, bounds, coverage):
            walking += time.process_time() - before
            yield answer
            before = time.process_time()

    found = search(target, query, execute, SearchPlan(heuristics, SeedTree(seed).child("reach")), go_on=go_on)
    if found.failure is not None:
        raise SystemExit(f"the model fails: {found.failure.trace.error}")
    if found.unconfirmed:
        print(f"    not confirmed: {found.unconfirmed[0]}")
    if found.best is None:
        return None
    seconds = time.process_time() - start
    return Run(seconds, seconds - walking, len(found.best.trace.steps))


def cell(times: list[float | None]) -> str:
    met = [t for t in times if t is not None]
    if not met:
        return "nf"
    mean = sum(met) / len(met)
    shown = f"{mean:.3f}" if mean < 1 else f"{mean:.1f}"
    return shown if len(met) == len(times) else f"{shown} ({len(met)}/{len(times)})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--shares", action="store_true")
    arguments = parser.parse_args()
    TargetSearch.warm_up()
    names = [name for name in MODELS if name.startswith(arguments.only)]
    if arguments.shares:
        shares([name for name in names if name.startswith(STOPWATCHES)], arguments.runs, arguments.seconds)
    else:
        averages(names, arguments.runs, arguments.seconds)
    print(f"\nmemory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def prepared(name: str) -> tuple[Target, ReachQuery]:
    network, family = named_model(name)
    query = parse_query(family.query, network)
    return Target(compile_network(network), query.alive, query.dead), query


def shares(names: list[str], runs: int, seconds: float) -> None:
    print(f"{'model':20}{'seed':>6}{'CPU s':>10}{'re-check':>10}{'share':>8}{'trace':>8}")
    for name in names:
        target, query = prepared(name)
        for seed in range(1, runs + 1):
            run = searched(target, query, PORTFOLIO, seed, seconds)
            told = f"{'nf':>10}"
            if run is not None:
                told = f"{run.seconds:10.2f}{run.rechecking:10.2f}{run.rechecking / run.seconds:8.0%}{run.steps:8}"
            print(f"{name:20}{seed:6}{told}", flush=True)


def averages(models: list[str], runs: int, seconds: float) -> None:
    columns = [(h,) for h in PORTFOLIO] + [PORTFOLIO]
    names = [h.value.upper() for h in PORTFOLIO] + ["portfolio"]
    print(f"{runs} runs of at most {seconds:g} CPU s each; average CPU s to the target\n")
    print(f"{'model':20}" + "".join(f"{name:>14}" for name in names))
    for name in models:
        target, query = prepared(name)
        cells = []
        for heuristics in columns:
            times: list[float | None] = []
            for seed in range(1, runs + 1):
                run = searched(target, query, heuristics, seed, seconds)
                times.append(None if run is None else run.seconds)
                if len(times) == 2 and times == [None, None]:
                    break  # not worth the time
            cells.append(cell(times))
        print(f"{name:20}" + "".join(f"{text:>14}" for text in cells), flush=True)


if __name__ == "__main__":
    main()
