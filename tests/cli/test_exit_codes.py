"""What a command raises or returns becomes a message and an exit code in one place."""

import importlib.metadata
import json
import re

import pytest

from bbfalsify.cli.exits import Exit, boundary, exit_of_outcomes
from bbfalsify.core.errors import Problem, SystemFailure, UserError
from bbfalsify.registry import ENTRY_POINTS


def call(command, capsys, **options):
    with pytest.raises(SystemExit) as ended:
        boundary(command)(**options)
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


def raising(error):
    def command(as_json=False, verbose=False):
        raise error

    return command


def test_problems_are_one_line_each_without_traceback(capsys):
    error = UserError([Problem("first.", file="a.yaml", line=3), Problem("second.")])
    assert call(raising(error), capsys) == (2, "", "a.yaml:3: first.\nsecond.\n")


def test_problems_as_json(capsys):
    code, out, err = call(raising(UserError("wrong.")), capsys, as_json=True)
    assert (code, err) == (2, "wrong.\n")
    assert json.loads(out) == {"error": {"kind": "input", "message": "wrong.", "problems": ["wrong."]}}


def test_a_failed_system_is_3(capsys):
    assert call(raising(SystemFailure("it died.")), capsys) == (3, "", "the system under test failed: it died.\n")


def test_an_interrupt_is_130(capsys):
    assert call(raising(KeyboardInterrupt()), capsys) == (130, "", "interrupted.\n")


def test_our_own_bug_asks_for_a_report_and_hides_the_traceback(capsys):
    code, out, err = call(raising(ZeroDivisionError("x")), capsys)
    assert code == 70
    assert err == (
        "bbfalsify itself failed (ZeroDivisionError: x). Please report it; run again with -v for the traceback.\n"
    )
    code, out, err = call(raising(ZeroDivisionError("x")), capsys, verbose=True)
    assert err.startswith("| Traceback")


def test_a_bug_in_an_engine_of_another_package_names_its_line(capsys, monkeypatch):
    entry = importlib.metadata.EntryPoint("mine", f"{__name__}:kind", ENTRY_POINTS)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **which: [entry])
    code, out, err = call(raising(ZeroDivisionError("x")), capsys, as_json=True)
    assert (code, json.loads(out)["error"]["kind"]) == (70, "engine")
    assert re.match(rf"{re.escape(__file__)}:\d+: the engine failed \(ZeroDivisionError: x\); run again with -v", err)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([], Exit.NOTHING_FOUND),
        (["not_falsified"], Exit.NOTHING_FOUND),
        (["not_falsified", "inconclusive"], Exit.INCONCLUSIVE),
        (["inconclusive", "error"], Exit.SYSTEM_FAILED),
        (["error", "falsified", "inconclusive"], Exit.FOUND),
    ],
)
def test_the_most_important_outcome_decides(outcomes, code):
    assert exit_of_outcomes(outcomes) == code
