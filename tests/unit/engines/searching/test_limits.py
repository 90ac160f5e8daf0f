"""Budgets, honest verdicts when one is used up, and wrong input."""

import pytest

from bbfalsify import UserError
from bbfalsify.engines.searching import explicit, search
from bbfalsify.engines.searching.bit_states import BitStates
from bbfalsify.engines.searching.bookkeeping import Rounds

COUNTER = explicit(0, lambda n: [("up", n + 1), ("down", n - 1)])
"""An infinite system."""


def grid(size: int):
    return explicit(
        (0, 0), lambda s: [("x", (s[0] + 1, s[1]))] * (s[0] < size) + [("y", (s[0], s[1] + 1))] * (s[1] < size)
    )


def never(state) -> bool:
    return False


@pytest.mark.parametrize("method", ["bfs", "dfs", "rdfs", "drs", "highway", "random"])
def test_an_infinite_system_ends_at_a_named_bound(method):
    found = search(COUNTER, never, method=method, states=300, seed=1)
    assert found.verdict == "undecided"
    if method != "highway":  # of two ways a highway keeps both, and ends at the bound, too
        assert "300 states are visited" in found.why and "infinite" in found.why
    assert found.states <= 301


@pytest.mark.parametrize("method", ["bfs", "dfs", "rdfs", "drs", "highway"])
def test_a_cut_search_proves_nothing(method):
    found = search(grid(20), (20, 20).__eq__, method=method, depth=30, seed=1)
    assert found.verdict == "undecided" and "more than 30 steps" in found.why
    assert search(grid(20), (10, 10).__eq__, method="bfs", depth=20).verdict == "reached"


@pytest.mark.parametrize("method", ["bfs", "dfs", "drs"])
def test_memory_is_a_budget(method):
    found = search(grid(200), never, method=method, memory=0.5, seed=1)
    assert found.verdict == "undecided" and "memory" in found.why and "highway" in found.why
    assert 0.5 <= found.memory_mb < 0.6


def test_counted_memory_is_what_python_takes():
    """Counted and traced memory differ by less than a half."""
    import tracemalloc

    tracemalloc.start()
    found = search(grid(120), never)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.5 < found.memory_mb * 1e6 / peak < 1.5


def test_a_highway_follows_when_the_memory_is_full():
    found = search(grid(200), (200, 200).__eq__, memory=0.5, fallback="highway", width=3, seed=1)
    assert (found.verdict, found.method, found.length) == ("reached", "highway", 400)
    missed = search(grid(200), never, memory=0.5, fallback="highway", width=3, seed=1)
    assert missed.verdict == "undecided" and "is full with" in missed.why and "highway of width 3" in missed.why


def test_bits_hold_more_states_and_never_prove():
    found = search(grid(120), never, method="rdfs", store="bits", memory=0.1, seed=1)
    assert found.verdict == "undecided" and "bits" in found.why
    assert 0.9 * 121**2 < found.states <= 121**2  # exact ones would need a megabyte
    follows = search(grid(120), (120, 120).__eq__, memory=0.1, fallback="bits", seed=1)
    assert (follows.verdict, follows.method) == ("reached", "rdfs")
    assert follows.path[0] == (0, 0) and len(follows.path) == 241


def test_the_expected_number_of_missed_states_is_about_right():
    """1,000 states in 1,000 bytes: at the end three bits are all set by chance with probability 0.033."""
    wrong = 0
    for run in range(20):
        bits, missed = BitStates(0.001), 0
        for state in range(1000):
            missed += ("run", run, state) in bits
            bits.add(("run", run, state))
        wrong += missed
    assert 0.5 * bits.missed < wrong / 20 < 1.5 * bits.missed


def test_time_is_a_budget():
    found = search(COUNTER, never, states=None, timeout=0.05)
    assert found.verdict == "undecided" and "is up" in found.why


def test_an_interruption_says_what_is_known():
    def interrupted(state):
        if state == 50:
            raise KeyboardInterrupt
        return False

    found = search(COUNTER, interrupted)
    assert (found.verdict, found.why, found.interrupted) == ("undecided", "interrupted", True)
    assert found.states >= 50


def test_a_listener_hears_of_progress():
    heard = []
    slow = explicit(0, lambda n: [("on", n + 1)] if sum(range(20_000)) else [])
    search(slow, never, states=None, timeout=1.2, listener=heard.append)
    assert heard and heard[-1].states > 0 and heard[-1].depth > 0


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"method": "highwy"}, "highway"),
        ({"width": 0, "states": -1}, "width"),
        ({"store": "bits"}, "for dfs and rdfs"),
        ({"store": "bits", "method": "dfs"}, "needs `memory`"),
        ({"fallback": "highway"}, "needs `memory`"),
        ({"fallback": "bits", "memory": 1, "method": "highway"}, "is for searches that keep every state"),
        ({"memory": 1e-6}, "too little for one state"),
        ({"widht": 3}, "width"),
    ],
)
def test_wrong_settings_are_named(settings, says):
    with pytest.raises(UserError, match=says):
        search(COUNTER, never, **settings)


def test_something_else_than_a_system_is_named():
    with pytest.raises(UserError, match="'initial' and 'successors'.*found int"):
        search(3)  # type: ignore[arg-type]


def test_results_are_written_and_read():
    found = search(grid(3), (1, 2).__eq__)
    assert type(found).from_json(found.as_json()).trace == found.trace
    assert found.as_json()["length"] == 3
    assert str(found).startswith("reached after 3 steps by bfs")


def test_deep_random_search_goes_on_after_the_depth_that_it_searched():
    """Rounds draw their own random numbers: a search that begins later ends with the same trace."""
    system = explicit((0, 0), lambda s: [("a", (s[0] + 1, s[1])), ("b", (s[0], s[1] + 1))] if sum(s) < 20 else [])
    depths: list[int] = []
    settings = {"method": "drs", "increment": 2, "seed": 5}
    whole = search(system, lambda s: s == (5, 4), rounds=Rounds(report=depths.append), **settings)
    assert whole.verdict == "reached" and depths == [2, 4, 6, 8]
    resumed = search(system, lambda s: s == (5, 4), rounds=Rounds(6), **settings)
    assert resumed.path == whole.path and resumed.states < whole.transitions
    assert search(system, lambda s: s == (5, 4), rounds=Rounds(8), **settings).path == whole.path
