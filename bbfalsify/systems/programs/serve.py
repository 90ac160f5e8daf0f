"""Speak the line protocol in a Python program; this file alone needs only the standard library.

Copy it beside a simulator that runs in another Python (older, with other packages, without bbfalsify), and call one of

    serve(name="heater", inputs={"heat": "1"}, outputs={"T": "degC"}, run=run)                 # whole signals
    serve(name="tank", inputs={"inflow": "m3/s"}, outputs={"level": "m3"}, reset=reset, step=step)   # step by step
    serve(name="turnstile", alphabet=["coin", "push"], reset=reset, step=step)                 # symbols

    run(times, inputs) -> {"T": [...]}          lists of numbers; inputs["heat"][i] holds from times[i] until the next
    reset() -> {"level": 0.0}                   go back to the start; return the outputs at time 0 (symbols: nothing)
    step(inputs, duration) -> {"level": 0.1}    hold the inputs for the duration; return the outputs then
    step(symbol) -> "click"

A function that has an argument `seed` gets the seed of the simulation, and `run` with an argument `events` the user's
actions as pairs of time and name.  With `parameters={"mass": 1.0}` the functions `run` and `reset` get one more
argument for each, by its name.  An exception ends the simulation, not the program.  Prints, also those of libraries,
go to standard error.

With bbfalsify installed, any system can be served:  python -m bbfalsify.systems.programs.serve plant.py:heater
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

PROTOCOL_VERSION = 1


def serve(
    *,
    name: str,
    inputs: Mapping[str, str | None] | None = None,
    outputs: Mapping[str, str | None] | None = None,
    alphabet: Sequence[str] | None = None,
    run: Callable[..., Mapping[str, Sequence[float]]] | None = None,
    reset: Callable[..., Mapping[str, float] | None] | None = None,
    step: Callable[..., Any] | None = None,
    capabilities: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """Say hello and answer requests until told to close, or until the input ends."""
    if run is None and (reset is None or step is None):
        raise TypeError("serve() needs run, or reset and step")
    functions = [function for function in (run, reset, step) if function is not None]
    abilities = {
        "run": run is not None,
        "stepwise": step is not None,
        "seedable": any(_takes(function, "seed") for function in functions),
        **(capabilities or {}),
    }
    hello: dict[str, Any] = {"bbfalsify": PROTOCOL_VERSION, "name": name}
    if alphabet is not None:
        hello["alphabet"] = list(alphabet)
    else:
        hello.update(inputs=dict(inputs or {}), outputs=dict(outputs or {}))
    if parameters:
        hello["parameters"] = dict(parameters)
    answer = _answerer(run, reset, step, _defaults(parameters or {}))
    lines, write = _line()
    write(json.dumps({**hello, "capabilities": abilities}))
    for line in lines:
        request = json.loads(line)
        if request["request"] == "close":
            write(json.dumps({"id": request["id"]}))
            return
        try:
            reply = {"id": request["id"], **answer(request)}
        except Exception as error:
            reply = {"id": request["id"], "error": f"{type(error).__name__}: {error}"}
        write(json.dumps(reply, default=_plain))


def _defaults(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The default of each parameter; it stands alone, or in {"default": 1.0, "unit": "kg"}."""
    return {name: value["default"] if isinstance(value, Mapping) else value for name, value in parameters.items()}


