"""Counterexamples that are possible only at exact moments: marked, last, without a place, left out of the total."""

import io
import math

import numpy as np
import pytest
from rich.console import Console

from bbfalsify import falsify
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import parse_profile
from bbfalsify.reporting.terminal.falsify import falsification_lines
from bbfalsify.systems import system

PROFILE = """
format_version: 1
name: counting_user
automata:
  User:
    declarations: "clock x;"
    initial: S
    locations:
      S: {invariant: "x <= 4"}
    edges:
      - {from: S, to: S, action: tick, guard: "x >= 2", update: "x = 0", weight: 3}
      - {from: S, to: S, action: big, guard: "x >= 2", update: "x = 0"}
inputs:
  u: {actions: {tick: 0, big: 1}, initial: 0}
"""
"""A fifth action by time 10 needs five delays of exactly 2."""

POSSIBLE = {("tick",) * n + ("big",) for n in range(4)}
EXACT = {("tick",) * 5, ("tick",) * 4 + ("big",)}


@system(inputs={"u": "1"}, outputs={"y": "1"})
def counter(stimulus):
    """Number of ticks so far; 10 after `big`."""
    y = np.zeros(len(stimulus.times))
    for time, action in stimulus.events:
        y += (stimulus.times >= time) * (10.0 if action == "big" else 1.0)
    return {"y": y}


def run(stl="always[0:10](y <= 4)", **options):
    chosen = Options(**{"simulations": 330, "passes": 2, "traces": 50, "fan": 0, **options})
    requirement = Requirement("R1", "", parse_stl(stl))
    return falsify(counter, parse_profile(PROFILE), [requirement], horizon=10.0, options=chosen, seed=1, out=None)


@pytest.mark.parametrize("search", ["first", "probable"])
def test_rows_of_probability_zero_stand_last_and_do_not_count(search):
    result = run(search=search)
    rows = result.counterexamples
    assert {row.actions for row in rows if not row.exact_moments} == POSSIBLE
    assert {row.actions for row in rows if row.exact_moments} == EXACT
    assert [row.exact_moments for row in rows] == [False] * 4 + [True] * 2
    assert all(row.status == "confirmed" and not row.violating for row in rows[4:])
    # The sum of the four; with the two others the upper limit would be at least as high as theirs.
    total = result.requirements[0].found_probability
    own = [row.probability for row in rows[:4]]
    assert total.value == pytest.approx(sum(p.value for p in own))
    assert total.high <= total.value + math.hypot(*(p.high - p.value for p in own)) + 1e-12


def test_they_take_no_place_among_the_first():
    rows = run(search="first", counterexamples=4).counterexamples
    assert {row.actions for row in rows if not row.exact_moments} == POSSIBLE


def test_readers_are_told():
    result = run(search="first")
    assert result.as_json()["counterexamples"][4]["exact_moments"] is True
    assert any("R1: #5 and #6 are possible only at exact moments" in note for note in result.notes)
    screen = Console(width=80, file=io.StringIO())
    for line in falsification_lines(result.as_json(), 80, verbose=True):
        screen.print(line)
    rows = [line for line in screen.file.getvalue().splitlines() if "  0 (exact moments)" in line]
    assert len(rows) == 2


def test_a_list_of_nothing_else_keeps_its_upper_bound():
    result = run("always[0:10](y <= 4 or y >= 10)", search="first")
    [row] = result.counterexamples
    assert row.exact_moments and row.actions == ("tick",) * 5
    assert result.requirements[0].found_probability.high > 0


def test_violations_near_a_bound_are_not_called_exact():
    """Three ticks by 6.0004: probability about 1e-12, which no trace meets, but not zero."""
    result = run("always[0:6.0004](y <= 2 or y >= 10)", search="first", traces=5)
    rows = [row for row in result.counterexamples if row.actions == ("tick",) * 3]
    assert rows and not rows[0].violating and not rows[0].exact_moments
