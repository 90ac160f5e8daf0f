"""Do the intervals of failure modes cover the truth as often as they say?  Whole runs, on systems with known answers.

    python experiments/bench/mode_coverage.py                        # 400 runs of each, an hour of CPU
    python experiments/bench/mode_coverage.py --repetitions 20       # a taste, in two minutes
    python experiments/bench/mode_coverage.py --only tank            # cases whose names contain this
    python experiments/bench/mode_coverage.py --into DIRECTORY       # kept there; the same command goes on later
    python experiments/bench/mode_coverage.py --show                 # print what was made so far

Nominal 95 %.  A repetition is a run as `falsify` makes it: search, estimates, patterns learned, fresh simulations; then
plain simulation, as with `--smc`.  Repetition i has its own seed.  The rows of the table:

    mode k       probability that a use violates and belongs to the k-th mode
    fails k      how often its pattern fails
    share k      part of all violations
    any          the probability of any violation that a run tells first
    any, smc     the same with `--smc`

    heater       the heater of the quick start; two modes of 1 in 313 and 1 in 600
    tank         a household at a tank with three faults: 1 in 9, 1 in 20, and one of about 1 in 1,500, estimated along
                 its core
    rare core    12 times "on": 1 in 17 million, estimated along its core; no word is listed

Truth: the heater's words have closed forms, divided among patterns by 40,000 violating uses along each; of the tank
300,000 uses are judged, and 1.8 million for what is rare.  "covers" has its standard error.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from estimate_coverage import kept
from in_process import open_campaign
from interval_coverage import KEYS, WalksOnly

from bbfalsify import load_profile
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Answer, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.engine import Progress, pass_plan, run
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, estimate_word
from bbfalsify.engines.falsification.modes.estimating import Beside, Modes, estimate_modes
from bbfalsify.engines.falsification.modes.naming import Costs, name_modes_of
from bbfalsify.engines.falsification.modes.pattern import Condition, Gap, Pattern, Without
from bbfalsify.engines.falsification.modes.sampling import PlainUses, plain_simulations
from bbfalsify.engines.falsification.modes.strata import draw, owner_of, simulate
from bbfalsify.engines.falsification.modes.use import Series, Use, use_of
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.kernel import Walks, compile_network
from bbfalsify.stats.estimates import half_each

HOUSEHOLD = Path(__file__).parents[2] / "profiles" / "household.yaml"
REFERENCE, RARE_REFERENCE, AT_ONCE = 300_000, 1_500_000, 5_000
"""Uses of the tank that are judged for the truth; and so many more, of which only those with three boosts are."""
EARLY, BOTH = 5.0, 1.0
"""The tank's faults: a shower so soon after the tap was closed, and the time after which a boost in a bath shows."""
OVERHEATS = 12.0
"""Time after the third boost at which the tank overheats, unless the tap is open then."""
MOST_RANKS = 3
ROUNDING = 1 + 1e-9
"""Of values within limits all of which violate the upper limit is the truth."""

Found = dict[str, tuple[float, float, float, float]]
"""By row: value, low, high, and the true value."""


class Silent:
    """Nobody listens."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


@dataclass
class Truth:
    """True numbers of any decision list, from uses that stand for known probabilities."""

    total: float
    uses: list[tuple[Use, Use | None, float]]
    """A use, the same up to its violation, and the probability that it stands for."""
    words: dict[tuple[str, ...], list[Use]] = field(default_factory=dict)
    """Violating uses along words of known probabilities, which tell modes better."""
    known: dict[tuple[Pattern, ...], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def of(self, patterns: Sequence[Pattern]) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the modes, and how often their patterns fail."""
        key = tuple(patterns)
        if key not in self.known:
            met, failing, judged = (np.zeros(len(key) + 1) for _ in range(3))
            for whole, violating, weight in self.uses:
                owner = owner_of(key, whole)
                if violating is not None and not self.words:
                    met[owner_of(key, violating)] += weight
                if owner < len(key) and (violating is None or key[owner].matches(violating)):
                    judged[owner] += weight
                    failing[owner] += weight * (violating is not None)
            for word, uses in self.words.items():
                owners = [owner_of(key, use) for use in uses]
                met += KEYS[word] * np.bincount(owners, minlength=len(met)) / len(owners)
            self.known[key] = met, failing / np.maximum(judged, 1e-300)
        return self.known[key]


@dataclass(frozen=True, eq=False)
class Problem:
    name: str
    usage: WalksOnly
    ask: Ask
    options: Options
    find_truth: Callable[[], Truth]
    plain: smc.SmcOptions


