"""A run that remembers what a step does not touch is followed as one that looks at everything: the same steps are
allowed, at the same exact delays, into the same states.

Recorded walks of random networks are followed both ways; and so are walks that were tampered with, since what matters
most is that nothing passes that should not.
"""

import random
from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from bbfalsify.modelling.formats.python_builder import NetworkBuilder
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.long_replay import LongReplay
from bbfalsify.modelling.reference.state import Move
from bbfalsify.modelling.reference.step_replay import NotAllowed, Replayer
from tests.drawing import examples
from tests.support.classics import cooling_and_heating, fischer, leaking_gas, train_gate
from tests.support.networks import networks
from tests.support.printing import network_text

Recorded = tuple[list[tuple[Move, ...]], list[float]]


def recorded(network: Network, rng: random.Random, steps: int) -> Recorded:
    """A random walk at bounds of windows and between them, with its moments in float64 as walks of the kernel have."""
    replayer = Replayer(network)
    state, moves, times = replayer.initial_state(), [], []
    while len(moves) < steps:
        possible = replayer.transitions(state)
        if not possible:
            break
        transition = rng.choice(possible)
        window = rng.choice(transition.windows)
        high = window.low + 3 if window.high is None else window.high
        between = window.low + (high - window.low) * Fraction(rng.random())
        delays = (rng.choice([window.low, high, between]), between, (window.low + high) / 2)
        delay = next(d for d in delays if d in window)
        ways = [w for w in islice(replayer.outcomes(state, transition, delay), 64) if w.error is None]
        if not ways:
            break
        way = rng.choice(ways)
        state = way.state
        moves.append(way.moves)
        times.append(float(state.time))
    return moves, times


def tampered(walk: Recorded, rng: random.Random) -> Recorded:
    moves, times = list(walk[0]), list(walk[1])
    place = rng.randrange(len(moves))
    match rng.randrange(5):
        case 0:
            times = [t + (k >= place) * rng.choice([0.25, 1.0, 4.0]) for k, t in enumerate(times)]
        case 1:
            times = [t - (k >= place) * min(rng.choice([0.125, 0.5]), t) for k, t in enumerate(times)]
        case 2:
            del moves[place], times[place]
        case 3:
            moves.insert(place, rng.choice(moves))
            times.insert(place, times[place])
        case 4:
            moves[place] = rng.choice(moves)
    return moves, times


def both_ways_agree(network: Network, walk: Recorded, *, prefer_bounds: bool) -> None:
    replayer = Replayer(network)
    run, state = LongReplay(replayer), replayer.initial_state()
    for moves, time in zip(*walk, strict=True):
        try:
            after, delay = replayer.follow(state, moves, time, prefer_bounds=prefer_bounds)
        except (NotAllowed, ModelRuntimeError) as refusal:
            with pytest.raises(type(refusal)) as other:
                run.take(moves, time, prefer_bounds=prefer_bounds)
            assert str(other.value) == str(refusal)
            return
        assert run.take(moves, time, prefer_bounds=prefer_bounds) == delay
        assert run.state() == after
        integers = tuple(run.integers_at(range(len(after.integers))))
        assert (integers, run.time, run.exact) == (after.integers, after.time, after.exact)
        state = after


def what_is_kept_is_so(network: Network, walk: Recorded) -> None:
    """After each step, everything that may happen next, from what is kept: as it is found from nothing."""
    interpreter, run = ReferenceInterpreter(network), LongReplay(Replayer(network))
    run.few_ways = 0  # choice by choice wherever that is possible
    for moves, time in zip(*walk, strict=True):
        run.take(moves, time)
        if run.keep():
            assert run.delays(run.here) == interpreter.delays(run.state())
            assert run.transitions(run.here) == interpreter.transitions(run.state())


def runs_agree(network: Network, seed: int, steps: int, variants: int) -> None:
    rng = random.Random(seed)
    walk = recorded(network, rng, steps)
    for prefer_bounds in (False, True):
        both_ways_agree(network, walk, prefer_bounds=prefer_bounds)
    what_is_kept_is_so(network, walk)
    for number in range(variants if walk[0] else 0):
        both_ways_agree(network, tampered(walk, rng), prefer_bounds=number % 4 == 3)


@examples(60)
@given(networks(dialects=True), st.integers(0, 10))
def test_runs_are_followed_in_the_same_way(network, seed):
    note(network_text(network))
    runs_agree(network, seed, steps=15, variants=8)


@pytest.mark.slow
@examples(1500)
@given(networks(dialects=True), st.integers(0, 10))
def test_runs_of_thousands_of_networks_are_followed_in_the_same_way(network, seed):
    note(network_text(network))
    runs_agree(network, seed, steps=30, variants=16)


@pytest.mark.parametrize("make", [lambda: fischer(4), lambda: train_gate(3), leaking_gas])
def test_long_runs_of_classics_are_followed_in_the_same_way(make):
    runs_agree(make(), seed=10, steps=150, variants=3)


def test_steps_of_odes_are_followed_as_ever():
    """Nothing is kept of such states; only that they are passed on is tested here."""
    runs_agree(cooling_and_heating(), seed=1, steps=4, variants=0)


def test_whole_numbers_of_reals_are_not_cut_to_64_bits():
    """They are kept as Python integers, as integers of the model are, which do wrap."""
    builder = NetworkBuilder("cube")
    builder.declare("clock x; double cube = 1;")
    process = builder.automaton("P")
    process.location("A")
    process.edge("A", "A", action="go", guard="x >= 3000000", update="cube = x * x * x * cube")
    walk = [((0, 0, 0),), ((0, 0, 0),)], [3_000_000.0, 3_000_000.0]
    both_ways_agree(builder.build(), walk, prefer_bounds=False)
    run = LongReplay(Replayer(builder.build()))
    run.take(*[part[0] for part in walk])
    assert run.state().reals[1] == 27 * 10**18
