"""Make a black box of a Python function.

    @system(inputs={"heat": "1"}, outputs={"T": "degC"})
    def heater(stimulus):
        ...
        return {"T": temperatures}

The function takes the `Stimulus` (`times`, `inputs["heat"]`, `events`) and returns each output as a sequence with one
number per sample.  A function with two arguments is called as `f(times, inputs)`.  One that has an argument named
`seed` is seedable: it gets the seed of each simulation, and has to take all its randomness from it.

A vectorised function takes a list of stimuli (and `seeds`, if it is random) and returns a list of such answers:

    @system(inputs={"heat": "1"}, outputs={"T": "degC"}, batch=True)
    def heaters(stimuli):
        ...
        return [{"T": temperatures} for temperatures in everything]

A function of one stimulus may have a vectorised twin, which gives the same answers faster: `batch=heaters`.

The decorated function can still be called as before.  Every call must start from reset: a function that keeps state
between calls (globals, caches) has to reset it itself.

Parameters are keyword arguments that have one value per simulation (in a batch: a list with one value per stimulus):

    @system(inputs={"force": "N"}, outputs={"x": "m"}, parameters={"mass": 1.0})
    def cart(stimulus, *, mass): ...
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.failures import MalformedAnswer
from bbfalsify.systems.interface import Capabilities, NothingToClose, PortsLike, as_ports
from bbfalsify.systems.parameters import ParametersLike, Values, as_parameters, completed


class FunctionSystem:
    """A callable with ports."""

    def __init__(
        self,
        function: Callable[..., Mapping[str, Any]],
        *,
        inputs: PortsLike,
        outputs: PortsLike,
        name: str | None = None,
        capabilities: Capabilities | None = None,
        batch: bool | Callable[..., Any] = False,
        step: float | None = None,
        parameters: ParametersLike | None = None,
    ) -> None:
        """`batch`: the function takes a list of stimuli and answers all of them; or another function that does, as this
        one answers each.  `step`: `Capabilities.step_s`.
        """
        self.function = function
        self._many = None if isinstance(batch, bool) else batch
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.inputs = as_ports(inputs)
        self.outputs = as_ports(outputs)
        self.parameters = as_parameters(parameters, self.name)
        self.__doc__ = getattr(function, "__doc__", None)
        capabilities = capabilities or Capabilities()
        takes_list = batch is True or (capabilities.batch and self._many is None)
        self._takes_times_and_inputs, takes_seed = _calling_convention(function, self.name, takes_list, self.parameters)
        if self._many is not None:
            twin = f"{self.name}, batch"
            if _calling_convention(self._many, twin, True, self.parameters)[1] != takes_seed:
                raise UserError(f"system '{self.name}': of the function and its batch only one takes seeds.")
        self._takes_seed = takes_seed
        step = capabilities.step_s if step is None else step
        if step is not None and (isinstance(step, bool) or not isinstance(step, int | float) or not step > 0):
            raise UserError(f"system '{self.name}': step must be a positive number, found {step!r}.")
        self.capabilities = replace(
            capabilities, seedable=takes_seed, batch=takes_list or self._many is not None, step_s=step
        )
        names = [port.name for port in (*self.inputs, *self.outputs)]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise UserError(Problem(f"system '{self.name}': the name '{n}' is used by two ports.") for n in twice)
        if not self.outputs:
            raise UserError(f"system '{self.name}' declares no output, so nothing could be judged.")

    def open(self, seed: int, parameters: Values | None = None) -> _FunctionSession:
        return _FunctionSession(self, seed, parameters or {})

    def __call__(self, *arguments: Any, **named: Any) -> Mapping[str, Any]:
        return self.function(*arguments, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a decorated function by its name, which now means this system and not the function."""
        module, name = str(getattr(self.function, "__module__", "")), str(getattr(self.function, "__qualname__", ""))
        if getattr(sys.modules.get(module), name, None) is self:
            return _find, (module, name)
        names = ("inputs", "outputs", "name", "capabilities", "parameters")
        more: dict[str, Any] = {"batch": self._many} if self._many is not None else {}
        return partial(type(self), **{name: getattr(self, name) for name in names}, **more), (self.function,)

    def __repr__(self) -> str:
        ports = [", ".join(port.name for port in side) for side in (self.inputs, self.outputs)]
        return f"<system {self.name}: {ports[0]} -> {ports[1]}>"


