"""The baseline with a function in place of a driver: what it counts, when it stops, what it keeps."""

import json

import numpy as np
import pytest

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, StopReason, Verdict
from bbfalsify.engines.falsification import usage
from bbfalsify.engines.falsification.baseline import smc, smc_counts
from bbfalsify.engines.falsification.baseline.smc import Progress, SmcOptions, run
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.modelling import parse_profile
from bbfalsify.results.falsify_insights import Baseline
from bbfalsify.stats.sequential import StoppingRule
from tests import heater

TOTAL = sum(heater.EXACT.values())
SATISFIED = Judgement(Verdict.SATISFIED, 1.0)


def judge_heater(stimulus):
    """T' = 10·heat − T/10, solved exactly: the first moment above 75 degrees."""
    temperature = 0.0
    for start, end, heat in zip(stimulus.times, stimulus.times[1:], stimulus.inputs["heat"], strict=False):
        target = 100 * heat
        after = target + (temperature - target) * np.exp(-(end - start) / 10)
        if after > 75:
            return Judgement(Verdict.VIOLATED, -1.0, float(start + 10 * np.log((100 - temperature) / 25)))
        temperature = after
    return SATISFIED


def ask(queries):
    return [Answer(SimulationStatus.OK, (judge_heater(q.stimulus),)) for q in queries]


def usage_of(text=heater.PROFILE, duration=20.0):
    profile = parse_profile(text)
    return Usage(profile, compile_network(profile.network), duration, duration or 1.0)


class Counting:
    def __init__(self):
        self.batches = []

    def counted(self, progress):
        self.batches.append(progress.iterations)


def simulate(ask=ask, usage=None, seed=1, requirements=1, watched=(), **options):
    progress, listener, options = Progress(), Counting(), SmcOptions(**options)
    run(
        ask, usage or usage_of(), progress, options, requirements=requirements, seeds=SeedTree(seed),
        listener=listener, watched=watched,
    )  # fmt: skip
    progress.batches = listener.batches
    return progress, options


def chance_of(p):
    """A system that violates with probability p whatever is done to it, at time 1."""

    def answer(queries):
        draws = [SeedTree(7).child(q.name).rng().random() < p for q in queries]
        bad = Judgement(Verdict.VIOLATED, -1.0, 1.0)
        return [Answer(SimulationStatus.OK, (bad if d else SATISFIED,)) for d in draws]

    return answer


def test_the_overall_probability_of_the_heater_is_the_sum_of_its_closed_forms():
    """Null hypothesis: violations are met with probability 0.00486, each by its own key.

    4,000 simulations, 19.4 violations expected; the truth lies outside with 7 or fewer and 37 or more of them (false
    alarm 0.14 %).  Three times the probability is caught in 99.9 % of the cases, a quarter of it in 88 %.
    """
    progress, options = simulate(simulations=4000, epsilon=0.001)
    baseline = progress.baseline(0, options, found=heater.EXACT)
    assert progress.stopped is StopReason.BUDGET_SIMULATIONS and baseline.simulations == 4000
    assert baseline.probability.low <= TOTAL <= baseline.probability.high
    assert baseline.probability.value == baseline.violations / 4000
    assert {key for key, _ in baseline.met} <= set(heater.EXACT)
    assert sum(count for _, count in baseline.met) == baseline.violations == len(baseline.violation_times) > 0
    # Hot after 13.86 time units of heating that start at 4 or later.
    assert 4 + heater.HEATING <= baseline.violation_times[0] <= baseline.violation_times[-1] <= 20
    assert list(baseline.violation_times) == sorted(baseline.violation_times)


def test_it_says_which_counterexamples_it_met_and_what_they_explain():
    progress, options = simulate(simulations=3000, epsilon=0.001)
    met = {key for key, _ in progress.baseline(0, options).met}
    unheard = ("off",) * 9
    found = Estimate(TOTAL, TOTAL * 0.9, TOTAL * 1.1, 0.95, "m", 1000)
    baseline = progress.baseline(0, options, found=[*heater.EXACT, unheard], found_probability=found)
    assert set(baseline.never_met) == (set(heater.EXACT) | {unheard}) - met and unheard in baseline.never_met
    assert baseline.explained.low == pytest.approx(found.low / baseline.probability.high)
    assert baseline.explained.high == 1.0 and baseline.explained.confidence == pytest.approx(0.9)
    assert baseline.met_share.value == 1.0 and baseline.met_share.samples == baseline.violations
    some = progress.baseline(0, options, found=list(heater.EXACT)[:1])
    assert some.met_share.value == dict(some.met).get(("on", "on", "on", "off"), 0) / some.violations
    assert progress.baseline(0, options).met_share is None and progress.baseline(0, options).explained is None
    json.dumps(baseline.as_json(), allow_nan=False)


