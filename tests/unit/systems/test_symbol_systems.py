"""Systems that answer symbols: loading, playing machines, words through the loop, and boxes that misbehave."""

import os

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.query import WordQuery
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.recording import RunRecord
from bbfalsify.running import Driver, Execution
from bbfalsify.systems import Capabilities, SymbolSystem, load_system
from tests.support.recorded import recorded_answers

TURNSTILE = """digraph turnstile {
locked -> open [label="coin/click"];
locked -> locked [label="push/stop"];
open -> open [label="coin/return"];
open -> locked [label="push/go"];
}
"""


class Odd:
    """Answers well until it is asked for something odd."""

    name = "odd"
    alphabet = ("fine", "number", "flood", "raise", "exit", "die", "random")
    capabilities = Capabilities(seedable=True)

    def open(self, seed):
        return OddSession(seed)


class OddSession:
    def __init__(self, seed):
        self.seed = seed

    def step(self, symbol):
        if symbol == "raise":
            raise ValueError("no such thing")
        if symbol == "exit":
            raise SystemExit(3)
        if symbol == "die":
            os._exit(9)
        return {"number": 3, "flood": "x" * 5000, "random": str(self.seed)}.get(symbol, "ok")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


def ask(system, *words, jobs=1, recorder=None):
    with Driver(system, None, Execution(jobs=jobs), RunRecord(recorder)) as driver:
        return driver.ask([WordQuery(f"w{i}", word) for i, word in enumerate(words)])


def test_a_machine_is_loaded_and_played(tmp_path):
    (tmp_path / "turnstile.dot").write_text(TURNSTILE)
    system = load_system("turnstile.dot", base=tmp_path)
    assert isinstance(system, SymbolSystem)
    assert system.alphabet == ("coin", "push")
    answers = ask(system, ("coin", "push", "push"), ("push",), jobs=2)
    assert [a.symbols for a in answers] == [("click", "go", "stop"), ("stop",)]


def test_answers_are_recorded(tmp_path):
    file = tmp_path / "events.jsonl"
    with Recorder(file) as recorder:
        [answer] = ask(Odd(), ("fine", "fine"), recorder=recorder)
    [stored] = recorded_answers(file).values()
    assert stored.symbols == answer.symbols == ("ok", "ok")


@pytest.mark.parametrize(
    ("symbol", "status", "message"),
    [
        ("number", SimulationStatus.MALFORMED, "answer 2: expected an output symbol (text), got a value of type int"),
        ("flood", SimulationStatus.MALFORMED, "abstract outputs to at most 1000"),
        ("raise", SimulationStatus.RAISED, "ValueError: no such thing"),
        ("exit", SimulationStatus.RAISED, "SystemExit"),
    ],
)
def test_what_came_before_the_failure_is_kept(symbol, status, message):
    [answer] = ask(Odd(), ("fine", symbol, "fine"))
    assert (answer.status, answer.symbols) == (status, ("ok",))
    assert message in answer.message


def test_a_box_that_dies_takes_its_word_only():
    dead, well = ask(Odd(), ("die",), ("fine",))
    assert (dead.status, well.symbols) == (SimulationStatus.DIED, ("ok",))


def test_the_seed_follows_the_name():
    with Driver(Odd(), None) as driver:
        first, other, again = driver.ask(
            [WordQuery("a", ("random",)), WordQuery("b", ("random",)), WordQuery("c", ("random",), seed_name="a")]
        )
    assert first.symbols == again.symbols != other.symbols


def test_alphabets_nobody_can_use(tmp_path):
    for alphabet, message in (("()", "empty alphabet"), ("('a', 'a')", "holds 'a' twice")):
        file = tmp_path / f"box{len(alphabet)}.py"
        file.write_text(
            "from bbfalsify.systems import Capabilities\nclass Adapter:\n    name = 'box'\n"
            f"    alphabet = {alphabet}\n    capabilities = Capabilities()\n    def open(self, seed): ...\n"
        )
        with pytest.raises(UserError, match=message):
            load_system(file.name, base=tmp_path)
