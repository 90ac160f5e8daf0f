"""Use a system of signals as one of symbols, so that it can be learned and checked as a finite machine.

Each input symbol sets the inputs for one period, each answer is a symbol made of the outputs at its end.

    symbols = {"on": {"heat": 1.0}, "off": {"heat": 0.0}}
    SampledSystem(heater, symbols, period=0.5, answer=lambda values: "hot" if values["T"] > 75 else "ok")

A system that cannot go step by step is simulated again from its reset for every symbol, which gives the same answers
and costs more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.interface import NothingToClose, System
from bbfalsify.systems.output_checks import check_outputs

AnswerFunction = Callable[[Mapping[str, float]], str]
"""From the values of all inputs and outputs to an output symbol."""


class SampledSystem:
    def __init__(
        self, system: System, symbols: Mapping[str, Mapping[str, float]], period: float, answer: AnswerFunction
    ) -> None:
        self.system, self.period, self.answer = system, float(period), answer
        self.symbols = {symbol: dict(values) for symbol, values in symbols.items()}
        self.name = system.name
        self.alphabet = tuple(self.symbols)
        self.capabilities = replace(system.capabilities, stepwise=True, snapshot=False, forkable=False, batch=False)
        problems = list(self._problems())
        if problems:
            raise UserError(problems)
        for optional in ("prepare", "close", "set_up", "tear_down"):
            if hasattr(system, optional):
                setattr(self, optional, getattr(system, optional))

    def _problems(self) -> Iterator[Problem]:
        if not (self.period > 0 and math.isfinite(self.period)):
            yield Problem(f"a period of {self.period:g}: give a positive number.")
        ports = [port.name for port in self.system.inputs]
        for symbol, values in self.symbols.items():
            for name in values:
                if name not in ports:
                    yield unknown_name("input", name, ports, where=f"in the symbol '{symbol}'")
            missing = sorted(set(ports) - set(values))
            if missing:
                yield Problem(f"the symbol '{symbol}' does not say the value of {', '.join(missing)}.")

    def open(self, seed: int) -> SteppedSession | RepeatedSession:
        stepped = self.system.capabilities.stepwise
        return SteppedSession(self, seed) if stepped else RepeatedSession(self, seed)


class SteppedSession:
    """One session of the system, a period at a time."""

    def __init__(self, owner: SampledSystem, seed: int) -> None:
        self._owner = owner
        self._session: Any = owner.system.open(seed)  # `Session` does not declare `step` and `observe`

    def step(self, symbol: str) -> str:
        owner, values = self._owner, self._owner.symbols[symbol]
        self._session.step(values, owner.period)
        outputs = {name: np.array([value]) for name, value in self._session.observe().items()}
        checked = check_outputs(owner.system.outputs, np.zeros(1), outputs)
        return owner.answer({**values, **{name: float(column[0]) for name, column in checked.items()}})

    def __enter__(self) -> SteppedSession:
        self._session.__enter__()
        return self

    def __exit__(self, *exception: Any) -> Any:
        return self._session.__exit__(*exception)


class RepeatedSession(NothingToClose):
    """A session in which every symbol is a new simulation of everything so far."""

    def __init__(self, owner: SampledSystem, seed: int) -> None:
        self._owner, self._seed = owner, seed
        self._past: list[Mapping[str, float]] = []

    def step(self, symbol: str) -> str:
        owner = self._owner
        self._past.append(owner.symbols[symbol])
        times = np.arange(len(self._past) + 1) * owner.period
        # An input holds from its sample on, so the last sample says nothing new.
        held = [*self._past, self._past[-1]]
        inputs = {port.name: np.array([values[port.name] for values in held]) for port in owner.system.inputs}
        with owner.system.open(self._seed) as session:
            outputs = check_outputs(owner.system.outputs, times, session.execute(Stimulus(times, inputs)))
        return owner.answer({**self._past[-1], **{name: float(column[-1]) for name, column in outputs.items()}})
