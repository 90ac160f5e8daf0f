"""How good `estimate` is at rare events, and the speed of chains (`estimate_coverage.py`: do its intervals cover?).

python experiments/bench/estimation.py rare        1e-6, 1e-9, 1e-12 by splitting, beside the exact values
python experiments/bench/estimation.py loop        3.8e-4 to 3.8e-12 of a closed loop with a black box, beside others
                                                   (or with these margins: loop 1e-3 1e-6)
python experiments/bench/estimation.py speed       runs per minute of the heater's closed loop, by 2 workers
python experiments/bench/estimation.py chains      states per second, and a bounded until on 100,000 states
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np

from bbfalsify.chains import answer_csl, explore_chain
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.path_sampler import PathSampler
from bbfalsify.engines.estimation.questions import read_question
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.engines.estimation.splitting import Splitting
from bbfalsify.examples.chains import chain_file
from bbfalsify.modelling import Network, NetworkBuilder, load_network

SHELF = Path(__file__).parents[2] / "profiles"


def sampler_of(network: Network, query: str) -> PathSampler:
    path = read_question(query, network).path
    assert path is not None
    return PathSampler(network, path, 1_000_000)


def exact_value(network: Network, query: str) -> float:
    value = answer_csl(explore_chain(network), query).value
    assert value is not None
    return value


def loop() -> None:
    """Print rare violations of the heater, a black box in its closed loop, beside plain simulation and Algorithm 5.

    Only "on" within a margin of the first moment, and never "off" again, passes the limit.  The factors compare numbers
    of uses for the same interval; for Algorithm 5 (m traces along each word, levels of probability p, a share s of them
    violating) the relative variance is (sum of (1 - p) / p + (1 - s) / s) / m, both words known.
    """
    from bbfalsify.examples.heater.system import heater
    from bbfalsify.logic import Requirement, parse_stl
    from bbfalsify.modelling import load_profile
    from bbfalsify.running.estimate.closed_loop import estimate_use
    from bbfalsify.running.execution import Execution

    profile, here = load_profile(SHELF / "heater_user.yaml"), Execution(executor="in-process")
    print(
        "| exact | `words` | error | uses | CPU s | plain uses for the same / uses | Algorithm 5 for the same / uses |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for margin in map(float, sys.argv[2:] or (1e-1, 1e-3, 1e-6, 1e-9)):
        limit, exact = 100 * (1 - math.exp(-(16 - margin) / 10)), margin / 256 * (1 - (1 - margin) ** 4 / 48)
        requirement = Requirement("R1", "", parse_stl(f"always[0:20](T <= {limit!r})"))
        settings = EstimateSettings(horizon=20.0, method="words", precision="relative 0.1", runs=200_000)
        began = time.process_time()
        [row] = estimate_use(heater, profile, [requirement], settings, seed=1, execution=here).requirements
        spent, found = time.process_time() - began, row.estimate
        assert found is not None
        deviation = (found.high - found.low) / 2 / 1.96 / exact
        plain = (1 - exact) / exact / deviation**2
        fifth = (4 * 3 + (1 - margin) / margin) / deviation**2 * 2
        print(
            f"| {exact:.3g} | {found} | {found.value / exact - 1:+.1%} | {row.runs} | {spent:.0f} | "
            f"{plain / row.runs:.2g} | {fifth / row.runs:.2g} |", flush=True,
        )  # fmt: skip


def rare() -> None:
    """Print splitting beside the exact chain and plain simulation for overflow of a queue.

    The factor compares CPU times for the same interval; those of plain runs are measured on 20,000 of them.
    """
    print("| room | exact | splitting | relative error | CPU s | runs | plain runs for ± 10 % | plain CPU / CPU |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for room in (25, 35, 45):
        network = load_network(chain_file("queue"), {"room": room})
        query = "P=? [ F<=100 waiting == room ]"
        exact = exact_value(network, query)
        settings = EstimateSettings(method="splitting", score="waiting")
        began = time.process_time()
        found = Splitting(sampler_of(network, query), settings, SeedTree(1), lambda: True).estimate()
        spent = time.process_time() - began
        plain = (1.96 / 0.1) ** 2 / exact
        sampler, seeds, began = sampler_of(network, query), SeedTree(2).words(20_000), time.process_time()
        sampler.runs(seeds, sampler.start(), np.zeros(len(seeds), np.int64))
        each = (time.process_time() - began) / len(seeds)
        same = plain * (0.2 * exact / (found.high - found.low)) ** 2
        print(
            f"| {room} | {exact:.4g} | {found.value:.3g} [{found.low:.3g}, {found.high:.3g}] | "
            f"{found.value / exact - 1:+.1%} | {spent:.1f} | {found.samples} | {plain:.1g} | "
            f"{same * each / spent:.2g} |",
            flush=True,
        )


def queues(size: int, count: int) -> Network:
    b = NetworkBuilder("queues")
    b.declare(f"const int N = {size}; typedef int[0,{count - 1}] id_t; int[0,N] q[{count}];")
    source = b.automaton("Source")
    source.location("On", exponential_rate=3)
    for number in range(count):
        source.edge("On", "On", guard=f"q[{number}] < N", update=f"q[{number}]++", action=f"arrive{number}")
    server = b.automaton("Server", parameters="const id_t id")
    server.location("On", exponential_rate="2 + id")
    server.edge("On", "On", guard="q[id] > 0", update="q[id]--", action="serve")
    b.instance("Source").instance("Server")
    return b.build()


def chains() -> None:
    """Print the speed of exploration and of a bounded until."""
    explore_chain(queues(40, 2))  # compiles, and makes room for the hash table to grow once
    for size, count in ((45, 3), (316, 2)):
        network = queues(size, count)
        began = time.process_time()
        chain = explore_chain(network)
        spent = time.process_time() - began
        print(f"{chain.states} states, {chain.transitions} transitions: {chain.states / spent:,.0f} states per CPU s")
        horizon = 1000 / float(chain.matrix.sum(axis=1).max())
        began = time.process_time()
        answer = answer_csl(chain, f"P=? [ F<={horizon!r} q[0] == 20 ]")
        assert answer.value is not None and math.isfinite(answer.value)
        print(f"  bounded until, q·t = 1000: {answer.value:.6g}, {time.process_time() - began:.1f} CPU s")


def speed() -> None:
    """Print the runs per minute of the heater's closed loop, in batches and one by one."""
    from bbfalsify.core.trace import Stimulus
    from bbfalsify.examples.heater.system import heater
    from bbfalsify.logic import Requirement, parse_stl
    from bbfalsify.modelling import load_profile
    from bbfalsify.running.estimate.closed_loop import estimate_use
    from bbfalsify.running.execution import Execution
    from bbfalsify.systems import FunctionSystem

    def alone(stimulus: Stimulus) -> dict[str, np.ndarray]:
        return dict(heater(stimulus))

    profile = load_profile(SHELF / "heater_user.yaml")
    requirement = Requirement("R1", "", parse_stl("always[0:20](T <= 75)"))
    slow = FunctionSystem(alone, inputs=heater.inputs, outputs=heater.outputs)
    for name, system, runs in (("warming up", heater, 1000), ("one by one", slow, 20_000), ("batches", heater, 10**6)):
        settings = EstimateSettings(horizon=20.0, precision="1e-6", runs=runs)
        began = time.monotonic()
        [row] = estimate_use(system, profile, [requirement], settings, seed=1, execution=Execution(jobs=2)).requirements
        assert row.estimate is not None
        spent = time.monotonic() - began
        print(f"{name}: {runs} runs, {row.estimate.value:.6g}, {spent:.1f} s, {60 * runs / spent:,.0f} per minute")


if __name__ == "__main__":
    {"speed": speed, "rare": rare, "loop": loop, "chains": chains}[sys.argv[1]]()
