from pathlib import Path
from typing import Any

import pytest

from bbfalsify.cli.exits import exit_of_run
from bbfalsify.cli.progress import CampaignClock, Progress
from bbfalsify.cli.session import worst_exit
from bbfalsify.core.events import (
    BatchAnswered,
    EstimateMade,
    FindingReported,
    RunStarted,
    SearchAdvanced,
    StageStarted,
)
from bbfalsify.reporting.terminal.progress_lines import MOST_LISTED, RunProgress
from tests.unit.reporting.test_tables import results


def run_with(*rows: tuple[str, str | None], stop_reason: str = "completed"):
    requirements = [{"id": f"R{i}", "outcome": o, "expected": e} for i, (o, e) in enumerate(rows)]
    return results(requirements=requirements, counterexamples=[], stop_reason=stop_reason)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([("falsified", "falsified")], 0),
        ([("falsified", "falsified"), ("not_falsified", "not_falsified")], 0),
        ([("not_falsified", "falsified")], 1),
        ([("falsified", "not_falsified")], 1),
        ([("inconclusive", "falsified")], 1),
        ([("falsified", None)], 1),
        ([("not_falsified", None)], 0),
        ([("error", None)], 3),
        ([("inconclusive", None), ("falsified", "falsified")], 4),
        ([("error", "error")], 0),
        ([("reached", "reached"), ("model_error", "model_error")], 0),
        ([("reached", None)], 1),
        ([("not_reached", None)], 0),
        ([("model_error", None)], 1),
    ],
)
def test_expected_outcomes_are_no_news(rows, code):
    assert exit_of_run(run_with(*rows)) == code


def test_one_unexpected_run_of_several_is_enough():
    good, bad = run_with(("falsified", "falsified")), run_with(("not_falsified", "falsified"))
    assert worst_exit([exit_of_run(run) for run in (good, bad, good)]) == 1


def test_an_interrupted_run_is_130_whatever_it_found():
    assert exit_of_run(run_with(("falsified", "falsified"), stop_reason="interrupted")) == 130


def test_progress_is_plain_lines_when_nobody_watches(capsys, monkeypatch):
    """Time is taken from a list, so nothing waits."""
    monkeypatch.delenv("CI", raising=False)
    now = iter([0.0, 1.0, 6.0, 17.0])
    monkeypatch.setattr("bbfalsify.cli.progress.time.monotonic", lambda: next(now))
    with Progress() as progress:
        listen = RunProgress(progress)
        listen(StageStarted("searching", 100))
        listen(FindingReported("R1", ("on",), "q", -1.0, 3.0))
        listen(BatchAnswered(({},) * 44))
        listen(BatchAnswered(({},) * 44))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "searching: 44 of 100, 1 found\nsearching: 88 of 100 (4/s, about 3 s left), 1 found\n"


def test_a_view_says_how_close_it_came_and_what_it_found(monkeypatch):
    """As on a terminal: the lines under the bar, and the one above it."""
    shown, notes = [], []

    class Terminal(Progress):
        def __init__(self):
            super().__init__()
            self.quiet, self.terminal = False, True

        def show(self, stage, done, total, note="", *, above="", below=()):
            shown.append((above, stage, done, list(below)))
            notes.append(note)

    clock = CampaignClock(3)
    clock.finished(90.0)
    monkeypatch.setattr("bbfalsify.cli.progress.time.monotonic", lambda: clock._begun + 60)
    listen = RunProgress(Terminal(), "heater-2, run 2 of 3", clock)
    listen(RunStarted("heater-2", "heater", ("R1", "R2"), 1, None, None, 1))
    listen(StageStarted("searching", 100))
    answer = {"judgements": [["violated", -1.5, 3.0], ["satisfied", "inf"]]}
    listen(BatchAnswered((answer, {"judgements": [["satisfied", 2.0], ["satisfied", 4.0]]})))
    listen(FindingReported("R1", ("on", "off"), "q", -1.0, 3.0))
    listen(SearchAdvanced(2, (7, 0), (0.25, 0.0)))
    above, stage, done, below = shown[-1]
    assert above.startswith("heater-2, run 2 of 3, about 2:00 left")
    assert (stage, done) == ("searching", 2)
    assert notes[-1] == "closest -1.5, 7 found"
    listen(SearchAdvanced(2, (7, 1), (0.25, 0.25)))  # both counted: words, not uses
    assert notes[-1] == "closest -1.5, 8 found"
    listen(SearchAdvanced(2, (7, 0), (0.25, 0.0)))
    assert below == [
        "R1: closest -1.5, 7 counterexamples",
        "R2: closest 4, 0 counterexamples",
        "R1 on·off",
    ]
    listen(EstimateMade("R1", {"value": 0.125, "low": 0.1, "high": 0.15}, ("on", "off")))
    assert shown[-1][3][-1] == "R1 on·off  0.125 [0.1, 0.15]"
    for steps in range(1, 9):
        listen(FindingReported("R2", ("on",) * steps, "q", -1.0, 3.0))
    for steps in range(1, 7):
        listen(EstimateMade("R2", {"value": 0.001, "low": 1e-4, "high": 1e-2}, ("on",) * steps))
    assert shown[-1][3][2] == "R1 on·off  0.125 [0.1, 0.15]" and len(shown[-1][3]) == 2 + MOST_LISTED
    assert shown[-1][3][-1] == "R2 on·on·on·on  1.00e-3 [1.00e-4, 0.01]", "as tables write it"


@pytest.mark.parametrize(("value", "silent"), [("true", True), ("1", True), ("false", False), ("", False)])
def test_progress_is_quiet_in_ci(monkeypatch, capsys, value, silent):
    monkeypatch.setenv("CI", value)
    Progress().say("hello")
    assert (capsys.readouterr().err == "") is silent


def test_quiet_is_quiet(capsys):
    with Progress(quiet=True) as progress:
        progress.say("hello")
        progress.show("searching", 1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "command",
    [
        ("reach", "--example", "fischer:2", "--walks", 300, "--jobs", 1),
        ("verify", "--example", "fischer:2"),
        ("estimate", "--example", "hubble", "--query", "P=? [ !sleep U[0,2.7] sleep ]", "--set", "nu=6"),
    ],
    ids=lambda command: command[0],
)
def test_a_query_of_the_command_line_goes_on_where_it_was_killed(cli, command):
    """As a kill leaves it: with a beginning of its record and no results.  The seed, which was drawn, is the same."""
    undisturbed = cli(*command, "--json").json
    directory = Path(undisturbed["run_directory"])
    (directory / "results.json").unlink()
    events = directory / "events.jsonl"
    events.write_bytes(events.read_bytes().splitlines(keepends=True)[0])
    resumed = cli(*command, "--json", "--resume", directory).json
    assert without_times(resumed) == without_times(undisturbed)
    other = cli(*command, "--resume", directory, "--seed", resumed["seed"] + 1)
    assert other.code == 2 and "this run cannot be continued: seed was" in other.err, "the answer to something else"


def without_times(data: Any) -> Any:
    if isinstance(data, dict):
        kept = [key for key in data if "seconds" not in key and "memory" not in key]
        return {key: without_times(data[key]) for key in kept}
    return [without_times(value) for value in data] if isinstance(data, list) else data