@cache
def truth_of(problem: Problem, folder: Path) -> Truth:
    """The truth, which is found once and kept."""
    file = folder / f"{problem.name}.truth"
    if not file.exists():
        file.write_bytes(pickle.dumps(problem.find_truth()))
    truth: Truth = pickle.loads(file.read_bytes())
    return truth


def whole_run(problem: Problem, seed: int, folder: Path) -> Found:
    """One run: search, estimate, name, simulate plainly; without and with the last the same modes are estimated."""
    usage, ask, options, seeds = problem.usage, problem.ask, problem.options, SeedTree(seed)
    progress, listener = Progress(), Silent()
    run(ask, usage, progress, options, requirements=1, seeds=seeds, listener=listener)
    usage = progress.usage or usage
    rows = [row for row in progress.ranking(0) if not row.exact_moments]
    beside = smc.Progress()
    smc.run(ask, usage, beside, problem.plain, requirements=1, seeds=seeds.child("smc"), listener=listener)
    plan, listed, naming = pass_plan(options), frozenset(row.actions for row in rows), seeds.child("modes")
    simulations = plain_simulations(usage, len(rows), plan)
    uses = PlainUses(usage, 0, listed, simulations)
    counted = smc.Progress(on_answer=uses.add)
    smc.run(
        ask, usage, counted, smc.SmcOptions(epsilon=1e-12, simulations=simulations), requirements=1,
        seeds=naming.child("learn"), listener=listener,
    )  # fmt: skip
    further = progress.search.further[0] if progress.search.further else ()
    costs = Costs.of(usage, len(rows), plan)
    named = name_modes_of(ask, usage, rows, uses, plan, costs, naming, further=further)
    halved = replace(problem.plain, confidence=half_each(plan.confidence)).stopping.estimate(beside.counts(0))
    with_plain = estimate_modes(usage, named.patterns, rows, named.strata, plan.confidence, Beside(halved))
    return numbers(truth_of(problem, folder), named.patterns, named.modes, with_plain.total)


def numbers(truth: Truth, patterns: Sequence[Pattern], found: Modes, with_plain: Estimate) -> Found:
    met, fails = truth.of(patterns)
    told: Found = {}
    for rank, mode in enumerate(found.modes[:MOST_RANKS], start=1):
        number = patterns.index(mode.pattern)
        rows = {"mode": (mode.probability, met[number]), "fails": (mode.precision, fails[number]),
                "share": (mode.share, met[number] / met.sum())}  # fmt: skip
        for name, (estimate, true) in rows.items():
            told[f"{name} {rank}"] = (estimate.value, estimate.low, estimate.high, float(true))
    told["any"] = (found.total.value, found.total.low, found.total.high, truth.total)
    told["any, smc"] = (with_plain.value, with_plain.low, with_plain.high, truth.total)
    return told


@dataclass
class Told:
    """Answers by a function of the actions, their times and the end, which returns the moment of the violation."""

    usage: WalksOnly
    moment: Callable[[Sequence[float], Sequence[str], float], float]

    def __call__(self, queries: Sequence[Query]) -> list[Answer]:
        return [Answer(SimulationStatus.OK, (self.judge(query.source),)) for query in queries]

    def judge(self, source: object) -> Judgement:
        if isinstance(source, Stimulus):
            times, actions = [at for at, _ in source.events], [action for _, action in source.events]
            end = float(source.times[-1])
        else:
            times, actions = source.walk.times.tolist(), source.walk.actions(self.usage.model)
            end = self.usage.duration if source.stop is None else min(source.stop, self.usage.duration)
        at = self.moment(times, actions, end)
        return Judgement(Verdict.SATISFIED, 1.0) if math.isinf(at) else Judgement(Verdict.VIOLATED, -1.0, at)


# ---------------------------------------------------------------------- the heater


HEAT, LIMIT = 10.0, 75.0
"""Time constant of the heater, and the temperature that it must not pass."""


def overheats(times: Sequence[float], actions: Sequence[str], end: float) -> float:
    temperature, before, towards = 0.0, 0.0, 0.0
    for at, action in [*zip(times, actions, strict=True), (end, "")]:
        at = min(at, end)
        after = towards + (temperature - towards) * math.exp((before - at) / HEAT)
        if after > LIMIT:
            return before + HEAT * math.log((towards - temperature) / (towards - LIMIT))
        if at >= end:
            break
        temperature, before, towards = after, at, 100.0 if action == "on" else 0.0
    return math.inf


