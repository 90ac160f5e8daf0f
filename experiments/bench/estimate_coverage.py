"""Do the intervals of `estimate` cover the truth as often as they say?  Every method, on problems with known answers.

    python experiments/bench/estimate_coverage.py                        # 5,000 repetitions of everything, hours of CPU
    python experiments/bench/estimate_coverage.py --repetitions 20       # a taste, in a minute
    python experiments/bench/estimate_coverage.py --only splitting words # cases whose names contain one of these
    python experiments/bench/estimate_coverage.py --into DIRECTORY       # kept there; the same command goes on later

Nominal 95 %.  Repetition i of a case has its own seed, so parts that were made apart are the same as one long run.  The
table may be printed at any time (`--show`): each row says how many repetitions it has.

    covers     share of the intervals that contain the true value, with its standard error
    bias       mean of the values, divided by the true value, minus 1, with its standard error
    width      mean width
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from interval_coverage import ClosedForm, WalksOnly

from bbfalsify.chains import answer_csl, explore_chain
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.answered import Answered
from bbfalsify.engines.estimation.answering import Answering
from bbfalsify.engines.estimation.going_on import combined, second_settings
from bbfalsify.engines.estimation.importance import ImportanceSampling
from bbfalsify.engines.estimation.path_sampler import PathSampler
from bbfalsify.engines.estimation.plain_rule import FIXED, PlainRule
from bbfalsify.engines.estimation.questions import Question, read_question
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.engines.estimation.tilted_words import TiltedWord
from bbfalsify.engines.estimation.use_answers import answer_use
from bbfalsify.engines.estimation.uses import JudgedUses
from bbfalsify.engines.estimation.word_runs import WordRuns
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.examples.chains import chain_file
from bbfalsify.kernel import compile_network
from bbfalsify.modelling import Network, NetworkBuilder, load_network, load_profile
from bbfalsify.stats.sequential import Counts, StoppingRule

HEATER_USER = Path(__file__).parents[2] / "profiles" / "heater_user.yaml"
RUNS, LOOK_EVERY = 300, 50
"""Runs of a repetition of plain simulation, and between two looks of a confidence sequence."""
TOGETHER = 50
"""Repetitions of plain simulation that are made in one call."""
MARGIN = 0.1
"""The heater's limit is passed only by "on" within this of the first possible moment, and never "off" again."""
WORD = ("on", "on", "on", "on", "on")


@dataclass(frozen=True)
class Model:
    """A network with a query, and the true answer."""

    network: Network
    query: str
    exact: float

    @property
    def question(self) -> Question:
        return read_question(self.query, self.network)


@cache
def model(name: str) -> Model:
    if name == "ruin":
        # Plays that last longer than 200 steps are rarer than 1e-6.
        return Model(load_network(chain_file("ruin")), "Pr[#<=200](<> money == goal)", 1 / 63)
    if name == "gambler":
        return Model(load_network(chain_file("gambler")), "Pr[#<=5](<> Gambler.Home)", 1 - (5 / 6) ** 5)
    file, constants, query = {
        "lock": ("typist", {}, "P=? [ F<=10 Typist.Open ]"),
        "queue of 5": ("queue", {"room": 5}, "P=? [ F<=20 waiting == room ]"),
        "queue of 8": ("queue", {"room": 8}, "P=? [ F<=20 waiting == room ]"),
        "queue of 5 within 2": ("queue", {"room": 5}, "P=? [ F<=2 waiting == room ]"),
        "Erlang within 3": ("erlang", {}, "P=? [ F<=3 Timer.Done ]"),
        "Erlang within 0.5": ("erlang", {}, "P=? [ F<=0.5 Timer.Done ]"),
        "Erlang within 0.05": ("erlang", {}, "P=? [ F<=0.05 Timer.Done ]"),
    }[name]
    network = load_network(chain_file(file), constants)
    exact = answer_csl(explore_chain(network), query).value
    assert exact is not None
    return Model(network, query, exact)


Found = dict[str, tuple[float, float, float]]
"""By method: value, low, high."""


