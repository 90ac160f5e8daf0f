"""Wrong input never starts anything: exit code 2, one sentence per mistake with its place, no traceback."""

import os
import subprocess
import sys

import pytest

from bbfalsify.core.settings import keys_of
from bbfalsify.engines.falsification.settings import FalsifySettings
from bbfalsify.registry import ENGINES


def edit(file, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))


def line_of(file, text: str) -> int:
    return next(i for i, line in enumerate(file.read_text().splitlines(), start=1) if text in line)


@pytest.fixture
def problems(cli, heater):
    """What `run` and `validate` say about the spoiled example; they must agree, and nothing may run."""

    def call() -> list[str]:
        ran = cli("run", heater / "campaign.yaml")
        assert (ran.code, ran.out) == (2, "")
        checked = cli("validate", heater / "campaign.yaml")
        assert (checked.code, checked.out, checked.problems) == (2, "", ran.problems)
        assert not (heater.parent / "runs").exists()
        assert "Traceback" not in ran.err
        return [p.replace(f"{heater}/", "") for p in ran.problems]

    return call


ENGINE_KEYS = ", ".join(sorted(keys_of(FalsifySettings)))
ENGINE = "engine: {kind: falsify, horizon: 20"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed: 1", "sead: 1", "unknown key 'sead'. Did you mean 'seed'? Allowed: accepted, budget, constants, "
         "early_stop, engine, executor, executor_lost, expected, format_version, jobs, memory_limit, model, name, "
         "on_failure, parameters, profile, requirements, seed, "
         "signals, store, system, time_limit, votes."),
        ("seed: 1", "seed: one", "seed must be a whole number; found 'one'."),
        ("seed: 1", "seed: -1", "seed must be at least 0; found -1."),
        ("seed: 1", "jobs: 0", "jobs must be at least 1; found 0."),
        ("seed: 1", "early_stop: true", "early_stop needs the capability 'stepwise', which the system 'heater' does "
         "not declare (it declares: batch)."),
        ("seed: 1", "votes: [3, 0]", "votes[1] must be at least 1; found 0."),
        ("seed: 1", "memory_limit: -1", "memory_limit must be greater than 0; found -1."),
        ("seed: 1", "time_limit: 0", "time_limit must be greater than 0; found 0."),
        ("seed: 1", "on_failure: violate", "on_failure cannot be 'violate'. Allowed: violation, inconclusive, abort. "
         "Did you mean 'violation'?"),
        (ENGINE, "engine: {kind: falsify, horizon: -1", "engine.horizon must be at least 0; found -1."),
        (ENGINE, "engine: {kind: falsfy, horizon: 20",
         f"engine.kind cannot be 'falsfy'. Allowed: {', '.join(ENGINES.names())}. Did you mean 'falsify'?"),
        ("simulations: 2000", "simulations: -1", "engine.simulations must be at least 0; found -1."),
        ("passes: 10", "patience: -1", "engine.patience must be at least 0; found -1."),
        ("passes: 10", "shrink: -1", "engine.shrink must be at least 0; found -1."),
        ("passes: 10", "shrink: 1.5", "engine.shrink must be a whole number; found 1.5."),
        ("passes: 10", "shrink: true", "engine.shrink must be a number; found True."),
        ("passes: 10", "plain_walks: 1.5", "engine.plain_walks must be at most 1; found 1.5."),
        ("passes: 10", "search: probably", "engine.search cannot be 'probably'. Allowed: probable, first. "
         "Did you mean 'probable'?"),
        ("passes: 10", "pases: 10", "unknown key 'pases' in engine. Did you mean 'passes'? Allowed: "
         f"{ENGINE_KEYS}."),
        ("profile: profile.yaml", "profile: users.yaml", "profile: there is no file 'users.yaml'."),
        ("requirements: specification.yaml", "requirements: spec.yaml", "there is no specification file 'spec.yaml'."),
        ("requirements: specification.yaml", "requirements: []", "requirements must not be empty."),
        ("format_version: 1", "format_version: 2", "format_version cannot be 2. Allowed: 1."),
    ],
)  # fmt: skip
def test_wrong_values_in_the_campaign(problems, heater, old, new, message):
    file = heater / "campaign.yaml"
    edit(file, old, new)
    assert problems() == [f"campaign.yaml:{line_of(file, new)}: {message}"]


