"""How much do estimates of a word's probability scatter?  Algorithm 5, and what bbfalsify does instead.

    python experiments/bench/estimators.py                       # everything (about half an hour of CPU)
    python experiments/bench/estimators.py --runs 5 --clock-runs 20 --efforts 50     # a taste, in seconds

table       As table D.2: words of 42, 74 and 118 transitions through a year of weather, as near to the paper's
            probabilities as our profile has them, 100 runs of each estimator with m = 50 … 1000 particles.  Every guard
            clock is reset: the conditional estimators do not scatter, and there is an exact product to compare with.
equations   What D.6, D.8 and the three readings of D.9 say about the heater's on·on·on·off·on, from passes of
            Algorithm 5 and from ours, beside their limits.
clock       Words of 150 levels through profiles with a clock that is not reset, so nobody is exact: 2,000 runs with
            m = 100 each, and Algorithm 5 again with as many particles as take the same CPU time.  Algorithm 5 is
            heavy-tailed: its standard deviation needs that many runs, and even then it is more likely too small.

Relative standard deviations are divided by the mean over all runs of the quasi-random estimator, which scatters least.
A "zero run" lost all its particles and says 0.  CPU time, compiling not counted.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from in_process import open_campaign

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, estimate_word
from bbfalsify.engines.falsification.estimates.exact import exact_cylinder, why_not_exact
from bbfalsify.engines.falsification.estimates.genealogy import Split
from bbfalsify.engines.falsification.estimates.splitting import importance_split
from bbfalsify.kernel import CompiledModel, compile_network, stochastic_walks
from bbfalsify.modelling import load_profile, parse_profile

WEATHER = Path(__file__).resolve().parent.parent.parent / "profiles" / "weather.yaml"
ESTIMATORS: dict[str, Callable[..., Split]] = {
    "Algorithm 5": importance_split,
    "conditional": conditional_split,
    "quasi-random": partial(conditional_split, quasi_random=True),
}
TABLE_D2 = {42: 1.2628e-16, 74: 4.1159e-27, 118: 4.4194e-42}
"""Transitions of the paper's three words, and their exact probabilities."""
HEATER_LIMITS = {
    "ours": 0.0,
    "d6": 2.388545780e-4,
    "d8": 9.554183122e-4,
    "d9_set": 2.708311768e-4,
    "d9_multiset": 3.184727707e-4,
    "d9_traces": 9.554183122e-4,
}
"""For on·on·on·off·on; nothing is violated in its last step."""
SHIFTS = """
format_version: 1
name: shifts
automata:
  User:
    declarations: "clock x, y;"
    initial: S
    locations:
      S: {invariant: "x <= 5"}
    edges:
      - {from: S, to: S, action: work, guard: "x >= 3 && y <= 14", update: "x = 0", weight: 2}
      - {from: S, to: S, action: slow, guard: "x >= 3", update: "x = 0"}
      - {from: S, to: S, action: rest, guard: "x >= 3 && y >= 9", update: "x = 0, y = 0", weight: 2}
inputs:
  u: {actions: {work: 2, slow: 1, rest: 0}, initial: 0}
"""
"""Somebody acts every 3 to 5 time units.  Only a rest resets y: what is possible depends on the delays since then."""
PLAN = """
format_version: 1
name: plan
automata:
  User:
    declarations: "clock x, y; int[0,1000] n;"
    initial: S
    locations:
      S: {invariant: "x <= 5"}
    edges:
      - {from: S, to: S, action: early, guard: "x >= 3 && y <= 4 * n + SLACK", update: "x = 0, n = n + 1", weight: 2}
      - {from: S, to: S, action: late, guard: "x >= 3 && y >= 4 * n + 4", update: "x = 0, n = n + 1", weight: 2}
      - {from: S, to: S, action: other, guard: "x >= 3", update: "x = 0, n = n + 1"}
inputs:
  u: {actions: {early: 1, late: 2, other: 0}, initial: 0}
"""
"""Somebody acts every 3 to 5 time units and has a plan: the n-th action at 4n.  y, the time, is never reset, so what is
possible next depends on all delays so far.  The smaller the slack, the more it does."""
CLOCKS = {
    "reset by one action of three": SHIFTS,
    "never reset, some slack": PLAN.replace("SLACK", "6"),
    "never reset, less slack": PLAN.replace("SLACK", "4"),
}
LEVELS = 150


def sample(
    estimator: Callable[..., Split], model: CompiledModel, word: Sequence[str], effort: int, runs: int
) -> tuple[np.ndarray, float]:
    """The estimates of independent runs, and the CPU seconds of one."""
    seeds = SeedTree(1).child("estimators", effort)
    started = time.process_time()
    values = [estimator(model, word, effort=effort, seeds=seeds.child(run)).cylinder for run in range(runs)]
    return np.array(values), (time.process_time() - started) / runs


