import pytest

from bbfalsify.cli.main import COMMANDS as COMMANDS_OF_APP

COMMANDS = ["run", "falsify", "simulate", "fit", "monitor", "show", "replay", "accept", "validate", "convert", "list"]


def test_help_names_every_command_and_the_exit_codes(cli):
    called = cli("--help")
    assert called.code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in called.out
    assert "130 interrupted" in called.out


def test_without_arguments_the_help_is_shown(cli):
    assert cli() == cli("--help")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example_within_the_terminal(cli, command):
    called = cli(command, "--help")
    assert called.code == 0
    assert "Example:  bbfalsify " + command in called.out


def test_version(cli):
    import bbfalsify

    assert cli("--version").out == f"bbfalsify {bbfalsify.__version__}\n"


def test_wrong_usage_is_one_line_and_exit_code_2(cli):
    called = cli("falsify", "--sistem", "x")
    assert (called.code, called.out) == (2, "")
    (problem,) = called.problems
    assert problem.startswith("No such option: --sistem (Possible options: ") and "--system" in problem
    assert problem.endswith("See 'bbfalsify falsify --help'.")


def test_a_wrong_choice_is_told_what_is_allowed_and_what_comes_closest(cli):
    assert cli("list", "exmaples").problems == [
        "Invalid value for 'what': unknown choice 'exmaples'. Allowed: engines, examples, models, units. "
        "Did you mean 'examples'? See 'bbfalsify list --help'."
    ]
    assert "Did you mean 'report'" in cli("reprot").err


def test_wrong_usage_with_json(cli):
    called = cli("run", "--json", "--jobs", "0", "x.yaml")
    assert called.code == 2
    assert called.json["error"]["kind"] == "input"
    assert called.json["error"]["problems"] == called.problems


def test_list_alone_lists_everything(cli):
    listed = cli("list").out
    assert all(f"{what}:\n" in listed for what in ("examples", "models", "engines", "units"))
    assert "  heater  " in listed and "  degC   degree Celsius\n" in listed
    assert set(cli("list", "--json").json) == {"examples", "models", "engines", "units"}


def test_help_of_every_command_shows_its_examples_as_written(cli):
    for name in COMMANDS_OF_APP:
        shown = cli(name, "--help").out
        assert "\\b" not in shown, name


def test_completion_names_commands_and_options(cli, monkeypatch):
    monkeypatch.setenv("_BBFALSIFY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "bbfalsify fals")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert cli().out.split() == ["falsify"]
    monkeypatch.setenv("COMP_WORDS", "bbfalsify falsify --horiz")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert cli().out.split() == ["--horizon"]


def test_lists(cli):
    assert cli("list", "examples").out.startswith("heater  ")
    assert cli("list", "engines").out.startswith("falsify  ")
    assert "\ndegC   degree Celsius\n" in cli("list", "units").out
    assert {"name": "degC", "text": "degree Celsius"} in cli("list", "units", "--json").json["units"]
