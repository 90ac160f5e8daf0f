"""The house in Octave against the house in Python: the same numbers, the same verdicts, the same counterexamples.

These tests need GNU Octave (apt-get install octave); without it they fail and say so.
"""

from pathlib import Path

import numpy as np
import pytest

from bbfalsify import falsify, load_campaign
from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.running import RequirementsJudge, WorkerPool
from bbfalsify.systems import load_system

ROOT = Path(__file__).parent.parent.parent
[PLAN] = load_campaign(ROOT / "experiments" / "thermal_house" / "campaign.yaml").runs
REQUIREMENTS = [p.requirement for p in PLAN.requirements]


@pytest.fixture(scope="module")
def house():
    return load_system("adapters/thermal_house_octave", base=ROOT)


def stimuli(count):
    """Ten days of winter with a cold spell, of which half are too cold for the heater; with samples between hours."""
    rng = np.random.default_rng(8)
    for lowest in np.linspace(-20.0, -60.0, count):
        times = np.unique(np.concatenate([np.arange(241.0), rng.uniform(0.0, 240.0, 10)]))
        outdoor = lowest * np.exp(-(((times - 100.0) / 60.0) ** 2)) + 3.0 * np.sin(2 * np.pi * times / 24)
        yield Stimulus(times, {"T_out": outdoor})


def test_numbers_and_verdicts_agree(house):
    queries = [Query(f"q{i}", stimulus, keep_trace=True) for i, stimulus in enumerate(stimuli(12))]
    answers = []
    for system in (house, PLAN.system):
        with WorkerPool(system, RequirementsJudge(REQUIREMENTS)) as pool:
            answers.append(list(pool.answers(queries)))
    verdicts = set()
    for ours, theirs in zip(*answers, strict=True):
        assert ours.ok and theirs.ok, ours.message
        assert np.abs(ours.trace.signals["T"] - theirs.trace.signals["T"]).max() < 1e-9
        assert ours.judgements[0].verdict is theirs.judgements[0].verdict
        assert ours.judgements[0].first_violation_time == theirs.judgements[0].first_violation_time
        verdicts.add(ours.judgements[0].verdict)
    assert len(verdicts) == 2, "a comparison in which nothing is ever violated would prove little"


def test_the_same_seed_gives_the_same_ranked_actions(house, tmp_path):
    """With a requirement that is easy to violate, so that a short search finds enough to compare."""
    formula = parse_stl("always[100:400](T >= 18.6)", signals=["T_out", "T"])
    requirement = Requirement("R", "warm after the fourth day", formula, "discrete", 1.0)
    options = Options(counterexamples=4, simulations=40, passes=2, traces=10)
    lists = []
    for system in (house, PLAN.system):
        result = falsify(
            system, PLAN.profile, [requirement], horizon=400, period=1, seed=4, options=options, jobs=2, out=tmp_path
        )
        lists.append([(c.actions, c.probability.value, c.first_violation_time) for c in result.counterexamples])
    assert lists[0] == lists[1] and len(lists[0]) >= 3
