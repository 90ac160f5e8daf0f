"""Zones contain every concrete run, and nothing else: runs of the exact interpreter against symbolic states."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from bbfalsify import reach, verify
from bbfalsify.core.errors import UserError
from bbfalsify.engines.reachability.concrete_trace import follow
from bbfalsify.engines.verification.states import named_moves
from bbfalsify.modelling.network.expressions import Constant, Kind
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.step_replay import Replayer
from bbfalsify.zones import Explorer, Question, zone_tables
from bbfalsify.zones.dbm import INFINITE
from bbfalsify.zones.timing import Move, exact_tables, find_run, followed
from bbfalsify.zones.workspace import Workspace, ZoneProblem
from tests.support.timed_automata import random_network
from tests.support.timed_texts import random_text

STEPS = 12


def inside(tables, matrix, reals):
    """Tell whether values of clocks satisfy every bound of a zone."""
    values = [Fraction(0), *(Fraction(reals[slot]) * tables.scale for slot in tables.slots[1:])]
    for i, j in zip(*np.nonzero(matrix != INFINITE), strict=True):
        bound, difference = int(matrix[i, j]), values[i] - values[j]
        if difference > bound >> 1 or (difference == bound >> 1 and not bound & 1):
            return False
    return True


def row_of(tables, state):
    return [*state.locations, *(state.integers[slot] for slot in tables.integers)]


def follow_a_run(network, seed):
    """Draw a run; check each of its states, before and after a wait, against the zones; return its number of steps."""
    tables = zone_tables(network)
    space, interpreter, draw = Workspace.of(tables), ReferenceInterpreter(network), random.Random(seed)
    state = interpreter.initial_state()
    if not space.begin():
        assert not interpreter.delays(state)
        return 0
    zones = [space.state(0)]
    for step in range(STEPS):
        assert any(inside(tables, matrix, state.reals) for _, matrix in zones)
        ways = [(t, w) for t in interpreter.transitions(state) for w in t.windows]
        if not ways:
            return step
        transition, window = draw.choice(ways)
        high = window.low + 3 if window.high is None else window.high
        delay = window.low + (high - window.low) * Fraction(draw.randint(0, 4), 4)
        delay = delay if delay in window else (window.low + high) / 2
        waited = interpreter.wait(state, delay)
        zones = [zone for zone in zones if inside(tables, zone[1], waited.reals)]
        assert zones, (seed, step, delay)
        after = draw.choice(interpreter.outcomes(state, transition, delay)).state
        assert after is not None
        zones = [next_zone for zone in zones for next_zone in successors(space, zone, row_of(tables, after))]
        state = after
    return STEPS


def successors(space, zone, row):
    space.load(*zone)
    found = [space.state(k) for k in range(1, space.expand() + 1)]
    return [one for one in found if one[0].tolist() == row]


@pytest.mark.parametrize("kind", ["plain", "text", "stopwatches"])
def test_every_run_stays_inside_the_zones(kind):
    steps = refused = 0
    for seed in range(80 if kind == "plain" else 50):
        drawn = None if kind == "plain" else random_text(seed, stopwatches=kind == "stopwatches")
        network = random_network(seed) if kind == "plain" else drawn and drawn.network
        try:
            for run in range(3):
                steps += follow_a_run(network, 10 * seed + run) if network else 0
        except (UserError, ZoneProblem):  # what zones refuse, by name
            refused += 1
    assert steps > 600 and refused < 25


def corners(network, most):
    """Check that exact runs meet each corner of the zones on some paths; return how many there were."""
    tables = zone_tables(network, Question(alive=Constant(0, Kind.BOOL)))
    explorer = Explorer(tables)
    explorer.run()
    exact = Workspace.of(exact_tables(tables))
    met = 0
    for node in explorer.kept()[:most]:
        ways = [Move(exact, *move) for move in followed(tables, explorer.path(node))]
        for i in range(tables.size):
            for j in range(tables.size):
                met += corner(network, exact, ways, i, j) if i != j else 0
    return met


def corner(network, exact, ways, i, j):
    """Find an exact run to the corner of the last zone in which xᵢ − xⱼ is as large as it may be."""
    wanted = None

    def ending(space):
        nonlocal wanted
        matrix = space.state(0)[1]
        wanted = int(matrix[i, j])
        if wanted == INFINITE or not wanted & 1:
            return None
        matrix[j, i] = 1 - wanted + 1  # xⱼ − xᵢ ≤ −bound: the solver takes bounds as they are
        return matrix

    timed = find_run(exact, ways, ending)
    if wanted is None or wanted == INFINITE or not wanted & 1:
        return 0
    assert timed is not None
    replayer = Replayer(network)
    _, state = follow(replayer, [named_moves(network, step) for step in timed.moves], timed.times, None)
    delay = timed.end - Fraction(state.time)
    assert any(delay in window for window in replayer.delays(state))
    reals = replayer.wait(state, delay).reals
    values = [Fraction(0), *(Fraction(reals[slot]) * exact.tables.scale for slot in exact.tables.slots[1:])]
    assert values[i] - values[j] == wanted >> 1
    return 1


def test_every_corner_of_a_zone_is_reached():
    """A strict bound has no corner; the corners are those of the zones along the stored paths, before widening."""
    met = 0
    for seed in range(25):
        try:
            met += corners(random_network(seed), 6)
        except ZoneProblem:
            continue
    assert met > 200


def test_stopwatches_are_proved_only_if_no_walk_objects():
    """Zones contain more than can be reached: what they call unreachable is, what they show was followed exactly."""
    said = []
    for seed in range(25):
        drawn = random_text(seed, stopwatches=True)
        if drawn is None:
            continue
        query = f"E<> {drawn.condition}"
        try:
            found = verify(drawn.network, query, heuristic="bfs", timeout=5, seed=1)
        except UserError:
            continue
        if found.verdict == "violated":
            walked = reach(drawn.network, query, walks=40, depth=30, seed=seed, jobs=1)
            assert walked.found.best is None, (seed, drawn.text, query)
        said.append(found.verdict if found.verdict != "undecided" else str(found.answer.why)[:12])
    assert said.count("violated") > 3 and said.count("holds") > 3, said
