"""Searches for states as recorded runs: where they stand, who walks, and that all of it comes to the same."""

import json
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor

import pytest

from bbfalsify.core.budget import Budget
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.examples.models import named_model
from bbfalsify.records.checkpoint import Checkpoint
from bbfalsify.records.recording import Recording
from bbfalsify.running import Execution
from bbfalsify.running.query_run import Question, answer_all
from bbfalsify.running.reach import reach_run
from bbfalsify.running.reach.reach_checkpoint import read_standing
from bbfalsify.running.reach.reach_run import ReachRun

SHORTEST = ReachSettings(heuristic="portfolio", trace="shortest", timeout=None, walks=220)


def ask(
    folder, *, settings=SHORTEST, model="fischer-faulty:4", query=None, directory=None, jobs=1, executor=None, **more
):
    network, family = named_model(model)
    questions = [Question("Q1", "", query or family.query)]
    how = {"execution": Execution(jobs=jobs, executor=executor), "recording": Recording(folder, directory)}
    about = {"example": model}
    return answer_all(ReachRun, network, questions, about=about, settings=settings, seed=4, **how, **more).as_json()


def without_times(results):
    rows = [{k: v for k, v in row.items() if k not in ("seconds", "file")} for row in results["requirements"]]
    groups = [[{**group, "file": None} for group in row["groups"]] for row in rows]
    return [
        {**row, "improvements": [{**i, "seconds": 0} for i in row["improvements"]], "groups": of_row}
        for row, of_row in zip(rows, groups, strict=True)
    ]


SEVERAL = ReachSettings(heuristic="portfolio", traces=30, timeout=None, walks=2_000)


@pytest.mark.parametrize(("settings", "stops_at_least"), [(SHORTEST, 5), (SEVERAL, 2)])
def test_a_search_for_shorter_or_several_traces_goes_on_from_any_turn(tmp_path, monkeypatch, settings, stops_at_least):
    """Interrupted after each of its turns in turn: counters, counts of RLC-A and known traces are all there again."""
    whole = ask(tmp_path, jobs=1, settings=settings)
    assert len(whole["requirements"][0]["improvements" if settings is SHORTEST else "groups"]) > 1

    class Interrupting(reach_run.Checkpoint):
        due = True

        def write(self, content):
            super().write(content)
            raise KeyboardInterrupt

    monkeypatch.setattr(reach_run, "Checkpoint", Interrupting)
    place = tmp_path / "interrupted"
    stops = 0
    while (results := ask(None, directory=place, jobs=1, settings=settings))["stop_reason"] == "interrupted":
        assert [row["outcome"] for row in results["requirements"]] == ["inconclusive"]
        turn = json.loads((place / "standing.json").read_text())["turn"]
        stops += 1
        assert turn == stops
    assert stops >= stops_at_least
    assert without_times(results) == without_times(whole)


def test_a_spoilt_standing_costs_time_and_nothing_else(tmp_path):
    whole = ask(tmp_path, jobs=1)
    place = tmp_path / "spoilt"
    network, family = named_model("fischer-faulty:4")
    ask(None, directory=place, jobs=1, budget=Budget(seconds=0.0))
    (place / "results.json").unlink()
    for text in ("{", "{}", json.dumps({"format_version": 1, "requirement": "Q1", "turn": 1})):
        (place / "standing.json").write_text(text)
        assert read_standing(Checkpoint(place, "Q1").read()[0], network) is None
    assert without_times(ask(tmp_path, jobs=1)) == without_times(whole)


def test_threads_of_an_executor_find_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("bbfalsify.running.reach.team.ALONE_S", -1.0)
    alone = ask(tmp_path, jobs=1)
    with ThreadPoolExecutor(2) as pool:
        assert without_times(ask(tmp_path, jobs=2, executor=pool)) == without_times(alone)
    assert without_times(ask(tmp_path, jobs=2, executor="in-process")) == without_times(alone)


def test_workers_that_die_cost_nothing(tmp_path, monkeypatch):
    """After some answers the pool breaks; what is missing is walked here."""
    monkeypatch.setattr("bbfalsify.running.reach.team.ALONE_S", -1.0)

    class Dying(ThreadPoolExecutor):
        left = 3

        def submit(self, function, *arguments):
            self.left -= 1
            if self.left >= 0:
                return super().submit(function, *arguments)
            broken = Future()
            broken.set_exception(BrokenExecutor("a worker was killed"))
            return broken

    with Dying(1) as pool:
        assert without_times(ask(tmp_path, jobs=2, executor=pool)) == without_times(ask(tmp_path, jobs=1))
        assert pool.left < 0


@pytest.mark.parametrize(
    ("query", "walks", "timeout", "outcome"),
    [
        ("E<> P(1).cs", 11, None, "reached"),
        ("A[] not P(1).cs", 11, None, "falsified"),
        ("E<> false", 11, None, "not_reached"),
        ("A[] true", 11, None, "not_falsified"),
        ("E<> false", None, 0.0, "inconclusive"),
    ],
)
def test_outcomes_in_the_words_of_campaigns(tmp_path, query, walks, timeout, outcome):
    settings = ReachSettings(heuristic="ret", walks=walks, timeout=timeout)
    results = ask(tmp_path, settings=settings, query=query, jobs=1)
    assert results["outcome"] == results["requirements"][0]["outcome"] == outcome
    assert len(results["counterexamples"]) == (outcome in ("reached", "falsified"))


def test_the_seconds_of_a_run_are_for_all_its_queries(tmp_path):
    network, _ = named_model("fischer:3")
    questions = [Question(f"Q{i}", "", "E<> false") for i in range(3)]
    settings = ReachSettings(heuristic="ret", timeout=None, walks=10**9)
    result = answer_all(
        ReachRun,
        network, questions, about={"example": "fischer:3"}, settings=settings, seed=1,
        recording=Recording(tmp_path), budget=Budget(seconds=0.3),
    )  # fmt: skip
    assert result.stop_reason == "budget: time" and result.seconds < 60
    assert [row.stopped for row in result.requirements] == ["timeout", "not searched", "not searched"]