class _FunctionSession(NothingToClose):
    def __init__(self, system: FunctionSystem, seed: int, parameters: Values) -> None:
        self._system, self._seed = system, seed
        self._values = completed(parameters, system.parameters)

    def execute(self, stimulus: Stimulus) -> Mapping[str, np.ndarray]:
        system = self._system
        if system.capabilities.batch and system._many is None:
            [answer] = self.execute_many([stimulus], [self._seed])
            return answer
        seed = {"seed": self._seed} if system._takes_seed else {}
        if system._takes_times_and_inputs:
            return system.function(stimulus.times, stimulus.inputs, **seed, **self._values)
        return system.function(stimulus, **seed, **self._values)

    def execute_many(self, stimuli: list[Stimulus], seeds: list[int] | None = None) -> list[Mapping[str, np.ndarray]]:
        system = self._system
        more: dict[str, Any] = {"seeds": seeds} if system._takes_seed else {}
        for name, value in self._values.items():
            more[name] = [stimulus.parameters.get(name, value) for stimulus in stimuli]
        # A batch function returns a list of answers, which the type of `function` does not say.
        answers: list[Any] = list((system._many or system.function)(stimuli, **more))
        if len(answers) != len(stimuli):
            raise MalformedAnswer(f"expected {len(stimuli)} answers to {len(stimuli)} stimuli, got {len(answers)}")
        return answers


def system(
    *,
    inputs: PortsLike,
    outputs: PortsLike,
    name: str | None = None,
    capabilities: Capabilities | None = None,
    batch: bool | Callable[..., Any] = False,
    step: float | None = None,
    parameters: ParametersLike | None = None,
) -> Callable[[Callable[..., Any]], FunctionSystem]:
    """Decorate a function to make it a system; ports are names with units, or names alone.

    `batch`: the function takes a list of stimuli; or another function that does, and gives the same answers.
    `step`: outputs change only at multiples of it and at events, so that they need not be sampled more densely.
    `parameters`: keyword arguments with their defaults (or a `ParameterInfo` each), one value per simulation.
    """
    return partial(
        FunctionSystem, inputs=inputs, outputs=outputs, name=name, capabilities=capabilities, batch=batch, step=step,
        parameters=parameters,
    )  # fmt: skip


def _find(module: str, name: str) -> FunctionSystem:
    return getattr(importlib.import_module(module), name)


def _calling_convention(function: Callable, name: str, batch: bool, declared: Collection[str]) -> tuple[bool, bool]:
    """Tell whether it takes (times, inputs) instead of the stimulus, and whether it takes a seed (a batch: seeds)."""
    seed = "seeds" if batch else "seed"
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled callables that do not show their arguments
        return False, False
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if missing := [] if takes_any else [parameter for parameter in declared if parameter not in by_name]:
        raise UserError(
            Problem(f"system '{name}': the function has no argument '{parameter}' for its parameter.")
            for parameter in missing
        )
    others = [p for p in parameters if p.name != seed and p.name not in declared]
    positional = [p for p in others if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    needed = [p for p in positional if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    not_given = [p for p in others if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if not positional or len(needed) > (1 if batch else 2) or not_given:
        wanted = "one argument (the stimuli)" if batch else "one argument (the stimulus) or two (times, inputs)"
        raise UserError(
            f"system '{name}': the function must take {wanted}, and may take '{seed}'; "
            f"it is {name}{inspect.signature(function)}."
        )
    return len(needed) == 2, any(p.name == seed for p in parameters)
