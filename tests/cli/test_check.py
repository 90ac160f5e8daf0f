"""bbfalsify check: what a user sees."""

import json
from pathlib import Path

import pytest

from tests.support.machines import DOOR


@pytest.fixture
def door(written):
    return written("door.dot", DOOR)


def test_verdicts_are_sentences_and_the_last_lines_say_how_to_see_it_again(cli, door):
    called = cli(
        "check", "--system", door, "--max-states", 3, "--seed", 1,
        "--require", "G(in == open & out == ok -> X(in == shut -> out == ok))", "--require", "G(out != no)",
        "--require", "G F out == ok",
    )  # fmt: skip
    assert called.code == 1
    lines = called.out.splitlines()
    assert lines[0] == "R1 satisfied if the system has at most 3 states"
    assert lines[1].startswith("R2 violated by: shut") and lines[2].strip() == "shut/no"
    assert lines[3].strip().startswith("cause 1: shut is answered no in state")
    third = next(k for k, line in enumerate(lines) if line.startswith("R3"))
    assert "then for ever" in lines[third] and "if the system has at most 3 states" in lines[third]
    assert ")^ω" in lines[third + 1]
    assert "3 states learned, tested up to 3" in called.out and "seed: 1" in lines
    replay = next(line for line in lines if line.startswith("replay: "))
    again = cli(*replay.removeprefix("replay: bbfalsify ").split())
    assert again.code == 1 and again.out.startswith("SAME")


def test_json_follows_the_contract(cli, door):
    data = cli("check", "--system", door, "--max-states", 3, "--require", "G(out != no)", "--json", "-q").json
    [row] = data["requirements"]
    assert row["verdict"] == "violated" and row["prefix"] == ["shut"] and row["loop"] == []
    assert row["rests_on_bound"] is False and row["vacuous"] is False and row["outputs"] == ["no"]
    assert data["states"] >= 1 and data["queries"] > 0 and data["symbols"] > 0 and data["model"].endswith("model.dot")
    assert json.loads((Path(data["run_directory"]) / "results.json").read_text())["seed"] == data["seed"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--max-states", 3, "--require", "G(in == lock -> out != never)"), 0),
        (("--max-states", 3), 0),
        (("--max-states", 2, "--require", "G(out != never)"), 4),
        (("--max-states", 2), 4),
        (("--max-states", 2, "--alphabet", "open, shut"), 0),
        (("--max-queries", 12, "--require", "G(out != never)"), 4),
    ],
)
def test_exit_codes(cli, door, options, code):
    assert cli("check", "--system", door, *options).code == code


def test_a_specification_file_with_every_form(cli, door, tmp_path):
    (tmp_path / "spec.yaml").write_text(
        "format_version: 1\n"
        "requirements:\n"
        '  - {id: open, text: "opening works once", ltl: "G(in == open & out == ok -> X(in == open -> out == no))"}\n'
        '  - {id: end, text: "one of two answers", ltlf: "G(out == ok | out == no) ends with in == lock"}\n'
        '  - {id: safe, ltl: "G(out == broken -> X out == ok)"}\n'
    )
    called = cli("check", "--system", door, "--max-states", 4, "--require", tmp_path / "spec.yaml")
    assert called.code == 0, called.err
    assert "open: opening works once" in called.out
    assert "safe satisfied if the system has at most 4 states (vacuous" in called.out
    assert cli("validate", tmp_path / "spec.yaml").code == 0


def test_all_mistakes_at_once_with_the_closest_match(cli, door, tmp_path):
    called = cli(
        "check", "--system", door, "--max-states", 3, "--require", "G(in == opne)", "--require", "G(in == shut",
    )  # fmt: skip
    assert called.code == 2
    (tmp_path / "spec.yaml").write_text(
        "format_version: 1\nrequirements:\n  - {id: a, ltl: G(in == x, hoa: y.hoa}\n  - {id: b}\n"
    )
    wrong = cli("check", "--system", door, "--max-states", 3, "--require", tmp_path / "spec.yaml")
    assert wrong.code == 2 and "spec.yaml:3" in wrong.err and "spec.yaml:4" in wrong.err
    unknown = cli("check", "--system", door, "--max-states", 3, "--require", "G(in == opne)")
    assert unknown.code == 2 and "Did you mean 'open'?" in unknown.err
    always = cli("check", "--system", door, "--max-states", 3, "--require", "G(out == ok -> out == ok)")
    assert always.code == 2 and "always true" in always.err
    assert cli("check", "--system", door, "--require", "G(out != no)").code == 2  # neither bound nor budget
    signals = cli("check", "--system", "adapters/heater", "--max-states", 3, "--require", "G(out != no)")
    assert signals.code == 2


def test_a_check_that_was_stopped_says_how_to_go_on(cli, door):
    begun = cli("check", "--system", door, "--max-queries", 5, "--max-states", 4)
    again = next(line for line in begun.out.splitlines() if line.startswith("to go on: "))
    rest = cli("check", "--system", door, "--max-states", 4, *again.split()[-2:])
    assert rest.code == 0 and "tested up to 4" in rest.out and "to go on" not in rest.out


def test_a_check_is_continued(cli, door):
    begun = cli("check", "--system", door, "--max-queries", 5, "--max-states", 4, "--json", "-q").json
    rest = cli("check", "--system", door, "--max-states", 4, "--resume", begun["run_directory"], "--json", "-q").json
    assert rest["run_directory"] == begun["run_directory"] and rest["states"] == 3 and rest["tested_bound"] == 4


def test_learning_alone_says_that_there_are_more_states(cli, door):
    called = cli("check", "--system", door, "--max-states", 2)
    assert called.out.startswith("the system has more than 2 states")


def test_an_output_that_never_came_is_named(cli, door):
    called = cli("check", "--system", door, "--max-states", 3, "--require", "G(out != noo)")
    assert "note: R1: output 'noo' was never seen; seen were no, ok" in called.out
    violated = cli("check", "--system", door, "--max-states", 3, "--require", "G(out in {ok, noo})")
    assert violated.code == 1 and "'noo' was never seen" in violated.out, "violated by a typing error"
    seen = cli("check", "--system", door, "--max-states", 3, "--require", "G(out != no)")
    assert seen.code == 1 and "never seen" not in seen.out, "the violation that ended the learning showed it"


def test_an_unknown_symbol_of_the_alphabet_names_its_option(cli, door):
    called = cli("check", "--system", door, "--alphabet", "opn")
    assert called.code == 2 and called.err.startswith("--alphabet: unknown input symbol 'opn'")


def test_a_repeated_id_is_found_by_validate_too(cli, tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        'format_version: 1\nrequirements:\n  - {id: A, ltl: "G(out != x)"}\n  - {id: A, ltl: "G(out != y)"}\n'
    )
    called = cli("validate", spec)
    assert called.code == 2 and "spec.yaml:4: requirement 'A' is given twice." in called.err


def test_a_system_of_signals_is_checked_by_symbols_of_the_command_line(cli):
    system = Path(__file__).parents[2] / "adapters" / "heater"
    called = cli(
        "check", "--system", system, "--symbol", "on:heat=1", "--symbol", "off:heat=0", "--period", 5,
        "--max-states", 3, "--require", "always(T <= 75)", "--seed", 1,
    )  # fmt: skip
    assert called.code == 1 and called.out.splitlines()[0] == "R1 violated by: on on on"
