"""Probabilities of violations in spaces of values are those of the laws."""

import numpy as np
import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.engine import Progress, run
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.modelling import value_profile
from tests.unit.engines.test_falsification import Quiet

TRUTH = 0.3 * 0.3 * 0.5


def ask(queries):
    """Violated if both pieces are above 0.7 of the range and the mass is below its median."""
    answers = []
    for query in queries:
        stimulus = query.stimulus
        first, second = stimulus.inputs["a"][0], stimulus.inputs["a"][np.searchsorted(stimulus.times, 5.0)]
        violated = min(first, second) > 7.0 and stimulus.parameters["mass"] < 3.0
        verdict = Verdict.VIOLATED if violated else Verdict.SATISFIED
        answers.append(Answer(SimulationStatus.OK, (Judgement(verdict, 1.0 - 2 * violated, 6.0),)))
    return answers


@pytest.fixture
def usage():
    profile = value_profile({"a": {"range": [0, 10], "every": 5}}, {"mass": {"normal": [3, 1]}})
    return Usage(profile, compile_network(profile.network), 10.0, 1.0)


def test_the_estimate_of_the_only_row_is_the_probability_of_a_violation(usage):
    """Null hypothesis: the estimate of 4,000 traces has mean 0.045.

    Six deviations (0.0033 each): false alarms below 1e-8; an error of 0.025 (a law ignored) is caught always.
    """
    progress = Progress()
    options = Options(passes=10, traces=400, guide="none")
    run(ask, usage, progress, options, requirements=1, seeds=SeedTree(3), listener=Quiet())
    [finding] = progress.search.findings
    assert finding.estimated.probability.value == pytest.approx(TRUTH, abs=6 * np.sqrt(TRUTH / 4000))


def test_plain_simulation_agrees(usage):
    """Null hypothesis: hits of 4,000 plain simulations have mean 0.045; as above."""
    progress, options = smc.Progress(), smc.SmcOptions(rule="sequence", simulations=4000, epsilon=1e-6)

    class Silent:
        def counted(self, progress):
            pass

    smc.run(ask, usage, progress, options, requirements=1, seeds=SeedTree(4), listener=Silent())
    counts = progress.counts(0)
    assert counts.trials == 4000
    assert counts.hits / 4000 == pytest.approx(TRUTH, abs=6 * np.sqrt(TRUTH / 4000))
