"""The compiled kernel judged by the reference interpreter: every step of every walk must be one the semantics allows.

Random networks (`tests.support.networks`) walk under the kernel; the reference replays each walk in exact fractions
and must find the edge enabled, the delay inside its window, and the recorded state among those the transition may
enter.  Where a walk ended early, the reference must agree that nothing can happen, or that the model failed.
The default profile takes about a minute; `pytest -m slow` looks at thousands of networks.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, note

from bbfalsify.kernel import WalkStatus, accelerated_walks, compile_network, stochastic_walks
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.state import State
from tests.drawing import examples
from tests.support.classics import cooling_and_heating, fischer, leaking_gas, train_gate
from tests.support.judging import judge_walk
from tests.support.networks import networks
from tests.support.oracle import Oracle
from tests.support.printing import network_text

FOREVER = 1e9


def seeds(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.uint64)


# --- accelerated walks ------------------------------------------------------------------------------------------------


def accelerated_walks_are_allowed(network: Network, walks: int, steps: int) -> None:
    note(network_text(network))
    interpreter, model = Oracle(network), compile_network(network)
    rows = np.arange(walks) * 5 % 11  # both ends and the middle of the table of delay distributions
    batch = accelerated_walks(model, seeds(walks), rows, FOREVER, steps)
    for walk, state in allowed_walks(interpreter, batch, walks):
        if walk.steps == steps:
            assert walk.status == WalkStatus.STEP_LIMIT
        else:
            assert walk.status == why_nothing_can_happen(interpreter, state)


def allowed_walks(interpreter: Oracle, batch, walks: int):
    """Each walk that ends without an error, and its last state; all are runs, and errors are errors of the model."""
    for number in range(walks):
        walk = batch.walk(number)
        judgement = judge_walk(interpreter, walk)
        assert judgement.problem is None
        if walk.status == WalkStatus.RUNTIME_ERROR:
            assert some_outcome_fails(interpreter, judgement.state), walk.error
        else:
            yield walk, judgement.state


def why_nothing_can_happen(interpreter: Oracle, state: State) -> WalkStatus:
    assert interpreter.transitions(state) == []
    bound = interpreter.delay_bound(state)
    return WalkStatus.DEADLOCK if bound is not None and bound.high is None else WalkStatus.TIMELOCK


def some_outcome_fails(interpreter: Oracle, state: State) -> bool:
    """Whether some transition may end in a run-time error at one of 17 delays spread over its windows."""
    for transition in interpreter.transitions(state):
        for window in transition.windows:
            high = window.low + 9 if window.high is None else window.high
            for part in range(17):
                delay = window.low + (high - window.low) * Fraction(part, 16)
                if delay in window and any(o.error for o in interpreter.outcomes(state, transition, delay)):
                    return True
    return False


@examples(60)
@given(networks(dialects=True))
def test_accelerated_walks_are_allowed(network):
    accelerated_walks_are_allowed(network, walks=2, steps=12)


@pytest.mark.slow
@examples(1500)
@given(networks(dialects=True))
def test_accelerated_walks_of_thousands_of_networks_are_allowed(network):
    accelerated_walks_are_allowed(network, walks=3, steps=20)


# --- incremental and full ---------------------------------------------------------------------------------------------


def caches_change_nothing(network: Network, walks: int, steps: int) -> None:
    note(network_text(network))
    model = compile_network(network)
    cached = accelerated_walks(model, seeds(walks), 10, FOREVER, steps)
    fresh = accelerated_walks(model, seeds(walks), 10, FOREVER, steps, recompute_everything=True)
    for name in ("status", "steps", "times", "edges", "locations", "integers", "reals"):
        np.testing.assert_array_equal(getattr(cached, name), getattr(fresh, name), err_msg=name)


@examples(60)
@given(networks(dialects=True))
def test_incremental_walks_are_those_that_recompute_everything(network):
    caches_change_nothing(network, walks=4, steps=150)


@pytest.mark.slow
@examples(1000)
@given(networks(dialects=True))
def test_incremental_walks_of_thousands_of_networks_are_those_that_recompute_everything(network):
    caches_change_nothing(network, walks=6, steps=400)


# --- stochastic walks -------------------------------------------------------------------------------------------------


def stochastic_walks_are_in_the_support(network: Network, walks: int, steps: int) -> None:
    note(network_text(network))
    interpreter, model = Oracle(network), compile_network(network)
    batch = stochastic_walks(model, seeds(walks), FOREVER, steps)
    for walk, state in allowed_walks(interpreter, batch, walks):
        if walk.status in (WalkStatus.DEADLOCK, WalkStatus.TIMELOCK):
            assert everybody_may_be_stuck(interpreter, state)


def everybody_may_be_stuck(interpreter: Oracle, state: State) -> bool:
    """A race without a winner: no component acts for certain."""
    if interpreter.delay_bound(state) is None:
        return True
    return all(interpreter.step_law(state, p).stuck > 0 for p in range(len(state.locations)))


@examples(50)
@given(networks(handshakes=False))
def test_stochastic_walks_are_in_the_support_of_the_law(network):
    stochastic_walks_are_in_the_support(network, walks=2, steps=10)


@pytest.mark.slow
@examples(1500)
@given(networks(handshakes=False))
def test_stochastic_walks_of_thousands_of_networks_are_in_the_support_of_the_law(network):
    stochastic_walks_are_in_the_support(network, walks=3, steps=20)


# --- long walks of well-known models ----------------------------------------------------------------------------------

CLASSICS: dict[str, tuple[Callable[[], Network], list[int], int]] = {
    "fischer": (lambda: fischer(4), [0, 1, 2, 3], 3),
    "train gate": (lambda: train_gate(3), [0, 1, 2], 2),
    "gas burner": (leaking_gas, [], 0),
}
"""How to make it, the processes that exclude each other, and the location of which only one may hold."""


@pytest.mark.parametrize("name", CLASSICS)
def test_long_walks_of_classics_are_allowed(name):
    long_walk_is_allowed(name, steps=500)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSICS)
def test_very_long_walks_of_classics_are_allowed(name):
    long_walk_is_allowed(name, steps=10_000)


def test_walks_of_a_model_with_odes_are_allowed():
    """Both sides integrate for themselves, so this is a comparison within 1e-5, not an exact one."""
    network = cooling_and_heating()
    batch = accelerated_walks(compile_network(network), seeds(3), np.array([0, 5, 10]), FOREVER, 12)
    for number in range(3):
        walk = batch.walk(number)
        assert walk.status == WalkStatus.STEP_LIMIT
        assert judge_walk(Oracle(network), walk, tolerance=Fraction(1, 10**5)).problem is None


def long_walk_is_allowed(name: str, steps: int) -> None:
    """Also: mutual exclusion holds in every state, and no error of rounding has crept in after all the steps."""
    make, exclusive, critical = CLASSICS[name]
    network = make()
    walk = accelerated_walks(compile_network(network), seeds(1), 10, FOREVER, steps).walk(0)
    assert walk.status == WalkStatus.STEP_LIMIT
    judgement = judge_walk(Oracle(network), walk, tolerance=Fraction(1, 10**6))
    assert judgement.problem is None
    assert (np.sum(walk.locations[:, exclusive] == critical, axis=1) <= 1).all()