@cache
def heater() -> Problem:
    bench = open_campaign("heater")
    usage = WalksOnly(bench.usage.profile, bench.usage.model, bench.usage.duration, bench.usage.period)
    ask = Told(usage, overheats)

    def truth() -> Truth:
        words: dict[tuple[str, ...], list[Use]] = {}
        for word in KEYS:
            evidence = estimate_word(ask, usage, word, PassPlan(40, 1_000), SeedTree(99).child(*word)).evidence
            walks, times = itertools.chain(*evidence.walks), np.concatenate(evidence.kept_times).tolist()
            words[word] = [alone(use_of(usage, walk, at)) for walk, at in zip(walks, times, strict=True)]
        on = usage.model.actions.index("on")

        def thrice(walks: Walks) -> np.ndarray:
            made = np.arange(walks.edges.shape[1])[None, :] < walks.steps[:, None]
            return (made & (usage.model.edge_action[walks.edges] == on) & (walks.times <= 20)).sum(axis=1) >= 3

        uses = list(judged(usage, ask, REFERENCE, thrice))
        return Truth(sum(KEYS.values()), uses, words)

    options = Options(counterexamples=10, simulations=2000, shrink=0, fan=0)
    return Problem("heater", usage, ask, options, truth, smc.SmcOptions(epsilon=1e-3, simulations=20_000))


# ---------------------------------------------------------------------- the tank


def tank_fails(times: Sequence[float], actions: Sequence[str], end: float) -> float:
    """The moment at which one of the tank's faults shows; infinite if none does by the end."""
    moment, closed, tap, boosts, third = math.inf, -math.inf, "close", 0, math.inf
    for at, action in [*zip(times, actions, strict=True), (end, "")]:
        if tap == "close":
            moment = min(moment, third + OVERHEATS if third + OVERHEATS <= at else math.inf)
        if at > min(end, moment):
            break
        if action == "boost":
            boosts += 1
            third = at if boosts == 3 else third
            moment = min(moment, at + BOTH if tap == "bath" else math.inf)
        elif action in ("shower", "bath", "close"):
            if action == "shower" and at - closed < EARLY:
                moment = min(moment, at + BOTH)
            closed, tap = (at, action) if action == "close" else (closed, action)
    return moment if moment <= end else math.inf


@cache
def tank() -> Problem:
    profile = load_profile(HOUSEHOLD)
    usage = WalksOnly(profile, compile_network(profile.network), 60.0, 0.6)
    ask = Told(usage, tank_fails)

    def truth() -> Truth:
        boost = usage.model.actions.index("boost")

        def thrice(walks: Walks) -> np.ndarray:
            made = np.arange(walks.edges.shape[1])[None, :] < walks.steps[:, None]
            boosts = made & (usage.model.edge_action[walks.edges] == boost) & (walks.times <= usage.duration)
            return boosts.sum(axis=1) >= 3

        # What has three boosts is rarer: it is taken from all of them.
        more = REFERENCE + RARE_REFERENCE
        uses = list(judged(usage, ask, REFERENCE, lambda walks: ~thrice(walks), every=8))
        uses += judged(usage, ask, more, thrice)
        total = math.fsum(weight for _, violating, weight in uses if violating is not None)
        return Truth(total, uses)

    options = Options(counterexamples=10, simulations=1000, shrink=0, fan=0)
    return Problem("tank", usage, ask, options, truth, smc.SmcOptions(epsilon=5e-3, simulations=20_000))


def judged(
    usage: WalksOnly, ask: Ask, count: int, chosen: Callable[[Walks], np.ndarray], every: int = 1
) -> Iterator[tuple[Use, Use | None, float]]:
    """Plain uses that are chosen, with their probability: those that violate, and every so many that pass."""
    for first in range(0, count, AT_ONCE):
        seeds = SeedTree(77).child("reference", first).words(min(AT_ONCE, count - first))
        walks = usage.stochastic_walks(seeds)
        for row in np.flatnonzero(chosen(walks)).tolist():
            walk = walks.walk(row)
            [answer] = ask([Query("", usage.draft(walk))])
            seen = answer.judgements[0]
            if seen.verdict is Verdict.VIOLATED:
                whole = alone(use_of(usage, walk))
                yield whole, replace(whole, violated_at=seen.first_violation_time), 1 / count
            elif row % every == 0:
                yield alone(use_of(usage, walk)), None, every / count


