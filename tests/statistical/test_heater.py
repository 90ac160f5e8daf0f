"""The running example against its closed forms, with enough traces to see small errors."""

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.kernel import compile_network, stochastic_walks
from bbfalsify.logic import Requirement, parse_stl
from tests import heater

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("estimator", ["conditional", "splitting"])
def test_ten_thousand_traces_per_counterexample(estimator):
    """Null hypothesis: every listed probability is unbiased and its key is the right one.

    100 passes of 100 traces.  ±4 standard errors (taken from the passes for Algorithm 5, whose cylinder is sampled
    too), false alarm 4 · 6e-5.  For the rarest fraction (0.08) the standard error is 3.4 %: a bias of 20 % is caught in
    97 % of the cases; a horizon cut moves all of the key on·on·on·on·on and is always caught.
    """
    requirement = Requirement("R1", "", parse_stl("always[0:20](T <= 75)", signals=["T", "heat"]))
    options = Options(simulations=220, passes=100, traces=100, estimator=estimator)
    result = falsify(
        heater_system, heater.profile(), [requirement], horizon=20.0, options=options, seed=1, jobs=2, out=None
    )
    assert {c.actions for c in result.counterexamples} == set(heater.EXACT)
    for c in result.counterexamples:
        exact = heater.EXACT[c.actions]
        half_width = c.probability.high - c.probability.value
        error = half_width / 1.984  # the 97.5 % quantile of Student's t with 99 degrees of freedom
        if estimator == "conditional":
            fraction = exact / c.cylinder.value
            error = c.cylinder.value * np.sqrt(fraction * (1 - fraction) / c.traces)
        assert abs(c.probability.value - exact) <= 4 * error, (c.actions, c.probability, exact)
    total = result.found_probability
    assert abs(total.value - sum(heater.EXACT.values())) <= 2 * (total.high - total.low)


def test_plain_simulation_meets_each_key_as_often_as_the_closed_form_says():
    """Null hypothesis: the stochastic semantics and the key rule give the closed forms.

    n = 400,000 walks; the keys are expected 380 to 1,180 times; ±4.5 standard deviations of the binomial, false alarm
    4 · 7e-6; an error of 30 % in the rarest key (standard deviation 6 %) is caught in more than 60 % of the cases, a
    lost or moved key always.
    """
    walks_wanted, batch = 400_000, 20_000
    model = compile_network(heater.profile().network)
    on = model.actions.index("on")
    counts = dict.fromkeys(heater.EXACT, 0)
    others = 0
    seeds = SeedTree(11).words(walks_wanted)
    for first in range(0, walks_wanted, batch):
        walks = stochastic_walks(model, seeds[first : first + batch], until=20.0, max_steps=100)
        labels = model.edge_action[walks.edges]
        temperature, heating = np.zeros(batch), np.zeros(batch, dtype=bool)
        previous, open_walks = np.zeros(batch), np.ones(batch, dtype=bool)
        for step in range(walks.times.shape[1]):
            active = open_walks & (step < walks.steps)
            # The temperature is monotone within a delay, so its end (or the horizon) decides.
            until = np.minimum(walks.times[:, step], 20.0)
            target = np.where(heating, 100.0, 0.0)
            temperature = target + (temperature - target) * np.exp(-(until - previous) / 10)
            hot = active & (temperature > 75)
            for i in np.flatnonzero(hot):
                key = tuple("on" if a == on else "off" for a in labels[i, : step + 1])
                if key in counts:
                    counts[key] += 1
                else:
                    others += 1
            open_walks &= ~hot
            heating, previous = labels[:, step] == on, until
    assert others == 0
    for key, exact in heater.EXACT.items():
        expected = walks_wanted * exact
        assert abs(counts[key] - expected) <= 4.5 * np.sqrt(expected * (1 - exact)), (key, counts[key], expected)