@pytest.mark.parametrize("key", ["system", "profile", "requirements", "engine", "format_version"])
def test_missing_keys(problems, heater, key):
    file = heater / "campaign.yaml"
    file.write_text("".join(x for x in file.read_text().splitlines(keepends=True) if not x.startswith(key)))
    allowed = " Allowed: 1." if key == "format_version" else ""
    assert f"campaign.yaml:3: {key} is missing.{allowed}" in problems()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (ENGINE, "engine: {horizon: 20", f"engine.kind is missing. Allowed: {', '.join(ENGINES.names())}."),
        ("profile: profile.yaml", "profile: users", "profile: 'users' is a folder; name a file."),
        ("system: system.py:heater", "system: sytem.py", "there is no file 'sytem.py' for the system 'sytem.py'. "
         "Did you mean 'system.py'?"),
        ("profile: profile.yaml", "\tprofile: profile.yaml",
         "not valid YAML: found a tab character that violates indentation; there is a tab in this line, and YAML wants "
         "spaces."),
        ("requirements: specification.yaml", "requirements: [always(T <= 75)]", "there is no specification file "
         "'always(T <= 75)'; a formula stands in {id: …, text: …, stl: …}."),
    ],
)  # fmt: skip
def test_slips_of_a_newcomer_say_what_to_write(problems, heater, old, new, message):
    (heater / "users").mkdir()
    file = heater / "campaign.yaml"
    edit(file, old, new)
    assert problems() == [f"campaign.yaml:{line_of(file, new.strip())}: {message}"]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("always[0:20](Tmp <= 75)", "formula, column 14: unknown signal 'Tmp'. Allowed: T, heat. Did you mean 'T'?"),
        ("always[0:20(T <= 75)", "formula, column 12: the time interval is not closed by ']' but by '('."),
        ("always[20:0](T <= 75)",
         "formula, column 7: the time interval [20:0] is empty, its lower bound is the larger."),
        ("alwys[0:20](T <= 75)", "formula, column 1: unknown operator 'alwys'. Allowed: always, "
         "eventually, historically, once, since, unless, until. Did you mean 'always'?"),
        ("always[0:20](T <= )", "formula, column 19: unexpected ')'."),
    ],
)  # fmt: skip
def test_wrong_formulas(problems, heater, formula, message):
    edit(heater / "specification.yaml", "always[0:20](T <= 75)", formula)
    assert problems() == [f"specification.yaml:4: {message}"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("time: discrete", "requirement 'R1' has discrete time and needs a period."),
        ("time: discrete, period: 3", "the bound 20 is not a multiple of the sampling period 3."),
        ("time: fluid", "requirements[0].time cannot be 'fluid'. Allowed: dense, discrete."),
    ],
)
def test_the_kind_of_time(problems, heater, keys, message):
    edit(heater / "specification.yaml", "expected: falsified", keys)
    assert problems() == [f"specification.yaml:4: {message}"]


def test_a_file_that_is_not_yaml(cli, tmp_path):
    (tmp_path / "c.yaml").write_text("a: [1\n")
    called = cli("validate", "c.yaml")
    assert (called.code, called.out) == (2, "")
    assert called.problems == ["c.yaml:2: not valid YAML: did not find expected ',' or ']'."]


def test_missing_files(cli):
    assert cli("run", "none.yaml").problems == ["none.yaml: there is no such file."]
    assert cli("validate", "a.yaml", "b.yaml").problems == [
        "a.yaml: there is no such file.",
        "b.yaml: there is no such file.",
    ]


def test_a_file_of_no_known_kind(cli, tmp_path):
    (tmp_path / "x.yaml").write_text("colour: blue\n")
    called = cli("validate", "x.yaml")
    assert called.code == 2
    assert called.problems[0].startswith("x.yaml:1: cannot tell what this file is.")


def test_units_that_do_not_fit(problems, heater):
    edit(heater / "profile.yaml", "T: {unit: degC}", "T: {unit: K}")
    assert problems() == ["profile.yaml:18: 'T' is in 'K' here but in 'degC' in system 'heater'."]


def test_an_unknown_unit(problems, heater):
    edit(heater / "profile.yaml", "T: {unit: degC}", "T: {unit: degCs}")
    assert problems() == ["profile.yaml:18: 'T' is in 'degCs' here but in 'degC' in system 'heater'."]


def test_an_unknown_unit_that_the_system_does_not_name(problems, heater):
    edit(heater / "profile.yaml", "T: {unit: degC}", "T: {unit: degCs}")
    edit(heater / "system.py", '"T": "degC"', '"T": None')
    (message,) = problems()
    assert message.startswith("profile.yaml:18: unknown unit 'degCs' of 'T'. Did you mean 'degC'? Allowed: ")


def test_any_unit_is_fine_that_both_sides_have(cli, heater):
    edit(heater / "profile.yaml", "T: {unit: degC}", "T: {unit: degC/barn}")
    edit(heater / "system.py", '"degC"', '"degC/barn"')
    assert cli("validate", heater / "campaign.yaml", "--load").problems == []


def test_an_unknown_unit_of_a_system_is_told_at_the_system(problems, heater):
    edit(heater / "system.py", '"degC"', '"degCs"')
    edit(heater / "profile.yaml", "T: {unit: degC}", "T: {}")
    (message,) = problems()
    assert message.startswith("campaign.yaml:") and "system 'heater', port 'T': unknown unit 'degCs'" in message
    assert "Did you mean 'degC'?" in message and "profile" not in message