def test_a_share_of_violations_that_were_never_met_is_unknown():
    """Planted: no simulation violates, and the list knows of 8.1e-9, 87 % of the truth."""
    progress, options = simulate(chance_of(0.0), simulations=2000)
    listed = Estimate(8.1e-9, 7.7e-9, 8.5e-9, 0.95, "passes", 27_000)
    baseline, plain = progress.baseline(0, options, found_probability=listed), progress.baseline(0, options)
    assert baseline.explained is None and baseline.share_unknown == "plain simulation met none"
    low, high = baseline.probability.low, baseline.probability.high
    assert (low, high) == (listed.low, plain.probability.high) and low <= 8.1e-9 / 0.87 <= high
    assert baseline.probability.value == listed.value and baseline.probability.confidence == pytest.approx(0.9)
    assert plain.share_unknown == "" and Baseline.from_json(baseline.as_json()) == baseline
    # A list that plain simulation would nearly have met is known to be some of it.
    common = progress.baseline(0, options, found_probability=Estimate(1e-3, 9e-4, 1.1e-3, 0.95, "passes", 1000))
    assert common.explained is None
    assert common.share_unknown == f"plain simulation met none, so it is at least {9e-4 / high:.0%}"


def test_a_share_of_few_violations_is_known_only_if_its_interval_says_something():
    options = SmcOptions()
    once, thrice = (Progress(tallies=[smc.Tally(hits=n)], iterations=20_000) for n in (1, 3))
    plain = once.baseline(0, options).probability
    tiny, fitting = Estimate(8e-9, 7e-9, 9e-9, 0.95, "m", 100), Estimate(5e-5, 4e-5, 6e-5, 0.95, "m", 100)
    unknown = once.baseline(0, options, found_probability=tiny)
    assert unknown.explained is None and unknown.share_unknown == "plain simulation met only 1"
    assert (unknown.probability.value, unknown.probability.low) == (plain.value, tiny.low)
    known = once.baseline(0, options, found_probability=fitting)
    assert known.explained.low == pytest.approx(4e-5 / plain.high) and known.probability == plain
    # Three hits show that much is missing from the list.
    assert thrice.baseline(0, options, found_probability=tiny).explained.high < 0.05
    # A list that met nothing either bounds nothing from below.
    nothing = once.baseline(0, options, found_probability=Estimate(1e-5, 0.0, 1e-5, 0.95, "m", 100, none_seen=True))
    assert nothing.probability == plain


@pytest.mark.parametrize("rule", ["sequence", "clopper_pearson"])
def test_it_stops_at_the_first_look_that_is_narrow_enough(rule):
    progress, options = simulate(chance_of(0.02), rule=rule, epsilon=0.02, batch=50)
    assert progress.stopped is StopReason.COMPLETED
    low, high = options.stopping.interval(progress.counts(0))
    assert (high - low) / 2 <= 0.02 and progress.batches == list(range(50, progress.iterations + 1, 50))
    # One batch earlier it was not: the same stream, cut there.
    before, _ = simulate(chance_of(0.02), rule=rule, epsilon=0.02, batch=50, simulations=progress.iterations - 50)
    assert before.stopped is StopReason.BUDGET_SIMULATIONS
    low, high = options.stopping.interval(before.counts(0))
    assert (high - low) / 2 > 0.02


def test_the_fixed_rule_makes_exactly_its_number():
    progress, options = simulate(chance_of(0.3), rule="fixed", epsilon=0.05, confidence=0.9)
    assert progress.iterations == 600 and progress.stopped is StopReason.COMPLETED
    estimate = progress.baseline(0, options).probability
    assert (estimate.high - estimate.low) / 2 <= 0.05 and "fixed" in estimate.method
    cut, options = simulate(chance_of(0.3), rule="fixed", epsilon=0.05, simulations=130)
    assert cut.iterations == 130 and cut.stopped is StopReason.BUDGET_SIMULATIONS
    assert "130 of 738" in cut.baseline(0, options).probability.method


