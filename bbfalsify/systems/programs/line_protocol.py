"""The line protocol between bbfalsify and a program that stays alive from one simulation to the next.

One JSON object per line, UTF-8.  The program speaks first and describes itself; then it answers each request with one
line that repeats the request's number.  docs/how-to/program.md defines it, with an example.

    program    {"bbfalsify": 1, "name": "heater", "inputs": {"heat": "1"}, "outputs": {"T": "degC"}}
    bbfalsify  {"id": 1, "request": "run", "times": [0, 1, 2], "inputs": {"heat": [1, 1, 0]}, "events": …, "seed": 0}
    program    {"id": 1, "outputs": {"T": [0, 9.5, 18.1]}}
    bbfalsify  {"id": 2, "request": "close"}

A program with parameters says {"parameters": {"mass": {"default": 1.0, "unit": "kg"}}} in its hello, and finds those
that are set under "parameters" in the requests `run` and `reset`.

An answer {"id": 1, "error": "…"} says that this simulation failed and the program is ready for the next.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from bbfalsify.core.errors import UserError
from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.failures import MalformedAnswer, SessionFailure, excerpt
from bbfalsify.systems.interface import Capabilities, Port
from bbfalsify.systems.parameters import ParameterInfo, Values, as_parameters

VERSION = 1
VERSION_KEY = "bbfalsify"
"""The key by which a hello is recognised; its value is the version of the protocol."""
_ABILITIES = {field.name for field in fields(Capabilities)} - {"batch", "snapshot", "forkable"}


@dataclass(frozen=True)
class Hello:
    """A program's description of itself."""

    name: str
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    alphabet: tuple[str, ...] | None = None
    """The input symbols of a program that answers symbols; None for one that answers signals."""
    runs: bool = True
    """It takes whole signals; otherwise it is driven step by step."""
    capabilities: Capabilities = Capabilities()
    parameters: Mapping[str, ParameterInfo] = field(default_factory=dict)


def encode(number: int, kind: str, members: Mapping[str, Any]) -> bytes:
    return json.dumps({"id": number, "request": kind, **members}, separators=(",", ":")).encode() + b"\n"


