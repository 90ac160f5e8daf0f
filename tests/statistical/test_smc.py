"""The baseline with enough samples to see small errors: coverage under adversarial stopping, and the heater."""

import functools
import math

import numpy as np
import pytest

from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.falsification.baseline.smc import Progress, SmcOptions, run
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.kernel import compile_network
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.running import Execution
from bbfalsify.running.driver import Driver
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.stats.intervals import clopper_pearson
from bbfalsify.stats.sequential import ConfidenceSequence
from tests import heater

pytestmark = pytest.mark.slow

STREAMS, LOOKS = 2_000, 2_000


def ever_outside(hits: np.ndarray, outside) -> int:
    """How many streams have a look at which the truth is left out: whoever wants to miss stops there."""
    outside = functools.cache(outside)  # many streams share their counts
    return sum(any(outside(seen, trials) for trials, seen in enumerate(stream.tolist(), start=1)) for stream in hits)


@pytest.mark.parametrize(
    ("p", "tuned", "looking_often"), [(0.005, 0.01549, 0.18918), (0.1, 0.01532, 0.39387), (0.5, 0.01543, 0.45646)]
)
def test_coverage_when_stopping_as_soon_as_the_truth_is_excluded(p, tuned, looking_often):
    """Null hypothesis: the confidence sequence ever excludes p with probability at most α = 0.05, Clopper–Pearson with
    the exact probability of the table (computed by a walk over counts; 19 %, 39 % and 46 %: it loses its coverage).

    2,000 streams of 2,000 samples, a look after each.  More than 148 misses have probability 1.5e-6 at a true 0.05 (the
    false-alarm rate); a sequence that misses with 0.09 is caught in 99 % of the cases.  Both counts must also lie
    within 4.5 standard deviations of their exact probabilities (false alarm 7e-6 each).
    """
    draws = SeedTree(17).child("coverage", p).rng().random((STREAMS, LOOKS)) < p
    hits = np.cumsum(draws, axis=1)
    sequence = ConfidenceSequence.for_half_width(0.005)

    def outside_sequence(seen, trials):
        if not sequence.excludes(p, seen, trials):  # much cheaper than the interval, which must say the same
            return False
        low, high = sequence.interval(seen, trials)
        assert min(p - low, high - p) < 1e-6 * (high - low)  # the limits are rounded outwards by so much
        return True

    def outside_clopper_pearson(seen, trials):
        low, high = clopper_pearson(seen, trials)
        return not low <= p <= high

    missed, often = ever_outside(hits, outside_sequence), ever_outside(hits, outside_clopper_pearson)
    assert missed <= 148 < often
    for seen, exact in ((missed, tuned), (often, looking_often)):
        assert abs(seen - STREAMS * exact) <= 4.5 * math.sqrt(STREAMS * exact * (1 - exact)), (seen, exact)


def test_the_heater_through_a_driver_stops_by_itself_around_the_closed_form():
    """Null hypothesis: a violation has probability 0.0048617, shared by the four keys as their closed forms say.

    ε = 0.001 needs about 60,000 simulations and 290 violations (46,000 to 74,000 within 4 standard deviations, false
    alarm 6e-5).  The interval misses with at most 5 %, whatever stopped it.  Each key's count is within 4.5 standard
    deviations of its share (false alarm 4 · 7e-6); a horizon cut moves all of one key and is always caught, twice
    the share of the rarest key (15 %, standard deviation 14 % of it) in 99 % of the cases.
    """
    requirement = Requirement("R1", "", parse_stl("always[0:20](T <= 75)", signals=["T", "heat"]))
    usage = Usage(heater.profile(), compile_network(heater.profile().network), 20.0, 1.0)

    class Quiet:
        def counted(self, progress):
            pass

    progress, options = Progress(), SmcOptions(epsilon=0.001, simulations=200_000, batch=500)
    with Driver(heater_system, RequirementsJudge([requirement]), Execution(jobs=2), seeds=SeedTree(5)) as driver:
        run(driver.ask, usage, progress, options, requirements=1, seeds=SeedTree(5), listener=Quiet())
    baseline = progress.baseline(0, options, found=heater.EXACT)
    total = sum(heater.EXACT.values())
    assert progress.stopped is StopReason.COMPLETED and 46_000 < progress.iterations < 74_000
    assert baseline.probability.low <= total <= baseline.probability.high
    assert (baseline.probability.high - baseline.probability.low) / 2 <= 0.001
    met = dict(baseline.met)
    assert set(met) == set(heater.EXACT) and baseline.never_met == () and baseline.met_share.value == 1.0
    for key, exact in heater.EXACT.items():
        share = exact / total
        deviation = math.sqrt(baseline.violations * share * (1 - share))
        assert abs(met[key] - baseline.violations * share) <= 4.5 * deviation, (key, met[key])
