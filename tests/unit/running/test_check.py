"""A whole check with real worker processes: verdicts, files, budgets, boxes that misbehave, continued checks."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from bbfalsify import UserError, check
from bbfalsify.automata.equivalence import difference
from bbfalsify.automata.mealy import MealyMachine, read_dot
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.records.word_counterexample import WordCounterexample
from bbfalsify.results.check_result import CheckVerdict
from bbfalsify.running.check.replay_word import replay_word
from bbfalsify.running.replay import ReplayOutcome
from bbfalsify.systems import Capabilities
from bbfalsify.systems.symbols import MachineSystem
from tests.support.boxes import combination_lock
from tests.support.machines import random_machine

DOOR = MealyMachine.from_transitions(
    {
        ("shut", "open"): ("ajar", "ok"), ("shut", "shut"): ("shut", "no"), ("shut", "lock"): ("locked", "ok"),
        ("ajar", "open"): ("ajar", "no"), ("ajar", "shut"): ("shut", "ok"), ("ajar", "lock"): ("ajar", "no"),
        ("locked", "open"): ("locked", "no"), ("locked", "shut"): ("locked", "no"), ("locked", "lock"): ("shut", "ok"),
    },
    "shut",
    name="door",
)  # fmt: skip


@dataclass
class Session:
    """A door, with a flaw."""

    flaw: str
    uses: list = field(default_factory=list)
    state: int = 0

    def step(self, symbol):
        self.uses.append(symbol)
        if self.uses[-3:] == ["open", "open", "lock"]:
            if self.flaw == "hang":
                time.sleep(60)
            if self.flaw == "die":
                os._exit(3)
            if self.flaw == "raise":
                raise RuntimeError("stuck")
        i = DOOR.input_number(symbol)
        output = DOOR.outputs[DOOR.answer[self.state, i]]
        self.state = int(DOOR.successor[self.state, i])
        return output

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


@dataclass
class Door:
    flaw: str = ""
    name: str = "door"
    alphabet: tuple = DOOR.inputs
    capabilities: Capabilities = Capabilities(stepwise=True)

    def open(self, seed):
        return Session(self.flaw)


def test_a_check_in_one_line():
    result = check(Door(), "G(in == lock & out == ok -> X(in == open -> out == no))", max_states=4)
    assert not result.holds  # locking a locked door opens it
    result = check(Door(), "G(in == open & out == ok -> X(in == shut -> out == ok))", max_states=4, seed=1)
    assert result.holds, result
    assert result.requirements[0].bound == 4 and "at most 4 states" in str(result)
    assert difference(result.machine, DOOR) is None


def test_everything_is_on_disk_and_the_violation_can_be_seen_again(tmp_path):
    result = check(DOOR, ["G(out != no)", "G(in == shut -> out != yes)"], max_states=3, out=tmp_path, seed=4)
    violated, satisfied = result.requirements
    assert violated.verdict is CheckVerdict.VIOLATED and violated.status == "confirmed"
    assert satisfied.verdict is CheckVerdict.SATISFIED_UP_TO_BOUND
    assert difference(read_dot(result.model), DOOR) is None
    stored = json.loads((result.directory / "results.json").read_text())
    assert stored["requirements"][0]["prefix"] == list(violated.prefix) and stored["states"] == 3
    file = WordCounterexample.read(violated.file)
    assert file.prefix == violated.prefix and file.outputs[-1] == "no"
    again = replay_word(file, MachineSystem(DOOR))
    assert again.outcome is ReplayOutcome.SAME and again.reproduced == 3
    friendly = MealyMachine(DOOR.inputs, ("ok", "yes"), DOOR.successor, DOOR.answer, name="door")
    assert replay_word(file, MachineSystem(friendly)).outcome is ReplayOutcome.FIXED


@pytest.mark.parametrize(("flaw", "output"), [("die", "died"), ("raise", "raised"), ("hang", "timed_out")])
def test_a_failure_is_an_output_that_requirements_may_speak_about(flaw, output):
    result = check(Door(flaw), f"G(out != {output})", max_states=4, time_limit_s=0.5, stop_at_first=True)
    assert result.requirements[0].prefix[-3:] == ("open", "open", "lock")
    assert result.requirements[0].outputs[-1] == output
    assert any(output in note for note in result.notes)


def test_budgets_end_a_check_and_it_says_how_far_it_came():
    box = random_machine(np.random.default_rng(1), states=30, inputs=4, outputs=2)
    by_queries = check(box, "G(out != no)", max_queries=300)
    assert by_queries.stop_reason is StopReason.BUDGET_SIMULATIONS and by_queries.queries == 300
    by_symbols = check(box, "G(out != no)", max_symbols=500, max_states=40)
    assert by_symbols.stop_reason is StopReason.BUDGET_SYMBOLS and 500 <= by_symbols.symbols < 520
    row = by_symbols.requirements[0]
    assert row.verdict is CheckVerdict.STOPPED and "stopped" in row.in_words() and not by_symbols.holds
    easy = check(DOOR, "G(out != never)", max_queries=2000)
    assert easy.requirements[0].bound == easy.tested_bound > 3  # without a bound: as far as the budget reached


def test_a_check_goes_on_where_another_one_ended(tmp_path):
    box = random_machine(np.random.default_rng(2), states=12, inputs=3, outputs=2)
    whole = check(box, "G(out != no)", max_states=12, seed=1)
    begun = check(box, "G(out != no)", max_states=12, seed=1, max_queries=40, out=tmp_path)
    assert begun.stop_reason is StopReason.BUDGET_SIMULATIONS
    with (begun.directory / "observations.jsonl").open("a") as file:
        file.write('[["i0", "i')  # it was killed while it wrote
    rest = check(box, "G(out != no)", max_states=12, seed=1, resume=begun.directory)
    assert rest.requirements[0].verdict is CheckVerdict.SATISFIED_UP_TO_BOUND
    assert difference(rest.machine, whole.machine) is None
    executed = [
        json.loads(line)["inputs"] for line in (begun.directory / "observations.jsonl").read_text().splitlines()
    ]
    assert len(executed) == begun.queries + rest.queries
    assert len({tuple(word) for word in executed}) == len(executed)  # nothing was executed twice
    known = check(box, "G(out != no)", max_states=12, observations=[begun.directory / "observations.jsonl"])
    assert known.queries < whole.queries / 2  # which words test a hypothesis depends on what is known


def test_neither_the_number_of_workers_nor_earlier_checks_change_anything():
    box = random_machine(np.random.default_rng(3), states=9, inputs=3, outputs=2)
    results = [check(box, "G(out != no)", max_states=10, seed=5, jobs=jobs) for jobs in (1, 2, 1)]
    results.append(check(box, "G(out != no)", max_states=10, seed=5, executor="in-process"))
    assert len({(r.queries, r.symbols, r.hypotheses, str(r.machine.successor.tolist())) for r in results}) == 1


def test_the_hash_seed_changes_nothing():
    code = """
