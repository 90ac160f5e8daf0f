"""Do intervals contain what they should, and are they no wider than they must be?

    python experiments/bench/interval_coverage.py                      # 5,000 repetitions each (40 minutes of CPU)
    python experiments/bench/interval_coverage.py --repetitions 20     # a taste, in seconds

The heater's four counterexamples are estimated again and again, each time with new seeds, as a run does it: 10 passes
of 100 traces, nominal 95 %.  All true values are known in closed form.  A row says

    covers     the share of the intervals that contain the true value (a standard error is 0.3 % at 5,000 repetitions)
    below      the share that lies below it, above: the share that lies above it
    width      mean width, as a part of the true value
    / ideal    mean width divided by that of an interval with known variance: 2 · 1.96 standard deviations of the
               estimates that were seen.  Student's t over 10 passes has 1.12, Clopper–Pearson a little more than 1.

Beside the keys: their total, and the equations D.6 and D.8 of the longer word on·on·on·off·on (D.8 adds an upper bound
for levels in which nothing was seen, so it covers more).  The temperature is computed at the ends of all delays at
once; this is compared with the system itself and its monitor first.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from in_process import Bench, open_campaign
from search import exact_heater

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Answer, Query, UsesQuery, UseVerdicts
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import VERDICTS, Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.baseline.seeded_uses import SeededUses
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, estimate_word
from bbfalsify.engines.falsification.usage import Usage, WalkDraft
from bbfalsify.kernel import Walk
from bbfalsify.stats.intervals import total_estimate

ESTIMATORS = {
    "conditional": {"estimator": "conditional"},
    "quasi-random": {"estimator": "conditional", "quasi_random": True},
    "Algorithm 5": {"estimator": "splitting"},
}
KEYS = exact_heater()
LONGER = ("on", "on", "on", "off", "on")
TRUE = {
    **{"·".join(key): value for key, value in KEYS.items()},
    "total": sum(KEYS.values()),
    "D.6": KEYS[LONGER[:4]] / 4,  # of those who overheat and then switch off, one in four switches on again
    "D.8": KEYS[LONGER[:4]],
}
OK = SimulationStatus.OK


class WalksOnly(Usage):
    """Queries carry walks: nobody needs the sampled input."""

    def draft(self, walk: Walk, *, stop: float | None = None) -> WalkDraft:
        return WalkDraft(self, walk, stop)


@dataclass
class ClosedForm:
    """Answers as the heater and its monitor do, for many walks at once: the temperature is monotone within a delay."""

    usage: WalksOnly
    limit: float = 75.0

    def __call__(self, queries: Sequence[Query]) -> list[Answer]:
        found = self._judged([q.source.walk for q in queries])
        return [
            Answer(OK, (Judgement(VERDICTS[verdict], margin, moment),))
            for verdict, margin, moment in zip(*(column[:, 0].tolist() for column in found), strict=True)
        ]

    def uses(self, query: UsesQuery) -> UseVerdicts:
        """An `AskUses`: the same for many uses at once."""
        if isinstance(query.source, SeededUses):
            walks = self.usage.stochastic_walks(query.source.seeds)
            return UseVerdicts(*self._of_rows(walks.times, walks.edges, walks.steps))
        return UseVerdicts(*self._judged(query.source.walks))

    def _judged(self, walks: Sequence[Walk]) -> tuple[np.ndarray, ...]:
        steps = np.array([len(walk.times) for walk in walks])
        times = np.full((len(walks), int(steps.max(initial=1))), np.inf)
        edges = np.zeros(times.shape, int)
        for row, walk in enumerate(walks):
            times[row, : steps[row]], edges[row, : steps[row]] = walk.times, walk.edges
        return self._of_rows(times, edges, steps)

    def _of_rows(self, times: np.ndarray, edges: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, ...]:
        """Verdict, distance to the limit and moment of each walk, as columns."""
        heats = self.usage.model.edge_action[edges] == self.usage.model.actions.index("on")
        times = np.minimum(times, self.usage.duration)
        temperature, before, target = np.zeros(len(times)), np.zeros(len(times)), np.zeros(len(times))
        hottest, moments = np.zeros(len(times)), np.full(len(times), np.inf)
        for step in range(times.shape[1]):
            made = step < steps
            now = np.where(made, times[:, step], before)
            temperature = target + (temperature - target) * np.exp((before - now) / 10)
            hottest = np.maximum(hottest, temperature)
            # The moment is somewhere in this delay; any moment in it names the step.
            moments = np.where(np.isinf(moments) & (temperature > self.limit), now, moments)
            before, target = now, np.where(made, np.where(heats[:, step], 100.0, 0.0), target)
        verdicts = np.where(np.isinf(moments), VERDICTS.index(Verdict.SATISFIED), VERDICTS.index(Verdict.VIOLATED))
        return tuple(column[:, None] for column in (verdicts, self.limit - hottest, moments))


def check(bench: Bench, ask: ClosedForm) -> None:
    """The closed form and the system with its monitor agree on every verdict and on the step of every violation."""
    for word in (*KEYS, LONGER):
        walks = conditional_split(bench.usage.model, word, effort=50, seeds=SeedTree(9).child(*word)).walks()
        drafts = [ask.usage.draft(walk, stop=float(walk.times[-1])) for walk in walks]
        fast = ask([Query(str(i), draft) for i, draft in enumerate(drafts)])
        slow = bench.ask([Query(str(i), draft.stimulus()) for i, draft in enumerate(drafts)])
        for walk, one, other in zip(walks, fast, slow, strict=True):
            a, b = one.judgements[0], other.judgements[0]
            violated = a.verdict is Verdict.VIOLATED
            assert violated == (b.verdict is Verdict.VIOLATED)
            if violated:
                steps = [np.searchsorted(walk.times, j.first_violation_time) for j in (a, b)]
                assert steps[0] == steps[1], (walk.times, a, b)


@dataclass
class Seen:
    true: float
    values: list[float] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)

    def add(self, estimate: Estimate) -> None:
        self.values.append(estimate.value)
        self.lows.append(estimate.low)
        self.highs.append(estimate.high)

    def row(self) -> str:
        lows, highs, values = np.array(self.lows), np.array(self.highs), np.array(self.values)
        width, ideal = float((highs - lows).mean()), 2 * 1.959964 * float(values.std(ddof=1))
        covers = float(((lows <= self.true) & (self.true <= highs)).mean())
        below, above = float((highs < self.true).mean()), float((lows > self.true).mean())
        shares = f"{covers:9.2%}{below:9.2%}{above:9.2%}{values.mean() / self.true - 1:+9.2%}"
        return f"{self.true:13.6e}{shares}{width / self.true:9.3f}{width / ideal:9.3f}"


def repeat(name: str, repetitions: range, passes: int, traces: int) -> dict[str, Seen]:
    """What these repetitions say; each has its own seeds, so parts can be made apart and put together."""
    bench = open_campaign("heater")
    usage = WalksOnly(bench.usage.profile, bench.usage.model, bench.usage.duration, bench.usage.period)
    ask = ClosedForm(usage)
    check(bench, ask)
    seen = {row: Seen(value) for row, value in TRUE.items()}
    for repetition in repetitions:
        seeds = SeedTree(5).child("coverage", repetition)
        size = {"passes": passes, "traces": traces, **ESTIMATORS[name]}
        found = {key: estimate_word(ask, usage, key, PassPlan(**size), seeds.child(*key)) for key in KEYS}
        for key, estimate in found.items():
            seen["·".join(key)].add(estimate.probability)
        seen["total"].add(total_estimate([e.passes for e in found.values()], method="sum"))
        longer = estimate_word(ask, usage, LONGER, PassPlan(columns=("d8",), **size), seeds.child(*LONGER))
        seen["D.6"].add(longer.columns["d6"])
        seen["D.8"].add(longer.columns["d8"])
    return seen


def show(name: str, seen: dict[str, Seen], passes: int, traces: int) -> None:
    repetitions = len(seen["total"].values)
    print(f"\n{name}: {repetitions} repetitions, {passes} passes of {traces}, nominal 95 %")
    titles = ("covers", "below", "above", "bias", "width", "/ ideal")
    print(f"{'':18}{'true':>13}" + "".join(f"{title:>9}" for title in titles))
    for title, column in seen.items():
        print(f"{title:18}{column.row()}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5000)
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--traces", type=int, default=100)
    parser.add_argument("--estimator", choices=ESTIMATORS, help="only this one")
    arguments = parser.parse_args()
    for name in [arguments.estimator] if arguments.estimator else ESTIMATORS:
        size = arguments.passes, arguments.traces
        show(name, repeat(name, range(arguments.repetitions), *size), *size)


if __name__ == "__main__":
    main()
