"""The chain of a network and random walks of it tell the same probabilities: one semantics, two programs."""

from __future__ import annotations

import numpy as np
import pytest

from bbfalsify.chains import explore_chain
from bbfalsify.chains.answers import answer_csl
from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.path_sampler import PathSampler
from bbfalsify.engines.estimation.questions import read_question
from bbfalsify.modelling import Network, NetworkBuilder
from bbfalsify.stats.intervals import clopper_pearson

RUNS, CONFIDENCE = 3000, 1 - 1e-6


def random_network(rng: np.random.Generator) -> Network:
    """Components with rates, weights, branches, broadcasts, urgent and committed locations, a shared counter."""
    b = NetworkBuilder("random")
    b.declare("int[0,4] n = 0; broadcast chan c, d; urgent broadcast chan u;")
    for number in range(int(rng.integers(2, 4))):
        a = b.automaton(f"P{number}")
        count = int(rng.integers(2, 5))
        for place in range(count):
            kind = rng.random() if place else 1.0
            a.location(
                f"L{place}", exponential_rate=float(rng.integers(1, 9)) / 2, committed=kind < 0.15,
                urgent=0.15 <= kind < 0.3,
            )  # fmt: skip
        for place in range(count):
            for _ in range(int(rng.integers(1, 4))):
                sync = rng.choice(["", "", "c!", "d!", "c?", "d?", "u!", "u?"])
                guard = rng.choice(["true", "true", "n < 3", "n > 0"]) if not sync.startswith("u!") else "n == 2"
                update = rng.choice(["n = n < 4 ? n + 1 : 0", "n = 0", "n = n > 0 ? n - 1 : 0"])
                targets = [f"L{int(rng.integers(count))}" for _ in range(int(rng.integers(1, 3)))]
                ends = [(t, int(rng.integers(1, 4)), str(update)) for t in targets]
                a.edge(f"L{place}", branches=ends, guard=str(guard), sync=str(sync) or None,
                       action=None if sync else "step", weight=int(rng.integers(1, 4)))  # fmt: skip
        b.instance(f"P{number}")
    return b.build()


def _agree(number: int) -> bool:
    """Compare one random network; False: it has no chain (it stops time for good, or never lets it pass)."""
    rng = np.random.default_rng(number)
    network = random_network(rng)
    query = f"P=? [ F<={0.25 + rng.random():.3f} n == 4 && P0.L1 ]"
    try:
        exact = answer_csl(explore_chain(network, most_states=100_000), query).value
    except UserError as error:
        assert any(text in str(error) for text in ("time cannot pass", "endless loop", "counts steps", "count steps"))
        return False
    path = read_question(query, network).path
    assert path is not None and exact is not None
    sampler = PathSampler(network, path, 100_000)
    made = sampler.runs(SeedTree(number).words(RUNS), sampler.start(), np.zeros(RUNS, np.int64))
    low, high = clopper_pearson(int(made.met.sum()), RUNS, CONFIDENCE)
    assert low <= exact <= high, (number, low, exact, high)
    return made.endless == 0


def test_chains_agree_with_walks():
    """H0: both are the same; 40 networks of 3,000 runs, false alarm 4e-5 in all; an error of 0.05 is seen in 99 %."""
    assert sum(_agree(number) for number in range(40)) >= 10


@pytest.mark.slow
def test_many_chains_agree_with_walks():
    """The same with 200 networks that have a chain."""
    found, number = 0, 1000
    while found < 200:
        found += _agree(number)
        number += 1
