"""bbfalsify fit as a user calls it, and the whole way round: simulate, fit, falsify."""

import numpy as np
import pytest

from tests.fitting_models import HEATER, heater_sessions, write_log


@pytest.fixture
def files(tmp_path):
    (tmp_path / "structure.yaml").write_text(HEATER)
    write_log(tmp_path / "log.csv", heater_sessions(np.random.default_rng(1), 10, 30))
    return tmp_path


def test_simulate_fit_falsify(cli, heater):
    """The fitted user behaves like the one simulated: the same four keys, and their total within a factor of two.

    About 1,240 actions, 620 of them a choice: the share of on has a standard error of 0.02, so a word with four of them
    moves by a factor of 1.2; the total of 400 traces per key adds 10 %.
    """
    simulated = cli(
        "simulate",
        heater / "profile.yaml",
        "--until",
        100,
        "--walks",
        50,
        "--period",
        100,
        "--seed",
        1,
        "--csv",
        "log.csv",
    )
    assert simulated.code == 0
    fitted = cli("fit", "log.csv", "--structure", heater / "profile.yaml", "-o", "fitted.yaml")
    assert fitted.code == 0 and fitted.out.splitlines()[-1].endswith(" actions in 50 sessions")
    assert "delays in User.S: uniform fits" in fitted.out
    assert cli("validate", "fitted.yaml").code == 0
    found = cli(
        "falsify", "--system", f"{heater}/system.py:heater", "--profile", "fitted.yaml",
        "--require", "always[0:20](T <= 75)", "--horizon", 20, "--simulations", 330, "--passes", 4,
        "--traces", 100, "--seed", 1, "--json", "-q",
    )  # fmt: skip
    assert found.code == 1 and len(found.json["counterexamples"]) == 4
    assert 4.84e-3 / 2 < found.json["found_probability"]["value"] < 4.84e-3 * 2


def test_without_an_output_the_profile_is_on_stdout_and_the_rest_on_stderr(cli, files):
    called = cli("fit", "log.csv", "--structure", "structure.yaml")
    assert called.code == 0 and called.out.startswith("# Fitted to log.csv; structure: structure.yaml.\n")
    assert "weight of User.S -> S (on): share 0." in called.err and "300 actions in 10 sessions" in called.err
    assert cli("fit", "log.csv", "--structure", "structure.yaml", "-q").err == ""


def test_json(cli, files):
    data = cli("fit", "log.csv", "--structure", "structure.yaml", "-o", "fitted.yaml", "--json", "-q").json
    assert (data["sessions"], data["events"], data["counted"], data["file"]) == (10, 300, 300, "fitted.yaml")
    estimate = data["parameters"]["weight of User.S -> S (on)"]
    assert set(estimate) == {
        "value",
        "low",
        "high",
        "confidence",
        "method",
        "samples",
        "none_seen",
        "at_least",
        "unseen",
    }
    assert set(data["uncertainty"]) == set(data["parameters"]) and data["tests"]["User.S"]["fits"] is True


def test_learning_with_the_inputs_of_another_profile(cli, files):
    called = cli("fit", "log.csv", "--learn", "--inputs", "structure.yaml", "-o", "learned.yaml")
    assert called.code == 0 and "note: the section 'inputs'" not in called.out
    assert cli("validate", "learned.yaml").out.startswith("learned.yaml: profile, inputs u; actions ")
    assert "placeholders" in cli("fit", "log.csv", "--learn", "-o", "learned.yaml").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give either --structure FILE or --learn."),
        (["--learn", "--structure", "structure.yaml"], "give either --structure FILE or --learn."),
        (["--structure", "structure.yaml", "--inputs", "structure.yaml"], "--inputs belongs to --learn"),
        (["--structure", "structure.yaml", "--epsilon", "0.1"], "--epsilon belongs to --learn"),
        (["--learn", "--fit-bounds"], "--fit-bounds belongs to --structure"),
        (["--learn", "--tolerance", "0.1"], "--tolerance belongs to --structure"),
        (["--structure", "structure.yaml", "-o", "structure.yaml"], "-o is the structure itself"),
        (["--structure", "structure.yaml", "-o", "nowhere/f.yaml"], "cannot be written"),
        (["--structure", "nowhere.yaml"], "there is no such file"),
    ],
)
def test_wrong_use(cli, files, options, message):
    called = cli("fit", "log.csv", *options)
    assert called.code == 2 and message in called.err and called.out == ""
