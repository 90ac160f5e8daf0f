"""Do the intervals of modes of values cover?  A signal and a parameter, violations of 1 in 125,000 and rarer.

    python experiments/bench/value_modes.py                          # 200 runs, 20 minutes of CPU
    python experiments/bench/value_modes.py --repetitions 10 --into DIRECTORY

The signal has six values of 0 to 100.  Violated if the first three are above 98 (8e-6), or the last three below 1
(1e-6), so plain simulations and passes never meet it: the search finds one of them, learns its limits, and what is said
of its mode comes from uses drawn within these.  Rows and settings as in `mode_coverage.py`.

Truth: 20,000 uses within each of the two boxes, all of which violate, and as many that pass around each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import mode_coverage
import numpy as np
from interval_coverage import WalksOnly
from mode_coverage import Found, Problem, Truth, alone, whole_run

from bbfalsify.core.query import Answer, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.modes.sampling import everyday_walks
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.kernel import Walk, compile_network
from bbfalsify.modelling import value_profile

EVERY, DURATION, USES = 10.0, 60.0, 20_000
HIGH, LOW = ((1, 2, 3), 0.98, 1.0, 25.0), ((4, 5, 6), 0.0, 0.01, 55.0)
"""Violations: places of the values (0 is the parameter), lowest and highest quantile, and the moment."""
AROUND = 3.0
"""Passing uses are drawn in boxes that are so many times as wide."""


def judge(usage: WalksOnly, source: object) -> Judgement:
    if isinstance(source, Stimulus):
        places = np.searchsorted(source.times, EVERY * np.arange(6), "right") - 1
        quantiles = np.concatenate([[0.5], source.inputs["u"][places] / 100])
    else:
        quantiles = source.walk.values
    high, low = min(quantiles[1:4]) - HIGH[1], LOW[2] - max(quantiles[4:7])
    if max(high, low) < 0:
        return Judgement(Verdict.SATISFIED, -max(high, low))
    return Judgement(Verdict.VIOLATED, -max(high, low) - 1e-9, HIGH[3] if high >= 0 else LOW[3])


@cache
def problem() -> Problem:
    profile = value_profile({"u": {"range": [0, 100], "every": EVERY}}, {"v": {"uniform": [0, 1]}})
    usage = WalksOnly(profile, compile_network(profile.network), DURATION, DURATION / 100)

    def ask(queries: Sequence[Query]) -> list[Answer]:
        return [Answer(SimulationStatus.OK, (judge(usage, query.source),)) for query in queries]

    def truth() -> Truth:
        uses = list(known(usage))
        return Truth(math.fsum(weight for _, violating, weight in uses if violating is not None), uses)

    options = Options(counterexamples=10, simulations=1000, shrink=0, fan=0)
    return Problem("values", usage, ask, options, truth, smc.SmcOptions(epsilon=1e-3, simulations=500))


def known(usage: WalksOnly) -> Iterator[tuple[Use, Use | None, float]]:
    """Uses within the boxes and around them, with the probability that each stands for."""
    for places, low, high, moment in (HIGH, LOW):
        width = high - low
        for walk in drawn(usage, places, low, high):
            whole = alone(use_of(usage, walk))
            yield whole, replace(whole, violated_at=moment), width**3 / USES
        wide = (max(0.0, high - AROUND * width), high) if high == 1 else (low, low + AROUND * width)
        for walk in drawn(usage, places, *wide):
            if judge(usage, usage.draft(walk)).verdict is Verdict.SATISFIED:
                yield alone(use_of(usage, walk)), None, (AROUND * width) ** 3 / USES


def drawn(usage: WalksOnly, places: Sequence[int], low: float, high: float) -> Iterator[Walk]:
    seeds = SeedTree(3).child("known", low, high)
    quantiles = seeds.child("values").rng().random((USES, usage.values.width))
    quantiles[:, places] = low + (high - low) * quantiles[:, places]
    for walk, row in zip(everyday_walks(usage, seeds, USES), quantiles, strict=True):
        yield replace(walk, values=row)


def repeat(number: int, folder: Path) -> Found:
    return whole_run(problem(), number, folder)


if __name__ == "__main__":
    mode_coverage.CASES = {"values": repeat}
    mode_coverage.main(__doc__, repetitions=200)