@dataclass(frozen=True)
class Case:
    name: str
    exact: Callable[[], float]
    repeat: Callable[[range], Iterator[Found]]
    """The repetitions with these numbers."""


def one_by_one(name: str, one: Callable[[SeedTree], Estimate]) -> Callable[[range], Iterator[Found]]:
    def repeat(numbers: range) -> Iterator[Found]:
        for number in numbers:
            found = one(SeedTree(1).child("coverage", name, number))
            yield {name.partition(": ")[2]: (found.value, found.low, found.high)}

    return repeat


# ---------------------------------------------------------------------- plain simulation


def of_counts(met: np.ndarray, epsilon: float) -> Found:
    hits = int(met.sum())
    found = {name: (hits / RUNS, *limits(hits, RUNS, 0.95)) for name, (limits, _) in FIXED.items()}
    rule = StoppingRule("sequence", epsilon=epsilon)
    for trials in range(LOOK_EVERY, RUNS + 1, LOOK_EVERY):
        counts = Counts(int(met[:trials].sum()), trials)
        if rule.reached(counts):
            break
    low, high = rule.interval(counts)
    found[f"sequence, stopped at ± {epsilon:g}"] = (counts.hits / counts.trials, low, high)
    return found


def plain(of: str) -> Case:
    def repeat(numbers: range) -> Iterator[Found]:
        problem = model(of)
        assert problem.question.path is not None
        sampler = PathSampler(problem.network, problem.question.path, 1_000_000)
        for first in range(numbers.start, numbers.stop, TOGETHER):
            part = range(first, min(first + TOGETHER, numbers.stop))
            seeds = np.concatenate([SeedTree(1).child("coverage", of, number).words(RUNS) for number in part])
            met = sampler.runs(seeds, sampler.start(), np.zeros(len(seeds), np.int64)).met
            yield from (of_counts(row, 0.1) for row in met.reshape(-1, RUNS))

    return Case(f"{of}: plain", lambda: model(of).exact, repeat)


def bayes_over_its_prior() -> Case:
    """Jeffreys' interval promises its coverage on average over probabilities; all is told relative to the true one."""

    def repeat(numbers: range) -> Iterator[Found]:
        for number in numbers:
            rng = SeedTree(1).child("coverage", "prior", number).rng()
            true = float(rng.beta(0.5, 0.5))
            hits = int(rng.binomial(RUNS, true))
            low, high = FIXED["bayes"][0](hits, RUNS, 0.95)
            yield {"bayes": (1 + hits / RUNS - true, 1 + low - true, 1 + high - true)}

    return Case("drawn from the prior (told + 1 - p): bayes", lambda: 1.0, repeat)


# ---------------------------------------------------------------------- rare events of models


def named(of: str, chosen: EstimateSettings) -> str:
    variant = f", {chosen.splitting.replace('_', ' ')}" if chosen.method == "splitting" else ""
    return f"{of}: {chosen.method}{variant}"


def rare(of: str, **settings: object) -> Case:
    chosen = EstimateSettings(**settings)
    name = named(of, chosen)

    def one(seeds: SeedTree) -> Estimate:
        problem = model(of)
        found = Answering(problem.network, chosen, lambda: True).answer(problem.question, seeds).estimate
        assert found is not None
        return found

    return Case(name, lambda: model(of).exact, one_by_one(name, one))


# ---------------------------------------------------------------------- closed loops


@cache
def heater(limit: float) -> tuple[WalksOnly, ClosedForm]:
    profile = load_profile(HEATER_USER)
    usage = WalksOnly(profile, compile_network(profile.network), 20.0, 20.0)
    return usage, ClosedForm(usage, limit)


OVERHEATS = 4.861718e-3
RARELY = MARGIN / 256 * (1 - (1 - MARGIN) ** 4 / 48)
LIMIT = 100 * (1 - math.exp(-(16 - MARGIN) / 10))


def heater_plain() -> Case:
    def repeat(numbers: range) -> Iterator[Found]:
        usage, ask = heater(75.0)
        for number in numbers:
            words = SeedTree(1).child("coverage", "heater", number).words(RUNS)
            yield of_counts(JudgedUses(ask, usage, 0, "plain", ask_uses=ask.uses).plain_violations(words)[0], 0.02)

    return Case("heater above 75: plain", lambda: OVERHEATS, repeat)


