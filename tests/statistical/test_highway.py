"""Hit probabilities of highway and random search, against the exact law of Definition 5 and published figures.

`visited` means that a state is in some Q_d, `considered` that it is a successor of one; both are tested.  Every
comparison of counts is a two-sided binomial test at level 1e-6, so a file of 40 of them fails by chance once in 25,000
versions.  With 2,000 runs it catches a probability near one half that is wrong by 0.08 nearly always (power 0.99), with
40,000 runs (slow) one that is wrong by 0.018.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from scipy.stats import binomtest

from bbfalsify.engines.searching import search
from bbfalsify.engines.searching.bookkeeping import Search
from bbfalsify.engines.searching.highway import approximately, exactly, highway_simulation
from bbfalsify.engines.searching.random_search import random_simulation
from bbfalsify.engines.searching.settings import SearchSettings
from bbfalsify.engines.searching.untimed_system import UntimedSystem
from bbfalsify.examples.models import named_model
from tests.support.highway_law import Table, exact_law, graph_of

RUNS = 2_000
MANY = 40_000
BACK_LOOPS = {
    1: (Fraction(1, 256), Fraction(1, 128)), 2: (Fraction(88, 729), Fraction(14, 81)),
    3: (Fraction(111, 256), Fraction(33, 64)), 4: (Fraction(19, 25), Fraction(4, 5)), 5: (Fraction(1), Fraction(1)),
}  # fmt: skip
DIAMOND = {
    1: (0.001953, 0.017578, 0.070313, 0.164063, 0.246094),
    2: (0.013270, 0.070786, 0.185163, 0.319974, 0.410807),
    4: (0.097482, 0.296519, 0.475667, 0.557851, 0.572480),
    10: (1.0, 1.0, 1.0, 1.0, 1.0),
}
EXITS = {1: 1.0, 2: 1.307619, 3: 1.974769, 4: 2.568656, 5: 3.179473, 6: 3.633103}
PHILOSOPHERS = {
    1: 0.740, 2: 0.908, 3: 0.921, 10: 0.864, 20: 0.731, 30: 0.627, 40: 0.789, 50: 0.980, 60: 1.0,
}  # fmt: skip
"""From 40,000 runs."""


class Space:
    """An example with its graph, so that a run costs little."""

    def __init__(self, name: str) -> None:
        self.system = UntimedSystem(named_model(name)[0])
        [self.first] = self.system.initial()
        self.graph = graph_of(self.system)
        self.ends = [state for state, successors in self.graph.items() if not successors]
        self.numbers = {state: number for number, state in enumerate(self.graph)}

    def simulate(self, width: int, runs: int, select=exactly) -> tuple[Counter, Counter]:
        """Count in how many runs each state is visited, and in how many it is considered."""
        table, settings, rng = Table(self.graph, self.first), SearchSettings(), Random(width)  # noqa: S311
        table.expand = lambda states: [self.graph[s] for s in states]  # type: ignore[attr-defined]
        visited, considered = Counter(), Counter()  # type: ignore[var-annotated]
        for _ in range(runs):
            one = Search(table, None, settings, rng)
            met = {self.first}
            for _, successors in highway_simulation(one, width, select):
                met.update(state for state, _ in successors)
            visited.update(list(one.parent))
            considered.update(met)
        return visited, considered


@pytest.fixture(scope="module")
def back_loops() -> Space:
    return Space("back-loops:9")


@pytest.fixture(scope="module")
def diamond() -> Space:
    return Space("diamond:9")


def agrees(count: int, runs: int, probability: float) -> bool:
    return binomtest(count, runs, float(probability)).pvalue > 1e-6


# --- exact laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", BACK_LOOPS)
def test_the_exact_law_on_back_loops(back_loops, width):
    assert len(back_loops.graph) == 47
    visited, considered = exact_law(back_loops.graph, back_loops.first, width)
    [stuck] = back_loops.ends
    assert (visited[stuck], considered[stuck]) == BACK_LOOPS[width]


@pytest.mark.parametrize("width", [1, 2, 10])
def test_the_exact_law_on_the_diamond(diamond, width):
    visited, _ = exact_law(diamond.graph, diamond.first, width)
    reports = [diamond.system.packed([0, 9 - j, j]) for j in range(10)]
    law = [float(visited[state]) for state in reports]
    np.testing.assert_allclose(law, [*DIAMOND[width], *reversed(DIAMOND[width])], atol=1e-6)


@pytest.mark.parametrize("width", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_expected_exits_of_components(width):
    space = Space("components:5")
    _, considered = exact_law(space.graph, space.first, width)
    assert float(sum(considered[state] for state in space.ends)) == pytest.approx(EXITS[width], abs=1e-6)


# --- simulated ones ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [RUNS, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("select", [exactly, approximately])
@pytest.mark.parametrize("width", BACK_LOOPS)
def test_simulated_back_loops(back_loops, width, select, runs):
    """H0: the deadlock is hit as Definition 5 says; Algorithm 1 as well, as Theorem 7's condition holds here."""
    visited, considered = back_loops.simulate(width, runs, select)
    [stuck] = back_loops.ends
    assert agrees(visited[stuck], runs, BACK_LOOPS[width][0])
    assert agrees(considered[stuck], runs, BACK_LOOPS[width][1])


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("runs", [RUNS, pytest.param(MANY, marks=pytest.mark.slow)])
def test_simulated_diamonds(diamond, width, runs):
    """H0: report state j is visited with the published probability, and its mirror image, too."""
    visited, _ = diamond.simulate(width, runs)
    for j, probability in enumerate(DIAMOND[width]):
        assert agrees(visited[diamond.system.packed([0, 9 - j, j])], runs, probability)
        assert agrees(visited[diamond.system.packed([0, j, 9 - j])], runs, probability)