def test_relative_width():
    progress, options = simulate(chance_of(0.3), relative=0.2)
    estimate = progress.baseline(0, options).probability
    assert progress.stopped is StopReason.COMPLETED and (estimate.high - estimate.low) / 2 <= 0.2 * estimate.value


def test_every_requirement_has_its_own_counts_and_the_slowest_decides():
    def two(queries):
        first, second = chance_of(0.0)(queries), chance_of(0.5)(queries)
        return [Answer(SimulationStatus.OK, a.judgements + b.judgements) for a, b in zip(first, second, strict=True)]

    progress, options = simulate(two, requirements=2, epsilon=0.05)
    alone, _ = simulate(chance_of(0.5), epsilon=0.05)
    assert progress.iterations == alone.iterations and progress.counts(1) == alone.counts(0)
    assert progress.counts(0).hits == 0 and "upper bound" in progress.baseline(0, options).probability.method


def test_the_same_seed_gives_the_same_result_and_batches_do_not_change_the_walks():
    (first, options), (second, _) = simulate(simulations=1000, epsilon=1e-3), simulate(simulations=1000, epsilon=1e-3)
    assert first.baseline(0, options) == second.baseline(0, options)
    other, _ = simulate(simulations=1000, epsilon=1e-3, batch=7)
    assert other.baseline(0, options) == first.baseline(0, options)
    different, _ = simulate(simulations=1000, epsilon=1e-3, seed=2)
    assert different.baseline(0, options).violation_times != first.baseline(0, options).violation_times


def test_budget_zero_is_defined():
    progress, options = simulate(simulations=0)
    baseline = progress.baseline(0, options, found=[("on",)])
    assert progress.iterations == 0 and baseline.probability == StoppingRule().estimate(progress.counts(0))
    assert baseline.probability.method == "not estimated" and baseline.never_met == (("on",),)
    assert progress.stopped is StopReason.BUDGET_SIMULATIONS
    assert Progress().baseline(0, SmcOptions()).simulations == 0  # stopped before it began


def test_failures_are_counted_apart_and_open_the_interval():
    def sometimes(queries):
        failed = Answer(SimulationStatus.TIMED_OUT, (), "slow")
        return [failed if q.name.endswith("0") else a for q, a in zip(queries, chance_of(0.2)(queries), strict=True)]

    progress, options = simulate(sometimes, simulations=500)
    baseline = progress.baseline(0, options)
    assert baseline.failed == 50 and progress.statuses == {SimulationStatus.OK: 450, SimulationStatus.TIMED_OUT: 50}
    sequence = options.stopping.sequence
    assert baseline.probability.low == sequence.interval(baseline.violations, 500)[0]
    assert baseline.probability.high == sequence.interval(baseline.violations + 50, 500)[1]
    assert baseline.probability.value == baseline.violations / 450 and "50 failed" in baseline.probability.method

    def always(queries):
        return [Answer(SimulationStatus.DIED, (), "killed") for _ in queries]

    progress, options = simulate(always, simulations=200)
    nothing = progress.baseline(0, options).probability
    assert progress.stopped is StopReason.BUDGET_SIMULATIONS and (nothing.low, nothing.high) == (0.0, 1.0)


def test_failing_that_counts_as_violating_is_a_violation():
    def broken(queries):
        judgement = Judgement(Verdict.VIOLATED, -np.inf, 20.0)
        return [Answer(SimulationStatus.RAISED, (judgement,), "oops") for _ in queries]

    progress, _ = simulate(broken, simulations=100)
    assert progress.counts(0).hits == 100 and progress.counts(0).failed == 0


def test_what_was_answered_before_the_end_is_kept():
    asked = []

    def interrupted(queries):
        asked.extend(queries)
        if len(asked) <= 100:
            return chance_of(0.5)(queries)
        raise BudgetSpent(StopReason.INTERRUPTED, tuple(chance_of(0.5)(queries)[:30]))

    progress = Progress()
    with pytest.raises(BudgetSpent):
        run(interrupted, usage_of(), progress, SmcOptions(), requirements=1, seeds=SeedTree(1), listener=Counting())
    whole, _ = simulate(chance_of(0.5), simulations=130)
    assert progress.stopped is StopReason.INTERRUPTED and progress.counts(0) == whole.counts(0)
    assert [q.name for q in asked[:2]] == ["smc/1", "smc/2"] and len({q.name for q in asked}) == 200


