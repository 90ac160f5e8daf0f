"""Equations D.6, D.8 and D.9 against their limits for the running example's longer word."""

import numpy as np
import pytest
from scipy import special

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, estimate_word
from tests import heater
from tests.unit.engines.test_falsification import ask, usage_of

pytestmark = pytest.mark.slow

WORD = ("on", "on", "on", "off", "on")
KEY = heater.EXACT[WORD[:4]]
"""Nothing is violated after the heater was switched off: all violations along the word are in its fourth step."""
LIMITS = {
    "d6": KEY / 4,
    "d8": KEY,
    "d9_set": KEY * (1 - np.exp(-1 / 3)),
    "d9_multiset": KEY / 3,
    "d9_traces": KEY,
}
"""D.9 counts survivors: of the 3m/4 particles of level 4, each has 4/3 tries on average and each try succeeds with 1/4:
1/3 children on average, and none at all with probability exp(-1/3)."""


def test_the_limits_are_the_known_ones():
    known = (2.388545780e-4, 9.554183122e-4, 2.708311768e-4, 3.184727707e-4, 9.554183122e-4)
    assert tuple(LIMITS.values()) == pytest.approx(known, rel=1e-9)


@pytest.mark.parametrize("estimator", ["conditional", "splitting"])
def test_each_equation_reaches_its_limit(estimator):
    """Null hypothesis: each equation's mean is its limit (m = 300: the set reading is off by 0.1 %).

    200 passes of 300.  ±4 standard errors, taken from the passes (or the binomial law where the cylinder is exact),
    false alarm 10 · 6e-5.  Standard errors are below 3.5 %: the readings of D.9 (15 % apart at least) and a survivor
    bias of 20 % are caught in more than 95 % of the cases.
    """
    found = estimate_word(ask, usage_of(), WORD, PassPlan(200, 300, estimator, columns=("d8", "d9")), SeedTree(7))
    assert set(found.columns) == set(LIMITS)
    quantile = special.stdtrit(199, 0.975)
    for name, limit in LIMITS.items():
        seen = found.columns[name]
        error = (seen.value - seen.low) / quantile
        assert error < 0.035 * limit, (name, error / limit)
        assert abs(seen.value - limit) <= 4 * error, (name, seen.value, limit, error)
    assert found.columns["d9_set"].value <= found.columns["d9_multiset"].value


def test_quasi_random_passes_are_unbiased_and_better():
    """Null hypothesis: the mean over quasi-random passes is the closed form of on·on·on·off.

    100 passes of 100; ±4 standard errors of the passes, false alarm 6e-5.  Spread evenly, the fraction of a pass varies
    less than the binomial law says; its variance estimated from 100 passes is known to ±14 %.
    """
    found = estimate_word(ask, usage_of(), WORD[:4], PassPlan(100, 100, "conditional", quasi_random=True), SeedTree(8))
    values = found.passes.values
    assert abs(values.mean() - KEY) <= 4 * values.std(ddof=1) / 10
    fraction = KEY / found.cylinder.value
    binomial = found.cylinder.value * np.sqrt(fraction * (1 - fraction) / 100)
    assert values.std(ddof=1) < 0.7 * binomial