def weather_word(levels: int, wanted: float) -> list[str]:
    """Small spells, then large ones with others after them: the counts that come nearest to the wanted probability."""

    def distance(counts: tuple[int, int]) -> float:
        small, large = counts
        again = levels - 2 * small - 2 * large
        possible = again >= 0 and (large > 0 or again == 0)
        logarithm = small * math.log(4 / 9) + large * math.log(1 / 18 * 4 / 5) + again * math.log(1 / 5)
        return abs(logarithm - math.log(wanted)) if possible else math.inf

    small, large = min(((s, g) for s in range(levels // 2 + 1) for g in range(levels // 2 + 1)), key=distance)
    again = levels - 2 * small - 2 * large
    word = ["small_pos", "fade"] * small
    for number in range(large):
        word += ["large_neg", *["again"] * (again // large + (number < again % large)), "calm"]
    return word


def table(runs: int, efforts: Sequence[int]) -> None:
    model = compile_network(load_profile(str(WEATHER)).network)
    print(f"as table D.2: weather, {runs} runs per row; the paper's exact values for its words of these lengths:")
    print("  " + ", ".join(f"{value:.4e} ({levels})" for levels, value in TABLE_D2.items()))
    titles = ("levels", "m", "stdev", "mean", "exact", "mean/exact", "zero runs", "CPU s")
    print(f"{'':13}" + "".join(f"{title:>12}" for title in titles))
    for levels, published in TABLE_D2.items():
        word = weather_word(levels, published)
        started = time.process_time()
        assert why_not_exact(model, word) is None
        exact = exact_cylinder(model, word)
        seconds = time.process_time() - started
        print(f"{'exact product':13}{levels:12}{'-':>12}{'-':>12}{'-':>12}{exact:12.4e}{'':24}{seconds:12.3f}")
        for effort in efforts:
            for name, estimator in ESTIMATORS.items():
                values, cost = sample(estimator, model, word, effort, runs)
                row = f"{name:13}{levels:12}{effort:12}{values.std(ddof=1):12.4e}{values.mean():12.4e}{exact:12.4e}"
                row += f"{values.mean() / exact - 1:+12.1%}{np.sum(values == 0):12}{cost * runs:12.1f}"
                print(row, flush=True)


def equations(passes: int, traces: int) -> None:
    bench = open_campaign("heater")
    word = ("on", "on", "on", "off", "on")
    print(f"\nheater, {'·'.join(word)}: {passes} passes of {traces}; mean [95 %], and the limit of many traces")
    print(f"{'':12}{'limit':>14}{'Algorithm 5':>38}{'conditional':>38}{'quasi-random':>38}")
    found = [
        estimate_word(
            bench.ask, bench.usage, word, PassPlan(passes, traces, columns=("d6", "d8", "d9"), **options), SeedTree(3)
        )
        for options in ({"estimator": "splitting"}, {}, {"quasi_random": True})
    ]  # fmt: skip
    for name, limit in HEATER_LIMITS.items():
        cells = [f.probability if name == "ours" else f.columns[name] for f in found]
        shown = "".join(f"{f'{e.value:.4e} [{e.low:.3e}, {e.high:.3e}]':>38}" for e in cells)
        print(f"{name:12}{limit:14.6e}{shown}")
    print("(D.9 is about survivors: beside the conditional estimators it comes from passes of Algorithm 5)")


def as_much_cpu(model: CompiledModel, word: Sequence[str], effort: int, seconds: float, runs: int) -> int:
    """With how many particles a run of Algorithm 5 takes so long: its time is a line over them."""
    small, large = (sample(importance_split, model, word, m, runs)[1] for m in (effort, 5 * effort))
    return max(effort, round(effort + 4 * effort * (seconds - small) / max(large - small, 1e-9)))


def clock(runs: int, effort: int = 100) -> None:
    print(f"\na clock that is not reset by every action: {LEVELS} levels, {runs} runs per row")
    titles = ("m", "relative sd", "zero runs", "CPU ms/run", "ratio", "equal CPU")
    print(f"{'':24}" + "".join(f"{title:>12}" for title in titles))
    for title, text in CLOCKS.items():
        model = compile_network(parse_profile(text).network)
        walk = stochastic_walks(model, SeedTree(2).child("word").words(1), 1e9, LEVELS).walk(0)
        word = walk.actions(model)[:LEVELS]
        reason = why_not_exact(model, word)
        assert reason is not None
        for estimator in ESTIMATORS.values():
            sample(estimator, model, word[:5], effort, 2)  # compiled, before anything is timed
        seen = {name: sample(estimator, model, word, effort, runs) for name, estimator in ESTIMATORS.items()}
        centre = float(seen["quasi-random"][0].mean())
        efforts = dict.fromkeys(seen, effort)
        for name in ("conditional", "quasi-random"):
            same = as_much_cpu(model, word, effort, seen[name][1], min(runs, 20))
            twin = f"Algorithm 5 as {name}"
            seen[twin], efforts[twin] = sample(importance_split, model, word, same, runs), same
        spread = {name: float(values.std(ddof=1)) / centre for name, (values, _) in seen.items()}
        print(f"{title}: probability {centre:.3e}, no exact product: {reason}")
        for name, (values, cost) in seen.items():
            row = f"{name:24}{efforts[name]:12}{spread[name]:12.3f}{np.sum(values == 0):12}{1000 * cost:12.1f}"
            if name in ("conditional", "quasi-random"):
                row += f"{spread['Algorithm 5'] / spread[name]:12.1f}"
                row += f"{spread[f'Algorithm 5 as {name}'] / spread[name]:12.1f}"
            print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="of the table, per row; also passes of the equations")
    parser.add_argument("--efforts", type=int, nargs="+", default=[50, 100, 200, 500, 1000], help="m of the table")
    parser.add_argument("--clock-runs", type=int, default=2000, help="of the clock that is not reset, per row")
    parser.add_argument("--only", choices=("table", "equations", "clock"))
    arguments = parser.parse_args()
    if arguments.only in (None, "table"):
        table(arguments.runs, arguments.efforts)
    if arguments.only in (None, "equations"):
        equations(arguments.runs, 100)
    if arguments.only in (None, "clock"):
        clock(arguments.clock_runs)


if __name__ == "__main__":
    main()
