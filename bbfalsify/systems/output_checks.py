"""Check the answer of a black box before it is judged.

A missing output, one sample too few or an unnoticed NaN would become a wrong verdict.  Here it becomes the status
MALFORMED, with a message that names the output, what was expected and what came.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from bbfalsify.systems.failures import MalformedAnswer
from bbfalsify.systems.interface import Port

_KINDS = {"c": "complex", "U": "str", "S": "bytes", "M": "datetime", "m": "timedelta"}


def check_outputs(outputs: tuple[Port, ...], times: np.ndarray, answer: Any) -> dict[str, np.ndarray]:
    """Return each declared output as float64 with one finite number per sample, or raise MalformedAnswer."""
    if not isinstance(answer, Mapping):
        names = ", ".join(port.name for port in outputs)
        raise MalformedAnswer(f"expected a mapping from output names ({names}) to arrays, got {_kind(answer)}")
    if len(answer) != len(outputs) or any(port.name not in answer for port in outputs):
        raise MalformedAnswer(_wrong_names({port.name for port in outputs}, answer))
    return {port.name: _samples(port.name, times, answer[port.name]) for port in outputs}


def _samples(name: str, times: np.ndarray, values: Any) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise MalformedAnswer(f"output '{name}': {int(np.ma.getmaskarray(values).sum())} of its values are masked")
    try:
        array = np.asarray(values)
    except Exception as error:
        raise MalformedAnswer(f"output '{name}': not an array of numbers ({type(error).__name__}: {error})") from None
    if array.shape != times.shape:
        expected = f"output '{name}': expected {len(times)} numbers (one per sample), got "
        if array.ndim == 1:
            raise MalformedAnswer(f"{expected}{len(array)}")
        raise MalformedAnswer(expected + (f"an array of shape {array.shape}" if array.ndim else _kind(values)))
    if array.dtype.kind not in "fiub" and not _all_plain_numbers(array):
        raise MalformedAnswer(f"output '{name}': expected numbers, got values of type {_element_kind(array)}")
    try:
        array = np.asarray(array, dtype=np.float64)
    except OverflowError:
        raise MalformedAnswer(f"output '{name}': a whole number that is too large for a float64") from None
    finite = np.isfinite(array)
    if not finite.all():
        first = int(np.argmin(finite))
        count = int(len(array) - finite.sum())
        raise MalformedAnswer(
            f"output '{name}': expected finite numbers, got {array[first]} at time {times[first]:g} "
            f"(sample {first}; {count} of {len(array)} are not finite)"
        )
    return array


def _wrong_names(expected: set[str], answer: Mapping) -> str:
    got = {str(name) for name in answer}
    missing, extra = sorted(expected - got), sorted(got - expected)
    parts = []
    if missing:
        parts.append(f"missing output{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))}")
    if extra:
        parts.append(f"undeclared output{'s' * (len(extra) > 1)} {', '.join(map(repr, extra))}")
    text = " and ".join(parts) or f"output names must be strings, got {sorted(map(repr, answer))}"
    close = [c for name in extra for c in difflib.get_close_matches(name, missing, n=1, cutoff=0.5)]
    return text + f"; expected {', '.join(sorted(expected))}" + (f"; did you mean '{close[0]}'?" if close else "")


def _all_plain_numbers(array: np.ndarray) -> bool:
    """Tell whether all objects of an object array are plain numbers (integers beyond 64 bits, for example)."""
    return array.dtype.kind == "O" and all(isinstance(value, int | float) for value in array.flat)


def _kind(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _element_kind(array: np.ndarray) -> str:
    if array.dtype.kind == "O":
        odd = next((v for v in array.flat if not isinstance(v, int | float)), None)
        return type(odd).__name__
    return _KINDS.get(array.dtype.kind, str(array.dtype))
