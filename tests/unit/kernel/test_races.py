"""Races between components: closed forms of the next action's probability, and the law of the conditioned step."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import chdtrc

from bbfalsify.kernel import CompiledModel, Particles, WalkStatus, conditional_step, step_probability, stochastic_step
from tests.unit.kernel.kernel_models import HEATER, model, several


def particles(m: CompiledModel, count: int, first: int = 0) -> Particles:
    return Particles.initial(m, np.arange(first, first + count, dtype=np.uint64))


def probabilities(m: CompiledModel) -> dict[str, float]:
    return {name: float(step_probability(m, particles(m, 1), a)[0]) for a, name in enumerate(m.actions)}


def waiting(action: str, *, until: float | None = None, rate: float | None = None, guard: str = "", **more: str):
    """A component with one location and one edge: uniform up to `until`, or exponential with `rate`."""
    location = [f'invariant: "x <= {until}"'] if until is not None else []
    location += [f'exponential_rate: "{rate}"'] if rate is not None else []
    edge = f"from: S, to: S, action: {action}" + (f', guard: "{guard}"' if guard else "")
    edge += "".join(f", {key}: {value}" for key, value in more.items())
    return "clock x;", {"S": ", ".join(location)}, [edge]


def race(*components, globals_: str = "") -> CompiledModel:
    return model(several({f"P{i}": c for i, c in enumerate(components)}, globals_))


def exact(value: float):
    return pytest.approx(value, rel=1e-12, abs=1e-15)


# --- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [(3, 1), (1000, 0.001), (1e-9, 2e-9)])
def test_two_exponentials(first, second):
    """λ/(λ + μ)."""
    m = race(waiting("a", rate=first), waiting("b", rate=second))
    assert probabilities(m) == {"a": exact(first / (first + second)), "b": exact(second / (first + second))}


def test_two_uniforms():
    """On [0, 2] and [0, 4]: the second is below 2 half of the time, and then first half of the time."""
    assert probabilities(race(waiting("a", until=2), waiting("b", until=4))) == {"a": exact(0.75), "b": exact(0.25)}


@pytest.mark.parametrize("rate", [1e-6, 0.5, 3, 40, 5000])
def test_a_uniform_against_an_exponential(rate):
    """∫₀² e^(−λt)/2 dt = (1 − e^(−2λ))/(2λ)."""
    found = probabilities(race(waiting("a", until=2), waiting("b", rate=rate)))
    uniform = -math.expm1(-2 * rate) / (2 * rate)
    assert found["a"] == exact(uniform)
    assert found["b"] == pytest.approx(1 - uniform, rel=1e-9)


def test_a_point_against_a_uniform():
    """At 1 exactly, against U[0, 4]: the uniform is later with probability 3/4."""
    found = probabilities(race(waiting("a", until=1, guard="x == 1"), waiting("b", until=4)))
    assert found == {"a": exact(0.75), "b": exact(0.25)}


def test_two_points_at_the_same_moment_share_it():
    """A third component comes first with probability 1/4; the tie is broken uniformly, then edges by weight."""
    heavy = ("clock x;", {"S": 'invariant: "x <= 1"'}, [
        'from: S, to: S, action: b, guard: "x == 1", weight: 3', 'from: S, to: S, action: c, guard: "x == 1"',
    ])  # fmt: skip
    found = probabilities(race(waiting("a", until=1, guard="x == 1"), heavy, waiting("d", until=4)))
    assert found == {"a": exact(3 / 8), "b": exact(9 / 32), "c": exact(3 / 32), "d": exact(1 / 4)}


def test_three_components():
    """U[0, 1], U[0, 2] and Exp(1), each winner integrated by hand."""
    found = probabilities(race(waiting("a", until=1), waiting("b", until=2), waiting("c", rate=1)))
    e = math.exp(-1)
    assert found["a"] == exact((1 - e) - 0.5 * (1 - 2 * e))  # ∫ e^(−t)·(1 − t/2)
    assert found["b"] == exact(0.5 * ((1 - e) - (1 - 2 * e)))  # ∫ e^(−t)·(1 − t)/2
    assert sum(found.values()) == exact(1.0)


def test_windows_with_gaps():
    """a: [0, 1] and [4, 5] of U[0, 5], so 1/5 in the first, uniform on [4, 5] else; b: uniform on [3, 6]."""
    gaps = ("clock x;", {"S": 'invariant: "x <= 5"'}, [
        'from: S, to: S, action: a1, guard: "x <= 1"', 'from: S, to: S, action: a2, guard: "x >= 4"',
    ])  # fmt: skip
    found = probabilities(race(gaps, waiting("b", until=6, guard="x >= 3")))
    assert found["a1"] == exact(1 / 5)
    assert found["a2"] == exact(4 / 5 * (2 / 3 - 1 / 6))  # ∫₄⁵ (6 − t)/3
    assert found["b"] == exact(4 / 5 * (1 / 3 + 1 / 3 * 1 / 2))


def test_a_component_without_outputs_never_wins_and_one_that_is_stuck_leaves_the_rest():
    passive = ("", {"S": ""}, [])
    late = waiting("b", rate=2, guard="x <= 1")
    found = probabilities(race(passive, waiting("a", rate=2, guard="x >= 3"), late))
    assert found == {"a": exact(math.exp(-2)), "b": exact(1 - math.exp(-2))}


def test_a_rate_of_0_waits_without_end_and_leaves_the_rest():
    """As in published models, where nobody can be infected before somebody is infectious."""
    m = race(waiting("never", rate="n"), waiting("a", rate=2), waiting("b", until=3), globals_="int n = 0;")
    others = race(waiting("a", rate=2), waiting("b", until=3))
    assert probabilities(m) == {"never": 0.0, **{name: exact(p) for name, p in probabilities(others).items()}}
    drawn = stochastic_step(m, particles(m, 2000))
    assert {m.actions[a] for a in set(drawn.action)} == {"a", "b"}
    alone = race(waiting("never", rate="n"), globals_="int n = 0;")
    assert probabilities(alone) == {"never": 0.0}
    assert set(stochastic_step(alone, particles(alone, 10)).status) == {WalkStatus.DEADLOCK}


@pytest.mark.parametrize("count", [3, 20, 100])
def test_many_equal_uniforms(count):
    """Every one of n equal components wins with probability 1/n, though the density is a polynomial of degree n − 1."""
    m = race(*(waiting("a" if i == 0 else "b", until=7) for i in range(count)))
    assert probabilities(m) == {"a": exact(1 / count), "b": exact(1 - 1 / count)}


def test_urgent_and_committed_locations_go_at_once():
    urgent = ("", {"S": "urgent: true"}, ["from: S, to: S, action: b"])
    committed = ("", {"S": "committed: true"}, ["from: S, to: S, action: c"])
    assert probabilities(race(waiting("a", until=5), urgent)) == {"a": 0.0, "b": 1.0}
    assert probabilities(race(waiting("a", until=5), urgent, urgent, waiting("d", rate=1))) == {"a": 0, "b": 1, "d": 0}
    assert probabilities(race(waiting("a", until=5), urgent, committed)) == {"a": 0.0, "b": 0.0, "c": 1.0}


def test_who_is_stuck_in_an_urgent_location_lets_the_others_go_now():
    """Time stands still, so each of the two that are enabled goes with probability 1/2."""
    stuck = ("clock y;", {"S": "urgent: true"}, ['from: S, to: S, action: b, guard: "y > 1"'])
    found = probabilities(race(waiting("a", until=5), stuck, waiting("c", rate=4)))
    assert found == {"a": exact(0.5), "b": 0.0, "c": exact(0.5)}


def test_an_urgent_channel_is_taken_at_once():
    """Two of four components can send at once and share the moment; where the guard is false nobody is hurried."""
    sender = ("", {"S": ""}, ['from: S, to: S, sync: "go!", guard: "n == 1"'])
    other = ("", {"S": ""}, ['from: S, to: S, sync: "stop!", guard: "n == 1"', "from: S, to: S, action: b"])
    declared = "urgent broadcast chan go, stop;\nint[0,1] n = {};"
    now = race(waiting("a", until=8), sender, other, globals_=declared.format(1))
    assert probabilities(now) == {"a": 0.0, "go": exact(1 / 2), "stop": exact(1 / 4), "b": exact(1 / 4)}
    assert conditional_step(now, particles(now, 3), 2).delay.tolist() == [0.0] * 3
    later = race(waiting("a", until=8), sender, other, globals_=declared.format(0))
    uniform = -math.expm1(-8) / 8
    assert probabilities(later) == {"a": exact(uniform), "go": 0.0, "stop": 0.0, "b": pytest.approx(1 - uniform)}


def test_an_edge_without_weight_fires_where_nothing_else_can():
    """What the race does with weights that are all zero: the component acts, and takes the first edge."""
    one_edge = race(waiting("a", until=2, weight="0"))
    assert probabilities(one_edge) == {"a": exact(1.0)}
    both = race(waiting("a", until=2, weight="0"), waiting("b", until=2))
    assert probabilities(both) == {"a": exact(0.5), "b": exact(0.5)}
    assert set(stochastic_step(both, particles(both, 50)).action) == {0, 1}


def test_weights_are_read_at_the_moment_of_firing():
    """H0: at x = 9 the weights x and 1 give 9/10.  n = 4,000, false alarm 1e-5 (4.4 standard errors); caught: 1/2."""
    edges = [f'from: S, to: S, action: {a}, guard: "x == 9", weight: {w}' for a, w in (("a", "x"), ("b", 1))]
    m = race(("clock x;", {"S": 'invariant: "x <= 9"'}, edges))
    share = float((stochastic_step(m, particles(m, 4000)).action == 0).mean())
    assert abs(share - 0.9) < 4.4 * math.sqrt(0.09 / 4000)


# --- the conditioned step ---------------------------------------------------------------------------------------------

MIXED_RACE = [
    ("clock x;", {"S": 'invariant: "x <= 5"'}, [
        'from: S, to: S, action: a, guard: "x >= 1", weight: 2, update: "x = 0"',
        'from: S, to: S, action: b, guard: "x >= 1 && x <= 3 || x >= 4"',
        'from: S, to: S, action: a, guard: "x >= 2"',
    ]),
    ("clock y;", {"S": 'exponential_rate: "0.3"'}, [
        'from: S, to: S, action: a, guard: "y >= 0.5"', 'from: S, to: S, action: b, guard: "y <= 2.5", weight: 3',
    ]),
    ("clock z;", {"S": 'invariant: "z <= 4"'}, [
        'from: S, to: S, action: a, guard: "z == 4"', 'from: S, to: S, action: c, guard: "z < 1"',
    ]),
]  # fmt: skip


@pytest.mark.parametrize("action", ["a", "b", "c"])
def test_conditioned_steps_follow_the_law_of_those_races_that_end_with_the_action(action):
    """Null hypothesis: given the action, moment and edge are distributed as in the race itself (rejection).

    60,000 races against 20,000 conditioned steps per action.  Moments: two-sample Kolmogorov–Smirnov at 2.6 (false
    alarm 2.7e-6 per action; catches a distance of 0.04).  Edges by early and late moments: chi-square at 1e-6 (a share
    of 0.2 that is 0.23 is caught almost surely).  Share of the action: 5 standard errors (6e-7).
    """
    m = race(*MIXED_RACE)
    number = m.actions.index(action)
    races = stochastic_step(m, particles(m, 60_000))
    assert (races.status == WalkStatus.RUNNING).all()
    drawn = np.flatnonzero(races.action == number)
    share = float(step_probability(m, particles(m, 1), number)[0])
    assert abs(len(drawn) / 60_000 - share) < 5 * math.sqrt(share * (1 - share) / 60_000)
    given = conditional_step(m, particles(m, 20_000, first=70_000), number)
    assert (given.status == WalkStatus.RUNNING).all() and (given.action == number).all()
    assert distance(races.delay[drawn], given.delay) < 2.6
    border = float(np.median(given.delay))
    cells = [(e, late) for e in np.flatnonzero(m.edge_action == number) for late in (False, True)]
    counts = np.array(
        [[np.sum((s.edge[i] == e) & ((s.delay[i] > border) == late)) for e, late in cells]
         for s, i in ((races, drawn), (given, np.arange(20_000)))], float,
    )  # fmt: skip
    counts = counts[:, counts.sum(axis=0) >= 40]
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    assert chdtrc(counts.shape[1] - 1, ((counts - expected) ** 2 / expected).sum()) > 1e-6


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """Kolmogorov–Smirnov distance, in units of its standard deviation's scale."""
    points = np.sort(np.concatenate([first, second]))
    gap = np.abs(
        np.searchsorted(np.sort(first), points, "right") / len(first)
        - np.searchsorted(np.sort(second), points, "right") / len(second)
    ).max()
    return float(gap * math.sqrt(len(first) * len(second) / (len(first) + len(second))))


