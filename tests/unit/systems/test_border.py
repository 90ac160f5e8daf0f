"""The border: what is accepted, and what the refusal says."""

import numpy as np
import pytest

from bbfalsify.systems import MalformedAnswer, Port, check_outputs

TIMES = np.array([0.0, 0.5, 1.0])
PORTS = (Port("T", "degC"), Port("power"))


def check(answer):
    return check_outputs(PORTS, TIMES, answer)


@pytest.mark.parametrize(
    "values", [[1, 2, 3], (1.5, 2, True), np.array([1, 2, 3], dtype=np.int8), np.array([1.0, 2, 3], dtype=np.float32)]
)
def test_anything_that_is_one_number_per_sample_is_accepted(values):
    signals = check({"T": values, "power": np.array([1, 10**30, 2], dtype=object)})
    assert list(signals) == ["T", "power"]
    assert all(signal.dtype == np.float64 and signal.shape == (3,) for signal in signals.values())
    assert signals["T"].tolist() == [float(v) for v in values]
    assert signals["power"][1] == 1e30


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([1, 2, 3], "expected a mapping from output names (T, power) to arrays, got a value of type list"),
        ({"T": [1, 2, 3]}, "missing output 'power'"),
        ({"T": [1, 2, 3], "Power": [1, 2, 3]}, "undeclared output 'Power'; expected T, power; did you mean 'power'?"),
        ({"T": [1, 2, 3], "power": [1, 2, 3], "x": [0]}, "undeclared output 'x'"),
        ({"T": [1, 2, 3], "power": [1, 2]}, "output 'power': expected 3 numbers (one per sample), got 2"),
        ({"T": [1, 2, 3], "power": None}, "output 'power': expected 3 numbers (one per sample), got None"),
        ({"T": [1, 2, 3], "power": [1, None, 3]}, "expected numbers, got values of type NoneType"),
        ({"T": [1, 2, 3], "power": [[1, 2], [3]]}, "output 'power': not an array of numbers"),
        ({"T": [1, 2, 3], "power": [1j, 2, 3]}, "got values of type complex"),
        ({"T": [1, float("nan"), 3], "power": [1, 2, 3]}, "got nan at time 0.5 (sample 1; 1 of 3 are not finite)"),
        ({"T": [1, 2, 3], "power": np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])}, "1 of its values are masked"),
        ({1: [1, 2, 3], 2: [1, 2, 3]}, "missing outputs 'T', 'power'"),
    ],
)
def test_everything_else_is_refused_with_output_expected_and_got(answer, said):
    with pytest.raises(MalformedAnswer) as refusal:
        check(answer)
    assert said in str(refusal.value)
