"""The falsification engine with a function in place of a driver: what it finds, its keys, its numbers."""

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus, StopReason, Verdict
from bbfalsify.engines.falsification.engine import Progress, run
from bbfalsify.engines.falsification.estimates.conditional import conditional_split, systematic_resampling
from bbfalsify.engines.falsification.estimates.splitting import importance_split
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.logic import parse_stl
from bbfalsify.logic.stl.stl_monitor import judge
from bbfalsify.modelling import parse_profile
from tests import heater

FORMULA = parse_stl("always[0:20](T <= 75)", signals=["T", "heat"])


def simulate_heater(stimulus):
    """Exact between samples: T' = 10·heat − T/10."""
    temperature = np.zeros(len(stimulus.times))
    decay = np.exp(-np.diff(stimulus.times) / 10)
    for i, (keep, heat) in enumerate(zip(decay, stimulus.inputs["heat"], strict=False)):
        temperature[i + 1] = 100 * heat + (temperature[i] - 100 * heat) * keep
    return {"T": temperature}


def ask(queries):
    return [
        Answer(SimulationStatus.OK, (judge(FORMULA, q.stimulus.times, simulate_heater(q.stimulus)),)) for q in queries
    ]


def usage_of(text=heater.PROFILE, duration=20.0, period=0.5):
    profile = parse_profile(text)
    return Usage(profile, compile_network(profile.network), duration, period)


class Quiet:
    def found(self, finding):
        assert finding.judgement.verdict is Verdict.VIOLATED

    def advanced(self, search, masses):
        assert all(mass >= 0 for mass in masses)

    def searched(self, search):
        assert search.stopped is not None

    def estimated(self, finding):
        pass

    def ordering(self, traces):
        assert traces > 0


def falsify(usage=None, ask=ask, seed=1, **options):
    progress = Progress()
    run(ask, usage or usage_of(), progress, Options(**options), requirements=1, seeds=SeedTree(seed), listener=Quiet())
    return progress


def test_finds_exactly_the_four_keys_and_ranks_them():
    progress = falsify(simulations=440)
    assert {r.actions for r in progress.estimated} == set(heater.EXACT)
    assert progress.search.stopped is StopReason.BUDGET_SIMULATIONS and 436 <= progress.search.iterations <= 440
    ranking = progress.ranking(0)
    first, *others = ranking  # the others are alike: further passes decide
    assert first.actions == ("on", "on", "on", "on", "off") and first.ordering is None
    orders = [r.ordering.values.mean() for r in others]
    assert orders == sorted(orders, reverse=True) and {r.ordering.total_traces for r in others} == {300}
    for r in ranking:
        assert r.estimated.passes.total_traces == 1000
        # The word fixes every step's law here, so the cylinder is exact and only the fraction is sampled.
        ons, offs = r.actions.count("on"), r.actions.count("off")
        assert r.estimated.cylinder.value == pytest.approx(0.25**ons * 0.75**offs, rel=1e-12)
        assert r.estimated.cylinder.low == r.estimated.cylinder.high


def test_every_probability_is_within_four_standard_errors_of_its_closed_form():
    """Null hypothesis: the estimator is unbiased and the key rule is right.

    n = 2,000 traces per key.  False alarm 4 · 6e-5; a horizon cut or an off-by-one key moves whole keys and is
    always caught, a bias of 40 % of the rarest fraction (0.08: standard error 7.5 %) in 90 % of the cases.
    """
    progress = falsify(simulations=220, passes=20)
    assert len(progress.estimated) == 4
    for r in progress.estimated:
        exact = heater.EXACT[r.actions]
        fraction = exact / r.estimated.cylinder.value
        error = r.estimated.cylinder.value * np.sqrt(fraction * (1 - fraction) / r.estimated.passes.total_traces)
        assert abs(r.estimated.probability.value - exact) <= 4 * error, r.actions
    total = progress.found_probability(0, 0.95)
    assert total.low <= sum(heater.EXACT.values()) <= total.high


def test_algorithm_5_agrees_and_stops_when_no_particle_survives():
    """Null hypothesis: the mean of Algorithm 5 is 3/256.  40 passes of m = 200, theory gives a relative standard
    deviation of sqrt(3·(1 + 3/200)…) ≈ 0.22 per pass; ±4 standard errors of the mean, false alarm 6e-5, catches a
    bias of 20 % in 95 % of the cases."""
    model = usage_of().model
    word = ("on", "on", "on", "off")
    values = [importance_split(model, word, effort=200, seeds=SeedTree(2).child(i)).cylinder for i in range(40)]
    p = np.array([0.25, 0.25, 0.25, 0.75])
    relative = np.sqrt(np.prod(1 + (1 - p) / (200 * p)) - 1)
    assert abs(np.mean(values) / (3 / 256) - 1) <= 4 * relative / np.sqrt(40)
    lost = importance_split(model, ("on",) * 60, effort=2, seeds=SeedTree(2))
    assert lost.cylinder == 0.0 and not lost.complete and lost.walks() == [] and len(lost.cylinders) == 60
    walks = importance_split(model, word, effort=200, seeds=SeedTree(3)).walks()
    assert 0 < len(walks) <= 200 and all(w.actions(model) == word for w in walks)


