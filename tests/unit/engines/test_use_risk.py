"""The risk of any violation in use: the combination lock, typed with rate 1, against known figures."""

from __future__ import annotations

import pytest

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.checking.use_risk import use_risk
from bbfalsify.logic.ltl import ltl
from bbfalsify.modelling import Network, NetworkBuilder
from bbfalsify.records.recording import Recording
from bbfalsify.running.check.check import check
from bbfalsify.running.check.check_task import Options, Settings


def lock() -> MealyMachine:
    """Three right symbols in a row open it; then it is closed again."""
    steps = {(str(n), "right"): (str((n + 1) % 3), "open" if n == 2 else "closed") for n in range(3)}
    steps |= {(str(n), "wrong"): ("0", "closed") for n in range(3)}
    return MealyMachine.from_transitions(steps, "0")


def typist(**location: object) -> Network:
    b = NetworkBuilder("typist")
    b.declare("clock x;")
    a = b.automaton("T")
    a.location("On", **location)
    a.edge("On", "On", action="right", update="x = 0")
    a.edge("On", "On", action="wrong", update="x = 0")
    return b.instance("T").build()


NEVER_OPEN = ltl("G(out != open)")


def test_the_lock():
    risk = use_risk(typist(exponential_rate=1), lock(), NEVER_OPEN, 10.0, SeedTree(1))
    assert risk is not None and risk.probability is not None and risk.mean_time is not None and risk.rate is not None
    assert risk.probability.value == pytest.approx(0.490728869, rel=2e-9)
    assert risk.mean_time.value == pytest.approx(14.0, rel=1e-12)
    assert risk.rate.value == pytest.approx(1 / 14, rel=1e-12)
    assert risk.ever is not None and risk.ever.value == 1.0


def test_delays_that_are_not_exponential_are_simulated():
    """Delays uniform on [0, 2]; 95 % interval of a confidence sequence.  Chance of a false alarm below 5 %, once."""
    risk = use_risk(typist(invariant="x <= 2"), lock(), NEVER_OPEN, 2.9, SeedTree(1))
    assert risk is not None and risk.probability is not None and risk.mean_time is None
    assert 0.05 < risk.probability.low < risk.probability.high < 0.2


def test_a_requirement_that_no_word_breaks_has_no_risk():
    assert use_risk(typist(exponential_rate=1), lock(), ltl("G(out != melted)"), 10.0, SeedTree(1)) is None


def test_check_tells_it():
    result = check(
        lock(), "G(out != open)", Settings(Options(max_states=4, within=10.0)), profile=typist(exponential_rate=1),
        seed=1, recording=Recording(out=None),
    )  # fmt: skip
    [row] = result.requirements
    assert row.risk is not None and row.risk.probability is not None
    assert row.risk.probability.value == pytest.approx(0.490728869, rel=2e-9)
    assert any("if the learned machine is right" in note for note in result.notes)
    assert row.from_json(row.as_json()).risk == row.risk