def loop(limit: float, exact: float, of: str, words: int = 0, **settings: object) -> Case:
    """`words`: so many belong to the whole; a sum over fewer says "at least", and has a row of its own."""
    chosen = EstimateSettings(horizon=20.0, **settings)
    name = named(of, chosen)

    def repeat(numbers: range) -> Iterator[Found]:
        usage, ask = heater(limit)
        for number in numbers:
            seeds = SeedTree(1).child("coverage", name, number)
            answered = answer_use(ask, usage, 0, chosen, seeds, lambda: True, ask.uses)
            found, label = answered.estimate, name.partition(": ")[2]
            assert found is not None
            if len(answered.evidence.get("words", ())) < words:
                label += ", words are missing: with what was never met"
                found = replace(found, high=found.at_most)
            yield {label: (found.value, found.low, found.high)}

    return Case(name, lambda: exact, repeat)


def auto_of_loop(limit: float, exact: float, of: str, words: int) -> Case:
    """What users get by default: plain uses, and where they say too little the sum over words."""
    chosen = EstimateSettings(horizon=20.0, runs=6000)

    def repeat(numbers: range) -> Iterator[Found]:
        usage, ask = heater(limit)
        for number in numbers:
            seeds, plain, rule = SeedTree(1).child("coverage", "auto", of, number), smc.Progress(), PlainRule(chosen)
            options = smc.SmcOptions(confidence=chosen.confidence, simulations=rule.most, growth=0.1)
            smc.run(ask, usage, plain, options, requirements=1, seeds=seeds.child("smc"), listener=Unheard(),
                    ask_uses=ask.uses, stopping=rule)  # fmt: skip
            counts = plain.counts(0)
            first = rule.estimate(counts)
            found, second = (
                Answered(first, None, False, counts.trials, first.method),
                second_settings(rule, counts, True),
            )
            if second is not None:
                found = combined(found, counts, second, lambda settings, seeds=seeds: answer_use(
                    ask, usage, 0, settings, seeds.child("second"), lambda: True, ask.uses))  # fmt: skip
            told, label = found.estimate, "auto"
            assert told is not None
            if told.at_least and len(found.evidence.get("words", ())) < words:
                label, told = "auto, words are missing: with what was never met", replace(told, high=told.at_most)
            yield {label: (told.value, told.low, told.high)}

    return Case(f"{of}: auto", lambda: exact, repeat)


class Unheard:
    """A listener of simulations."""

    def counted(self, progress: smc.Progress) -> None:
        pass


def auto_of_model(within: float) -> Case:
    """Three delays, each uniform on [0, 4], together within a time ≤ 4: (time / 4)³ / 6."""

    def one(seeds: SeedTree) -> Estimate:
        model = uniform_delays()
        asked = read_question(f"Pr[<={within:g}](<> A.Done)", model)
        found = Answering(model, EstimateSettings(runs=40_000), lambda: True).answer(asked, seeds).estimate
        assert found is not None
        return found

    name = f"three uniform delays within {within:g}: auto"
    return Case(name, lambda: (within / 4) ** 3 / 6, one_by_one(name, one))


@cache
def uniform_delays() -> Network:
    built = NetworkBuilder("delays")
    built.declare("clock x;")
    a = built.automaton("A")
    for place, following in (("One", "Two"), ("Two", "Three"), ("Three", "Done")):
        a.location(place, invariant="x <= 4")
        a.edge(place, following, action="go", update="x = 0")
    a.location("Done")
    return built.instance("A").build()


def inside_a_word() -> Case:
    """The share of the uses on·on·on·on·on that pass the limit in the last delay: the first "on" within the margin."""

    def one(seeds: SeedTree) -> Estimate:
        usage, ask = heater(LIMIT)
        source = TiltedWord(WordRuns(JudgedUses(ask, usage, 0, "inside", ask_uses=ask.uses), WORD, seeds))
        return ImportanceSampling(source, seeds, 0.95, 0.2, 100, 20_000, lambda: True).estimate()

    name = "inside on·on·on·on·on: tilts"
    return Case(name, lambda: MARGIN, one_by_one(name, one))


