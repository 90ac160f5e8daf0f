import pytest

from bbfalsify.cli.progress import Progress, RunProgress
from bbfalsify.cli.session import exit_code
from bbfalsify.core.events import BatchAnswered, FindingReported, StageStarted
from bbfalsify.reporting.results import result_from_json
from tests.unit.reporting.test_tables import results


def run_with(*rows: tuple[str, str | None], stop_reason: str = "completed"):
    requirements = [{"id": f"R{i}", "outcome": o, "expected": e} for i, (o, e) in enumerate(rows)]
    return result_from_json(results(requirements=requirements, counterexamples=[], stop_reason=stop_reason))


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
    ],
)
def test_expected_outcomes_are_no_news(rows, code):
    assert exit_code([run_with(*rows)]) == code


def test_one_unexpected_run_of_several_is_enough():
    good, bad = run_with(("falsified", "falsified")), run_with(("not_falsified", "falsified"))
    assert exit_code([good, bad, good]) == 1


def test_an_interrupted_run_is_130_whatever_it_found():
    assert exit_code([run_with(("falsified", "falsified"), stop_reason="interrupted")]) == 130


def test_progress_is_plain_lines_when_nobody_watches(capsys, monkeypatch):
    """Time is taken from a list, so nothing waits."""
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


def test_quiet_is_quiet(capsys):
    with Progress(quiet=True) as progress:
        progress.say("hello")
        progress.show("searching", 1, 2)
    assert capsys.readouterr() == ("", "")
