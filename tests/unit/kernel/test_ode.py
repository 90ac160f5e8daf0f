"""ODE variables: which are solved and which integrated, their values, and that no stale flow survives a transition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.kernel import CompiledModel, Sampler, accelerated_walks, compile_network, sample_expressions
from bbfalsify.kernel.state_inspection import ConcreteState
from bbfalsify.modelling import parse_expression, parse_network
from bbfalsify.modelling.reference.exact_code import ExactCode
from bbfalsify.modelling.reference.flow import RealFlow
from tests.support.kernel_states import enabled_windows, fire
from tests.unit.kernel.kernel_models import BRAKING, model, one, several

TIMES = np.array([0.0, 0.013, 0.5, 1.0, 2.75, 7.0, 30.0])


def flowing(rate: str, declarations: str = "") -> CompiledModel:
    """One location in which y follows the rate; k, n, z are data, x another clock."""
    names = "clock y; clock x; double k = 0.25; int n = 3; double z = 0.0; double half(double v) { return v / 2; }"
    return model(one("", {"S": f'rates: {{y: "{rate}"}}'}, ["from: S, to: S, action: a"], names + declarations))


def values_of(m: CompiledModel, start: float, times: np.ndarray, expression: str = "y") -> np.ndarray:
    """An expression over time from y = start, and nothing happening."""
    walk = accelerated_walks(m, np.zeros(1, np.uint64), 5, 1e9, 1).walk(0).prefix(0)
    walk.reals[0, 0] = start
    return sample_expressions(m, walk, [parse_expression(expression, m.network)], times)[0]


SOLVED = {
    "k - y": lambda t: 0.25 + 1.75 * np.exp(-t),
    "(n - y) / 72": lambda t: 3 - np.exp(-t / 72),
    "y * k": lambda t: 2 * np.exp(t / 4),
    "-(y + 1) * 2 - k * y / n": lambda t: 2 * np.exp(-25 / 12 * t) - 24 / 25 * (1 - np.exp(-25 / 12 * t)),
    "n > 2 ? 1 - y : y * y": None,  # both branches must be linear
    "n > 2 ? 1 - y : y": lambda t: 1 + np.exp(-t),
    "half(k) - half(n) * y": lambda t: 1 / 12 + (2 - 1 / 12) * np.exp(-1.5 * t),
    "z * y + k": lambda t: 2 + t / 4,  # the coefficient happens to be zero
    "z * y": lambda t: 2 + 0 * t,
    "y * y": None,
    "x - y": None,
    "half(y)": None,
    "1 / y": None,
    "sin(y)": None,
    "y > 1 ? -y : -1": None,
    "max(-y, -1.0)": None,
}


@pytest.mark.parametrize("rate", SOLVED)
def test_linear_odes_are_solved(rate):
    m, expected = flowing(rate), SOLVED[rate]
    assert m.analysis.ode_slots == {0}
    assert m.analysis.solved_slots == ({0} if expected else set())
    if expected:
        np.testing.assert_allclose(values_of(m, 2.0, TIMES), expected(TIMES), rtol=1e-14)


@pytest.mark.parametrize("rate", ["(n - y) / 2", "z * y + k", "k * y", "1 - y * y / 100", "x - y", "sin(y) - half(y)"])
def test_values_agree_with_the_reference(rate):
    """The reference interpreter integrates everything by its own Runge–Kutta; the steps differ, so to 1e-8."""
    m = flowing(rate)
    reals = tuple([2.0, *m.network.initial_reals()[1:]])
    flow = RealFlow(ExactCode(m.network), (0,), tuple(m.network.initial_integers()), reals, step=1 / 128)
    expected = [float(flow.concrete(float(t))[0]) for t in TIMES]
    np.testing.assert_allclose(values_of(m, 2.0, TIMES), expected, rtol=1e-8)


def test_the_step_plays_no_role_where_the_ode_is_solved():
    network = parse_network(one("clock y;", {"S": 'rates: {y: "(3 - y) / 72"}'}, ["from: S, to: S, action: a"]))
    coarse, fine = (values_of(compile_network(network, ode_step=step), 2.0, TIMES) for step in (100.0, 0.001))
    np.testing.assert_array_equal(coarse, fine)


def test_growth_beyond_all_numbers_is_infinite():
    assert values_of(flowing("y * 10"), 2.0, np.array([100.0]))[0] == math.inf
    assert values_of(flowing("y * 10"), -2.0, np.array([100.0]))[0] == -math.inf
    assert values_of(flowing("y * 10"), 0.0, np.array([100.0]))[0] == 0.0


def test_an_integrated_variable_reads_a_solved_one():
    """y' = −y is solved; w' = y − 0·w² looks as if it were not linear, so it is integrated: w = 1 − e^−t."""
    m = model(one("clock y; clock w;", {"S": 'rates: {y: "-y", w: "y - w * w * 0"}'}, ["from: S, to: S, action: a"]))
    assert (m.analysis.ode_slots, m.analysis.solved_slots) == ({0, 1}, {0})
    walk = accelerated_walks(m, np.zeros(1, np.uint64), 5, 1e9, 1).walk(0).prefix(0)
    walk.reals[0] = [1.0, 0.0]
    [sampled] = sample_expressions(m, walk, [parse_expression("P.w", m.network)], TIMES)
    np.testing.assert_allclose(sampled, 1 - np.exp(-TIMES), atol=1e-9)


def test_integrated_values():
    m = model(BRAKING)
    walk = accelerated_walks(m, np.zeros(1, np.uint64), 5, 1e9, 1).walk(0).prefix(0)
    walk.reals[0, 0] = 20.0
    [sampled] = sample_expressions(m, walk, [parse_expression("P.v", m.network)], TIMES)
    np.testing.assert_allclose(sampled, 20 / (1 + 0.2 * TIMES), rtol=1e-9)


@pytest.mark.parametrize("rate", ["-y / 10", "-y * y / 100"], ids=["solved", "integrated"])
def test_a_receiver_that_looks_at_the_flow_leaves_nothing_stale(rate):
    """The receiver's guard is evaluated after time has passed and before the update sets y: y then falls from 80."""
    text = several(
        {
            "Sender": ("", {"S": f'rates: {{y: "{rate}"}}'}, ['from: S, to: S, sync: "c!", update: "y = 80"']),
            "Receiver": ("", {"R": "", "Q": ""}, ['from: R, to: Q, sync: "c?", guard: "y >= 1"']),
            "Watcher": ("", {"W": ""}, ['from: W, to: W, action: low, guard: "y <= 40"']),
        },
        "broadcast chan c;\nclock y;",
    )
    m = model(text)
    start = ConcreteState(np.zeros(3, int), np.zeros(0, int), np.array([100.0]))
    sender, low = 0, 2
    after = fire(m, start, (sender,), 1.0)
    assert after.reals[0] == 80.0
    expected = 10 * math.log(2) if rate == "-y / 10" else 100 / 40 - 100 / 80
    found = dict(enabled_windows(m, after))[(low,)]
    assert found[0][0] == pytest.approx(expected, abs=1e-8)
    # the same inside one walk, which keeps its walker: after the broadcast at 0, y is 80 and falls
    walks = accelerated_walks(m, np.arange(12, dtype=np.uint64), 4, 1e9, 3)
    for i in range(12):
        walk = walks.walk(i)
        for k in range(1, walk.steps):
            if walk.edges[k] == low and walk.edges[k - 1] == sender:
                assert walk.times[k] - walk.times[k - 1] == pytest.approx(expected, abs=1e-8)
                assert walk.reals[k + 1, 0] == pytest.approx(40.0, abs=1e-8)


def test_a_sampler_serves_many_walks():
    m = flowing("(n - y) / 2")
    sampler = Sampler(m, [parse_expression("y + x", m.network), parse_expression("n", m.network)])
    walks = accelerated_walks(m, np.arange(5, dtype=np.uint64), 10, 1e9, 3)
    for i in (0, 3, 1, 3):
        alone = sample_expressions(m, walks.walk(i), [parse_expression("y + x", m.network)], TIMES)
        np.testing.assert_array_equal(sampler.sample(walks.walk(i), TIMES)[:1], alone)
        np.testing.assert_array_equal(sampler.sample(walks.walk(i), TIMES[::-1])[0], alone[0, ::-1])


@pytest.mark.parametrize(
    ("expression", "message"),
    [("1 / (y - y)", "division by zero in an expression"), ("inverse(y - y)", "division by zero in function inverse")],
)
def test_a_failing_expression_names_the_place(expression, message):
    m = flowing("-y", " double inverse(double v) { return 1 / v; }")
    with pytest.raises(UserError, match=message):
        values_of(m, 1.0, TIMES, expression)
