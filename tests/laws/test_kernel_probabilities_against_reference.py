"""The kernel's probabilities are those of the reference: exactly where they are computed, statistically where drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from scipy.special import chdtrc

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.exact import exact_cylinder, why_not_exact
from bbfalsify.kernel import (
    Particles,
    WalkStatus,
    accelerated_walks,
    compile_network,
    conditional_step,
    step_probability,
    stochastic_step,
    stochastic_walks,
    supports_conditional,
)
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.modelling.network.expressions import Kind, Read
from bbfalsify.modelling.network.network import Location, Network
from bbfalsify.modelling.reference.state import State
from tests.drawing import examples
from tests.laws.race_reference import race_probabilities
from tests.support.classics import fischer, train_gate
from tests.support.judging import edge_numbers, exact_state, shown
from tests.support.networks import networks
from tests.support.oracle import Oracle
from tests.support.printing import network_text
from tests.support.sketches import Sketch, both, edge, let, op
from tests.support.step_law import StepLaw


def states_of(particles: Particles) -> list[State]:
    rows = zip(particles.locations, particles.integers, particles.reals, particles.time, strict=True)
    return [exact_state(*row) for row in rows]


# --- step_probability and conditional_step ----------------------------------------------------------------------------


def step_probabilities_agree(network: Network, particles: int, steps: int) -> None:
    """Along stochastic walks: the probability of every action, and the support of the step conditioned on it."""
    note(network_text(network))
    interpreter, model = Oracle(network), compile_network(network)
    assert supports_conditional(model) is None
    current = Particles.initial(model, np.arange(particles, dtype=np.uint64))
    for _ in range(steps):
        states = states_of(current)
        laws = [interpreter.step_law(s, 0) if interpreter.delay_bound(s) else StepLaw((), 1) for s in states]
        for number, action in enumerate(model.actions):
            expected = [float(law.probabilities.get(action, 0)) for law in laws]
            note(f"P({action}) in {[shown(s) for s in states]} is {expected}")
            np.testing.assert_allclose(step_probability(model, current, number), expected, rtol=1e-7, atol=1e-9)
            conditioned_steps_carry_their_action(model, current, number, laws)
        result = stochastic_step(model, current)
        going_on = np.flatnonzero(result.status == WalkStatus.RUNNING)
        if len(going_on) == 0:
            return
        current = result.particles.take(going_on, np.arange(len(going_on), dtype=np.uint64))


def conditioned_steps_carry_their_action(
    model: CompiledModel, particles: Particles, action: int, laws: list[StepLaw]
) -> None:
    result = conditional_step(model, particles, action)
    name = model.actions[action]
    for law, status, delay, fired in zip(laws, result.status, result.delay, result.action, strict=True):
        pieces = [p for p in law.pieces if p.actions.get(name, 0) > 0 and p.mass > 0]
        if not pieces:
            assert status != WalkStatus.RUNNING
        elif status != WalkStatus.RUNTIME_ERROR:
            assert status == WalkStatus.RUNNING
            assert fired == action
            assert any(p.low - 1e-9 <= delay and (p.high is None or delay <= p.high + 1e-9) for p in pieces)


@examples(60)
@given(networks(handshakes=False, single_component=True, urgent_channels=False, zero_rates=True))
def test_step_probabilities_are_exact(network):
    step_probabilities_agree(network, particles=3, steps=5)


@pytest.mark.slow
@examples(2000)
@given(networks(handshakes=False, single_component=True, urgent_channels=False, zero_rates=True))
def test_step_probabilities_of_thousands_of_networks_are_exact(network):
    step_probabilities_agree(network, particles=5, steps=10)


# --- races ------------------------------------------------------------------------------------------------------------


def on_a_grid(particles: Particles) -> Particles:
    """The same states with reals rounded to sixteenths, at time 0: numbers in which float64 and fractions agree."""
    return Particles(
        particles.locations,
        particles.integers,
        np.round(particles.reals * 16) / 16,
        np.zeros(len(particles)),
        particles.rng,
    )


def race_probabilities_agree(network: Network, particles: int, steps: int) -> int:
    """As above for several components; how many states had more than one component that could act."""
    note(network_text(network))
    interpreter, model = Oracle(network), compile_network(network)
    assert supports_conditional(model) is None
    numbers = {number: name for name, number in edge_numbers(network).items()}
    current = Particles.initial(model, np.arange(particles, dtype=np.uint64))
    races = 0
    for _ in range(steps):
        states = states_of(current)
        laws = [race_probabilities(interpreter, s) for s in states]
        windows = [{t.sender: t.windows for t in interpreter.transitions(s)} for s in states]
        races += sum(len({process for process, _ in w}) > 1 for w in windows)
        for number, action in enumerate(model.actions):
            expected = [float(law.get(action, 0)) for law in laws]
            note(f"P({action}) in {[shown(s) for s in states]} is {expected}")
            np.testing.assert_allclose(step_probability(model, current, number), expected, rtol=1e-9, atol=1e-12)
            result = conditional_step(model, current, number)
            for m, probability in enumerate(expected):
                assert (result.status[m] in (WalkStatus.RUNNING, WalkStatus.RUNTIME_ERROR)) == (probability > 0)
                if result.status[m] == WalkStatus.RUNNING:
                    assert result.action[m] == number
                    near = 2e-9
                    assert any(
                        w.low - near <= result.delay[m] and (w.high is None or result.delay[m] <= w.high + near)
                        for w in windows[m][numbers[int(result.edge[m])]]
                    )
        result = stochastic_step(model, current)
        going_on = np.flatnonzero(result.status == WalkStatus.RUNNING)
        if len(going_on) == 0:
            break
        current = on_a_grid(result.particles.take(going_on, np.arange(len(going_on), dtype=np.uint64)))
    return races


def test_race_probabilities_are_exact():
    """60 random networks of up to four components, urgent channels included, or more until there were 100 races."""
    races = []

    @examples(150)
    @given(networks(handshakes=False, zero_rates=True))
    def agree(network):
        if len(races) < 60 or sum(races) <= 100:
            races.append(race_probabilities_agree(network, particles=2, steps=4))

    agree()
    assert sum(races) > 100


@pytest.mark.slow
@examples(2000)
@given(networks(handshakes=False, zero_rates=True))
def test_race_probabilities_of_thousands_of_networks_are_exact(network):
    race_probabilities_agree(network, particles=2, steps=4)


@pytest.mark.parametrize("stops_time", ["urgent", "committed"])
def test_a_passive_process_that_stops_time_lets_the_component_go_at_once(stops_time):
    sketch = Sketch()
    x, c = sketch.clock("x"), sketch.channel("c", broadcast=True)
    edges = [edge(0, 0, send=c, action="c"), edge(0, 0, op(">", x, 0), send=c, action="later")]
    sketch.process("P", [Location("L", op("<=", x, 5))], edges)
    sketch.process("Q", [Location("M", **{stops_time: True})], [edge(0, 0, receive=c)])
    model = compile_network(sketch.network())
    particles = Particles.initial(model, np.arange(4, dtype=np.uint64))
    assert [step_probability(model, particles, a).tolist() for a in range(2)] == [[1.0] * 4, [0.0] * 4]
    result = conditional_step(model, particles, 0)
    assert result.status.tolist() == [WalkStatus.RUNNING] * 4
    assert result.delay.tolist() == [0.0] * 4


# --- statistical ------------------------------------------------------------------------------------------------------


def fits(counts: list[int], probabilities: list[float]) -> float:
    """p-value of Pearson's chi-square test; the expected counts here are never below 20."""
    total = sum(counts)
    statistic = sum((n - total * p) ** 2 / (total * p) for n, p in zip(counts, probabilities, strict=True))
    return float(chdtrc(len(counts) - 1, statistic))


