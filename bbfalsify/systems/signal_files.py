"""Write and read the signal files of one-shot programs, as CSV or JSON.

csv     time,heat          one row per sample, numbers as Python writes them (17 digits where needed)
        0.0,1.0            outputs: a column for each of them, others are ignored; a column `time` is checked
json    {"times": […], "inputs": {"heat": […]}, "events": {"times": […], "names": […]}, "seed": 0}
        {"outputs": {"T": […]}}; "times" is checked if it is there
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.failures import MalformedAnswer, excerpt
from bbfalsify.systems.interface import Port
from bbfalsify.systems.programs.line_protocol import whole_signal

FORMATS = ("csv", "json")
RESAMPLING = ("hold", "linear")
_SAME_TIME = 1e-6
"""Programs print times with six digits; this is relative to the duration."""


def write_inputs(form: str, stimulus: Stimulus, seed: int) -> bytes:
    if form == "json":
        return json.dumps(whole_signal(stimulus, seed)).encode()
    columns = [stimulus.times, *stimulus.inputs.values()]
    rows = zip(*(map(repr, column.tolist()) for column in columns), strict=True)
    lines = [",".join(("time", *stimulus.inputs)), *(",".join(row) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def read_outputs(
    form: str, data: bytes, outputs: tuple[Port, ...], stimulus: Stimulus, resample: str | None
) -> Mapping[str, Any]:
    """Return each output in the data; `check_outputs` checks lengths and values later."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedAnswer(
            f"its output is not text: {excerpt(data[:4096].decode('utf-8', 'backslashreplace'))}"
        ) from None
    times, columns = (_read_json if form == "json" else _read_csv)(text, [port.name for port in outputs])
    if times is None:
        if resample is not None:
            raise MalformedAnswer("its output has no times, so it cannot be resampled")
        return columns
    if resample is not None:
        return {name: _resampled(times, name, values, stimulus.times, resample) for name, values in columns.items()}
    _check_times(times, stimulus.times)
    return columns


def _read_json(text: str, names: list[str]) -> tuple[np.ndarray | None, dict[str, Any]]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedAnswer(f"its output is not JSON ({error}): {excerpt(text)}") from None
    outputs = data.get("outputs") if isinstance(data, dict) else None
    if not isinstance(outputs, dict):
        raise MalformedAnswer(f"its output has no 'outputs' that map names to lists: {excerpt(text)}")
    times = data.get("times")
    return None if times is None else _numbers("times", times), {n: outputs[n] for n in names if n in outputs}


def _read_csv(text: str, names: list[str]) -> tuple[np.ndarray | None, dict[str, Any]]:
    try:
        rows = [row for row in csv.reader(io.StringIO(text), skipinitialspace=True) if row]
    except csv.Error as error:
        raise MalformedAnswer(f"its output is not CSV ({error}); it begins {excerpt(text)}") from None
    if not rows:
        raise MalformedAnswer("its output is empty")
    header = [name.strip() for name in rows[0]]
    missing = [name for name in names if name not in header]
    if missing:
        raise MalformedAnswer(f"its output has no column {', '.join(map(repr, missing))}; it begins {excerpt(text)}")
    odd = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
    if odd is not None:
        raise MalformedAnswer(f"row {odd} of its output has {len(rows[odd])} fields, the header has {len(header)}")
    columns = dict(zip(header, zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * len(header), strict=False))
    times = _numbers("time", columns["time"]) if "time" in columns else None
    return times, {name: _numbers(name, columns[name]) for name in names}


def _numbers(name: str, values: Any) -> np.ndarray:
    try:
        return np.array([float(value) for value in values])
    except (TypeError, ValueError, OverflowError) as error:
        raise MalformedAnswer(f"'{name}' of its output holds something that is no number ({error})") from None


def _check_times(times: np.ndarray, expected: np.ndarray) -> None:
    if len(times) != len(expected):
        raise MalformedAnswer(
            f"its output has {len(times)} samples, {len(expected)} were asked for "
            f"(a program with times of its own needs resample)"
        )
    wrong = ~(np.abs(times - expected) <= _SAME_TIME * max(float(expected[-1]), 1e-300))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise MalformedAnswer(
            f"sample {first} of its output is at time {times[first]:g}, it was asked for at {expected[first]:g} "
            f"(a program with times of its own needs resample)"
        )


def _resampled(times: np.ndarray, name: str, values: Any, wanted: np.ndarray, how: str) -> np.ndarray:
    values = _numbers(name, values)
    tolerance = _SAME_TIME * max(float(wanted[-1]), 1e-300)
    if len(values) != len(times) or not len(times) or not (np.diff(times) >= 0).all():
        raise MalformedAnswer(f"output '{name}': {len(values)} values at {len(times)} times, or times that go back")
    if times[0] > wanted[0] + tolerance or times[-1] < wanted[-1] - tolerance:
        raise MalformedAnswer(
            f"its output covers the times {times[0]:g} to {times[-1]:g}, not {wanted[0]:g} to {wanted[-1]:g}"
        )
    if how == "linear":
        return np.interp(wanted, times, values)
    return values[np.maximum(np.searchsorted(times, wanted + tolerance, side="right") - 1, 0)]
