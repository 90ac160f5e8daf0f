"""How long each heuristic needs to a target, on models of growing size.  One command, from the top of the repository:

    python experiments/bench/reachability.py [--runs 5] [--seconds 5] [--only fischer-faulty]

Cells are the average CPU seconds of the runs that met the target (re-checking included; compiling not), with how many
did where some did not within their seconds; "nf" is none.  The models are our own (`bbfalsify list models`), so the
times of papers are not comparable; what can be compared is the pattern: which heuristic is good at what.
"""

from __future__ import annotations

import argparse
import resource
import time

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.reachability.walk_search import PORTFOLIO, SearchPlan, in_this_process, search
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
    "satellite:40", "satellite:60", "satellite:80", "herschel:71", "herschel:75",
    "lock:6", "lock:8",
    "difficult-a7", "difficult-b2", "difficult-b3", "difficult-b8",
)  # fmt: skip


def seconds_to_target(
    target: Target, query: ReachQuery, heuristics: tuple[Heuristic, ...], seed: int, limit: float
) -> float | None:
    start = time.process_time()

    def go_on() -> bool:
        return time.process_time() - start < limit

    execute = in_this_process(target, go_on)
    found = search(target, query, execute, SearchPlan(heuristics, SeedTree(seed).child("reach")), go_on=go_on)
    if found.failure is not None:
        raise SystemExit(f"the model fails: {found.failure.trace.error}")
    if found.unconfirmed:
        print(f"    not confirmed: {found.unconfirmed[0]}")
    return time.process_time() - start if found.best is not None else None


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
    arguments = parser.parse_args()
    TargetSearch.warm_up()
    columns = [(h,) for h in PORTFOLIO] + [PORTFOLIO]
    names = [h.value.upper() for h in PORTFOLIO] + ["portfolio"]
    print(f"{arguments.runs} runs of at most {arguments.seconds:g} CPU s each; average CPU s to the target\n")
    print(f"{'model':20}" + "".join(f"{name:>14}" for name in names))
    for name in MODELS:
        if not name.startswith(arguments.only):
            continue
        network, family = named_model(name)
        query = parse_query(family.query, network)
        target = Target(compile_network(network), query.alive, query.dead)
        cells = []
        for heuristics in columns:
            times = []
            for seed in range(1, arguments.runs + 1):
                times.append(seconds_to_target(target, query, heuristics, seed, arguments.seconds))
                if len(times) == 2 and times == [None, None]:
                    break  # not worth the time
            cells.append(cell(times))
        print(f"{name:20}" + "".join(f"{text:>14}" for text in cells), flush=True)
    print(f"\nmemory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
