"""The reference interpreter against itself, the slow and stupid way.

Windows come from affine numbers and breakpoints; here every delay is tried with plain numbers instead.  The law of a
step comes from hazards; here the additional-delay rule is played literally.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.delay_sets import Window, contains, endpoints
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError
from bbfalsify.modelling.reference.state import State
from tests.drawing import examples
from tests.support.networks import networks
from tests.support.oracle import Oracle


def walk(network: Network, seed: int, steps: int) -> list[State]:
    """Some states of the network, reached by delays on a grid where possible."""
    interpreter, generator = Oracle(network), np.random.default_rng(seed)
    states = [interpreter.initial_state()]
    for _ in range(steps):
        found = interpreter.transitions(states[-1])
        if not found:
            break
        transition = found[generator.integers(len(found))]
        window = transition.windows[generator.integers(len(transition.windows))]
        try:
            states.append(
                interpreter.fire_choosing(states[-1], transition, some_delay(window, generator), generator=generator)
            )
        except ModelRuntimeError:
            break
    return states


def some_delay(window: Window, generator: np.random.Generator) -> Fraction:
    high = window.low + 4 if window.high is None else window.high
    choices = [d for d in (window.low, high, (window.low + high) / 2) if d in window]
    return choices[generator.integers(len(choices))]


@examples(40)
@given(networks(dialects=True), st.integers(0, 1000))
def test_windows_are_what_trying_single_delays_gives(network, seed):
    interpreter = Oracle(network)
    state = walk(network, seed, 6)[-1]
    bound = interpreter.delay_bound(state)
    windows = {(t.sender, t.receivers): t.windows for t in interpreter.transitions(state)}
    tried = {Fraction(k, 8) for k in range(0, 80, 3)}
    for point in {p for w in windows.values() for p in endpoints(w)}:
        tried |= {point, point + Fraction(1, 1000), max(point - Fraction(1, 1000), Fraction(0))}
    for delay in tried:
        if bound is None or delay not in bound:
            assert not any(contains(w, delay) for w in windows.values())
            continue
        for candidate in interpreter.candidates(state):
            single = interpreter.can_fire(state, candidate, delay)
            assert single == contains(windows.get((candidate.sender, candidate.receivers), ()), delay)


@examples(40)
@given(networks(handshakes=False, single_component=True, urgent_channels=False), st.integers(0, 1000))
def test_law_is_what_playing_the_additional_delay_rule_gives(network, seed):
    """Null hypothesis: the hazard formula is the rule.  n = 400 plays of each of 40 networks, about 2 actions each.

    A deviation beyond 5.5 standard errors (never below 1/n) has probability 4e-8 each, under 1e-4 in all.  A wrong
    formula for gaps (0.5 instead of 0.2, say) is 15 standard errors off.
    """
    interpreter = Oracle(network)
    state = walk(network, seed, 3)[-1]
    if interpreter.delay_bound(state) is None:
        return
    expected = interpreter.step_law(state, 0).probabilities
    play = literal_rule(interpreter, state, np.random.default_rng(seed))
    plays = 400
    seen = Counter(play() for _ in range(plays))
    for action in {*expected, *seen} - {None}:
        probability = float(expected.get(action, 0))
        error = max((probability * (1 - probability) / plays) ** 0.5, 1 / plays)
        assert abs(seen[action] / plays - probability) <= 5.5 * error


def literal_rule(interpreter: Oracle, state: State, generator: np.random.Generator) -> Callable[[], str | None]:
    """Draw, look what is enabled, draw an additional delay if nothing is; None when it never ends."""
    here = interpreter.evaluator_at(state, Fraction(0))
    edges = interpreter.network.processes[0].edges
    outputs = [
        (
            edges[t.sender[1]].action,
            1.0 if edges[t.sender[1]].weight is None else float(here.value(edges[t.sender[1]].weight)),
            [(float(w.low), float("inf") if w.high is None else float(w.high)) for w in t.windows],
        )
        for t in interpreter.transitions(state)
        if t.sender[0] == 0
    ]
    rate_expression = interpreter.network.processes[0].locations[state.locations[0]].exponential_rate
    rate = 1.0 if rate_expression is None else float(here.value(rate_expression))
    bound = interpreter.invariant_delays(state, 0)[0].high
    here_and_there = zip(interpreter.network.processes, state.locations, strict=True)
    if any(p.locations[at].urgent or p.locations[at].committed for p, at in here_and_there):
        bound = Fraction(0)

    def choose(delay: float) -> str | None:
        able = [(a, w) for a, w, windows in outputs if any(low <= delay <= high for low, high in windows)]
        if not able:
            return None
        weights = np.array([w for _, w in able])
        return able[generator.choice(len(able), p=weights / weights.sum())][0]

    def play() -> str | None:
        delay, last = 0.0, max((high for _, _, windows in outputs for _, high in windows), default=-1.0)
        for _ in range(60):
            delay += generator.exponential(1 / rate) if bound is None else generator.random() * (float(bound) - delay)
            if delay > last:
                return None
            action = choose(delay)
            if action is not None:
                return action
        return None if bound is None else choose(float(bound))

    return play
