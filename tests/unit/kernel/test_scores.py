"""Scores and likelihood ratios of walks, against laws that are known: closed forms and exact step probabilities.

A score has mean zero under the law it belongs to, and its mean given an event is the elasticity of the event's
probability; both are checked where the exact value is known.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.splitting import importance_split
from bbfalsify.kernel import compile_network, score_walks
from bbfalsify.modelling import NetworkBuilder, profile_parameters

FACTORS = (0.5, 1.0, 3.0)


def scored(network, word, *, split=conditional_split, traces=2000):
    model, parameters = compile_network(network), profile_parameters(network)
    made = split(model, word, effort=traces, seeds=SeedTree(5))
    probability, walks = made.cylinder, made.walks()
    found = score_walks(model, walks, parameters, FACTORS)
    names = [p.name for p in parameters]
    return (
        probability,
        walks,
        dict(zip(names, found.scores.T, strict=True)),
        dict(zip(names, np.moveaxis(found.logarithms, 1, 0), strict=True)),
    )


def chooser(on=1.0, off=1.0, left=2.0, right=1.0):
    """Delay uniform on [0, 4]; "on" is possible from 1 on; on goes left or right by branch weights."""
    b = NetworkBuilder("chooser")
    user = b.automaton("User", declarations="clock x; int n = 0;")
    user.location("S", invariant="x <= 4")
    user.location("T", invariant="x <= 4")
    user.edge(
        "S", action="on", guard="x >= 1", weight=on, branches=[("S", left, "x = 0"), ("S", right, "x = 0, n = 1")]
    )
    user.edge("S", "S", action="off", weight=off, update="x = 0")
    user.edge("S", "T", action="high", guard="n == 1 && x >= 1", update="x = 0")
    user.edge("T", "T", action="off", update="x = 0")
    return b.build()


ON, OFF = "weight of User.S -> S (on)", "weight of User.S -> S (off)"
LEFT, RIGHT = "branch weight of User.S -> S (on) no. 1", "branch weight of User.S -> S (on) no. 2"
HIGH = "weight of User.S -> T (high)"


def probability_of_on_on(on=1.0, off=1.0, left=2.0, right=1.0):
    """The second "on" competes with "high" only after the right branch, which only an update tells from the left."""
    alone, with_high = 3 / 4 * on / (on + off), 3 / 4 * on / (on + off + 1)
    return alone * (left * alone + right * with_high) / (left + right)


def test_elasticities_of_a_word_are_those_of_its_closed_form():
    """H0: the mean score is the derivative.  n = 2000; each bound is 5 standard errors, false alarms 1e-6 each."""
    probability, walks, scores, _ = scored(chooser(), ("on", "on"))
    assert probability == pytest.approx(probability_of_on_on(), rel=0.02)
    step = 1e-6
    for name, argument, value in ((ON, "on", 1.0), (OFF, "off", 1.0), (LEFT, "left", 2.0), (RIGHT, "right", 1.0)):
        up, down = (math.log(probability_of_on_on(**{argument: value * math.exp(h)})) for h in (step, -step))
        error = scores[name].std() / math.sqrt(len(walks)) + 1e-9
        assert scores[name].mean() == pytest.approx((up - down) / (2 * step), abs=5 * error), name


def test_competing_weights_sum_to_zero_in_every_walk():
    _, _, scores, _ = scored(chooser(), ("on", "off", "on", "on"))
    assert scores[ON] + scores[OFF] + scores[HIGH] == pytest.approx(0.0, abs=1e-12)
    assert scores[LEFT] + scores[RIGHT] == pytest.approx(0.0, abs=1e-12)
    assert not scores["weight of User.T -> T (off)"].any()


@pytest.mark.parametrize(("name", "argument"), [(ON, "on"), (OFF, "off"), (LEFT, "left"), (RIGHT, "right")])
def test_likelihood_ratios_give_the_probability_under_changed_parameters(name, argument):
    """H0: the mean ratio is P'/P.  n = 2000, 5 standard errors, false alarms 1e-6 each; catches 5 %."""
    _, walks, _, logarithms = scored(chooser(), ("on", "on"))
    value = {"left": 2.0}.get(argument, 1.0)
    for column, factor in enumerate(FACTORS):
        ratios = np.exp(logarithms[name][:, column])
        exact = probability_of_on_on(**{argument: value * factor}) / probability_of_on_on()
        assert ratios.mean() == pytest.approx(exact, abs=5 * ratios.std() / math.sqrt(len(walks)) + 1e-9)


