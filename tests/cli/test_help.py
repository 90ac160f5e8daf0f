import pytest

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
    assert len(cli("list").problems) == 1
    assert "Did you mean 'report'" in cli("reprot").err


def test_wrong_usage_with_json(cli):
    called = cli("run", "--json", "--jobs", "0", "x.yaml")
    assert called.code == 2
    assert called.json["error"]["kind"] == "input"
    assert called.json["error"]["problems"] == called.problems


def test_lists(cli):
    assert cli("list", "examples").out.startswith("heater  ")
    assert cli("list", "engines").out.startswith("falsify  ")
    assert "\ndegC   degree Celsius\n" in cli("list", "units").out
    assert {"name": "degC", "text": "degree Celsius"} in cli("list", "units", "--json").json["units"]
