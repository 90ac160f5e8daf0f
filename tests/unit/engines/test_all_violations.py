"""How probable any violation is, by passes along the list, plain simulation, and weights of importance sampling."""

from __future__ import annotations

from bbfalsify.core.estimate import BOTH, Estimate
from bbfalsify.engines.falsification.modes.estimating import Beside, all_violations

NEVER = Estimate(0.0, 0.0, 3.7e-3, 0.95, "none seen: upper bound", 1000, none_seen=True)
HALF_A_HIT = Estimate(5e-4, 0.0, 4.4e-3, 0.975, "splitting", 1000)
"""The same list at half of the doubt, where what was never met counts as half a hit."""


def plain(hits: int, low: float, high: float) -> Estimate:
    return Estimate(hits / 10_000, low, high, 0.975, "plain", 10_000)


def test_weights_tell_a_violation_that_nothing_met_again():
    weighed = Estimate(4.2e-5, 3.7e-5, 4.8e-5, 0.95, "importance sampling", 20_000)
    found = all_violations(NEVER, HALF_A_HIT, Beside(plain(0, 0.0, 5e-4), weighed), 0.95)
    assert (found.value, found.low, found.high) == (4.2e-5, 3.7e-5, 4.8e-5)
    assert found.method.endswith(BOTH), "it is no lower bound"


def test_what_neither_passes_nor_plain_simulation_met_has_an_upper_limit_only():
    """Half a hit of the list is no value for violations of which nothing was met."""
    found = all_violations(NEVER, HALF_A_HIT, Beside(plain(0, 0.0, 5e-4)), 0.95)
    assert found.none_seen and (found.value, found.low, found.high) == (0.0, 0.0, 5e-4)


def test_plain_simulation_tells_what_passes_never_met():
    found = all_violations(NEVER, HALF_A_HIT, Beside(plain(3, 6e-5, 9e-4)), 0.95)
    assert not found.none_seen and (found.value, found.low, found.high) == (3e-4, 6e-5, 9e-4)
    assert found.confidence == 0.95


def test_a_guaranteed_half_width_that_reaches_zero_is_no_absence():
    """49 of 20,000, plus or minus 1 %: what the list knows bounds it from above."""
    found = all_violations(NEVER, HALF_A_HIT, Beside(Estimate(2.45e-3, 0.0, 0.0121, 0.975, "Chernoff", 20_000)), 0.95)
    assert not found.none_seen and (found.value, found.low, found.high) == (2.45e-3, 0.0, 3.7e-3)
