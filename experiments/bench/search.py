"""What do the listed counterexamples explain?  The first ones found, and those of a search for probable ones.

    python experiments/bench/search.py [--seeds 20] [--house]

Both searches get the same budget of simulations and the same seeds; the first stops on its own when it has enough.  The
share explained is the probability of the listed words, divided by that of any violation.  For the heater both are known
exactly; for its easy requirement both are counted in one large sample of plain simulations; for the thermal house each
word's probability is estimated (exact word, 200 traces) and the rate of violations is that of 400,000 years.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from in_process import Bench, open_campaign

from bbfalsify.core.query import Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.engine import Progress, run
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.kernel import stochastic_walks

Key = tuple[str, ...]
HOUSE_RATE = 0.01132
REFERENCE = 20_000


class Silent:
    def found(self, finding: object) -> None:
        """Nothing to tell."""

    def advanced(self, search: object, masses: object) -> None:
        """Nothing to tell."""

    def searched(self, search: object) -> None:
        raise StopIteration  # no estimates: only the search is studied


def exact_heater() -> dict[Key, float]:
    """The closed forms of experiments/heater/README.md."""

    def three_uniforms_exceed(s: float) -> float:
        return 1 - sum((-1) ** k * math.comb(3, k) * max(0.0, s - k) ** 3 for k in range(4)) / 6

    heating = 10 * math.log(4)
    fourth_on = three_uniforms_exceed(heating - 12)
    fourth_off = fourth_on / 3 + three_uniforms_exceed(heating - 11) * 2 / 3
    on, off = ("on",), ("off",)
    return {
        on * 3 + off: 3 / 256 * fourth_off,
        on * 4: 1 / 256 * fourth_on,
        on * 4 + off: 1 / 256 * (1 - fourth_on) * 3 / 4,
        on * 5: 1 / 256 * (1 - fourth_on) / 4,
    }


def met_in_plain_simulation(bench: Bench) -> Counter[Key]:
    """How often each key is met by plain simulation of the profile."""
    met: Counter[Key] = Counter()
    for first in range(0, REFERENCE, 500):
        seeds = SeedTree(12345).child("reference", first).words(500)
        walks = stochastic_walks(bench.usage.model, seeds, until=bench.usage.duration, max_steps=20_000)
        each = [walks.walk(i) for i in range(500)]
        answers = bench.ask([Query(str(first + i), bench.usage.stimulus(walk)) for i, walk in enumerate(each)])
        for walk, answer in zip(each, answers, strict=True):
            if answer.judgements[0].verdict is Verdict.VIOLATED:
                steps = violating_step(walk.times, answer.judgements[0].first_violation_time)
                met[walk.prefix(steps).actions(bench.usage.model)] += 1
    return met


def estimated(bench: Bench) -> Callable[[Key], float]:
    """The probability of a key, estimated once."""
    known: dict[Key, float] = {}

    def mass(key: Key) -> float:
        if key not in known:
            split = conditional_split(bench.usage.model, key, effort=200, seeds=SeedTree(77).child(*key))
            walks = split.walks()
            stimuli = [bench.usage.stimulus(w, stop=float(w.times[-1])) for w in walks]
            answers = bench.ask([Query(str(i), s) for i, s in enumerate(stimuli)])
            hits = sum(
                a.judgements[0].verdict is Verdict.VIOLATED
                and violating_step(w.times, a.judgements[0].first_violation_time) == len(key)
                for w, a in zip(walks, answers, strict=True)
            )
            known[key] = split.cylinder * hits / len(walks)
        return known[key]

    return mass


def study(
    title: str,
    bench: Bench,
    mass: Callable[[Key], float],
    everything: float,
    best: float,
    wanted: int,
    budget: int,
    seeds: int,
) -> None:
    print(f"\n{title}: {wanted} counterexamples, budget {budget}, {seeds} seeds; the best list explains {best:.1%}")
    print(f"{'':12} {'explained':>10} {'± s.e.':>8} {'worst':>8} {'walks':>8} {'found':>8} {'length':>8} {'CPU s':>8}")
    for name in ("first", "probable"):
        shares, walks, found, lengths, seconds = [], [], [], [], []
        for seed in range(1, seeds + 1):
            progress, started = Progress(), time.process_time()
            options = Options(counterexamples=wanted, simulations=budget, search=name)
            try:
                run(bench.ask, bench.usage, progress, options, requirements=1, seeds=SeedTree(seed), listener=Silent())
            except StopIteration:
                seconds.append(time.process_time() - started)
            keys = [f.actions for f in progress.search.findings]
            shares.append(sum(mass(key) for key in keys) / everything)
            walks.append(progress.search.iterations)
            found.append(len(progress.search.known[0]))
            lengths += [len(key) for key in keys]
        error = np.std(shares, ddof=1) / np.sqrt(seeds) if seeds > 1 else math.nan
        row = f"{np.mean(shares):10.1%} {error:8.1%} {min(shares):8.1%} {np.mean(walks):8.0f} {np.mean(found):8.0f}"
        print(f"{name:12} {row} {np.mean(lengths):8.1f} {np.mean(seconds):8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--house", action="store_true", help="the thermal house too (minutes)")
    arguments = parser.parse_args()
    exact = exact_heater()
    total = sum(exact.values())
    for wanted, budget in ((2, 2000), (4, 500)):
        best = sum(sorted(exact.values())[-wanted:]) / total
        study("heater", open_campaign("heater"), exact.__getitem__, total, best, wanted, budget, arguments.seeds)
    for stl in ("always[0:20](T <= 40)", "always[0:20](T <= 30)"):
        bench = open_campaign("heater", stl)
        met = met_in_plain_simulation(bench)
        best = sum(count for _, count in met.most_common(10)) / met.total()
        title = f"heater, {stl}, P(violation) = {met.total() / REFERENCE:.3f}"
        study(title, bench, met.__getitem__, met.total(), best, 10, 2000, arguments.seeds)
    if arguments.house:
        bench = open_campaign("thermal_house")
        study("thermal house", bench, estimated(bench), HOUSE_RATE, math.nan, 20, 2000, max(1, arguments.seeds // 5))
        for stl in ("always(T_out >= -17)",):
            bench = open_campaign("thermal_house", stl)
            study(f"house, {stl}", bench, estimated(bench), 0.955, math.nan, 10, 2000, max(1, arguments.seeds // 5))


if __name__ == "__main__":
    main()
