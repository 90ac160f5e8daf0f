"""Simpler values of a counterexample: what is tried, and that only what still violates is kept."""

import numpy as np

from bbfalsify.core.choices import HIGHEST, LOWEST
from bbfalsify.engines.falsification.shrink.simple_values import simplify
from bbfalsify.engines.falsification.values import ValueSpace
from bbfalsify.modelling import parse_profile


def space_of(text, duration=20.0):
    return ValueSpace(parse_profile(f"format_version: 1\nname: p\n{text}"), duration)


def simplified(space, values, fails, violated=np.inf, budget=500):
    """Simplify by a function of quantiles; return the last values that fail, if all was tried, and the executions."""
    best, spent = np.array(values), 0

    def violating(rows):
        nonlocal best, spent
        rows = rows[: budget - spent]
        spent += len(rows)
        seen = [bool(fails(row)) for row in rows]
        best = next((row for row, fail in zip(rows, seen, strict=True) if fail), best)
        return seen

    settled = simplify(space, np.array(values), violated, violating)
    return best, settled, spent


SIGNAL = "signals: {a: {range: [0, 10], every: 5}}"


def test_a_signal_becomes_constant_if_that_violates():
    best, settled, _ = simplified(space_of(SIGNAL), [0.91, 0.93, 0.97, 0.12], lambda u: u[:3].min() > 0.9)
    assert best.tolist() == [HIGHEST] * 4 and settled


def test_changes_that_matter_stay_and_values_become_simple():
    best, settled, _ = simplified(space_of(SIGNAL), [0.123, 0.857, 0.333, 0.777], lambda u: u[0] < 0.5 < u[1])
    assert best.tolist() == [LOWEST, HIGHEST, HIGHEST, HIGHEST] and settled


def test_values_that_must_not_be_ends_are_rounded():
    best, *_ = simplified(space_of(SIGNAL), [0.4217] * 4, lambda u: np.all(abs(u - 0.4217) < 0.005))
    assert np.allclose(best, 0.42) and np.all(best == best[0])


def test_what_comes_after_the_violation_is_held():
    best, *_ = simplified(
        space_of(SIGNAL), [0.31, 0.62, 0.11, 0.99], lambda u: (u[0], u[1]) == (0.31, 0.62), violated=7.0
    )
    assert best.tolist() == [0.31, 0.62, 0.62, 0.62]


def test_a_parameter_moves_to_an_end_the_middle_or_a_round_place():
    space = space_of("parameters: {m: {uniform: [0, 1]}, n: {uniform: [0, 1]}}")
    best, *_ = simplified(space, [0.3141, 0.8888], lambda u: u[0] > 0.3 and u[1] < 0.95)
    assert best.tolist() == [0.5, 0.5]


def test_the_budget_is_kept_and_said():
    best, settled, spent = simplified(space_of(SIGNAL), [0.1234, 0.9, 0.2, 0.7], lambda u: False, budget=3)
    assert (settled, spent) == (False, 3) and best.tolist() == [0.1234, 0.9, 0.2, 0.7]
