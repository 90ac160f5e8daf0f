"""A check that is continued is the check: the same counts and verdicts, and budgets that go on where they were."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bbfalsify import check
from bbfalsify.core.budget import Budget
from bbfalsify.core.errors import UserError
from bbfalsify.core.query import WordQuery
from bbfalsify.core.verdict import StopReason
from bbfalsify.records.event_log import read_events
from bbfalsify.records.recorded_answers import RecordedAnswers
from bbfalsify.records.recording import RunRecord
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.results.check_result import CheckResult
from bbfalsify.running import Driver
from bbfalsify.systems.symbols import MachineSystem
from tests.support.machines import random_machine

BOX = random_machine(np.random.default_rng(2), states=8, inputs=3, outputs=2)
FORMULA = "G(out != no)"


def told(result: CheckResult) -> dict:
    """All that a check concludes, without how long it took and where it is."""
    data = {**result.as_json(), "seconds": None, "run_directory": None, "model": None}
    for row in data["requirements"]:
        row["file"] = row.get("file") and Path(row["file"]).name
    return {**data, "counterexamples": len(data["counterexamples"])}


def killed(whole: Path, copy: Path, share: float) -> Path:
    """The directory as a kill leaves it: a part of the events, and the observations of at most as many words."""
    shutil.copytree(whole, copy)
    (copy / "results.json").unlink()
    events = (copy / "events.jsonl").read_bytes()
    (copy / "events.jsonl").write_bytes(events[: int(share * len(events))])
    answers = RecordedAnswers(copy / "events.jsonl").answers
    lines = (copy / "observations.jsonl").read_bytes().splitlines(keepends=True)
    (copy / "observations.jsonl").write_bytes(b"".join(lines[: max(0, answers - 3)]) + b'[["a"')
    return copy


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> CheckResult:
    return check(BOX, FORMULA, max_states=9, seed=1, directory=tmp_path_factory.mktemp("check") / "whole")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.4, 0.8, 1.0])
def test_counts_and_verdicts_are_those_of_the_undisturbed_check(undisturbed, tmp_path, share):
    place = killed(undisturbed.directory, tmp_path / "again", share)
    again = check(BOX, FORMULA, max_states=9, seed=1, directory=place)
    assert told(again) == told(undisturbed)
    for name in ("observations.jsonl", "model.dot"):
        assert (place / name).read_text() == (undisturbed.directory / name).read_text()
    asked = [
        r["query"] for e in read_events(place / "events.jsonl") if e.kind == "BatchAnswered" for r in e.data["answers"]
    ]
    assert len(asked) == len(set(asked)), "nothing was executed twice"


def test_a_budget_of_queries_goes_on_where_it_was(tmp_path):
    queries = 40
    whole = check(BOX, FORMULA, max_states=9, seed=1, max_queries=queries, directory=tmp_path / "whole")
    assert whole.stop_reason is StopReason.BUDGET_SIMULATIONS and whole.queries == queries
    place = killed(tmp_path / "whole", tmp_path / "again", 0.6)
    assert told(check(BOX, FORMULA, max_states=9, seed=1, max_queries=queries, directory=place)) == told(whole)


def test_a_check_that_began_with_known_words_is_continued_with_the_same(undisturbed, tmp_path):
    """Settings change: it begins anew with all that is known.  Killed then, it goes on from that beginning."""
    first = killed(undisturbed.directory, tmp_path / "first", 0.5)
    known = len((first / "observations.jsonl").read_bytes().splitlines()) - 1
    changed = {"max_states": 10, "seed": 1}
    whole = check(BOX, FORMULA, directory=shutil.copytree(first, tmp_path / "whole"), **changed)
    starts = [e for e in read_events(tmp_path / "whole" / "events.jsonl") if e.kind == "RunStarted"]
    assert [e.data["known"] for e in starts] == [0, known] and known > 0
    log, seen = (tmp_path / "whole" / name for name in ("events.jsonl", "observations.jsonl"))
    lines = log.read_bytes().splitlines(keepends=True)
    begin = next(n for n, line in enumerate(lines) if n and b'"RunStarted"' in line)
    place = shutil.copytree(tmp_path / "whole", tmp_path / "again")
    (place / "results.json").unlink()
    (place / "events.jsonl").write_bytes(b"".join(lines[: (begin + len(lines)) // 2]))
    assert told(check(BOX, FORMULA, directory=place, **changed)) == told(whole)
    assert (place / "observations.jsonl").read_text() == seen.read_text()


def test_lost_observations_that_it_began_with_are_named(undisturbed, tmp_path):
    first = killed(undisturbed.directory, tmp_path / "first", 0.5)
    check(BOX, FORMULA, directory=first, max_states=10, seed=1)
    (first / "results.json").unlink()
    (first / "observations.jsonl").write_bytes(b"".join((first / "observations.jsonl").open("rb").readlines()[:2]))
    with pytest.raises(UserError, match=r"observations.jsonl: damaged: 2 of the \d+ observations are left"):
        check(BOX, FORMULA, directory=first, max_states=10, seed=1)


def test_a_damaged_observation_is_named_with_its_line(undisturbed, tmp_path):
    place = killed(undisturbed.directory, tmp_path / "again", 0.5)
    lines = (place / "observations.jsonl").read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"i', b'"j', 1)
    (place / "observations.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(UserError, match="observations.jsonl:3: damaged: not an observation; the 2 before it are whole"):
        check(BOX, FORMULA, directory=place, max_states=10, seed=1)
    again = check(BOX, FORMULA, directory=place, max_states=9, seed=1)
    assert told(again) == told(undisturbed), "continued, it makes its observations again from the events"


def test_recorded_answers_outlive_a_time_that_is_up(tmp_path):
    """All the time was spent when the run was killed: its recorded answers are used, and nothing is executed."""
    directory = RunDirectory.create(tmp_path, "x")
    words = [WordQuery(f"word/{n}", ("i0",)) for n in range(6)]

    def session(seconds: float, batches: int) -> tuple[int, StopReason]:
        answers, got = RecordedAnswers(directory.events), 0
        with directory.recorder(again=answers.events) as recorder:
            budget, record = Budget(seconds=seconds), RunRecord(recorder, answers)
            with (
                Driver(MachineSystem(BOX), None, record=record, budget=budget) as driver,
                driver.until_stopped() as end,
            ):
                for word in words[:batches]:
                    got += len(driver.ask([word]))
        return got, end.reason

    assert session(1000.0, 4) == (4, StopReason.COMPLETED)
    spent = RecordedAnswers(directory.events).seconds
    assert session(spent / 2, 6) == (4, StopReason.BUDGET_TIME)


def test_time_spent_before_a_kill_counts_and_replaying_does_not(tmp_path):
    directory = RunDirectory.create(tmp_path, "x")
    for _ in range(3):
        answers = RecordedAnswers(directory.events)
        answers.seconds += 500.0
        with directory.recorder(again=answers.events) as recorder:
            with Driver(MachineSystem(BOX), None, record=RunRecord(recorder, answers)) as driver:
                assert driver.spent.seconds >= 500.0 or answers.playing
                driver.ask([WordQuery("word/0", ("i0",))])
                driver.ask([WordQuery(f"word/{answers.answers + 1}", ("i1",))])
                assert driver.spent.seconds >= 500.0
    kinds = [event.kind for event in read_events(directory.events)]
    assert kinds.count("AnswersReplayed") == 2


def test_a_box_without_reset_begins_anew(tmp_path):
    box = MachineSystem(BOX)
    box.capabilities = replace(box.capabilities, single_session=True)
    whole = check(box, FORMULA, learner="hw", max_symbols=200, seed=1, directory=tmp_path / "whole")
    events = (tmp_path / "whole" / "events.jsonl").read_bytes()
    (tmp_path / "whole" / "results.json").unlink()
    (tmp_path / "whole" / "events.jsonl").write_bytes(events[: len(events) // 2])
    again = check(box, FORMULA, learner="hw", max_symbols=200, seed=1, directory=tmp_path / "whole")
    assert (again.queries, again.symbols, again.states) == (whole.queries, whole.symbols, whole.states)