SMALL = {"particles": 50, "passes": 10}
TILTED = {"particles": 100, "precision": "relative 0.2"}
CASES = [
    *(plain(of) for of in ("gambler", "ruin", "lock", "queue of 5", "Erlang within 3", "Erlang within 0.5")),
    heater_plain(),
    bayes_over_its_prior(),
    rare("queue of 8", method="splitting", score="waiting", **SMALL),
    *(rare("ruin", method="splitting", score="money", splitting=variant, **SMALL)
      for variant in ("fixed_effort", "adaptive", "restart")),
    rare("queue of 8", method="importance", score="waiting", **TILTED),
    rare("queue of 5 within 2", method="importance", score="waiting", **TILTED),
    rare("ruin", method="importance", score="money", **TILTED),
    rare("Erlang within 0.05", method="importance", **TILTED),
    inside_a_word(),
    *(loop(LIMIT, RARELY, "heater, rarely", 2, method=method, particles=100, runs=5000, precision="relative 0.2")
      for method in ("words", "conditional", "quasi_random")),
    loop(75.0, OVERHEATS, "heater above 75", 4, method="words", particles=100, runs=5000, precision="relative 0.2"),
    loop(75.0, OVERHEATS, "heater above 75", method="importance", particles=100, runs=5000, precision="relative 0.2"),
    auto_of_loop(LIMIT, RARELY, "heater, rarely", 2),
    auto_of_loop(75.0, OVERHEATS, "heater above 75", 4),
    *(auto_of_model(within) for within in (4.0, 1.0, 0.1)),
    loop(75.0, OVERHEATS, "heater above 75", method="splitting", particles=20, passes=8),
    loop(75.0, OVERHEATS, "heater above 75", method="splitting", splitting="adaptive", particles=20, passes=8),
]  # fmt: skip


# ---------------------------------------------------------------------- keeping and showing


def kept(file: Path) -> list[Found]:
    """The repetitions that were made; a last line that was cut off is not one."""
    found: list[Found] = []
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found


def repeat_case(case: Case, repetitions: int, file: Path) -> None:
    done = kept(file)
    file.write_text("".join(json.dumps(one) + "\n" for one in done))
    with file.open("a") as lines:
        for found in case.repeat(range(len(done), repetitions)):
            lines.write(json.dumps(found) + "\n")
            lines.flush()


def rows(case: Case, found: Sequence[Found]) -> Iterator[str]:
    exact = case.exact()
    for method in dict.fromkeys(method for one in found for method in one):
        values, lows, highs = np.array([one[method] for one in found if method in one]).T
        covers, count = float(((lows <= exact) & (exact <= highs)).mean()), len(values)
        error = math.sqrt(max(covers * (1 - covers), 1 / count) / count)
        ratio, spread = values.mean() / exact - 1, values.std() / exact / math.sqrt(count)
        yield (
            f"| {case.name.partition(':')[0]} | {exact:.4g} | {method} | {count:,} | {100 * covers:.1f} ± "
            f"{100 * error:.1f} | {100 * ratio:+.1f} ± {100 * spread:.1f} | {np.mean(highs - lows):.3g} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5000)
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="parts of the names of cases")
    parser.add_argument("--into", type=Path, default=Path("coverage_runs"), metavar="DIRECTORY")
    parser.add_argument("--show", action="store_true", help="print what was made so far, and make nothing")
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    print("| problem | exact | method | repetitions | covers % | bias % | mean width |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for case in (case for case in CASES if any(part in case.name for part in arguments.only)):
        file = arguments.into / f"{case.name.replace(': ', '-').replace(' ', '_')}.jsonl"
        began = time.process_time()
        if not arguments.show:
            repeat_case(case, arguments.repetitions, file)
        for row in rows(case, kept(file)[: arguments.repetitions]):
            print(row, flush=True)
        if not arguments.show:
            print(f"<!-- {time.process_time() - began:.0f} CPU s -->", flush=True)


if __name__ == "__main__":
    main()
