"""A black box that misbehaves costs a message and exit code 3, never a traceback and never a hang."""

import pytest

SYSTEM = """
import os, time
import numpy as np
from bbfalsify.systems import system

@system(inputs={{"heat": "1"}}, outputs={{"T": "degC"}})
def heater(stimulus):
    {body}
"""


def run(cli, heater, body: str, *options):
    (heater / "system.py").write_text(SYSTEM.format(body=body))
    text = (heater / "campaign.yaml").read_text().replace("passes: 10, traces: 100", "passes: 2, traces: 10")
    text = text.replace("simulations: 2000", "simulations: 100").replace("counterexamples: 10", "counterexamples: 3")
    (heater / "campaign.yaml").write_text(text + "".join(f"{line}\n" for line in options))
    specification = heater / "specification.yaml"
    specification.write_text(specification.read_text().replace(", expected: falsified", ""))
    return cli("run", heater / "campaign.yaml", "--out", heater / "runs")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param('raise ValueError("broken pipe 7")', "(raised): ValueError: broken pipe 7", id="raises"),
        pytest.param("os._exit(3)", "(died):", id="dies"),
        pytest.param('return {"T": np.nan * stimulus.times}', "(malformed): output 'T': expected finite", id="NaN"),
        pytest.param('return {"T": [1.0]}', "(malformed): output 'T': expected ", id="wrong length"),
        pytest.param("return 7", "(malformed): expected a mapping from output names (T) to arrays", id="wrong type"),
        pytest.param('return {"t": stimulus.times}', "(malformed): missing output 'T'", id="wrong name"),
    ],
)  # fmt: skip
def test_a_system_that_always_fails_is_named_after_ten_simulations(cli, heater, body, message):
    called = run(cli, heater, body)
    assert called.code == 3
    expected = f"the first 10 simulations of the system 'heater' all failed alike {message}"
    assert expected in called.out
    assert "R1 error" in called.out
    assert "Traceback" not in called.out + called.err


def test_a_system_that_hangs_is_stopped_at_the_time_limit(cli, heater):
    called = run(cli, heater, "time.sleep(1000)", "time_limit: 0.05")
    assert called.code == 3
    assert "(timed_out)" in called.out


def test_abort_ends_the_run_at_the_first_failure(cli, heater):
    called = run(cli, heater, 'raise ValueError("x")', "on_failure: abort")
    assert called.code == 3
    assert "the system 'heater' failed (raised): ValueError: x" in called.out


def test_a_failure_can_count_as_a_violation(cli, heater):
    body = "assert not stimulus.inputs['heat'].any(), 'overload'; return {'T': 0 * stimulus.times}"
    called = run(cli, heater, body, "on_failure: violation")
    assert called.code == 1
    assert "R1 falsified" in called.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import does_not_exist\n", "does_not_exist"),
        ("heater = 3\n", "heater"),
        ("def heater(:\n", "system.py:1"),
    ],
)
def test_a_system_that_cannot_be_loaded_is_wrong_input(cli, heater, text, message):
    (heater / "system.py").write_text(text)
    called = cli("run", heater / "campaign.yaml")
    assert (called.code, called.out) == (2, "")
    assert message in called.err
    assert "Traceback" not in called.err