class StepRequests:
    """A faster `encode` for steps: names are formatted once, and values only when they change."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._template = ""
        self._inputs: Mapping[str, float] | None = None
        self._duration_s = 0.0
        self._request = b""

    def encode(self, number: int, inputs: Mapping[str, float], duration_s: float) -> bytes:
        if inputs != self._inputs or duration_s != self._duration_s:
            self._write(inputs, duration_s)
        return self._request % number

    def _write(self, inputs: Mapping[str, float], duration_s: float) -> None:
        if self._names != (names := tuple(inputs)):
            members = ",".join(json.dumps(name).replace("%", "%%%%") + ":%r" for name in names)
            self._names = names
            self._template = '{"id":%%d,"request":"step","inputs":{' + members + '},"duration":%r}\n'
        self._request = (self._template % (*map(float, inputs.values()), float(duration_s))).encode()
        self._inputs, self._duration_s = dict(inputs), duration_s


def whole_signal(stimulus: Stimulus, seed: int) -> dict[str, Any]:
    """Members of a request `run`, which are also the JSON input of a one-shot program."""
    return {
        "times": stimulus.times.tolist(),
        "inputs": {name: values.tolist() for name, values in stimulus.inputs.items()},
        "events": {"times": [float(t) for t, _ in stimulus.events], "names": [name for _, name in stimulus.events]},
        **with_values(seed, stimulus.parameters),
    }


def with_values(seed: int, values: Values) -> dict[str, Any]:
    """Members of a request that begins a simulation; programs without parameters see no such member."""
    return {"seed": portable_seed(seed), **({"parameters": dict(values)} if values else {})}


def portable_seed(seed: int) -> int:
    """Reduce a seed to 53 bits, which every language reads exactly, also one whose only numbers are doubles."""
    return seed & (2**53 - 1)


_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # typeshed omits it


def decode(line: bytes, number: int) -> dict[str, Any]:
    """Return the answer to the request of this number."""
    try:
        # Fast path, as this is done at every step: json.loads without its checks.
        answer, end = _scan(line.decode(), 0)
        if end == len(line) - 1 and answer["id"] == number and "error" not in answer:
            return answer
    except (ValueError, RecursionError, StopIteration, KeyError, TypeError, IndexError):
        pass  # reported below
    return _decode_with_care(line, number)


def _decode_with_care(line: bytes, number: int) -> dict[str, Any]:
    answer = parse(line)
    if answer.get("id") != number:
        found = "no number" if "id" not in answer else f"number {answer['id']!r}"
        raise MalformedAnswer(f"its answer to request {number} carries {found}: {_shown(line)}")
    if "error" in answer:
        raise SessionFailure(str(answer["error"]) or "the program reported an error without a text")
    return answer


def parse(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise MalformedAnswer(
            f"a line of its standard output is not JSON: {_shown(line)} (messages belong on standard error)"
        ) from None
    if not isinstance(data, dict):
        raise MalformedAnswer(f"a line of its standard output is not a JSON object: {_shown(line)}")
    return data


def is_hello(line: bytes) -> bool:
    """Tell a hello from lines that a program prints before it (a banner, a licence)."""
    return line.lstrip().startswith(b"{") and f'"{VERSION_KEY}"'.encode() in line


def parse_hello(line: bytes) -> Hello:
    data = parse(line)
    if data.get(VERSION_KEY) != VERSION:
        raise MalformedAnswer(
            f"it speaks version {data.get(VERSION_KEY)!r} of the protocol; this bbfalsify speaks version {VERSION}"
        )
    wrong = []
    name = data.get("name")
    if not isinstance(name, str) or not name:
        wrong.append("'name' must be a text")
    symbols = "alphabet" in data
    alphabet = data.get("alphabet", ())
    if symbols and not (isinstance(alphabet, list) and alphabet and all(isinstance(s, str) for s in alphabet)):
        wrong.append("'alphabet' must be a list of input symbols")
    ports = {side: _ports(data.get(side, {}), side, wrong) for side in ("inputs", "outputs")}
    if not symbols and not ports["outputs"] and not wrong:
        wrong.append("it needs 'outputs', or an 'alphabet'")
    abilities = data.get("capabilities", {})
    if not isinstance(abilities, dict) or not set(abilities) <= _ABILITIES | {"run"}:
        wrong.append(f"'capabilities' may hold {', '.join(sorted(_ABILITIES | {'run'}))}")
        abilities = {}
    parameters = _parameters(data.get("parameters", {}), str(name), wrong)
    if wrong:
        raise MalformedAnswer(f"its hello is wrong: {'; '.join(wrong)}: {_shown(line)}")
    stepwise = bool(abilities.get("stepwise", symbols))
    runs = bool(abilities.get("run", not stepwise))
    declared = Capabilities(**{key: value for key, value in abilities.items() if key != "run"} | {"stepwise": stepwise})
    found = tuple(alphabet) if symbols else None
    return Hello(str(name), ports["inputs"], ports["outputs"], found, runs, declared, parameters)


def _ports(data: Any, side: str, wrong: list[str]) -> tuple[Port, ...]:
    """Read ports from {"heat": "1", "speed": null}, or from a list of names where units are unknown."""
    if isinstance(data, list):
        data = dict.fromkeys(name for name in data if isinstance(name, str))
    if not isinstance(data, dict) or not all(unit is None or isinstance(unit, str) for unit in data.values()):
        wrong.append(f"'{side}' must map names to units (a text, or null)")
        return ()
    return tuple(Port(name, unit) for name, unit in data.items())


def _parameters(data: Any, name: str, wrong: list[str]) -> Mapping[str, ParameterInfo]:
    """Read parameters from {"mass": 1.0, "size": {"default": 2, "unit": "m", "low": 1, "high": 9, "whole": true}}."""
    try:
        return as_parameters({n: ParameterInfo(**v) if isinstance(v, dict) else v for n, v in data.items()}, name)
    except UserError as error:
        wrong += [problem.message for problem in error.problems]
    except (AttributeError, TypeError):
        wrong.append("'parameters' must map names to defaults, or to {default, unit, low, high, whole}")
    return {}


def _shown(line: bytes) -> str:
    return excerpt(line[:4096].rstrip(b"\r\n").decode("utf-8", "backslashreplace"))