def five_windows() -> Network:
    """Five edges whose windows differ in every way: a point, a tiny one, an unbounded one, a union, a strict one."""
    sketch = Sketch()
    x = sketch.clock("x")
    guards = [
        op("==", x, 3),
        both(op(">", x, 1), op("<", x, 1 + 2**-8)),
        None,
        op("||", op("<", x, 0.25), op(">", x, 4)),
        op(">", x, 9.5),
    ]
    reset = [let(x, 0)]
    edges = [edge(0, 0, guard, reset, action=f"edge{i}") for i, guard in enumerate(guards)]
    sketch.process("P", [Location("L", op("<=", x, 10))], edges)
    return sketch.network()


@pytest.mark.parametrize("network", [five_windows(), fischer(5), train_gate(4)], ids=lambda n: n.name)
def test_accelerated_walks_choose_uniformly_among_eventually_enabled_transitions(network):
    """Null hypothesis: each transition the reference finds is chosen equally often, whatever its window.

    n = 4000 first steps per model, chi-square at the false-alarm rate 1e-6 per model.  Leaving out one of five
    transitions, or choosing one twice as often as another, gives a p-value below 1e-50.
    """
    interpreter, model = Oracle(network), compile_network(network)
    numbers = edge_numbers(network)
    senders = Counter(numbers[t.sender] for t in interpreter.transitions(interpreter.initial_state()))
    walks = accelerated_walks(model, np.arange(4000, dtype=np.uint64), 10, 1e9, 1)
    seen = Counter(int(e) for e in walks.edges[:, 0])
    assert set(seen) <= set(senders)
    shares = [senders[e] / senders.total() for e in senders]
    assert fits([seen[e] for e in senders], shares) > 1e-6


def two_gaps(bounded: bool) -> Network:
    """Enabled on [1, 2] and [3, 4] only, up to 5 or for ever: 1/4, 3/8 and stuck 3/8 where bounded."""
    sketch = Sketch("bounded" if bounded else "unbounded")
    x = sketch.clock("x")
    first, second = both(op(">=", x, 1), op("<=", x, 2)), both(op(">=", x, 3), op("<=", x, 4))
    here = Location("L", op("<=", x, 5) if bounded else None)
    sketch.process("P", [here], [edge(0, 0, first, action="first"), edge(0, 0, second, action="second")])
    return sketch.network()


