"""At every state of a walk the kernel's transitions and windows are those of the reference, to the last bit.

The walk is led by the reference through delays with few binary digits, so float64 is exact and nothing is compared with
a tolerance: bounds, strictness, and the state after every step must be equal.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import seed as hypothesis_seed

from bbfalsify.kernel import compile_network
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.state_inspection import ConcreteState, ModelFailed, maximal_delay
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.delay_sets import Window
from bbfalsify.modelling.reference.state import State, Transition
from tests.drawing import examples
from tests.support.judging import edge_numbers, exact_state, shown
from tests.support.kernel_states import enabled_windows, fire
from tests.support.networks import networks
from tests.support.oracle import Oracle
from tests.support.printing import network_text

MOST_BINARY_DIGITS = 30
INFINITE = (math.inf, False)


def windows_and_steps_agree(network: Network, seed: int, steps: int) -> None:
    note(network_text(network))
    interpreter, model = Oracle(network), compile_network(network)
    generator = np.random.default_rng(seed)
    numbers = edge_numbers(network)
    state = interpreter.initial_state()
    for _ in range(steps):
        note(f"in {shown(state)}")
        transitions = {_edges(t, numbers): t for t in interpreter.transitions(state)}
        expected = {edges: [_bounds(w) for w in t.windows] for edges, t in transitions.items()}
        seen = enabled_windows(model, _for_kernel(state))
        assert {edges: [_unbounded_is_open(w) for w in windows] for edges, windows in seen} == expected
        assert kernel_delay_bound(model, state) == delay_bound(interpreter, state)
        if not transitions:
            return
        edges = list(transitions)[generator.integers(len(transitions))]
        window = transitions[edges].windows[generator.integers(len(transitions[edges].windows))]
        delay = _short_delay(window, generator)
        note(f"fire {edges} after {delay}")
        entered = _fire(interpreter, model, state, transitions[edges], edges, delay, int(generator.integers(2**30)))
        if entered is None or max(r.denominator for r in entered.reals) > 2**MOST_BINARY_DIGITS:
            return
        state = entered


def _fire(
    interpreter: Oracle, model: CompiledModel, state: State, transition: Transition,
    edges: tuple[int, ...], delay: Fraction, seed: int,
) -> State | None:  # fmt: skip
    """Let the kernel fire; the state it enters must be one the reference allows, and so must its failing."""
    outcomes = interpreter.outcomes(state, transition, delay)
    try:
        after = fire(model, _for_kernel(state), edges, float(delay), seed)
    except ModelFailed as failure:
        assert any(o.error for o in outcomes), failure
        return None
    entered = exact_state(after.locations, after.integers, after.reals, after.time)
    assert entered in [o.state for o in outcomes]
    return entered


def _edges(transition: Transition, numbers: dict[tuple[int, int], int]) -> tuple[int, ...]:
    """The kernel's name of a transition: sender, and the receiver of a handshake."""
    partners = () if transition.broadcast else transition.receivers
    return tuple(numbers[name] for name in (transition.sender, *partners))


def _for_kernel(state: State) -> ConcreteState:
    reals = np.array([float(r) for r in state.reals])
    return ConcreteState(np.array(state.locations), np.array(state.integers), reals, float(state.time))


def _bounds(window: Window) -> tuple[float, bool, float, bool]:
    high = INFINITE if window.high is None else (float(window.high), window.high_strict)
    return (float(window.low), window.low_strict, *high)


def _unbounded_is_open(window: tuple[float, bool, float, bool]) -> tuple[float, bool, float, bool]:
    return (*window[:2], *INFINITE) if window[2] == math.inf else window


def delay_bound(interpreter: Oracle, state: State) -> tuple[float, bool] | None:
    bound = interpreter.delay_bound(state)
    if bound is None:
        return None
    return INFINITE if bound.high is None else (float(bound.high), bound.high_strict)


def kernel_delay_bound(model: CompiledModel, state: State) -> tuple[float, bool] | None:
    delay, strict = maximal_delay(model, _for_kernel(state))
    if delay < 0 or (delay == 0 and strict):
        return None
    return INFINITE if delay == math.inf else (delay, strict)


def _short_delay(window: Window, generator: np.random.Generator) -> Fraction:
    """A delay inside the window with few binary digits where there is one: at an end, or in the middle."""
    high = window.low + 5 if window.high is None else window.high
    sixteenths = [math.ceil(window.low * 16), math.floor(high * 16), math.floor((window.low + high) * 8)]
    short = [Fraction(n, 16) for n in sixteenths if Fraction(n, 16) in window]
    choices = short or [d for d in (window.low, high, (window.low + high) / 2) if d in window]
    return choices[generator.integers(len(choices))]


@examples(80)
@given(networks(dialects=True))
def test_windows_and_steps_agree(network):
    windows_and_steps_agree(network, seed=1, steps=20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_windows_and_steps_of_thousands_of_networks_agree(seed):
    @hypothesis_seed(seed)
    @settings(examples(1000), derandomize=False)
    @given(networks(dialects=True))
    def law(network):
        windows_and_steps_agree(network, seed=seed, steps=40)

    law()