def test_conditional_traces_follow_the_word_under_the_conditional_law():
    model = usage_of().model
    split = conditional_split(model, ("on", "off"), effort=400, seeds=SeedTree(4))
    walks = split.walks()
    assert split.cylinder == pytest.approx(3 / 16, rel=1e-12)
    first = np.array([w.times[0] for w in walks])
    second = np.array([w.times[1] - w.times[0] for w in walks])
    assert first.min() >= 4 and first.max() < 5 and second.min() >= 3 and second.max() < 5
    # Two thirds of the offs fall into [3, 4): 400 traces, ±4.5 standard errors, false alarm 7e-6.
    assert abs((second < 4).mean() - 2 / 3) <= 4.5 * np.sqrt(2 / 9 / 400)


def test_systematic_resampling_keeps_equal_weights_and_follows_unequal_ones():
    assert list(systematic_resampling(np.ones(5), 0.3)) == [0, 1, 2, 3, 4]
    assert list(systematic_resampling(np.array([0.0, 3.0, 1.0, 0.0]), 0.5)) == [1, 1, 1, 2]


def test_the_violating_step_is_the_one_whose_delay_contains_the_moment():
    times = np.array([4.0, 8.0, 12.0])
    assert [violating_step(times, t) for t in (0.0, 3.9, 4.0, 4.1, 8.0, 12.0)] == [1, 1, 1, 2, 2, 3]


def test_stimulus_has_events_at_their_exact_times_and_stops_at_the_horizon():
    usage = usage_of(duration=10.0, period=1.0)
    walks = conditional_split(usage.model, ("on", "off", "on"), effort=1, seeds=SeedTree(9)).walks()
    stimulus = usage.stimulus(walks[0])
    times = walks[0].times
    assert times[1] < 10 < times[2]
    assert set(times[:2]) <= set(stimulus.times) and stimulus.times[-1] == 10.0
    assert [a for _, a in stimulus.events] == ["on", "off"]
    heat = stimulus.inputs["heat"]
    expected = (stimulus.times >= times[0]) & (stimulus.times < times[1])
    assert np.array_equal(heat, expected.astype(float))


def test_budget_zero_and_horizon_zero_are_defined():
    nothing = falsify(simulations=0)
    assert nothing.estimated == [] and nothing.search.iterations == 0
    assert nothing.search.stopped is StopReason.BUDGET_SIMULATIONS
    formula = parse_stl("T >= 1", signals=["T"])

    def ask_now(queries):
        return [
            Answer(SimulationStatus.OK, (judge(formula, q.stimulus.times, simulate_heater(q.stimulus)),))
            for q in queries
        ]

    progress = falsify(usage_of(duration=0.0), ask=ask_now, simulations=44, passes=10, traces=20)
    # Violated at time 0, in the first delay, whatever ends it: the two keys share all of the probability.
    assert {r.actions for r in progress.estimated} == {("on",), ("off",)}
    assert progress.found_probability(0, 0.95).value == pytest.approx(1.0)


def test_wanted_counterexamples_stop_the_search():
    progress = falsify(simulations=2000, counterexamples=2, passes=2, traces=5)
    assert len(progress.estimated) == 2 and progress.search.stopped is StopReason.COMPLETED
    assert progress.search.iterations < 2000


def test_failing_simulations_are_counted_and_judged_by_nobody():
    def failing(queries):
        return [Answer(SimulationStatus.DIED, (), "killed") for _ in queries]

    progress = falsify(ask=failing, simulations=44)
    # Three are kept for the confirmation of a finding: a budget is never exceeded.
    assert progress.estimated == [] and progress.search.statuses == {SimulationStatus.DIED: 44 - 3}


def test_stuck_and_zeno_profiles_are_refused_by_name():
    stuck = heater.PROFILE.replace('S: {invariant: "x <= 5"}', 'S: {invariant: "x <= 5"}\n      End: {}').replace(
        "to: S, action: on", "to: End, action: on"
    )
    with pytest.raises(UserError, match=r"deadlocks.*User\.End"):
        falsify(usage_of(stuck), simulations=44)
    zeno = heater.PROFILE.replace("x <= 5", "x <= 0").replace("x >= 3", "x >= 0").replace("x >= 4", "x >= 0")
    with pytest.raises(UserError, match="zeno"):
        falsify(usage_of(zeno), simulations=11)


def test_the_same_seed_gives_the_same_list_and_batches_do_not_matter_for_what_a_walk_is():
    first, second = falsify(simulations=88, passes=2, traces=10), falsify(simulations=88, passes=2, traces=10)
    assert [(r.actions, r.estimated.probability) for r in first.estimated] == [
        (r.actions, r.estimated.probability) for r in second.estimated
    ]
    # What a search for probable ones tries next depends on what came before, batch by batch; what a walk is, does not.
    first = falsify(simulations=88, passes=2, traces=10, search="first")
    other = falsify(simulations=88, passes=2, traces=10, search="first", batch=11)
    assert [(r.actions, r.iteration) for r in other.estimated] == [(r.actions, r.iteration) for r in first.estimated]