@pytest.mark.slow
@pytest.mark.parametrize("width", EXITS)
def test_simulated_exits(width):
    """H0: the mean number of exits considered is the published one; the normal bound is 4.9 standard errors (1e-6).

    With 20,000 runs a mean that is wrong by 0.04 is found nearly always.
    """
    space, runs = Space("components:5"), 20_000
    _, considered = space.simulate(width, runs)
    mean = sum(considered[state] for state in space.ends) / runs
    assert abs(mean - EXITS[width]) < 4.9 * np.sqrt(1.0 / runs)  # the variance of exits is below 1


@pytest.mark.parametrize(("width", "runs"), [(2, 500), (30, 300)])
def test_some_philosophers(width, runs):
    philosophers(width, runs)


@pytest.mark.slow
@pytest.mark.parametrize("width", PHILOSOPHERS)
def test_all_philosophers(width):
    philosophers(width, 10_000)


def philosophers(width: int, runs: int) -> None:
    """H0: the deadlock of five philosophers is visited as often as in the published 40,000 runs.

    Two-sample bound of 4.9 standard errors (1e-6); with 10,000 runs a difference of 0.035 is found nearly always.
    """
    space = Space("philosophers:5")
    assert len(space.graph) == 392 and len(space.ends) == 1
    visited, _ = space.simulate(width, runs)
    share, published = visited[space.ends[0]] / runs, PHILOSOPHERS[width]
    error = np.sqrt(max(published * (1 - published), 1e-4) * (1 / runs + 1 / MANY))
    assert abs(share - published) < 4.9 * error + 0.0005


def test_funnels_are_preferred_by_the_approximation():
    """Property 8: offered 3 times after 2 others, a state is kept by Algorithm 1 with 3/5 and not with 1/3."""
    offered = [("a", "x"), ("b", "x"), ("s", "x"), ("s", "y"), ("s", "z")]
    rng = Random(4)  # noqa: S311
    assert agrees(sum("s" in approximately(offered, 1, rng) for _ in range(RUNS)), RUNS, 0.6)
    assert agrees(sum("s" in exactly(offered, 1, rng) for _ in range(RUNS)), RUNS, 1 / 3)


# --- random search and randomised depth-first search ------------------------------------------------------------------


def absorbed(space: Space, into, steps: int) -> float:
    """Probability that a random simulation visits a state within some steps."""
    number = space.numbers
    matrix = np.zeros((len(number), len(number)))
    for state, successors in space.graph.items():
        ends = [state] if state == into or not successors else successors
        for end in ends:
            matrix[number[state], number[end]] += 1 / len(ends)
    return float(np.linalg.matrix_power(matrix, steps)[number[space.first], number[into]])


def test_random_search_on_back_loops(back_loops):
    """H0: within 1,000 steps the deadlock is visited with 0.323519, and considered with 0.544571; 300 runs."""
    [stuck] = back_loops.ends
    before = next(state for state, successors in back_loops.graph.items() if stuck in successors)
    exact = absorbed(back_loops, stuck, 1000), absorbed(back_loops, before, 999)
    assert exact == pytest.approx((0.323519, 0.544571), abs=1e-6)
    one = Search(Table(back_loops.graph, back_loops.first), None, SearchSettings(), Random(1))  # noqa: S311
    visited = considered = 0
    for _ in range(300):
        met: set = set()
        seen: set = set()
        for step, (state, successors) in enumerate(random_simulation(one, back_loops.first)):
            seen.add(state)
            if step == 1000:
                break
            met.update(successors)
        visited += stuck in seen
        considered += stuck in met
    assert agrees(visited, 300, exact[0]) and agrees(considered, 300, exact[1])


def test_randomised_depth_first_search_visits_29_states(back_loops):
    """H0: the deadlock is visited after 29 states on average; 1,000 runs, standard deviation below 13, 4.9 errors."""
    runs = [search(back_loops.system, deadlock=True, method="rdfs", seed=seed).states for seed in range(1000)]
    assert abs(np.mean(runs) - 29) < 0.5 + 4.9 * np.std(runs) / np.sqrt(len(runs))
