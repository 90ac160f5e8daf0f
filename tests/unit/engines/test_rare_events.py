"""Rare events by splitting and importance sampling, of models and of the heater's closed loop, against exact values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from bbfalsify.chains import answer_csl, explore_chain
from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Answer, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import SimulationStatus, StopReason
from bbfalsify.engines.estimation.answered import Answered
from bbfalsify.engines.estimation.answering import Answering
from bbfalsify.engines.estimation.importance import BATCHES, Drawn, ImportanceSampling, Weighted
from bbfalsify.engines.estimation.plain_rule import PlainRule
from bbfalsify.engines.estimation.questions import read_question
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.engines.estimation.splitting import PassPlan
from bbfalsify.engines.estimation.tilted_words import TiltedWord
from bbfalsify.engines.estimation.use_answers import answer_use
from bbfalsify.engines.estimation.use_splitting import UseSplitting
from bbfalsify.engines.estimation.uses import JudgedUses
from bbfalsify.engines.estimation.word_runs import WordRuns
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.examples.chains import chain_file
from bbfalsify.examples.heater.system import heater
from bbfalsify.kernel import compile_network
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.logic.csl import Bound
from bbfalsify.modelling import load_network, parse_network
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.stats.intervals import clopper_pearson
from bbfalsify.stats.sequential import Counts
from tests.heater import EXACT, profile

USAGE = Usage(profile(), compile_network(profile().network), 20.0, 0.5)


def asking(stl: str) -> Ask:
    judge = RequirementsJudge([Requirement("R1", "", parse_stl(stl))])

    def ask(queries: Sequence[Query]) -> list[Answer]:
        made = [(q.stimulus, heater.function(q.stimulus)) for q in queries]
        traces = [Trace(s.times, {**s.inputs, **outputs}, s.events) for s, outputs in made]
        return [Answer(SimulationStatus.OK, judge(trace)) for trace in traces]

    return ask


def loop(seed: int = 1, stl: str = "always[0:20](T <= 75)", **settings: object) -> Answered:
    chosen = EstimateSettings(horizon=20.0, **settings)
    return answer_use(asking(stl), USAGE, 0, chosen, SeedTree(seed), lambda: True)


def of_queue(room: int, score: str = "waiting", **settings: object) -> tuple[float, Answered]:
    network, query = load_network(chain_file("queue"), {"room": room}), "P=? [ F<=100 waiting == room ]"
    exact = answer_csl(explore_chain(network), query).value
    assert exact is not None
    answering = Answering(network, EstimateSettings(score=score, **settings), lambda: True)
    return exact, answering.answer(read_question(query, network), SeedTree(1))


@pytest.mark.parametrize("method", ["importance", "splitting"])
def test_an_interval_has_a_width_where_every_run_meets_the_goal(method: str):
    """A customer within 9: 1 - e^-9 = 0.99988, which no run of 100 or 2,000 misses with this seed."""
    network, query = load_network(chain_file("queue")), "P=? [ F<=9 waiting == 1 ]"
    settings = EstimateSettings(method=method, score="waiting", particles=20, passes=5)
    found = Answering(network, settings, lambda: True).answer(read_question(query, network), SeedTree(1)).estimate
    assert found is not None and found.value == 1.0
    assert 0.9 < found.low < 1 - math.exp(-9) < found.high == 1.0


@pytest.mark.parametrize("variant", ["fixed_effort", "adaptive", "restart"])
def test_a_score_that_never_rises_is_named(variant: str):
    for score, named in (("room", True), ("waiting", False)):
        _, found = of_queue(10, score, method="splitting", splitting=variant, particles=100, passes=4)
        assert any("does the score rise" in warning for warning in found.warnings) is named


@pytest.mark.parametrize("variant", ["fixed_effort", "adaptive", "restart"])
def test_variants_of_splitting_agree_with_the_chain(variant: str):
    """Overflow of a queue of 15 within 100: 6.5e-4.  A 99.9 % interval at one seed; off by half is seen always."""
    exact, found = of_queue(15, method="splitting", splitting=variant, confidence=0.999, particles=200, passes=10)
    assert found.estimate is not None and found.estimate.low <= exact <= found.estimate.high < 3 * exact
    assert variant.replace("_", " ") in found.method and found.evidence["distinct_roots"] > 0


DELAYS = """
format_version: 1
name: delays
automata:
  Timer:
    declarations: "clock x; int[0,3] n = 0;"
    initial: On
    locations:
      On: {invariant: "x <= 1"}
    edges:
      - {from: On, to: On, action: tick, guard: "n < 3", update: "x = 0, n++"}
