"""One shape of a counterexample: a finding says itself whether it is confirmed, and how much is known of it."""

import numpy as np
import pytest

from bbfalsify.core.confirmation import Confirmation
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.engine import Progress
from bbfalsify.engines.falsification.finding import Finding

CUT, WHOLE = (Judgement(Verdict.VIOLATED, robustness, 3.0) for robustness in (-1.0, -5.0))


@pytest.fixture
def finding():
    return Finding(0, ("on",), ((3.0, "on"),), Stimulus(np.zeros(1), {}), CUT, SimulationStatus.OK, 7)


@pytest.mark.parametrize(
    ("confirmation", "status", "robustness"),
    [
        (None, "flaky", -1.0),
        (Confirmation(3, 3, True, None, WHOLE), "confirmed", -5.0),
        (Confirmation(2, 3, True, None, WHOLE), "flaky", -1.0),
        (Confirmation(3, 3, False, None, WHOLE), "flaky", -1.0),
    ],
)
def test_the_robustness_of_the_whole_trace_counts_once_it_is_confirmed(finding, confirmation, status, robustness):
    finding.confirmation = confirmation
    assert (finding.status, finding.whole_judgement.robustness) == (status, robustness)
    assert finding.whole_judgement.first_violation_time == 3.0


def test_nothing_is_known_of_a_finding_that_was_not_estimated(finding):
    found = finding.probability(0.9)
    assert (found.low, found.high, found.confidence, found.method) == (0.0, 1.0, 0.9, "not estimated")
    progress = Progress()
    progress.search.findings.append(finding)
    assert progress.estimated == progress.ranking(0) == []
