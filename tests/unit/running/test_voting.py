"""Systems that do not always answer alike, and words that need not be asked twice."""

import itertools
import math

import pytest

from bbfalsify.core.budget import Budget, BudgetSpent
from bbfalsify.core.query import Answer, WordQuery
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.running import Driver, Execution
from bbfalsify.running.voting import alike
from bbfalsify.systems import Capabilities


class Moody:
    """In each use, the answer to "how" is the next mood; everything else is fine."""

    name, alphabet, capabilities = "moody", ("how", "what"), Capabilities()

    def __init__(self, *moods):
        self.moods = itertools.cycle(moods)

    def open(self, seed):
        return MoodySession(next(self.moods))


class MoodySession:
    def __init__(self, mood):
        self.mood = mood

    def step(self, symbol):
        if self.mood == "angry":
            raise RuntimeError("go away")
        return self.mood if symbol == "how" else "fine"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


def ask(system, words, **more):
    with Driver(system, None, Execution(**more)) as driver:
        return driver.ask([WordQuery(f"w{i}", word) for i, word in enumerate(words)]), driver


def test_the_majority_is_believed_and_the_disagreement_counted():
    [answer], driver = ask(Moody("good", "bad", "good"), [("what", "how")], votes=3)
    assert (answer.symbols, answer.status) == (("fine", "good"), SimulationStatus.OK)
    assert (driver.poll.disagreements, driver.spent.simulations, driver.symbols) == (1, 3, 6)
    assert driver.poll.first == "w0: 2 of 3: fine good; 1 of 3: fine bad"


def test_without_a_majority_both_answers_are_told():
    [answer], _ = ask(Moody("good", "bad"), [("how",)], votes=2)
    assert answer.status is SimulationStatus.NON_DETERMINISTIC
    assert answer.message == "1 of 2: good; 1 of 2: bad"


def test_a_failure_now_and_then_is_outvoted():
    answers, driver = ask(Moody("angry", "good", "good"), [("how",), ("what",)], votes=3)
    assert [a.symbols for a in answers] == [("good",), ("fine",)]
    assert "raised (RuntimeError: go away" in driver.poll.first


def test_a_vote_costs_its_simulations():
    with Driver(Moody("good"), None, Execution(votes=3), budget=Budget(simulations=7)) as driver:
        with pytest.raises(BudgetSpent) as stopped:
            driver.ask([WordQuery(f"w{i}", ("how",)) for i in range(5)])
    assert len(stopped.value.answers) == 2 and driver.spent.simulations == 6


def test_what_counts_as_the_same_answer():
    judged = [
        Answer(SimulationStatus.OK, (Judgement(Verdict.VIOLATED, r, t),))
        for r, t in ((-1.0, 2.0), (-1.0 - 1e-13, 2.0), (-1.1, 2.0), (-1.0, 3.0), (-math.inf, 2.0))
    ]
    assert [alike(judged[0], other) for other in judged] == [True, True, False, False, False]
    assert alike(judged[4], judged[4])