@pytest.mark.parametrize("network", [two_gaps(True), two_gaps(False)], ids=lambda n: n.name)
def test_races_draw_from_the_law_across_gaps(network):
    """Null hypothesis: first actions follow the reference's law.  n = 4000 per model, chi-square at 1e-6 each.

    Rejection instead of an additional delay (1/2, 1/2, never stuck) gives a p-value below 1e-100.
    """
    interpreter, model = Oracle(network), compile_network(network)
    law = interpreter.step_law(interpreter.initial_state(), 0)
    result = stochastic_step(model, Particles.initial(model, np.arange(4000, dtype=np.uint64)))
    seen = Counter(int(a) for a in result.action)
    counts = [seen[model.actions.index(a)] for a in law.probabilities]
    shares = [float(p) for p in law.probabilities.values()]
    assert fits([*counts, seen[-1]], [*shares, float(law.stuck)]) > 1e-6


@pytest.mark.slow
@examples(60)
@given(networks(handshakes=False, single_component=True))
def test_stochastic_steps_follow_the_law(network):
    """Null hypothesis: the first action of a stochastic walk follows the reference's law.

    n = 20,000 first steps of each of 60 networks, chi-square over the actions (rare ones together with "stuck") at the
    false-alarm rate 1e-8 each, under 1e-6 in all.  A probability of 0.2 that is 0.22 gives a p-value below 1e-11.
    """
    interpreter, model = Oracle(network), compile_network(network)
    if interpreter.delay_bound(interpreter.initial_state()) is None:
        return
    probabilities = interpreter.step_law(interpreter.initial_state(), 0).probabilities
    plays = 20_000
    result = stochastic_step(model, Particles.initial(model, np.arange(plays, dtype=np.uint64)))
    failed = set(np.flatnonzero(result.status == WalkStatus.RUNTIME_ERROR))
    seen = Counter(int(a) for i, a in enumerate(result.action) if i not in failed)
    if failed:
        return
    common = [a for a in probabilities if 20 <= plays * probabilities[a]]
    counts = [seen[model.actions.index(a)] for a in common]
    shares = [float(probabilities[a]) for a in common]
    rest = 1 - sum(shares)
    if plays * rest >= 20:
        counts, shares = [*counts, plays - sum(counts)], [*shares, rest]
    if len(counts) > 1:
        assert fits(counts, shares) > 1e-8


# --- the exact product ------------------------------------------------------------------------------------------------


def exact_products_agree(network: Network, length: int) -> int:
    """Words of stochastic walks: where the product is exact, particles have it as their mean; how many words were."""
    note(network_text(network))
    model = compile_network(network)
    walks = stochastic_walks(model, np.arange(6, dtype=np.uint64), 1e9, length)
    known = 0
    for k in range(6):
        word = walks.walk(k).actions(model)
        if not word or why_not_exact(model, word) is not None:
            continue
        known += 1
        note(f"{word} has {exact_cylinder(model, word)}")
        passes = [conditional_split(model, word, effort=40, seeds=SeedTree(seed)).cylinder for seed in range(40)]
        error = np.std(passes, ddof=1) / np.sqrt(len(passes))
        assert abs(np.mean(passes) - exact_cylinder(model, word)) <= 6 * error + 1e-9
    return known


def with_resets(network: Network, spared: set[int]) -> Network:
    """Every output edge also resets all clocks but the spared ones."""
    clocks = [v.slot + i for v in network.variables if v.kind == Kind.CLOCK for i in range(v.size)]
    resets = tuple(let(Read(slot, Kind.CLOCK, None, 1), 0) for slot in clocks if slot not in spared)
    processes = []
    for process in network.processes:
        edges = [
            replace(e, branches=tuple(replace(b, updates=b.updates + resets) for b in e.branches)) if e.is_output else e
            for e in process.edges
        ]
        processes.append(replace(process, edges=tuple(edges)))
    return replace(network, processes=tuple(processes))


@pytest.mark.slow
def test_exact_products_are_the_means_of_particles():
    """Null hypothesis: wherever a product is called exact, it is the mean of the unbiased conditional estimator.

    300 random networks that reset all clocks but at most one, words of up to four actions, 40 passes of 40 particles
    each, 6 standard errors (below 1e-6 per word for a normal mean).  Treating a clock that is not reset as if it were
    changes most of these probabilities by tens of percent.
    """
    known = []

    @examples(300)
    @given(networks(handshakes=False), st.sets(st.integers(0, 8), max_size=1))
    def agree(network, spared):
        known.append(exact_products_agree(with_resets(network, spared), length=4))

    agree()
    assert 60 < sum(n > 0 for n in known) < 300