def test_memory_is_bounded_and_watched_keys_are_always_counted(monkeypatch):
    monkeypatch.setattr(smc_counts, "KEPT_TIMES", 40)
    monkeypatch.setattr(smc_counts, "KEPT_KEYS", 3)

    def late(queries):  # each violates at a time of its own, in a step of its own
        times = [1 + int(q.name[4:]) % 19 for q in queries]
        return [Answer(SimulationStatus.OK, (Judgement(Verdict.VIOLATED, -1.0, float(t)),)) for t in times]

    rare = ("off", "off", "off", "off")
    progress, options = simulate(late, simulations=400, watched=[[rare]])
    tally = progress.tallies[0]
    assert len(tally.keys) == 3 and tally.keys[rare] > 0
    assert sum(tally.keys.values()) + tally.other_keys == tally.hits == 400
    assert len(tally.times) == 40 and max(tally.times) > 10 > min(tally.times)
    # Of a key that was not watched nobody knows whether it was met.
    baseline = progress.baseline(0, options, found=[rare, ("on",) * 4])
    assert baseline.never_met == () and baseline.met_share is None
    assert progress.baseline(0, options, found=[rare]).met_share.samples == 400


def test_the_kept_times_are_a_uniform_sample(monkeypatch):
    """Null hypothesis: each of 2,000 violations is kept with probability 1/20.

    200 repetitions of keeping 100: the mean kept time is 999.5 with standard error 577/√20,000 = 4.1; ±4.5 of them,
    false alarm 7e-6; keeping only the first or last ones moves it by 950, a bias of 3 % is caught in 99 % of cases.
    """
    monkeypatch.setattr(smc_counts, "KEPT_TIMES", 100)
    kept = []
    for repetition in range(200):
        tally, rng = smc.Tally(), SeedTree(3).child(repetition).rng()
        for time in range(2000):
            tally.violated((), float(time), rng)
        kept += tally.times
    assert len(kept) == 20_000 and abs(np.mean(kept) - 999.5) <= 4.5 * 577.35 / np.sqrt(20_000)


def test_walks_that_stand_still_have_no_verdict(monkeypatch):
    monkeypatch.setattr(usage, "FIRST_STEPS", 50)
    # One choice in four leads to a place that never lets time pass.
    zeno = heater.PROFILE.replace(
        'S: {invariant: "x <= 5"}', 'S: {invariant: "x <= 5"}\n      Z: {invariant: "x <= 0"}'
    ).replace("to: S, action: on, guard", "to: Z, action: on, guard")
    zeno = zeno.replace("inputs:", "      - {from: Z, to: Z, action: stay}\ninputs:")
    progress, options = simulate(usage=usage_of(zeno), simulations=60, batch=20)
    assert 0 < progress.zeno_walks == progress.counts(0).failed < 60
    assert progress.statuses == {SimulationStatus.OK: 60 - progress.zeno_walks} and progress.iterations == 60
    assert "failed" in progress.baseline(0, options).probability.method


def test_stuck_profiles_and_wrong_options_are_refused_by_name():
    stuck = heater.PROFILE.replace('S: {invariant: "x <= 5"}', 'S: {invariant: "x <= 5"}\n      End: {}').replace(
        "to: S, action: on", "to: End, action: on"
    )
    with pytest.raises(UserError, match=r"deadlocks.*User\.End"):
        simulate(usage=usage_of(stuck))
    with pytest.raises(UserError, match="batch must be"):
        SmcOptions(batch=0)
    with pytest.raises(UserError, match="rule cannot be 'sequental'.*Did you mean 'sequence'"):
        SmcOptions(rule="sequental")


def test_walks_longer_than_the_first_look_are_walked_to_the_end(monkeypatch):
    """A walk that needs more transitions is not zeno: its beginning stays, and it reaches the horizon."""
    seeds = np.arange(8, dtype=np.uint64)
    heaters = usage_of(duration=400.0)
    whole = heaters.stochastic_walks(seeds)
    assert whole.steps.min() > 80
    monkeypatch.setattr(usage, "FIRST_STEPS", 20)
    again = heaters.stochastic_walks(seeds)
    assert (again.status == whole.status).all() and np.array_equal(again.times, whole.times)
    # 100 bytes are not enough for more than the first look: memory is bounded.
    monkeypatch.setattr(usage, "MOST_BYTES", 100)
    assert heaters.stochastic_walks(seeds).steps.max() == 20
