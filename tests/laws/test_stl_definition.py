"""The monitors against the definitions: robustness, verdict on every prefix, and the time of the violation."""

from fractions import Fraction

import numpy as np
import pytest

from bbfalsify.core.verdict import Verdict
from bbfalsify.logic import Formula
from bbfalsify.logic.stl.formula import Window
from bbfalsify.logic.stl.stl_monitor import judge
from tests.laws.stl_reference import DenseTrace, DiscreteTrace, Generator

WORDS = {1: Verdict.SATISFIED, -1: Verdict.VIOLATED, 0: Verdict.INCONCLUSIVE}


def columns(rows):
    return {name: np.array([row[name] for row in rows]) for name in ("x", "y")}


def check_dense(rng, depth):
    generator = Generator(rng, unit=0.1)
    node = generator.condition(depth)
    gaps = rng.integers(1, 3, size=int(rng.integers(0, 5)))
    steps = np.concatenate([[0], np.cumsum(gaps)])
    return compare_dense(node, steps, generator.rows(len(steps)))


def check_hand_over(rng, depth):
    generator = Generator(rng, unit=0.1)
    node = Window(
        generator.pick(["always", "eventually"]), 0.0, generator.pick([0.0, 0.1, 0.2]), generator.hand_over(depth)
    )
    steps = np.arange(int(rng.integers(3, 7)))
    rows = [{"x": float(rng.integers(2)), "y": float(rng.integers(2))} for _ in steps]
    return compare_dense(node, steps, rows)


def compare_dense(node, steps, rows):
    exact = [Fraction(int(s), 10) for s in steps]
    found = judge(Formula(node), np.array([s * 0.1 for s in steps]), columns(rows))
    trace = DenseTrace(exact, rows)
    assert found.robustness == trace.robustness(node), node
    assert found.verdict is WORDS[trace.kleene(node, exact[-1])], node
    violated_at = found.first_violation_time
    for end in trace.prefix_ends(node):
        value = trace.kleene(node, end)
        if float(end) < violated_at - 1e-9:
            assert value != -1, (node, end)
        elif float(end) > violated_at + 1e-9:
            assert value == -1, (node, end)
    return found.verdict


@pytest.mark.parametrize("depth, count", [(1, 150), (2, 150), (3, 40)])
def test_dense_time_agrees_with_the_definition(depth, count):
    rng = np.random.default_rng(100 + depth)
    verdicts = [check_dense(rng, depth) for _ in range(count)]
    assert set(verdicts) == set(Verdict), "every verdict must have been tested"


def test_dense_time_keeps_open_and_closed_ends_apart():
    rng = np.random.default_rng(5)
    verdicts = [check_hand_over(rng, 1 + i % 2) for i in range(100)]
    assert set(verdicts) >= {Verdict.SATISFIED, Verdict.VIOLATED}


@pytest.mark.slow
def test_dense_time_agrees_with_the_definition_on_many():
    rng = np.random.default_rng(7)
    for i in range(3000):
        check_dense(rng, 1 + i % 3)
    for i in range(600):
        check_hand_over(rng, 1 + i % 2)


@pytest.mark.parametrize("depth, count", [(1, 200), (2, 300), (3, 200)])
def test_discrete_time_agrees_with_the_definition(depth, count):
    rng = np.random.default_rng(200 + depth)
    for _ in range(count):
        generator = Generator(rng, unit=0.5, steps=True)
        node = generator.condition(depth)
        rows = generator.rows(int(rng.integers(1, 7)))
        times = 0.5 * np.arange(len(rows))
        found = judge(Formula(node), times, columns(rows), time="discrete", period=0.5)
        trace = DiscreteTrace(rows, period=0.5)
        assert found.robustness == trace.value(node, 0, None), node
        prefixes = [trace.value(node, 0, seen) for seen in range(1, len(rows) + 1)]
        assert found.verdict is WORDS[prefixes[-1]], node
        first = prefixes.index(-1) if -1 in prefixes else None
        assert found.first_violation_time == (np.inf if first is None else times[first]), node
