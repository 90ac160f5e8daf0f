"""The probability that a year violates the requirement, to 2 %: a million years, of which the cold ones are simulated.

    python experiments/thermal_house/any_violation.py --years 1000000 --seed 1

A violation needs T_out below -30.9 °C for 24 hours: while the room is below 18 °C the heater runs (it is switched on at
18.3 °C and off at 23.9 °C), so from one hour to the next T' = 0.964 (101.2 + 1.310 T_out)/3.334 + 0.036 T.  The room
never has less than 13 °C in this weather (T_out ≥ -44 °C), so T' < 18 needs T_out < -30.9; and this at 24 hours in a
row, among them one at 15:00.  The weather has a closed form between two of its events, which tells the years with such
an afternoon.  Only these are simulated, and the verdict of every year is that of plain simulation.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from bbfalsify import load_campaign
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walks, compile_network
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.stats.intervals import clopper_pearson

YEAR, CONFIDENCE = 8736, 0.95
AT_ONCE = 5_000
NEEDED, AFTERNOON = -30.9, 15
"""Outdoor temperature [°C] that a violation needs for 24 hours, and one of these hours."""
LONGEST = 181
"""Hours between two events, at most."""


def calm(hours: np.ndarray) -> np.ndarray:
    """The outdoor temperature [°C] without any spell."""
    season = np.sin(2 * np.pi * (hours - 2484) / YEAR)
    return 5.5 + 16.5 * season + (4.5 + 1.5 * season) * np.sin(2 * np.pi * (hours - 9) / 24)


def may_violate(walks: Walks, slots: dict[str, int]) -> np.ndarray:
    """Tell which years have an afternoon as cold as NEEDED; `slots` of the variables of the weather."""
    anomaly, towards = (walks.reals[:, :, slots[name]] for name in ("A", "g"))
    begin = np.concatenate([np.zeros((len(walks.steps), 1)), walks.times[:, :-1]], axis=1)
    known = np.arange(begin.shape[1])[None, :] < walks.steps[:, None]
    # The anomaly is monotonic between two events.
    lowest = np.minimum(anomaly[:, :-1], anomaly[:, 1:])
    years, steps = np.nonzero(known & (lowest <= NEEDED - calm(np.arange(YEAR)).min()))
    start = begin[years, steps][:, None]
    first = np.ceil((start - AFTERNOON) / 24) * 24 + AFTERNOON
    hours = first + np.arange(0, LONGEST, 24)[None, :]
    goal, from_level = towards[years, steps][:, None], anomaly[years, steps][:, None]
    outdoor = calm(hours) + goal + (from_level - goal) * np.exp(-(hours - start) / 72)
    cold = (outdoor <= NEEDED) & (hours <= walks.times[years, steps][:, None])
    chosen = np.zeros(len(walks.steps), bool)
    chosen[years[cold.any(axis=1)]] = True
    return chosen


def count(years: int, seed: int, check: int = 0) -> tuple[int, int]:
    """(years that violate, years simulated); `check` of those that cannot violate are simulated, too."""
    plan = load_campaign(Path(__file__).parent / "campaign.yaml").runs[0]
    usage = Usage(plan.profile, compile_network(plan.profile.network), float(YEAR), 1.0)
    judge = RequirementsJudge([planned.requirement for planned in plan.requirements])
    slots = {v.name: v.slot for v in usage.model.network.variables}
    seeds, violating, simulated = SeedTree(seed), 0, 0
    for first in range(0, years, AT_ONCE):
        walks = usage.stochastic_walks(seeds.child("years", first).words(min(AT_ONCE, years - first)))
        chosen = may_violate(walks, slots)
        others = np.flatnonzero(~chosen)[: max(0, check)]
        check -= len(others)
        for number in [*np.flatnonzero(chosen).tolist(), *others.tolist()]:
            stimulus = usage.stimulus(walks.walk(number))
            outputs = plan.system(stimulus)
            verdict = judge(Trace(stimulus.times, {**stimulus.inputs, **outputs}, stimulus.events))[0].verdict
            violating += verdict is Verdict.VIOLATED
            simulated += 1
            if verdict is Verdict.VIOLATED and not chosen[number]:
                raise AssertionError(f"year {first + number} violates without being cold")
    return violating, simulated


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--years", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    violating, simulated = count(given.years, given.seed)
    low, high = clopper_pearson(violating, given.years, CONFIDENCE)
    found = Estimate(violating / given.years, low, high, CONFIDENCE, "Clopper–Pearson", given.years)
    print(f"{violating} of {given.years} years violate ({simulated} of them were simulated)")
    print(f"{found.value:.4e} [{found.low:.4e}, {found.high:.4e}] ({CONFIDENCE:.0%}, {found.method})")


if __name__ == "__main__":
    main()
