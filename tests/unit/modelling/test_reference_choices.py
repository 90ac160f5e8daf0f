"""Whether every outcome of a transition keeps the invariants: choice by choice, and what happens where choices meet."""

from fractions import Fraction

import pytest

from bbfalsify.modelling import Network, NetworkBuilder
from bbfalsify.modelling.reference.branch_choices import ChoicesMeet, every_choice_enters
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.step_replay import Replayer


def broadcast(first: tuple[str, str], second: tuple[str, str], invariant: str) -> Network:
    """Two listeners with two ways each to follow a broadcast, and somebody whose invariant looks at what they do."""
    builder = NetworkBuilder("broadcast").declare("broadcast chan go; int[0, 9] m, n, k; clock x;")
    builder.automaton("Caller").location("Waits").location("Called").edge("Waits", "Called", sync="go!")
    for name, updates in (("First", first), ("Second", second)):
        listener = builder.automaton(name).location("Here").location("Left").location("Right")
        for target, update in zip(("Left", "Right"), updates, strict=True):
            listener.edge("Here", target, sync="go?", update=update or None)
    builder.automaton("Watcher").location("Looks", invariant=invariant)
    return builder.build()


CASES = {
    "apart, and kept": (("m = 1", ""), ("n = 1", ""), "m < 2 && x <= 5", True, 4),
    "apart, and broken by one way of the second": (("m = 1", ""), ("", "n = 1"), "n < 1", True, 2),
    "apart, and broken by both ways of the second": (("m = 1", ""), ("n = 2", "n = 1"), "n < 1", True, 0),
    "an invariant that looks at both, and is kept": (("m = 1", ""), ("n = 1", ""), "m + n < 3", False, 4),
    "an invariant that looks at both, and is broken": (("m = 1", ""), ("n = 1", ""), "m + n < 2", False, 3),
    "both assign the same, the second not always": (("n = 1", ""), ("n = 2", ""), "n != 1", False, 3),
    "the second reads what the first assigns": (("m = 1", ""), ("n = m", "n = 0"), "n < 1", False, 3),
    "an update that fails disables nothing": (("m = 9 + 9", "m = 1"), ("n = 1", ""), "m < 2", False, 4),
}


@pytest.mark.parametrize(("first", "second", "invariant", "apart", "ways"), CASES.values(), ids=CASES)
def test_choices(first, second, invariant, apart, ways):
    network = broadcast(first, second, invariant)
    interpreter, replayer = ReferenceInterpreter(network), Replayer(network)
    replayer.few_ways = 0
    start = interpreter.initial_state()
    transitions = interpreter.transitions(start)
    assert bool(transitions) == (ways > 0)
    assert replayer.transitions(start) == transitions
    assert sum(len(interpreter.outcomes(start, found, Fraction(0))) for found in transitions) == ways
    machine = interpreter.evaluator_at(start, 0)
    choices = {p: [edge.branches[0] for edge in network.processes[p].edges] for p in range(3)}
    if apart:
        assert every_choice_enters(network, machine, choices, lambda places: range(4)) == (ways == 4)
    else:
        with pytest.raises(ChoicesMeet):
            every_choice_enters(network, machine, choices, lambda places: range(4))