import numpy as np
from bbfalsify import check
from tests.support.machines import random_machine
box = random_machine(np.random.default_rng(3), states=9, inputs=3, outputs=2)
for learner in ("lsharp", "kv", "lstar"):
    r = check(box, "G(out != no)", max_states=10, seed=5, learner=learner)
    print(r.queries, r.symbols, r.machine.successor.tolist())
"""
    said = set()
    for hash_seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path(__file__).parents[3])}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        said.add(done.stdout)
    assert len(said) == 1 and len(said.pop().splitlines()) == 3


class Mood:
    """Answers differently from the tenth use on."""

    name, alphabet, capabilities = "mood", ("a", "b"), Capabilities(stepwise=True)
    uses = 0

    def open(self, seed):
        Mood.uses += 1
        return self

    def step(self, symbol):
        return "good" if Mood.uses % 2 else "bad"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


def test_a_box_of_two_minds_ends_the_check_with_both_answers():
    result = check(Mood(), "G(out == good)", max_states=3)
    assert result.stop_reason is StopReason.SYSTEM_FAILED or result.violated
    assert any("several ways" in note for note in result.notes) or result.violated[0].status == "flaky"


class OneSession:
    """The door, which nobody can put back."""

    name, alphabet, capabilities = "door", DOOR.inputs, Capabilities(stepwise=True, single_session=True)

    def open(self, seed):
        return Session("")


def test_without_reset_a_violation_is_observed_and_nothing_is_satisfied():
    box = OneSession()
    violated = check(box, "G(in == lock -> out == ok)", learner="hw", max_symbols=3000, seed=1)
    row = violated.requirements[0]
    assert row.verdict is CheckVerdict.VIOLATED and row.status == "observed"
    assert DOOR.run(row.prefix) == row.outputs
    held = check(box, "G(in == open & out == ok -> X(in == shut -> out == ok))", learner="hw", max_symbols=3000, seed=1)
    assert held.requirements[0].verdict is CheckVerdict.STOPPED and len(held.machine) == 3
    assert any("cannot be reset" in note for note in held.notes)
    loop = check(box, "G F out == ok", learner="hw", max_symbols=3000, max_states=5, seed=1)
    assert loop.requirements[0].loop and loop.requirements[0].rests_on_bound


def test_a_system_that_cannot_be_used_violates_and_satisfies_nothing():
    class Dead(Door):
        def open(self, seed):
            raise OSError("no such device")

    for formula in ("G(out != raised)", "G(out != no)"):
        result = check(Dead(), formula, max_states=1)
        assert result.stop_reason is StopReason.SYSTEM_FAILED and result.outcome is Outcome.ERROR
        assert result.requirements[0].verdict is CheckVerdict.STOPPED
        assert "no such device" in result.notes[-1]


def test_what_was_seen_of_another_system_is_not_continued(tmp_path):
    begun = check(DOOR, max_states=3, max_queries=5, seed=7, out=tmp_path)
    seen = (begun.directory / "observations.jsonl").read_text()
    other = random_machine(np.random.default_rng(2), states=3, inputs=3, outputs=2)
    with pytest.raises(UserError, match="alphabet was"):
        check(other, max_states=3, resume=begun.directory)
    assert (begun.directory / "observations.jsonl").read_text() == seen
    rest = check(DOOR, "G(out != never)", max_states=4, resume=begun.directory)
    assert rest.seed == 7 and rest.states == 3


def test_a_newer_version_is_compared_with_the_older_one():
    same = check(DOOR, max_states=3, older=DOOR, seed=1)
    assert "no word tells them apart" in same.notes[0]
    friendly = MealyMachine(DOOR.inputs, ("ok", "yes"), DOOR.successor, DOOR.answer, name="door")
    changed = check(friendly, max_states=3, older=DOOR, seed=1)
    assert changed.notes[0] == "the older version answered 'shut' with 'no', this one with 'yes'"
    larger = check(DOOR, max_states=3, older=combination_lock("aa", "ab"), seed=1)
    assert "not compared" in larger.notes[0]


def test_only_some_symbols_are_sent(tmp_path):
    whole = check(DOOR, max_states=4, seed=1, out=tmp_path)
    known = [whole.directory / "observations.jsonl"]
    queries = []
    for observations in ([], known):  # of words with other symbols the beginning is known
        options = {"max_states": 4, "alphabet": ["shut", "open"], "observations": observations}
        part = check(DOOR, "G(in == lock -> out == ok)", **options)
        assert part.machine.inputs == ("shut", "open") and len(part.machine) == 2
        assert part.requirements[0].vacuous and not part.holds
        assert any("only shut, open were sent" in note for note in part.notes)
        queries.append(part.queries)
    assert queries[1] < queries[0]
    with pytest.raises(UserError) as wrong:
        check(DOOR, max_states=4, alphabet=["opne", "shut", "shut"])
    assert [p.closest for p in wrong.value.problems] == ["open", None]


def test_wrong_arguments_are_told_before_anything_runs():
    with pytest.raises(UserError) as wrong:
        check(DOOR, ["G(in == opn)", "G(out == ok", "true"], max_states=3)
    assert [p.closest for p in wrong.value.problems].count("open") == 1 and len(wrong.value.problems) == 3
    with pytest.raises(UserError, match="give a bound"):
        check(DOOR, "G(out != no)")
    with pytest.raises(UserError, match="empty alphabet"):
        check(Door(alphabet=()), "G(out != no)", max_states=2)
    with pytest.raises(UserError, match="has no alphabet"):
        check(object(), "G(out != no)", max_states=2)
    with pytest.raises(UserError, match="cannot be reset"):
        check(OneSession(), "G(out != no)", max_states=3)
    with pytest.raises(UserError, match="can be reset") as wrong:  # each step would begin a new use
        check(DOOR, "G(out != no)", max_states=3, learner="hw", older=DOOR)
    assert "only lsharp" in str(wrong.value)


def test_outputs_without_end_are_named():
    class Counter(Door):
        def open(self, seed):
            session = Session("")
            session.step = lambda symbol: f"queue {session.uses.append(symbol) or session.uses}"
            return session

    result = check(Counter(), "G(out != no)", max_symbols=4000)
    assert any("abstract" in note for note in result.notes)


@pytest.mark.parametrize("tester", ["random-w", "random-wp", "random-hsi"])
def test_random_tests_find_errors_and_establish_nothing(tester):
    box = random_machine(np.random.default_rng(7), states=8, inputs=2, outputs=2)
    result = check(box, "G(out != no)", tester=tester, max_queries=1500, seed=1)
    assert result.requirements[0].verdict is CheckVerdict.STOPPED and result.tested_bound == 0
    assert difference(result.machine, box) is None
    with pytest.raises(UserError, match="for ever"):
        check(box, "G(out != no)", tester=tester, max_states=9)