@pytest.mark.parametrize("action", [0, 1, 2])
def test_the_moment_grows_with_the_first_number_and_the_second_does_not_touch_it(action):
    m = race(*MIXED_RACE)
    grid = np.linspace(0.0, 1 - 2**-53, 2001)
    steps = [
        conditional_step(m, particles(m, 2001), action, np.column_stack([grid, np.full(2001, choice)]))
        for choice in (0.0, 0.2, 0.5, 0.999)
    ]
    assert all((s.status == WalkStatus.RUNNING).all() and (s.action == action).all() for s in steps)
    assert (np.diff(steps[0].delay) >= 0).all()
    for s in steps[1:]:
        np.testing.assert_array_equal(s.delay, steps[0].delay)
    assert len({int(e) for s in steps for e in s.edge}) == np.sum(m.edge_action == action)


def test_the_inverse_is_exact():
    """Given that U[0, 2] beats Exp(3), its moment has the distribution function (1 − e^(−3t))/(1 − e^(−6))."""
    m = race(waiting("a", until=2), waiting("b", rate=3))
    numbers = np.linspace(0.0, 1 - 2**-53, 501)
    step = conditional_step(m, particles(m, 501), 0, np.column_stack([numbers, numbers]))
    np.testing.assert_allclose(step.delay, -np.log1p(numbers * math.expm1(-6)) / 3, rtol=1e-11, atol=1e-13)


