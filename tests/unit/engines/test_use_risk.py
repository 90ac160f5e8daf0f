"""The risk of any violation in use: the combination lock, typed with rate 1, against known figures."""

from __future__ import annotations

from itertools import product
from math import exp, factorial

import numpy as np
import pytest

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.checking.use_risk import use_risk
from bbfalsify.logic.ltl import ltl
from bbfalsify.modelling import Network, NetworkBuilder
from bbfalsify.records.recording import Recording
from bbfalsify.running.check.check import check
from bbfalsify.running.check.check_task import Options, Settings
from tests.support.formulas import random_machine


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


def first_violation(template: str, symbol: str, answer: str, word: list[tuple[str, str]]) -> int | None:
    """The number of steps after which a word shows that the requirement is violated, by hand for each template."""
    for step, (given, said) in enumerate(word):
        before = word[step - 1] if step else ("", "")
        if template == "G(out != {out})" and said == answer:
            return step + 1
        if template == "G(in == {in} -> X out != {out})" and before[0] == symbol and said == answer:
            return step + 1
        if template == "!(out == {out}) W in == {in}":
            if given == symbol:
                return None
            if said == answer:
                return step + 1
    return None


LONGEST = 11


@pytest.mark.parametrize("seed", range(12))
def test_random_machines_against_all_words(seed: int):
    """P(violated within T) = sum over n of P(n actions within T) · P(the first n show it), over all words."""
    rng = np.random.default_rng(seed)
    machine = random_machine(rng, int(rng.integers(2, 6)))
    template = str(rng.choice(["G(out != {out})", "G(in == {in} -> X out != {out})", "!(out == {out}) W in == {in}"]))
    symbol, answer = str(rng.choice(machine.inputs)), str(rng.choice(machine.outputs))
    weights, rate, within = rng.integers(1, 5, len(machine.inputs)), float(rng.integers(1, 4)) / 2, 0.5
    b = NetworkBuilder("user")
    a = b.automaton("U")
    a.location("On", exponential_rate=rate)
    for name, weight in zip(machine.inputs, weights, strict=True):
        a.edge("On", "On", action=name, weight=int(weight))
    requirement = ltl(template.replace("{in}", symbol).replace("{out}", answer))
    risk = use_risk(b.instance("U").build(), machine, requirement, within, SeedTree(1))
    shares, shown = weights / weights.sum(), np.zeros(LONGEST + 1)
    for picks in product(range(len(weights)), repeat=LONGEST if len(weights) == 2 else 7):
        state, word = 0, []
        for pick in picks:
            state, said = machine.step(state, machine.inputs[pick])
            word.append((machine.inputs[pick], said))
        if (at := first_violation(template, symbol, answer, word)) is not None:
            shown[at:] += np.prod(shares[list(picks)])
    mean = rate * within
    exact = sum(exp(-mean) * mean**n / factorial(n) * shown[n] for n in range(LONGEST + 1))
    if risk is None or risk.probability is None:
        assert exact == 0
    else:
        longest = LONGEST if len(weights) == 2 else 7
        assert abs(risk.probability.value - exact) < 2 * mean ** (longest + 1) / factorial(longest + 1) + 1e-9


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