def alone(use: Use) -> Use:
    """The same without the walk, which keeps all walks of its batch in memory."""
    series = {name: Series(one.times.copy(), one.levels.copy()) for name, one in use.values.items()}
    return replace(use, times=use.times.copy(), values=series, walk=None, computed=no_signals)


def no_signals(_every: int) -> dict[str, np.ndarray]:
    return {}


# ---------------------------------------------------------------------- along a core


TWELVE = Pattern(("on",) * 12, (Condition(Without("off"), high=0.0), Condition(Gap(0), high=5.0)))
LATE = 4.5
"""The twelfth "on" violates if its delay is longer: in half of the uses."""


def rare_core(number: int, _folder: Path) -> Found:
    """No word is listed, so the numbers of the mode come from splitting along its core alone."""
    usage = long_use()

    def ask(queries: Sequence[Query]) -> list[Answer]:
        answers = []
        for query in queries:
            walk = query.source.walk
            twelve = walk.actions(usage.model)[:12] == ("on",) * 12 and walk.times[11] - walk.times[10] > LATE
            seen = (
                Judgement(Verdict.VIOLATED, -1.0, float(walk.times[11]))
                if twelve
                else Judgement(Verdict.SATISFIED, 1.0)
            )
            answers.append(Answer(SimulationStatus.OK, (seen,)))
        return answers

    strata = draw(usage, [TWELVE], [100, 1], 1, SeedTree(number), {0})
    simulate(ask, usage, 0, frozenset(), strata)
    found = estimate_modes(usage, [TWELVE], [], strata, 0.95)
    true, [mode] = 4.0**-12 / 2, found.modes
    rows = {"mode 1": (mode.probability, true), "fails 1": (mode.precision, 0.5), "any": (found.total, true)}
    return {name: (e.value, e.low, e.high, t) for name, (e, t) in rows.items()}


@cache
def long_use() -> WalksOnly:
    usage = open_campaign("heater").usage
    return WalksOnly(usage.profile, usage.model, 65.0, 0.1)


CASES: dict[str, Callable[[int, Path], Found]] = {
    "heater": lambda number, folder: whole_run(heater(), number, folder),
    "tank": lambda number, folder: whole_run(tank(), number, folder),
    "rare core": rare_core,
}


# ---------------------------------------------------------------------- keeping and showing


def rows(name: str, found: Sequence[Found]) -> Iterator[str]:
    for row in sorted(dict.fromkeys(row for one in found for row in one)):
        values, lows, highs, true = np.array([one[row] for one in found if row in one]).T
        within = (lows <= true * ROUNDING) & (true <= highs * ROUNDING)
        covers, count = float(within.mean()), len(values)
        error = math.sqrt(max(covers * (1 - covers), 1 / count) / count)
        missed = f"{100 * (highs * ROUNDING < true).mean():.1f}, {100 * (lows > true * ROUNDING).mean():.1f}"
        bias, spread = np.mean(values / true) - 1, np.std(values / true) / math.sqrt(count)
        yield (
            f"| {name} | {row} | {np.mean(true):.4g} | {count:,} | {100 * covers:.1f} ± {100 * error:.1f} | {missed} | "
            f"{100 * bias:+.1f} ± {100 * spread:.1f} | {np.mean((highs - lows) / true):.2f} |"
        )


def main(description: str | None = __doc__, repetitions: int = 400) -> None:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=repetitions)
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="parts of the names of cases")
    parser.add_argument("--into", type=Path, default=Path("mode_coverage_runs"), metavar="DIRECTORY")
    parser.add_argument("--show", action="store_true", help="print what was made so far, and make nothing")
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    print("| system | number | true | repetitions | covers % | too low, too high % | bias % | width / true |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name, repeat in CASES.items():
        if not any(part in name for part in arguments.only):
            continue
        file, began = arguments.into / f"{name.replace(' ', '_')}.jsonl", time.process_time()
        if not arguments.show:
            done = kept(file)
            with file.open("w") as lines:
                lines.writelines(json.dumps(one) + "\n" for one in done)
                for number in range(len(done), arguments.repetitions):
                    lines.write(json.dumps(repeat(number, arguments.into)) + "\n")
                    lines.flush()
        for row in rows(name, kept(file)[: arguments.repetitions]):
            print(row, flush=True)
        if not arguments.show:
            print(f"<!-- {time.process_time() - began:.0f} CPU s -->", flush=True)


if __name__ == "__main__":
    main()