def test_an_input_the_system_does_not_have(problems, heater):
    edit(heater / "profile.yaml", "heat: {actions", "heating: {actions")
    assert problems() == [
        "profile.yaml:15: nothing drives input 'heat' of system 'heater': add it under inputs: or signals:.",
        "profile.yaml:16: unknown input 'heating' (system 'heater'). Allowed: heat. Did you mean 'heat'?",
    ]


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        (["--horizon", "-1"], ["--horizon must be at least 0; found -1.0."]),
        (
            ["--horizon", "20", "--votes", "0", "--memory-limit", "0"],
            ["--votes must be at least 1; found 0.", "--memory-limit must be greater than 0; found 0.0."],
        ),
        (["--horizon", "20", "--simulations", "-1"], ["--simulations must be at least 0; found -1."]),
        (["--horizon", "20", "--shrink", "-1"], ["--shrink must be at least 0; found -1."]),
        (
            ["--horizon", "inf", "--max-time", "-1"],
            ["--horizon must be finite; found inf.", "--max-time must be at least 0; found -1.0."],
        ),
        (
            ["--horizon", "20", "--require", "always(temp <= 75)"],
            ["--require 2: formula, column 8: unknown signal 'temp'. Allowed: T, heat."],
        ),
    ],
)
def test_wrong_options_are_called_by_their_names(cli, heater, options, messages):
    called = cli(
        "falsify", "--system", heater / "system.py:heater", "--profile", heater / "profile.yaml",
        "--require", "always(T <= 75)", *options,
    )  # fmt: skip
    assert (called.code, called.out) == (2, "")
    assert called.problems == messages


TEN_MISTAKES = """
format_version: 1
nam: heater
system: system.py:heaters
profile: profile.yaml
requirements:
  - {id: R1, stl: "always[0:20](T <= )", expect: falsified}
  - {id: R1, stl: "always[5:2](T <= 75)"}
  - {text: "no id", stl: "T <= 75"}
engine: {kind: falsify, horizon: -3, pases: 10}
seed: x
time_limit: never
"""


def test_ten_mistakes_are_ten_messages(cli, heater):
    (heater / "campaign.yaml").write_text(TEN_MISTAKES)
    called = cli("run", heater / "campaign.yaml", "--json")
    assert called.code == 2
    assert called.json["error"]["problems"] == called.problems
    shown = [p.replace(f"{heater}/", "") for p in called.problems]
    assert [p.split(": ")[0] for p in shown] == [
        *(f"campaign.yaml:{line}" for line in (3, 7, 7, 8, 8, 9, 10, 10, 11, 12)),
        "system.py",
    ]


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        pytest.param(
            'guard: "x >= 4"',
            'guard: "x >= 6"',
            ["14: action 'on' can never be taken: its guard contradicts the invariant of the location it leaves."],
            id="unreachable action",
        ),
        pytest.param(
            "to: S, action: on",
            "to: Stuck, action: on",
            ["14: unknown location 'Stuck' of automaton 'User'. Allowed: S."],
            id="unknown location",
        ),
        pytest.param(
            'S: {invariant: "x <= 5"}',
            "S: {urgent: true}",
            ["11: the loop through 'S' of 'User' takes no time and cannot be left: time can never pass."],
            id="zeno",
        ),
        pytest.param(
            "edges:",
            'edges:\n      - {from: S, to: D, action: leave, guard: "x >= 3"}',
            [
                "11: location 'D' of 'User' must be left before its invariant ends, but no edge can leave it: "
                "time stops there."
            ],
            id="deadlock",
        ),
        pytest.param(
            "action: on, guard",
            'sync: "on!", guard',
            ["15: channel 'on' is a handshake, which has no meaning in a random profile; declare it 'broadcast chan'."],
            id="handshake",
        ),
        pytest.param(
            'guard: "x >= 4"',
            'guard: "x > T"',
            [
                "14: guard: 'T' is an output of the system under test, and a profile is open loop: "
                "it cannot depend on what the system does."
            ],
            id="guard on an output",
        ),
        pytest.param(
            'guard: "x >= 4"',
            'guard: "x >= "',
            ["14: guard: the text 'x >=' ends too early."],
            id="bad expression",
        ),
        pytest.param(
            "actions: {on: 1, off: 0}",
            "actions: {onn: 1, off: 0}",
            ["16: unknown action 'onn' in input 'heat'. Allowed: off, on. Did you mean 'on'?"],
            id="unknown action",
        ),
    ],
)
def test_profiles_that_cannot_work(problems, heater, old, new, messages):
    edit(heater / "profile.yaml", old, new)
    if "to: D" in new:
        edit(heater / "profile.yaml", "    locations:", '    locations:\n      D: {invariant: "x <= 5"}')
    if "sync" in new:
        edit(heater / "profile.yaml", "automata:", 'declarations: "chan on;"\nautomata:')
    assert problems() == [f"profile.yaml:{message}" for message in messages]


def test_names_that_are_no_text_are_refused_and_terminals_may_know_fewer_characters(cli, tmp_path):
    """Bytes that no encoding explains, and a terminal that has only ASCII: both ended with exit code 70."""
    refused = cli("show", "runs/r\udcff")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "'runs/r\\udcff' is not a text in UTF-8; give the file another name.\n"
    (tmp_path / "ü.yaml").write_text("a: 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "bbfalsify", "validate", "ü.yaml"], cwd=tmp_path, capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii:strict"},
    )  # fmt: skip
    assert done.returncode == 2 and done.stderr.startswith(b"?.yaml:1: ") and b"failed" not in done.stderr
