"""The budget of a search counts everything that it executes, and checks end as soon as they know."""

import numpy as np
import pytest

from bbfalsify.core.confirmation import Confirmation
from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus, StopReason
from bbfalsify.engines.falsification.engine import Progress, run
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import parse_stl
from bbfalsify.logic.stl.stl_monitor import judge
from tests.unit.engines.test_exact_moments import PROFILE
from tests.unit.engines.test_falsification import Quiet, usage_of

SIGNAL = "format_version: 1\nname: s\nsignals: {u: {range: [0, 1], every: 5}}"


class Executions(Quiet):
    """Counts every execution of a box whose output is its input and the number of actions so far."""

    def __init__(self, formula, search):
        self.formula, self.search, self.names = parse_stl(formula, signals=["y"]), search, []

    def ask(self, queries):
        self.names += [query.name for query in queries]
        return [Answer(SimulationStatus.OK, (self.judged(query.stimulus),)) for query in queries]

    def judged(self, stimulus):
        actions = sum((stimulus.times >= time) * 1.0 for time, _ in stimulus.events)
        return judge(self.formula, stimulus.times, {"y": np.asarray(stimulus.inputs["u"]) + actions})

    def found(self, finding):
        tries = self.search.tries
        self.names += [f"confirm/{finding.name}/{number}" for number in range(tries)]
        finding.confirmation = Confirmation(tries, tries, True, None)


def searched(profile, formula, **options):
    progress = Progress()
    box = Executions(formula, progress.search)
    options = Options(**{"passes": 0, "search": "first", **options})
    usage = usage_of(profile, duration=10.0)
    run(box.ask, usage, progress, options, requirements=1, seeds=SeedTree(1), listener=box)
    return box.names, progress.search


@pytest.mark.parametrize("budget", [4, 10, 25, 60])
@pytest.mark.parametrize("guide", ["auto", "none", "cross_entropy"])
def test_nothing_is_executed_beyond_the_budget_of_a_search_for_the_first_ones(budget, guide):
    names, search = searched(PROFILE, "always[0:10](y <= 3.5)", counterexamples=20, simulations=budget, guide=guide)
    assert search.stopped is StopReason.BUDGET_SIMULATIONS and (search.findings or budget == 4)
    # Fewer than four cannot find and confirm another one; the last finding once exceeded the budget by three.
    assert len(names) == search.spent and budget - 4 < search.spent <= budget


def test_a_search_for_probable_ones_counts_confirmations_as_well():
    names, search = searched(PROFILE, "always[0:10](y <= 3.5)", search="probable", simulations=300, counterexamples=20)
    assert len(names) == search.spent and search.stopped is StopReason.BUDGET_SIMULATIONS
    assert search.iterations + 3 * len(search.findings) <= search.spent <= 300


@pytest.mark.parametrize(("profile", "most"), [(PROFILE, 50), (SIGNAL, 2)])
def test_a_search_without_a_finding_walks_as_long_as_it_could_confirm_one(profile, most):
    names, search = searched(profile, f"always[0:10](y <= {most})", simulations=30)
    assert len(names) == search.iterations == 27 and not search.findings


def test_the_check_of_exact_moments_ends_with_the_first_run_that_keeps_the_key():
    """A violation by the first action, at the end of a window or inside it: one run tells, sixteen were made before."""
    names, search = searched(PROFILE, "always[0:10](y <= 0.5)", counterexamples=2, simulations=100)
    checks = [name for name in names if name.startswith("exact/")]
    assert len(search.findings) == 2 and len(checks) <= 2
