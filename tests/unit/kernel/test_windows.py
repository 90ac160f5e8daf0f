"""Windows of delays, computed by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from bbfalsify.kernel.state_inspection import ConcreteState, maximal_delay
from tests.support.kernel_states import enabled_windows, fire
from tests.unit.kernel.kernel_models import COOLING, model, one, several

INF = math.inf


def windows(text: str, *, fired: Sequence[tuple[int, float]] = ()) -> dict[str, list]:
    """Windows by action in the initial state, or after firing some (edge number, delay)."""
    m = model(text)
    s = ConcreteState.initial(m)
    for edge, delay in fired:
        s = fire(m, s, (edge,), delay)
    return {m.edge(edges[0])[1].action: w for edges, w in enabled_windows(m, s)}


def guarded(guard: str, invariant: str = "", declarations: str = "clock x; clock y;", globals_: str = "") -> list:
    location = f'invariant: "{invariant}"' if invariant else ""
    edge = f'from: S, to: S, action: a, guard: "{guard}"'
    return windows(one(declarations, {"S": location}, [edge], globals_)).get("a", [])


@pytest.mark.parametrize(
    ("guard", "invariant", "expected"),
    [
        ("x >= 3", "x <= 5", [(3, False, 5, False)]),
        ("x > 3", "x < 5", [(3, True, 5, True)]),
        ("3 < x && 4 >= x", "", [(3, True, 4, False)]),
        ("x == 3", "x <= 5", [(3, False, 3, False)]),
        ("x >= 3", "", [(3, False, INF, False)]),
        ("x > 5", "x <= 5", []),
        ("x >= 5", "x < 5", []),
        ("x != 3", "x <= 5", [(0, False, 3, True), (3, True, 5, False)]),
        ("x <= 1 || x >= 4", "x <= 5", [(0, False, 1, False), (4, False, 5, False)]),
        ("x < 1 || x > 1 && x < 2", "x <= 5", [(0, False, 1, True), (1, True, 2, True)]),
        ("x <= 2 || x >= 2", "x <= 5", [(0, False, 5, False)]),
        ("!(x >= 1 && x <= 2)", "x <= 5", [(0, False, 1, True), (2, True, 5, False)]),
        ("x >= 2 imply x >= 4", "x <= 5", [(0, False, 2, True), (4, False, 5, False)]),
        ("x - y >= 0", "x <= 5", [(0, False, 5, False)]),
        ("x - y > 0", "x <= 5", []),
        ("x + y >= 4", "x <= 5", [(2, False, 5, False)]),
        ("2 * x < 3", "x <= 5", [(0, False, 1.5, True)]),
        ("(x < 2 ? y > 1 : y > 3)", "x <= 5", [(1, True, 2, True), (3, True, 5, False)]),
        ("x >= 1", "x <= 5 && (y < 3 || y > 4)", [(1, False, 3, True)]),
        ("x * y >= 9", "x <= 5", [(3, False, 5, False)]),
    ],
)
def test_one_guard(guard, invariant, expected):
    found = guarded(guard, invariant)
    assert [(s, t) for _, s, _, t in found] == [(s, t) for _, s, _, t in expected]
    np.testing.assert_allclose([(a, b) for a, _, b, _ in found], [(a, b) for a, _, b, _ in expected], atol=1e-9)


def test_integer_bounds_and_functions():
    declared = "int k = 3;\nbool late(int d) { return x >= d + 1; }"
    assert guarded("x >= k", "x <= k + 2", "clock x;", "int k = 3;") == [(3, False, 5, False)]
    edge = 'from: S, to: S, action: a, guard: "late(k) && x < 7"'
    text = one("", {"S": 'invariant: "x <= 9"'}, [edge], f"clock x;\n{declared}")
    assert windows(text)["a"] == [(4, False, 7, True)]
    assert guarded("forall (i : int[1,3]) x > i && exists (j : int[4,6]) x == j", "x <= 9") == [
        (4, False, 4, False), (5, False, 5, False), (6, False, 6, False)]  # fmt: skip


def test_stopwatch_and_rate_from_data():
    text = one(
        "clock x; clock w;",
        {"Run": 'rates: {w: "v"}', "Stop": 'rates: {w: "0"}'},
        [
            'from: Run, to: Stop, action: stop, guard: "w >= 6"',
            'from: Stop, to: Run, action: go, guard: "w < 8", update: "v = -1"',
            'from: Stop, to: Stop, action: never, guard: "w > 8"',
        ],
        "int[-9,9] v = 2;",
    )
    assert windows(text) == {"stop": [(3, False, INF, False)]}
    assert windows(text, fired=[(0, 3.5)]) == {"go": [(0, False, INF, False)]}
    assert windows(text, fired=[(0, 3.5), (1, 10.0)]) == {"stop": [(0, False, 1, False)]}


def test_the_state_entered_must_satisfy_the_invariants():
    text = one(
        "clock x; clock y;",
        {"S": "", "Kept": 'invariant: "x <= 4"', "Reset": 'invariant: "y <= 4"', "Copied": 'invariant: "y >= 2"'},
        [
            "from: S, to: Kept, action: kept",
            'from: S, to: Reset, action: reset, update: "y = 0"',
            'from: S, to: Reset, action: shifted, update: "y = x - 3"',
            'from: S, to: Copied, action: copied, guard: "x < 7", update: "y = x / 2"',
            "from: S, action: drawn, branches: [{to: Kept, weight: 1}, {to: Copied, weight: 3}]",
        ],
    )
    assert windows(text) == {
        "kept": [(0, False, 4, False)],
        "reset": [(0, False, INF, False)],
        "shifted": [(0, False, 7, False)],
        "copied": [(4, False, 7, True)],
        "drawn": [(2, False, 4, False)],
    }


def test_an_update_may_break_the_invariant_of_another_process():
    text = several(
        {
            "Writer": ("clock x;", {"W": ""}, ['from: W, to: W, action: write, update: "limit = 3"']),
            "Bounded": ("clock y;", {"B": 'invariant: "y <= limit"'}, []),
        },
        "int limit = 8;",
    )
    assert windows(text) == {"write": [(0, False, 3, False)]}


def test_handshakes_and_broadcasts():
    text = several(
        {
            "A": (
                "clock x;",
                {"S": 'invariant: "x <= 9"'},
                ['from: S, to: S, sync: "c!", guard: "x >= 2"', 'from: S, to: S, sync: "b!", guard: "x >= 6"'],
            ),
            "B": (
                "clock y;",
                {"S": "", "T": 'invariant: "y <= 7"'},
                ['from: S, to: S, sync: "c?", guard: "y < 4"', 'from: S, to: T, sync: "b?", guard: "y > 5"'],
            ),
            "C": ("", {"S": ""}, ['from: S, to: S, sync: "c?"']),
        },
        "chan c;\nbroadcast chan b;",
    )
    m = model(text)
    found = dict(enabled_windows(m, ConcreteState.initial(m)))
    assert found == {
        (0, 2): [(2, False, 4, True)],
        (0, 4): [(2, False, 9, False)],
        (1,): [(6, False, 7, False)],  # the receiver must be able to enter T
    }
    after = fire(m, ConcreteState.initial(m), (1,), 6.5)
    assert list(after.locations) == [0, 1, 0]


def test_urgent_and_committed():
    text = several(
        {
            "A": (
                "clock x;",
                {"S": "", "U": "urgent: true"},
                ["from: S, to: U, action: go", "from: U, to: S, action: back"],
            ),
            "B": (
                "clock y;",
                {"S": "", "C": "committed: true"},
                [
                    "from: S, to: C, action: enter",
                    "from: C, to: S, action: leave",
                    'from: S, to: S, action: idle, guard: "y >= 1"',
                ],
            ),
        }
    )
    now = [(0, False, 0, False)]
    assert windows(text, fired=[(0, 2.0)]) == {"back": now, "enter": now, "idle": now}
    assert windows(text, fired=[(0, 0.5)]) == {"back": now, "enter": now}
    assert windows(text, fired=[(2, 2.0)]) == {"leave": now}


def test_urgent_channels_stop_time():
    text = several(
        {
            "A": (
                "clock x;",
                {"S": "", "T": ""},
                ['from: S, to: T, sync: "u!"', 'from: S, to: S, action: wait, guard: "x >= 1"'],
            ),
            "B": (
                "clock y;",
                {"S": 'invariant: "y <= 3"', "T": ""},
                ["from: S, to: T, action: open", 'from: T, to: T, sync: "u?"'],
            ),
        },
        "urgent chan u;",
    )
    assert windows(text) == {"wait": [(1, False, 3, False)], "open": [(0, False, 3, False)]}
    now = [(0, False, 0, False)]
    assert windows(text, fired=[(2, 0.5)]) == {"u": now}


def test_a_violated_invariant_leaves_nothing():
    m = model(one("clock x;", {"S": 'invariant: "x >= 1"'}, ["from: S, to: S, action: a"]))
    assert enabled_windows(m, ConcreteState.initial(m)) == []
    assert maximal_delay(m, ConcreteState.initial(m))[0] < 0


def test_event_location_on_an_ode():
    """T' = −T/10 from 100: T <= 50 from 10·ln 2 on, and the invariant T >= 20 ends at 10·ln 5."""
    m = model(COOLING)
    start = ConcreteState(np.array([0]), np.zeros(0, int), np.array([100.0, 0.0]))
    ((_, found),) = enabled_windows(m, start)
    ((low, _, high, _),) = found
    assert low == pytest.approx(10 * math.log(2), abs=1e-9)
    assert high == pytest.approx(30)
    bounded = model(one("clock T; clock x;", {"S": 'invariant: "T >= 20", rates: {T: "-T / 10"}'}, []))
    assert maximal_delay(bounded, start)[0] == pytest.approx(10 * math.log(5), abs=1e-9)
