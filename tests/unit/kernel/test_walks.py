"""Walks: choices, recording, caches that change nothing, and the same walk compiled and as plain Python."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.kernel import WalkStatus, accelerated_walks, count_steps, sample_expressions, stochastic_walks
from bbfalsify.modelling.network.expressions import Kind, Read
from tests.unit.kernel.kernel_models import BRAKING, COOLING, FISCHER, GAP, HEATER, MIXED, model, one

MODELS = {"heater": HEATER, "gap": GAP, "fischer": FISCHER, "mixed": MIXED, "cooling": COOLING, "braking": BRAKING}
SLOW = ("cooling", "braking")
"""Guards on ODE variables are scanned: few steps will do, and a coarse one where plain Python does it."""
FIELDS = ("status", "steps", "times", "edges", "locations", "integers", "reals")


def seeds(count: int, first: int = 0) -> np.ndarray:
    return np.arange(first, first + count, dtype=np.uint64)


def digest(walks) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(getattr(walks, f)).tobytes() for f in FIELDS)).hexdigest()


def digests() -> dict[str, str]:
    """Fingerprints of walks of every model; run by both worlds."""
    found = {}
    for name, text in MODELS.items():
        slow = name in SLOW
        m = model(text, **({"ode_step": 0.5} if slow else {}))
        steps = 4 if slow else 40
        found[name] = digest(accelerated_walks(m, seeds(4), np.array([10, -1, 4, 5]), 1e9, steps))
        if name != "mixed":
            found[name + " stochastic"] = digest(stochastic_walks(m, seeds(3), 1e9, steps))
    return found


def test_compiled_and_plain_python_walks_are_the_same_bits():
    root = str(Path(__file__).parents[3])
    code = "from tests.unit.kernel import test_walks\nfor k, v in test_walks.digests().items(): print(k, v, sep='=')"
    plain = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": root},
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert dict(line.split("=") for line in plain.stdout.splitlines()) == digests()


@pytest.mark.parametrize("name", MODELS)
def test_caches_change_nothing(name):
    m = model(MODELS[name])
    steps = 20 if name in SLOW else 2000
    cached = accelerated_walks(m, seeds(3), 10, 1e9, steps)
    fresh = accelerated_walks(m, seeds(3), 10, 1e9, steps, recompute_everything=True)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(cached, field), getattr(fresh, field))


@pytest.mark.parametrize(
    ("row", "delays"), [(4, {3.0, 4.0}), (5, {5.0}), (-1, {3.0, 4.0, 5.0})], ids=["lower", "upper", "both"]
)
def test_bounds_of_windows_are_chosen_as_the_row_says(row, delays):
    walk = accelerated_walks(model(HEATER), seeds(1), row, 1e9, 64).walk(0)
    assert set(np.diff(walk.times, prepend=0.0)) == delays


def test_the_last_row_chooses_between_the_bounds_too():
    """H0: 40 % lower, 20 % between, 40 % upper.  n = 6,000; 4.5 standard errors; catches 3 % of bias."""
    walk = accelerated_walks(model(HEATER), seeds(1), 10, 1e9, 6000).walk(0)
    delays = np.round(np.diff(walk.times, prepend=0.0), 9)
    between = ~np.isin(delays, (3.0, 4.0, 5.0))
    assert abs(between.mean() - 0.2) < 4.5 * 0.4 / 6000**0.5
    assert abs((delays == 5.0).mean() - 0.4) < 4.5 * 0.5 / 6000**0.5
    assert abs((walk.edges == 0).mean() - 0.5) < 4.5 * 0.5 / 6000**0.5  # uniform among the eventually enabled


def test_strict_bounds_are_approached_and_unbounded_windows_end():
    edges = ['from: S, to: S, action: a, guard: "x > 3 && x < 4", update: "x = 0"']
    m = model(one("clock x;", {"S": ""}, edges))
    assert accelerated_walks(m, seeds(1), 4, 1e9, 1).times[0, 0] == 3 + 2**-10
    assert accelerated_walks(m, seeds(1), 5, 1e9, 1).times[0, 0] == 4 - 2**-10
    free = model(one("clock x;", {"S": ""}, ['from: S, to: S, action: a, guard: "x >= 3", update: "x = 0"']))
    largest = free.network.largest_constant
    assert accelerated_walks(free, seeds(1), 5, 1e9, 1).times[0, 0] == 3 + largest + 1


def test_walks_end_with_the_first_transition_after_the_horizon():
    walks = accelerated_walks(model(HEATER), seeds(50), 10, 20.0, 100)
    assert set(walks.status) == {WalkStatus.REACHED_END}
    for i in range(50):
        times = walks.walk(i).times
        assert times[-1] > 20.0 and (times[:-1] <= 20.0).all()
        assert walks.walk(i).locations.shape == (len(times) + 1, 1)


def test_preferred_actions_are_chosen_where_possible():
    m = model(HEATER)
    walk = accelerated_walks(m, seeds(1), 10, 1e9, 50, np.array([a == "on" for a in m.actions])).walk(0)
    assert set(walk.actions(m)) == {"on"}


def test_endings():
    dead = model(one("clock x;", {"S": "", "E": ""}, ["from: S, to: E, action: a"]))
    assert set(accelerated_walks(dead, seeds(3), 10, 1e9, 9).status) == {WalkStatus.DEADLOCK}
    stuck = model(one("clock x;", {"S": "", "E": 'invariant: "x <= 9"'}, ["from: S, to: E, action: a"]))
    assert set(accelerated_walks(stuck, seeds(3), 10, 1e9, 9).status) == {WalkStatus.TIMELOCK}
    assert set(accelerated_walks(model(HEATER), seeds(3), 10, 1e9, 9).status) == {WalkStatus.STEP_LIMIT}


def test_absolute_clocks_make_no_false_timelocks():
    """Bounds that no float64 holds exactly, guard and invariant equal: every step must find the point."""
    edges = [f'from: S, to: S, action: a{u}, guard: "x >= 0.3", update: "{u} = 0, x = 0"' for u in "xy"]
    m = model(one("clock x; clock y;", {"S": 'invariant: "x <= 0.3"'}, edges))
    assert count_steps(m, seeds(4), 20_000) == 80_000
    assert count_steps(m, seeds(4), 20_000, stochastic=True) == 80_000


@pytest.mark.parametrize(
    ("declarations", "update", "message"),
    [
        ("int[0,3] v;", "v = v + 1", r"value 4 is out of range: variable '(P\.)?v' with range \[0, 3\]"),
        ("int[0,3] v; int a[3];", "a[v] = 1, v = v + 1", r"index 3 is out of bounds: variable '(P\.)?a'"),
        ("int[-9,9] v = 3; int w;", "v = v - 1, w = 6 / v", "division by zero"),
        ("int v;\nvoid f() { while (true) { v = 1; } }", "f()", "more than 1000000 iterations: a loop in function"),
    ],
)
def test_run_time_errors_end_the_walk_and_name_the_place(declarations, update, message):
    m = model(one(declarations, {"S": ""}, [f'from: S, to: S, action: a, update: "{update}"']))
    walk = accelerated_walks(m, seeds(1), 10, 1e9, 100).walk(0)
    assert walk.status == WalkStatus.RUNTIME_ERROR
    assert re.search(message, walk.error), walk.error


def test_sampling_continues_clocks_and_odes_between_transitions():
    m = model(COOLING)
    walk = accelerated_walks(m, seeds(1), 5, 1e9, 2).walk(0)  # T = 0 until x = 30, then 100 and cooling
    reads = [(Read(0, Kind.CLOCK), 0), (Read(1, Kind.CLOCK), 0)]
    times = np.array([40.0, 0.0, 29.0, 30.0, 35.5])
    sampled = sample_expressions(m, walk, reads, times)
    np.testing.assert_allclose(sampled[1], [10.0, 0.0, 29.0, 0.0, 5.5], atol=1e-12)
    np.testing.assert_allclose(sampled[0], [100 * np.exp(-1), 0.0, 0.0, 100.0, 100 * np.exp(-0.55)], atol=1e-8)


def test_the_candidates_of_a_search_are_those_of_the_model():
    """Sleeping edges, hubs and unlisted committed locations hide nothing that can fire, and nothing is listed twice."""
    plain = subprocess.run(
        [sys.executable, "-m", "tests.unit.kernel.listed_candidates", "40"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert plain.returncode == 0, plain.stderr[-2000:]
    slept = {name: int(asleep) for name, _, _, asleep in map(str.split, plain.stdout.splitlines())}
    assert slept["satellite"] > 100 and slept["hearing"] > 10, "no edge ever slept"