"""


def of_ruin(seed: int = 1, query: str = "Pr[#<=200](<> money == goal)", **settings: object) -> Answered:
    network = load_network(chain_file("ruin"))
    return Answering(network, EstimateSettings(**settings), lambda: True).answer(
        read_question(query, network), SeedTree(seed)
    )


@pytest.mark.parametrize("variant", ["fixed_effort", "adaptive", "restart"])
def test_splitting_is_unbiased(variant: str):
    """The mean of 300 passes of 50 particles, within 3.5 standard errors: a false alarm has probability 5e-4.  Runs
    that choose their level and also count for it make `adaptive` 22 % too large; an error of 20 % is seen.
    """
    found = of_ruin(method="splitting", score="money", splitting=variant, particles=50, passes=300).estimate
    assert found is not None
    error = (found.high - found.low) / 2 / 1.97
    assert abs(found.value - 1 / 63) < 3.5 * error and error < 0.06 / 63


RARE_METHODS = ("importance", "splitting", "words", "conditional", "quasi_random")


@pytest.mark.parametrize("runs", [100, 700, 3000])
@pytest.mark.parametrize("method", RARE_METHODS)
def test_no_method_makes_more_runs_than_allowed(method: str, runs: int):
    asked = []

    def counting(queries: Sequence[Query]) -> Sequence[Answer]:
        asked.extend(queries)
        return asking("always[0:20](T <= 75)")(queries)

    chosen = EstimateSettings(horizon=20.0, method=method, runs=runs, particles=60, passes=5)
    found = answer_use(counting, USAGE, 0, chosen, SeedTree(1), lambda: True)
    assert len(asked) == found.runs <= runs
    assert found.estimate is not None and 0 <= found.estimate.low <= sum(EXACT.values())
    assert found.estimate.at_least or sum(EXACT.values()) <= found.estimate.high


@pytest.mark.parametrize("settings", [
    {"method": "importance"}, {"method": "importance", "score": "money"}, {"method": "splitting", "score": "money"},
    {"method": "splitting", "score": "money", "splitting": "restart"}, {"score": "money"}, {},
])  # fmt: skip
@pytest.mark.parametrize("runs", [50, 2000])
def test_runs_of_a_model_are_bounded_too(settings: dict, runs: int):
    found = of_ruin(runs=runs, particles=40, confidence=0.999, **settings)
    assert found.estimate is not None and found.runs <= runs
    assert found.estimate.low <= 1 / 63 <= found.estimate.high


@pytest.mark.parametrize("method", ["conditional", "quasi_random"])
def test_the_conditional_estimator_by_name(method: str):
    """All four words of the heater, 4.8617e-3.  A 99.9 % interval, one seed."""
    found = loop(method=method, particles=100, runs=12_000, confidence=0.999, precision="relative 0.05")
    assert found.estimate is not None and set(found.evidence["words"]) == {" ".join(word) for word in EXACT}
    assert found.estimate.low <= sum(EXACT.values()) <= found.estimate.high < 1.3 * sum(EXACT.values())
    assert all("conditional splitting" in part["method"] for part in found.evidence["words"].values())


def test_auto_goes_on_where_no_run_of_a_model_met_it():
    """20 before ruin: 9.5e-7; three delays of up to 1 within 0.05: 2.1e-5.  99.9 % intervals, one seed each."""
    ruin, delays = load_network(chain_file("ruin"), {"goal": "20"}), parse_network(DELAYS)
    for network, score, query, exact, method in (
        (ruin, "money", "Pr[#<=400](<> money == goal)", 1 / (2**20 - 1), "splitting"),
        (delays, None, "Pr[<=0.05](<> Timer.n == 3)", 0.05**3 / 6, "importance"),
    ):
        answering = Answering(network, EstimateSettings(score=score, confidence=0.999), lambda: True)
        found = answering.answer(read_question(query, network), SeedTree(1))
        assert found.estimate is not None and found.estimate.low <= exact <= found.estimate.high < 3 * exact
        assert f"so auto went on with --method {method}" in found.warnings[0] and method in found.method


def test_auto_stays_where_it_has_its_answer():
    assert of_ruin().warnings == []
    decided = of_ruin(query="Pr[#<=200](<> money == goal) <= 0.5")
    assert decided.verdict is True and "auto" not in " ".join(decided.warnings)
    fixed = of_ruin(query="Pr[#<=3; 50](<> money == goal)")
    assert fixed.runs == 50 and "auto" not in " ".join(fixed.warnings)


def test_tilts_find_a_fast_delay_without_a_score():
    """Erlang(4, 2) within 0.01: 6.5608e-9, where 50,000 runs meet nothing.  99.9 % interval, one seed."""
    network = load_network(chain_file("erlang"), {})
    answering = Answering(network, EstimateSettings(method="importance", confidence=0.999), lambda: True)
    found = answering.answer(read_question("P=? [ F<=0.01 Timer.Done ]", network), SeedTree(2))
    assert found.estimate is not None and found.runs < 200_000
    assert found.estimate.low <= 6.5608e-9 <= found.estimate.high < 1.5 * 6.5608e-9
    assert found.evidence["effective_samples"] > 100


def test_tilts_of_a_closed_loop():
    """The heater violates in 4.8617e-3 of its uses.  99.9 % interval, one seed; a bias of 10 % would be seen."""
    found = loop(method="importance", confidence=0.999, particles=500, runs=20_000, precision="relative 0.06")
    assert found.estimate is not None and found.estimate.low <= sum(EXACT.values()) <= found.estimate.high
    assert found.estimate.high - found.estimate.low < 0.3 * sum(EXACT.values())
    assert found.evidence["effective_samples"] > 300


def test_splitting_of_a_closed_loop_is_honest_about_rare_branches():
    """Few first runs have descendants, because the word is rare: the interval covers, and the warning says why."""
    found = loop(method="splitting", particles=60, passes=6, confidence=0.99)
    assert found.estimate is not None and found.estimate.low <= sum(EXACT.values()) <= found.estimate.high
    assert any("first runs" in warning for warning in found.warnings)


def rare_limit(margin: float) -> tuple[str, float]:
    """A requirement that only "on" at the first moment violates, held on to the end; and its exact probability.

    The heater passes the limit D = 16 - margin after it was switched on for good.  That needs "on" at t1 in
    [4, 4 + margin], three more "on" with delays U[4, 5), and no "off" before t1 + D:
    margin/4 · (1/4)³ · (1 - E[(1 - margin - U1 - U2 - U3)⁺]/2), and the mean is (1 - margin)⁴/24.
    """
    limit = 100 * (1 - math.exp(-(16 - margin) / 10))
    return f"always[0:20](T <= {limit!r})", margin / 256 * (1 - (1 - margin) ** 4 / 48)


WORD = ("on", "on", "on", "on", "on")
RUNS = {0.1: 26_000, 0.001: 100_000}


@pytest.mark.parametrize("margin", [0.1, pytest.param(0.001, marks=pytest.mark.slow)])
def test_a_sum_over_words_looks_inside_those_with_small_shares(margin: float):
    """3.85e-4 and 3.83e-6 in two words of five actions.  A 99.9 % interval at one seed; a quarter would be seen."""
    stl, exact = rare_limit(margin)
    found = loop(stl=stl, method="words", particles=250 if margin == 0.1 else 1000, runs=RUNS[margin], confidence=0.999)
    assert found.estimate is not None and found.estimate.low <= exact <= found.estimate.high < 1.5 * exact
    assert set(found.evidence["words"]) == {" ".join(WORD), "on on on on off"}
    assert all("exact product × " in part["method"] for part in found.evidence["words"].values())
    assert "at least" in found.method and any("at most" in warning for warning in found.warnings)


def test_words_that_differ_in_the_last_action_only_are_looked_at_too():
    """Seed 0: tilted uses meet only "… off", three quarters of 3.85e-4.  A 99.9 % interval at one seed."""
    stl, exact = rare_limit(0.1)
    found = loop(0, stl=stl, method="words", particles=100, runs=12_000, confidence=0.999)
    assert found.estimate is not None and found.estimate.low <= exact <= found.estimate.high < 1.5 * exact
    assert set(found.evidence["words"]) == {" ".join(WORD), "on on on on off"}


def test_tilts_inside_a_word_reach_a_share_of_1e_9():
    """Only "on" within 1e-9 of the first moment counts; the fifth "on" changes nothing.  99.9 % intervals of 3 seeds;
    bins that straddle the border of the goal would leave them below the truth (by 6 % at 1e-3).
    """
    ask = asking(rare_limit(1e-9)[0])
    for seed in range(3):
        uses, seeds = JudgedUses(ask, USAGE, 0, "inside"), SeedTree(seed)
        source = TiltedWord(WordRuns(uses, WORD, seeds))
        found = ImportanceSampling(source, seeds, 0.999, 0.1, 300, 100_000, lambda: True).estimate()
        assert found.low <= 1e-9 <= found.high < 1.3e-9 and found.samples < 30_000


def test_splitting_inside_a_word():
    """The same share where weights have heavy tails: 0.1 in [0.07, 0.14].  99.9 %, one seed."""
    ask, seeds = asking(rare_limit(0.1)[0]), SeedTree(1)
    runs = WordRuns(JudgedUses(ask, USAGE, 0, "inside"), WORD, seeds)
    plan = PassPlan(10, lambda: True, relative=0.2)
    found = UseSplitting(runs, "fixed_effort", 100, plan, 0.999, seeds).estimate()
    assert found.low <= 0.1 <= found.high and found.high - found.low <= 0.4 * found.value


def test_passes_are_added_until_a_relative_precision_is_reached():
    """3.1 % in a queue of 8 within 20; ten passes of 50 particles give ± 25 %."""
    _, few = of_queue(15, method="splitting", particles=50, passes=5)
    exact, found = of_queue(15, method="splitting", particles=50, passes=5, precision="relative 0.2")
    assert few.estimate is not None and found.estimate is not None and found.runs > few.runs
    assert found.estimate.high - found.estimate.low <= 0.4 * found.estimate.value
    assert found.estimate.low * 0.7 <= exact <= found.estimate.high * 1.4
    _, cut = of_queue(15, method="splitting", particles=50, passes=5, precision="relative 0.01", runs=few.runs + 1)
    assert any("before the precision was reached" in warning for warning in cut.warnings)


def test_a_budget_that_ends_early_leaves_what_plain_uses_say():
    def briefly(queries: Sequence[Query]) -> Sequence[Answer]:
        if int(queries[0].name.rpartition("/")[2]) > 1000:
            raise BudgetSpent(StopReason.BUDGET_TIME)
        return asking("always[0:20](T <= 75)")(queries)

    made = {"words": 1100, "splitting": 1000, "importance": 1000}
    for method in made:
        chosen = EstimateSettings(horizon=20.0, method=method, particles=1000)
        found = answer_use(briefly, USAGE, 0, chosen, SeedTree(1), lambda: True)
        assert found.estimate is not None and found.runs == found.estimate.samples == (
            1100 if method == "words" else 1000
        )
        assert 0 < found.estimate.low < sum(EXACT.values()) < found.estimate.high < 0.02
        assert any("plain uses" in warning for warning in found.warnings)


def test_same_seed_same_result():
    settings = {"method": "importance", "particles": 100, "runs": 3000}
    assert loop(3, **settings).estimate == loop(3, **settings).estimate != loop(4, **settings).estimate


def test_a_violation_that_is_impossible_has_an_upper_bound():
    found = loop(stl="always[0:20](T <= 200)", method="importance", particles=50, runs=600)
    assert found.estimate is not None and found.estimate.value == 0 < found.estimate.high < 1
    assert any("upper bound" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"splitting": "restart"}, "'restart' is for models"), ({"score": "x"}, "robustness is the score")],
)
def test_refusals_for_systems(settings: dict, says: str):
    with pytest.raises(UserError, match=says):
        EstimateSettings(horizon=20.0, **settings)


def test_a_common_violation_is_not_summed_over_words():
    """About 0.26: plain uses reach ± 20 % at once, where a sum over words takes passes for each of dozens of them."""
    found = loop(stl="always[0:20](T <= 50)", method="words", particles=100, precision="relative 0.2")
    assert found.estimate is not None and found.estimate.method == "confidence sequence" and found.runs < 5000
    assert any("common" in warning for warning in found.warnings) and "words" not in found.evidence


class Uniforms:
    """A `Population` of uniform numbers; those below 0.004 violate."""

    def __init__(self) -> None:
        self.uses = JudgedUses(asking("always[0:20](T <= 75)"), USAGE, 0, "none")

    def drawn(self, count: int, seeds: SeedTree) -> list[float]:
        return seeds.rng().random(count).tolist()

    def numbers(self, run: float) -> np.ndarray:
        return np.array([run])

    def changed(
        self, runs: list[float], rng: np.random.Generator, seeds: SeedTree, widths: np.ndarray
    ) -> dict[int, float]:
        return dict(enumerate(rng.random(len(runs)).tolist()))

    def scores(self, runs: list[float]) -> np.ndarray:
        found = np.array(runs)
        return np.where(found < 0.004, -np.inf, found)


def test_levels_that_a_pass_chooses_itself_do_not_make_it_too_large():
    """H0: the mean of passes of 20 runs is 0.004; it was 1.3 times that.  4 standard errors: false alarm 1e-4."""
    splitting = UseSplitting(Uniforms(), "adaptive", 20, PassPlan(1500, lambda: True), 0.95, SeedTree(1))
    splitting.estimate()
    values = np.array([one.value for one in splitting.passes.done])
    error = values.std() / math.sqrt(len(values))
    assert abs(values.mean() - 0.004) < 4 * error < 0.0016


def test_a_longer_look_recognises_what_is_less_common():
    """About 0.046, so 100 uses meet 3 to 9: 1,000 decide."""
    found = loop(3, stl="always[0:20](T <= 60)", method="words", particles=100, precision="relative 0.2")
    assert found.estimate is not None and found.estimate.method == "confidence sequence" and found.runs < 10_000
    assert found.estimate.low < 0.0459 < found.estimate.high and "words" not in found.evidence


def test_batches_that_agree_are_no_narrower_than_their_weights():
    """20 equal batches of 10 hits, each of weight 1 among 20 runs: 200 hits of 400 leave ± 10 %, not nothing."""
    found = Weighted(np.full(BATCHES, 10.0), 20, [np.ones(10)] * BATCHES)
    low, high = found.interval(0.95)
    assert 0.4 < low < 0.46 and 0.55 < high < 0.6


def test_a_few_weights_bound_nothing():
    """Four hits of 4,000 runs, one of them heavy: the next such one may be a hundred times as heavy as all of them."""
    found, batches = Weighted(), []
    for weight in (1e-3, 1e-5, 2e-5, 1e-5, *[0.0] * (BATCHES - 4)):
        met = np.zeros(200, bool)
        met[-1] = weight > 0
        batches.append((Drawn(met, met, np.zeros((0, 0))), met * weight))
    found.add(batches, 200)
    low, high = found.interval(0.95)
    assert found.own == Counts(0, 400) and high == clopper_pearson(0, 400)[1]
    assert low == pytest.approx(0.025 * found.values.mean())


def test_a_region_of_indifference_does_not_swallow_the_bound():
    """No hit in 300 runs does not decide P <= 0.001: 0.005 would meet none in 22 % of such samples."""
    rule = PlainRule(EstimateSettings(method="sprt"), Bound(high=0.001))
    assert rule.verdict(Counts(0, 300)) is None and "± 0.0005" in rule.estimate(Counts(0, 300)).method
    assert rule.verdict(Counts(0, 10_000)) is True