def _answerer(
    run: Callable[..., Any] | None,
    reset: Callable[..., Any] | None,
    step: Callable[..., Any] | None,
    defaults: Mapping[str, Any],
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Make a function from a request to the members of its answer."""
    run_extras = [extra for extra in ("events", "seed") if run is not None and _takes(run, extra)]
    reset_takes_seed = reset is not None and _takes(reset, "seed")

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        kind = request["request"]
        values = {**defaults, **request.get("parameters", {})}
        if kind == "step" and step is not None:
            if "symbol" in request:
                return {"symbol": step(request["symbol"])}
            return {"outputs": step(request["inputs"], request["duration"])}
        if kind == "run" and run is not None:
            events = request["events"]
            pairs = [tuple(pair) for pair in zip(events["times"], events["names"])]  # noqa: B905 (older Pythons)
            given = {"events": pairs, "seed": request["seed"]}
            extras = {key: given[key] for key in run_extras}
            return {"outputs": run(request["times"], request["inputs"], **extras, **values)}
        if kind == "reset" and reset is not None:
            outputs = reset(seed=request["seed"], **values) if reset_takes_seed else reset(**values)
            return {} if outputs is None else {"outputs": outputs}
        raise ValueError(f"this program does not know the request '{kind}'")

    return answer


def _takes(function: Callable[..., Any], argument: str) -> bool:
    try:
        return argument in inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled functions that do not show their arguments
        return False


def _line() -> tuple[Iterator[bytes], Callable[[str], None]]:
    """Return the requests and a function to answer; from now on all other prints go to standard error."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def write(text: str) -> None:
        data = memoryview(text.encode() + b"\n")
        while data:
            data = data[answers.write(data) :]

    return iter(sys.stdin.buffer.readline, b""), write


def _plain(value: Any) -> Any:
    """Convert arrays and numbers of numpy, without importing it."""
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise TypeError(f"a value of type {type(value).__name__} cannot be sent as JSON")


def serve_system(system: Any) -> None:
    """Serve a system of bbfalsify; a stepwise one is stepped here, so that whole signals are sent at once."""
    from dataclasses import asdict

    abilities = {key: asdict(system.capabilities)[key] for key in ("seedable", "real_time", "grid_period_s", "step_s")}
    declared = getattr(system, "parameters", None) or {}
    # JSON has no infinity; a range that is not limited is not said.
    infinite = (float("inf"), float("-inf"))
    parameters = {
        name: {key: value for key, value in asdict(info).items() if value not in infinite}
        for name, info in declared.items()
        if info.default is not None
    }
    getattr(system, "prepare", lambda: None)()
    try:
        if hasattr(system, "alphabet"):
            box = _SymbolBox(system)
            kind: dict[str, Any] = {"alphabet": system.alphabet, "reset": box.reset, "step": box.step}
        else:
            kind = {side: {p.name: p.unit for p in getattr(system, side)} for side in ("inputs", "outputs")}
            kind["run"] = _runner(system)
        serve(name=system.name, capabilities=abilities, parameters=parameters, **kind)
    finally:
        getattr(system, "close", lambda: None)()


def _runner(system: Any) -> Callable[..., Any]:
    import numpy as np

    from bbfalsify.core.trace import Stimulus
    from bbfalsify.systems.parameters import open_session

    def run(
        times: list[float], inputs: dict[str, list[float]], events: list[tuple[float, str]], seed: int, **values: float
    ) -> Mapping[str, Any]:
        signals = {name: np.array(values) for name, values in inputs.items()}
        with open_session(system, seed, values) as session:
            return session.execute(Stimulus(np.array(times), signals, tuple(events), values))

    return run


class _SymbolBox:
    """A symbol system whose session stays open from one reset to the next."""

    def __init__(self, system: Any) -> None:
        self._system, self._session = system, None

    def reset(self, seed: int, **values: float) -> None:
        from bbfalsify.systems.parameters import open_session

        if self._session is not None:
            session, self._session = self._session, None
            session.__exit__(None, None, None)
        self._session = open_session(self._system, seed, values).__enter__()

    def step(self, symbol: str) -> str:
        if self._session is None:
            raise ValueError("a step before the first reset")
        return self._session.step(symbol)


def main(arguments: Sequence[str]) -> None:
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        sys.exit("usage: python -m bbfalsify.systems.programs.serve SYSTEM     (adapters/heater, plant.py:heater, …)")
    from bbfalsify.core.errors import BBFalsifyError
    from bbfalsify.systems.loading import load_system

    try:
        serve_system(load_system(arguments[0]))
    except BBFalsifyError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
