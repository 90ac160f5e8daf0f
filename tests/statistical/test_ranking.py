"""A long list of similar counterexamples: the first row's number is no better and no worse than any other."""

import numpy as np
import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.engines.falsification.engine import Progress, estimate_finding, order_similar
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.usage import Usage, WalkDraft
from bbfalsify.kernel import compile_network
from bbfalsify.modelling import parse_profile

ROWS = 10
SHARES = dict(zip([f"a{i}" for i in range(ROWS)], np.linspace(0.3, 0.32, ROWS), strict=True))
"""Of the uses that choose each action, those that are violated by it: the rows differ by less than a standard error."""
EDGES = "\n".join(f'      - {{from: S, to: S, action: {a}, update: "x = 0"}}' for a in SHARES)
PROFILE = f"""
format_version: 1
name: similar
automata:
  User:
    declarations: "clock x;"
    initial: S
    locations:
      S: {{invariant: "x <= 1"}}
    edges:
{EDGES}
inputs:
  u: {{actions: {{a0: 1}}, initial: 0}}
"""
HOLDS = Judgement(Verdict.SATISFIED, 1.0)


class WalksOnly(Usage):
    """Queries carry walks: this system looks at the moment of the first action only."""

    def draft(self, walk, *, stop=None):
        return WalkDraft(self, walk, stop)


USAGE = WalksOnly(profile := parse_profile(PROFILE), compile_network(profile.network), 1.0, 0.5)


def ask(queries):
    """Violated at once by an action that comes late."""
    answers = []
    for query in queries:
        walk = query.source.walk
        late = walk.times[0] > 1 - SHARES[walk.actions(USAGE.model)[0]]
        judgement = Judgement(Verdict.VIOLATED, -1.0, float(walk.times[0])) if late else HOLDS
        answers.append(Answer(SimulationStatus.OK, (judgement,)))
    return answers


class Quiet:
    def ordering(self, traces): ...


def findings():
    nothing = Stimulus(np.zeros(1), {})
    for number, action in enumerate(SHARES, start=1):
        yield Finding(0, (action,), ((0.9, action),), nothing, HOLDS, SimulationStatus.OK, number)


def one_run(seed, estimator):
    options, progress = Options(estimator=estimator, fan=0), Progress()
    seeds = SeedTree(seed)
    for finding in findings():
        progress.search.findings.append(finding)
        estimate_finding(ask, USAGE, finding, options, seeds.child("estimate"))
    order_similar(ask, USAGE, progress, options, seeds.child("order"), Quiet())
    return progress.ranking(0)


def error_and_cover(row):
    exact = SHARES[row.actions[0]] / ROWS
    return (
        row.estimated.probability.value / exact - 1,
        row.estimated.probability.low <= exact <= row.estimated.probability.high,
    )


def measure(runs, estimator):
    """(error, covers) of the first row, of the row with the largest value, and of all rows."""
    first, largest, everyone = [], [], []
    for seed in range(runs):
        rows = one_run(seed, estimator)
        first.append(error_and_cover(rows[0]))
        largest.append(error_and_cover(max(rows, key=lambda row: row.estimated.probability.value)))
        everyone += map(error_and_cover, rows)
    return (np.array(sample, float) for sample in (first, largest, everyone))


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "runs"), [("conditional", 300), ("splitting", 150)])
def test_the_first_row_is_not_first_by_luck(estimator, runs):
    """Null hypotheses: the number of the row ranked first is unbiased, and its interval covers like any other.

    Ten rows whose probabilities differ by up to 7 %, each 10 passes of 100 traces.  The bias of the first row: ±4
    standard errors, false alarm 6e-5; coverage of the first: at least 95 % less 4 standard errors (1.3 % of 300 runs),
    of all rows: at least 93.9 % (false alarm 3e-3).  Ordered by value, the first is too high by more than a
    standard deviation, which is many times the tolerance (the last assertion).  Seen in 800 runs (conditional): bias
    0.0 ± 0.2 %, coverage 94.6 ± 0.8 %, and by value 6.6 ± 0.1 % and 81.9 ± 1.4 %; all rows cover in 94.9 ± 0.3 %.
    In 400 runs of Algorithm 5: 1.3 ± 0.9 % and 97.5 %, by value 28 % and 87.5 %.
    """
    first, largest, everyone = measure(runs, estimator)
    error = first[:, 0].std(ddof=1) / np.sqrt(runs)
    assert abs(first[:, 0].mean()) <= 4 * error, first.mean(axis=0)
    assert first[:, 1].mean() >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs), first.mean(axis=0)
    assert everyone[:, 1].mean() >= 0.939, everyone.mean(axis=0)
    assert largest[:, 0].mean() > 8 * error, largest.mean(axis=0)


def test_similar_rows_are_ordered_by_passes_of_their_own():
    rows = one_run(1, "conditional")
    orders = [float(row.ordering.values.mean()) for row in rows]
    assert orders == sorted(orders, reverse=True) and all(row.ordering.total_traces == 300 for row in rows)
    values = [row.estimated.probability.value for row in rows]
    assert values != sorted(values, reverse=True)
    again = one_run(1, "conditional")
    assert [row.actions for row in again] == [row.actions for row in rows]
