"""Success probabilities of single walks, against those that the papers state for their difficult models.

All tests: fixed seeds.  Null hypothesis: the probability is the stated one.  A count of n walks is compared with exact
binomial bounds of false-alarm rate 1e-6 (two-sided), so a wrong distribution of delays or choices shows as soon as it
moves the probability by about five standard deviations; each test says what that is.
"""

import numpy as np
import pytest
from scipy import stats

from bbfalsify.examples.models import difficult
from bbfalsify.kernel import compile_network
from bbfalsify.kernel.target_search import Heuristic, Target, TargetSearch
from bbfalsify.logic.reach_query import parse_query
from bbfalsify.modelling import Network, NetworkBuilder

FALSE_ALARM = 1e-6


def successes(network: Network, query: str, heuristic: Heuristic, distribution: int, depth: int, walks: int) -> int:
    """How many of so many walks meet the target."""
    asked = parse_query(query, network)
    search = TargetSearch(Target(compile_network(network), asked.alive), heuristic)
    seeds = np.arange(1, walks + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    count = done = 0
    while done < walks:
        rows = np.full(walks - done, distribution - 1)
        batch = search.walks(seeds[done:], rows, depth)
        assert batch.ended in ("met", "done")
        count += batch.ended == "met"
        done += batch.walk + (batch.ended == "met")
    return count


def assert_probability(count: int, walks: int, probability: float) -> None:
    low, high = stats.binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], walks, probability)
    assert low <= count <= high, f"{count} of {walks}, expected {probability * walks:.1f} [{low:.0f}, {high:.0f}]"


@pytest.mark.parametrize("heuristic", [Heuristic.RET, Heuristic.RLC, Heuristic.RCF])
@pytest.mark.parametrize("distribution", range(1, 12))
def test_b8_needs_a_delay_between_the_bounds(heuristic, distribution):
    """Figure B.8: 0.04 with the eleventh distribution, never with another (0.364 % on average over a cycle).

    20,000 walks: 800 ± 28, so 0.033 or 0.047 would be seen.  RLC-A chooses delays with the same code as RLC.
    """
    walks = 20_000 if distribution == 11 else 500
    count = successes(difficult.b8(), "E<> P.Goal", heuristic, distribution, 8, walks)
    assert_probability(count, walks, 0.2 * 2 / 10 if distribution == 11 else 0.0)


def test_b8_is_easy_for_delays_drawn_uniformly():
    """SEM: 20 %.  20,000 walks: 4000 ± 57, so 0.186 or 0.214 would be seen."""
    assert_probability(successes(difficult.b8(), "E<> P.Goal", Heuristic.SEM, 1, 8, 20_000), 20_000, 0.2)


@pytest.mark.parametrize(("heuristic", "probability"), [(Heuristic.RET, 1 / 2), (Heuristic.SEM, 1 / 100)])
def test_b2_in_one_step(heuristic, probability):
    """Figure B.2: choosing the transition first gives 1/2, choosing the delay first 1 of the 1 + 99 time units.

    20,000 walks: 10,000 ± 71 (0.482 would be seen), and 200 ± 14 (0.0065 or 0.0137 would be seen).
    """
    count = successes(difficult.b2(), "E<> P.Goal", heuristic, 11, 1, 20_000)
    assert_probability(count, 20_000, probability)


def test_b3_is_certain_for_least_coverage_and_needs_22_steps():
    for distribution in range(1, 12):
        assert successes(difficult.b3(), "E<> P.Goal", Heuristic.RLC, distribution, 22, 200) == 200
        assert successes(difficult.b3(), "E<> P.Goal", Heuristic.RLC, distribution, 21, 200) == 0


def test_b3_is_difficult_for_random_transitions():
    """RET takes the left edge at once seven times: 2^-7, less than 1 %.  40,000 walks: 312 ± 18 (0.0056 is seen)."""
    assert_probability(successes(difficult.b3(), "E<> P.Goal", Heuristic.RET, 1, 200, 40_000), 40_000, 2**-7)


@pytest.mark.parametrize(
    ("heuristic", "probability"), [(Heuristic.RET, (2 / 3) ** 8 / 4), (Heuristic.RCF, (1 / 2) ** 8 / 3)]
)
def test_a7_is_difficult_for_channels_first(heuristic, probability):
    """Figure A.7, one attempt: 0.0098 for RET, 0.0013 for RCF, which sees two edges of one channel as one choice.

    60,000 walks: 585 ± 24 and 78 ± 9, so 0.0078 or 0.0119 and 0.0006 or 0.0021 would be seen.
    """
    count = successes(difficult.a7(resets=False), "E<> P.Error", heuristic, 1, 400, 60_000)
    assert_probability(count, 60_000, probability)


def _three_windows() -> Network:
    """Windows [0, 2], [1, 4] and [6, 8]: SEM's delay is uniform on their union, of length 6."""
    b = NetworkBuilder("windows")
    p = b.automaton("P", declarations="clock x;")
    p.location("S", invariant="x <= 10")
    for name, low, high in (("A", 0, 2), ("B", 1, 4), ("C", 6, 8)):
        p.location(name)
        p.edge("S", name, guard=f"x >= {low} && x <= {high}")
    return b.build()


@pytest.mark.parametrize(("location", "probability"), [("A", 1.5 / 6), ("B", 2.5 / 6), ("C", 2 / 6)])
def test_semantic_exploration_is_uniform_in_the_union_of_the_windows(location, probability):
    """A alone on [0, 1), A or B evenly on [1, 2], B alone on (2, 4], C on [6, 8].  20,000 walks: ± 70 at most."""
    count = successes(_three_windows(), f"E<> P.{location}", Heuristic.SEM, 1, 1, 20_000)
    assert_probability(count, 20_000, probability)


def test_counters_over_all_walks_make_walks_alternate():
    """RLC-A takes in turn what RLC chooses at random: of two edges, each in every other walk."""
    b = NetworkBuilder("fork")
    p = b.automaton("P")
    for name in ("S", "A", "B"):
        p.location(name)
    p.edge("S", "A")
    p.edge("S", "B")
    network = b.build()
    target = Target(compile_network(network), parse_query("E<> P.A", network).alive)
    search = TargetSearch(target, Heuristic.RLC_A)
    seeds, met = np.arange(40, dtype=np.uint64), []
    for walk in range(40):
        met.append(search.walks(seeds[walk : walk + 1], np.array([0]), 1).ended == "met")
    assert all(a != b for a, b in zip(met[::2], met[1::2], strict=True))
    assert 3 < sum(met[::2]) < 17  # which of the two comes first is drawn: 20 fair coins, 1 false alarm in 390