def racers(slow=0.5, fast=2.0):
    """Two exponential components; the slow one may act only in its first time unit and from its third one on."""
    b = NetworkBuilder("racers").declare("clock t;")
    b.automaton("Slow").location("A", exponential_rate=slow).edge("A", "A", action="slow", guard="t <= 1 || t >= 3")
    b.automaton("Fast").location("B", exponential_rate=fast).edge("B", "B", action="fast", guard="t >= 0.5")
    return b.build()


def probability_of_slow_first(slow=0.5, fast=2.0):
    """Pieces: [0, ½] slow alone, [½, 1] both, [1, 3] fast alone, then both for ever."""
    alone = 1 - math.exp(-slow / 2)
    survive = math.exp(-slow / 2)
    both = slow / (slow + fast) * (1 - math.exp(-(slow + fast) / 2))
    later = math.exp(-(slow + fast) / 2) * math.exp(-2 * fast) * slow / (slow + fast)
    return alone + survive * (both + later)


def test_rates_of_winner_and_loser():
    """H0: as above, with two components and Algorithm 5.  n about 1800, 5 standard errors, false alarms 1e-6 each."""
    probability, walks, scores, logarithms = scored(racers(), ("slow",), split=importance_split, traces=6000)
    assert probability == pytest.approx(probability_of_slow_first(), rel=0.1)
    step = 1e-6
    for name, argument, value in (("rate of Slow.A", "slow", 0.5), ("rate of Fast.B", "fast", 2.0)):
        up, down = (math.log(probability_of_slow_first(**{argument: value * math.exp(h)})) for h in (step, -step))
        error = scores[name].std() / math.sqrt(len(walks))
        assert scores[name].mean() == pytest.approx((up - down) / (2 * step), abs=5 * error), name
        for column, factor in enumerate(FACTORS):
            ratios = np.exp(logarithms[name][:, column])
            exact = probability_of_slow_first(**{argument: value * factor}) / probability_of_slow_first()
            assert ratios.mean() == pytest.approx(exact, abs=5 * ratios.std() / math.sqrt(len(walks)) + 1e-9), factor


def test_who_moves_because_time_stands_still_has_not_waited():
    """A committed location of another process lets the exponential one act at once; its rate has no part in that."""
    b = NetworkBuilder("hurry").declare("broadcast chan c;")
    b.automaton("Stop").location("N", committed=True).location("Done").edge("N", "Done", sync="c?")
    b.automaton("Slow").location("A", exponential_rate=0.1).edge("A", "A", sync="c!")
    _, walks, scores, _ = scored(b.build(), ("c", "c"), split=importance_split, traces=50)
    delays = np.array([walk.times[1] for walk in walks])
    assert all(walk.times[0] == 0 for walk in walks)
    assert scores["rate of Slow.A"] == pytest.approx(1 - 0.1 * delays)


def test_weights_that_change_with_time_are_those_of_the_moment():
    """The rival's weight is the clock itself, which starts at 0: the score of a unit weight is 1 − 1/(1 + x)."""
    b = NetworkBuilder("timed")
    user = b.automaton("User", declarations="clock x;")
    user.location("S", invariant="x <= 4").edge("S", "S", action="on", update="x = 0")
    user.edge("S", "S", action="off", weight="x", update="x = 0")
    _, walks, scores, _ = scored(b.build(), ("on",), split=importance_split, traces=100)
    delays = np.array([walk.times[0] for walk in walks])
    assert scores["weight of User.S -> S (on)"] == pytest.approx(1 - 1 / (1 + delays))


def test_nothing_to_score():
    model = compile_network(chooser())
    found = score_walks(model, [], profile_parameters(model.network), FACTORS)
    assert found.scores.shape == (0, 6)
    assert found.logarithms.shape == (0, 6, 3)
