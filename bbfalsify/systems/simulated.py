"""Run models of our own language as black boxes.

    system = load_system("heater.yaml")             # a model with `ports`, see modelling/profiles/black_box.py

The model runs under its stochastic semantics, from the seed of the simulation.  A change of an input, and a symbol, is
a step of the environment: as after every step, all waiting components draw new delays.  Between changes the sampling
density does not matter.  An output at the moment of a change is its value just before the model reacts.

A symbol is sent on its channel; the answer is what the model sends in the following period, `-` for nothing.  An extra
process of the network sends it: put into the committed location of a symbol, that process must send it at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import SupportsFloat, cast

import numpy as np

from bbfalsify.core.errors import unknown_name
from bbfalsify.core.trace import Stimulus
from bbfalsify.modelling.network.expressions import Kind
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network, Process, Variable
from bbfalsify.modelling.profiles.black_box import BlackBox, InputVariable
from bbfalsify.systems.failures import SessionFailure
from bbfalsify.systems.interface import Capabilities, NothingToClose, Port, StepwiseSession
from bbfalsify.systems.model_play import CompiledBox, Moment, Play
from bbfalsify.systems.parameters import ParameterInfo, Values

NOTHING = "-"
"""The answer of a model that sends nothing."""


class _Model:
    """Common base of both kinds of model systems: a network, compiled when it is first run."""

    capabilities = Capabilities(seedable=True, stepwise=True, snapshot=True, forkable=True)

    def __init__(self, box: BlackBox) -> None:
        self.box, self.name = box, box.network.name
        self.parameters = {p.name: _info(p.variable, p.unit) for p in box.parameters}

    @cached_property
    def machine(self) -> CompiledBox:
        return CompiledBox(self.box)

    def set_up(self) -> None:
        self.machine.warm_up()

    prepare = set_up

    def _play(self, seed: int, parameters: Values | None) -> Play:
        return Play(self.machine, self.machine.beginning(seed, parameters or {}))


class ModelSystem(_Model):
    """A network whose variables are inputs and outputs."""

    def __init__(self, box: BlackBox) -> None:
        super().__init__(box)
        self.inputs = tuple(Port(i.name, i.unit) for i in box.inputs)
        self.outputs = tuple(Port(o.name, o.unit) for o in box.outputs)

    def open(self, seed: int, parameters: Values | None = None) -> ModelSession:
        return ModelSession(self._play(seed, parameters))


class ModelSymbolSystem(_Model):
    """A network that receives symbols, and answers with the symbols it sends."""

    def __init__(self, box: BlackBox) -> None:
        super().__init__(replace(box, network=_with_an_outside(box.network, box.symbols)))
        self.alphabet = box.symbols

    def open(self, seed: int, parameters: Values | None = None) -> ModelSymbolSession:
        return ModelSymbolSession(self._play(seed, parameters))


def model_system(box: BlackBox) -> ModelSystem | ModelSymbolSystem:
    return ModelSymbolSystem(box) if box.symbols else ModelSystem(box)


def _info(variable: Variable, unit: str | None) -> ParameterInfo:
    """Describe the initial value of a variable."""
    default = float(cast(SupportsFloat, variable.initial[0]))
    if variable.kind.is_real:
        return ParameterInfo(default, unit)
    low, high = (0, 1) if variable.kind is Kind.BOOL else (variable.low, variable.high)
    return ParameterInfo(default, unit, low, high, whole=True)


def _with_an_outside(network: Network, symbols: tuple[str, ...]) -> Network:
    """Add a process to the network that sends symbols: location 0 waits, location i + 1 sends the symbol i."""
    channels = [channel.name for channel in network.channels]
    locations = (Location("waits"), *(Location(f"sends {symbol}", committed=True) for symbol in symbols))
    edges = tuple(
        Edge(i + 1, (Branch(0),), channel=channels.index(symbol), sends=True, action=symbol)
        for i, symbol in enumerate(symbols)
    )
    return replace(network, processes=(*network.processes, Process("(outside)", locations, 0, edges)))


class _Resumable:
    """A session that can be saved, restored and forked, because a moment is its whole state."""

    def __init__(self, play: Play) -> None:
        self._play = play
        play.advance(play.moment.now)  # before the first input: parameters are drawn

    def save(self) -> Moment:
        return self._play.moment

    def restore(self, state: Moment) -> None:
        self._play.moment = state

    def fork(self) -> _Resumable:
        return type(self)(Play(self._play.machine, self._play.moment))


class ModelSession(_Resumable, StepwiseSession):
    def observe(self) -> Mapping[str, float]:
        moment = self._play.moment
        values, _ = self._play.machine.sample([moment.state], np.array([moment.now]))
        return {o.name: float(v) for o, v in zip(self._play.machine.box.outputs, values[:, 0], strict=True)}

    def step(self, inputs: Mapping[str, float], duration_s: float) -> None:
        self._set(inputs)
        self._play.advance(self._play.moment.now + duration_s)

    def execute(self, stimulus: Stimulus) -> Mapping[str, np.ndarray]:
        """As step by step, but compute all samples between two changes of the inputs at once."""
        times = stimulus.times
        box = self._play.machine.box
        signals = np.zeros((len(box.outputs), len(times)))
        signals[:, 0] = list(self.observe().values())
        held = np.array([stimulus.inputs[i.name] for i in box.inputs]).reshape(len(box.inputs), len(times))
        changes = np.flatnonzero(np.any(held[:, 1:] != held[:, :-1], axis=0)) + 1
        pieces = [0, *changes[changes < len(times) - 1].tolist(), len(times) - 1]
        for first, last in pairwise(pieces):
            if first == last:  # a single moment
                break
            self._set({i.name: float(v) for i, v in zip(box.inputs, held[:, first], strict=True)})
            rows = [self._play.moment.state]
            rows += [state for _, state in self._play.advance(float(times[last]))]
            signals[:, first + 1 : last + 1], _ = self._play.machine.sample(rows, times[first + 1 : last + 1])
        return {o.name: row for o, row in zip(box.outputs, signals, strict=True)}

    def _set(self, inputs: Mapping[str, float]) -> None:
        """Set the inputs that change: setting one to its present value must not make components draw again."""
        state = self._play.moment.state
        integers: dict[int, int] = {}
        reals: dict[int, float] = {}
        for port in self._play.machine.box.inputs:
            value, slot = inputs[port.name], port.variable.slot
            if port.variable.kind.is_real:
                if state.reals[0, slot] != value:
                    reals[slot] = value
            elif state.integers[0, slot] != (whole := _whole(port, value)):
                integers[slot] = whole
        if integers or reals:
            self._play.interfere(integers, reals, {})


def _whole(port: InputVariable, value: float) -> int:
    low, high = (0, 1) if port.variable.kind is Kind.BOOL else (port.variable.low, port.variable.high)
    if not (float(value).is_integer() and low <= value <= high):
        raise SessionFailure(f"input '{port.name}' takes whole numbers from {low} to {high}, got {value:g}")
    return int(value)


class ModelSymbolSession(_Resumable, NothingToClose):
    def step(self, symbol: str) -> str:
        play, box = self._play, self._play.machine.box
        if symbol not in box.symbols:
            raise SessionFailure(str(unknown_name("input symbol", symbol, box.symbols)))
        outside = len(box.network.processes) - 1
        play.interfere({}, {}, {outside: box.symbols.index(symbol) + 1})
        sent = []
        for number, _ in play.advance(play.moment.now + box.step):
            process, edge = play.machine.model.edge(number)
            if edge.sends and process != outside:
                sent.append(edge.action)
        return "+".join(sent) or NOTHING
