"""Is guiding worth it?  Walks until K counterexamples are found, with and without guiding and adaptive duration.

    python experiments/bench/guiding.py [--seeds 20] [--house]

Every variant gets the same seeds.  A walk is one use of the system, so the count is what a user pays; a search that
does not get there within the budget counts with the whole budget (and is shown as missed).
"""

from __future__ import annotations

import argparse

import numpy as np
from in_process import open_campaign

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.search.accelerator import Accelerator
from bbfalsify.engines.falsification.search.search import FirstSearch, Search, WalkPlan

VARIANTS = {
    "plain": {},
    "guiding": {"guiding": True},
    "adaptive duration": {"adaptive_duration": True},
    "both": {"guiding": True, "adaptive_duration": True},
}


class Silent:
    def found(self, finding: object) -> None:
        """Nothing to tell."""

    def advanced(self, search: object, masses: object) -> None:
        """Nothing to tell."""


def study(campaign: str, wanted: int, budget: int, seeds: int) -> None:
    bench = open_campaign(campaign)
    print(f"{campaign}: walks until {wanted} counterexamples, {seeds} seeds, budget {budget}")
    print(f"{'':20} {'mean':>8} {'± s.e.':>8} {'median':>8} {'missed':>8} {'mean length':>12}")
    for name, options in VARIANTS.items():
        walks, missed, lengths = [], 0, []
        for seed in range(1, seeds + 1):
            search, plan = Search(), WalkPlan(wanted, budget, 22, **options)
            source = Accelerator(bench.ask, bench.usage, search, plan, SeedTree(seed).child("search"))
            hunt = FirstSearch(bench.usage, search, plan, source, Silent())
            hunt.begin(bench.requirements)
            hunt.go_on()
            enough = len(search.findings) >= wanted
            missed += not enough
            walks.append(search.findings[wanted - 1].iteration if enough else budget)
            lengths += [len(f.actions) for f in search.findings]
        error = np.std(walks, ddof=1) / np.sqrt(len(walks))
        mean_length = np.mean(lengths) if lengths else np.nan
        print(
            f"{name:20} {np.mean(walks):8.1f} {error:8.1f} {np.median(walks):8.1f} {missed:8d} {mean_length:12.1f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--house", action="store_true", help="the thermal house too (minutes)")
    arguments = parser.parse_args()
    study("heater", wanted=4, budget=2000, seeds=arguments.seeds)
    if arguments.house:
        study("thermal_house", wanted=10, budget=400, seeds=arguments.seeds)