def test_the_inverse_is_exact_where_the_density_vanishes_at_the_end():
    """Twenty equal uniforms: the moment of the first has the distribution function 1 − (1 − t)^20."""
    m = race(*(waiting("a", until=1) for _ in range(20)))
    numbers = np.linspace(0.0, 0.999, 334)
    step = conditional_step(m, particles(m, 334), 0, np.column_stack([numbers, numbers]))
    np.testing.assert_allclose(step.delay, 1 - (1 - numbers) ** (1 / 20), rtol=1e-10, atol=1e-13)


def test_the_second_number_chooses_the_winner_by_hazard_and_then_the_edge():
    """At t = 1 the hazards are 1/(2 − 1) = 1 and 3: the first quarter of the numbers means the uniform component."""
    m = race(waiting("a", until=2), waiting("a", rate=3))
    half = -math.expm1(-3) * 0.5 * 1  # any moment will do: the hazards follow from the delay drawn
    choices = np.linspace(0.001, 0.999, 999)
    step = conditional_step(m, particles(m, 999), 0, np.column_stack([np.full(999, half), choices]))
    assert len(set(step.delay)) == 1
    hazard = 1 / (2 - step.delay[0])
    assert np.mean(step.edge == 0) == pytest.approx(hazard / (hazard + 3), abs=0.002)


def test_one_component_of_several_active_is_the_plain_path():
    """A network whose other components have no output where they are gives the numbers of the component alone."""
    idle = ("clock y;", {"Off": "", "On": 'invariant: "y <= 1"'}, ["from: On, to: Off, action: z"])
    alone = model(HEATER)
    user = (
        "clock x;", {"S": 'invariant: "x <= 5"'},
        ['from: S, to: S, action: off, guard: "x >= 3", update: "x = 0"',
         'from: S, to: S, action: on, guard: "x >= 4", update: "x = 0"'],
    )  # fmt: skip
    with_idle = race(user, idle)
    for action in ("off", "on"):
        first = conditional_step(alone, particles(alone, 200), alone.actions.index(action))
        second = conditional_step(with_idle, particles(with_idle, 200), with_idle.actions.index(action))
        np.testing.assert_array_equal(first.delay, second.delay)
