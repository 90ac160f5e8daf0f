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
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, SupportsFloat, cast

import numpy as np

from bbfalsify.core.errors import unknown_name
from bbfalsify.core.trace import Stimulus
from bbfalsify.modelling.network.expressions import Kind, Read
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network, Process, Variable
from bbfalsify.modelling.profiles.black_box import BlackBox, InputVariable
from bbfalsify.systems.failures import SessionFailure
from bbfalsify.systems.interface import Capabilities, NothingToClose, Port, StepwiseSession
from bbfalsify.systems.parameters import ParameterInfo, Values

if TYPE_CHECKING:
    from bbfalsify.kernel import Particles, StepResult

NOTHING = "-"
"""The answer of a model that sends nothing."""
MOST_TRANSITIONS = 200_000
"""A model that makes more transitions in one step counts as zeno, and so does one whose pace says that it will."""
_LOOK_EVERY = 20_000


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


class CompiledBox:
    """The compiled model and its sampler."""

    def __init__(self, box: BlackBox) -> None:
        from bbfalsify.kernel import Sampler, compile_network

        self.box = box
        self.model = compile_network(box.network)
        # Beside the outputs every real: that is the state after some time without a transition.
        reals = [(Read(slot, Kind.DOUBLE), 0) for slot in range(box.network.real_count)]
        self.sampler = Sampler(self.model, [*((o.expression, o.frame_size) for o in box.outputs), *reals])

    def warm_up(self) -> None:
        """Load or compile the code that a simulation needs, before time is measured."""
        self.sampler.warm_up()
        Play(self, self.beginning(0, {})).advance(0.0)

    def beginning(self, seed: int, parameters: Values) -> Moment:
        """The initial state, in which parameters have other values than the model's text says."""
        from bbfalsify.kernel import Particles

        state = Particles.initial(self.model, np.array([seed], np.uint64))
        for parameter in self.box.parameters:
            if parameter.name in parameters:
                store = state.reals if parameter.variable.kind.is_real else state.integers
                store[0, parameter.variable.slot] = parameters[parameter.name]
        return Moment(state, 0.0)

    def sample(self, rows: list[Particles], times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sample outputs and reals at these times, none before the first row; a column per time."""
        from bbfalsify.kernel import Walk, WalkStatus

        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(row, name) for row in rows])

        walk = Walk(
            WalkStatus.RUNNING, joined("time")[1:], np.zeros(0, np.int32), joined("locations"), joined("integers"),
            joined("reals"),
        )  # fmt: skip
        values = self.sampler.sample(walk, times, start=float(rows[0].time[0]))
        outputs = len(self.box.outputs)
        return values[:outputs], values[outputs:]


@dataclass(frozen=True, eq=False)
class Moment:
    """An immutable state in time, from which a run can be continued."""

    state: Particles
    """Right after the last step."""
    now: float
    coming: StepResult | None = None
    """The next transition, where it has been drawn and is still to come."""


class Play:
    """One run of a model, from a moment on."""

    def __init__(self, machine: CompiledBox, moment: Moment) -> None:
        self.machine, self.moment = machine, moment

    def advance(self, until: float) -> list[tuple[int, Particles]]:
        """Let time pass; return the edges that fired and the states they led to."""
        from bbfalsify.kernel import WalkStatus, stochastic_step

        state, coming, fired = self.moment.state, self.moment.coming, []
        looked_at = self.moment.now
        while True:
            if coming is None:
                coming = stochastic_step(self.machine.model, state)
            status = WalkStatus(int(coming.status[0]))
            if status is WalkStatus.RUNTIME_ERROR:
                raise SessionFailure(f"the model failed after time {float(state.time[0]):g}: {coming.errors[0]}")
            if status is WalkStatus.TIMELOCK:
                self._refuse_to_wait(state, until)
            if status is not WalkStatus.RUNNING or coming.particles.time[0] > until:
                break
            state = coming.particles
            fired.append((int(coming.edge[0]), state))
            coming = None
            if len(fired) % _LOOK_EVERY == 0:
                looked_at = _refuse_zeno(len(fired), looked_at, float(state.time[0]), until)
        self.moment = Moment(state, until, coming)
        return fired

    def _refuse_to_wait(self, state: Particles, until: float) -> None:
        """Fail if, while nothing can fire, time would pass the moment until which the invariants hold."""
        from bbfalsify.kernel.state_inspection import ConcreteState, maximal_delay

        now = float(state.time[0])
        longest, strict = maximal_delay(
            self.machine.model, ConcreteState(state.locations[0], state.integers[0], state.reals[0], now)
        )
        if until - now > longest or (strict and until - now == longest):
            processes = self.machine.box.network.processes
            places = zip(processes, state.locations[0], strict=True)
            at = ", ".join(f"{process.name}.{process.locations[place].name}" for process, place in places)
            raise SessionFailure(f"the model is stuck in {at}: no time can pass after {now + max(longest, 0):g}")

    def interfere(self, integers: Mapping[int, int], reals: Mapping[int, float], locations: Mapping[int, int]) -> None:
        """Change the state from outside, now; the next transition is drawn again."""
        moment = self.moment
        state = moment.state.copy()
        if moment.coming is not None:  # its random numbers have been used
            state = replace(state, rng=moment.coming.particles.rng.copy())
        if len(state.reals[0]):
            state.reals[0] = self.machine.sample([moment.state], np.array([moment.now]))[1][:, 0]
        state.time[0] = moment.now
        for store, changes in ((state.integers, integers), (state.reals, reals), (state.locations, locations)):
            for slot, value in changes.items():
                store[0, slot] = value
        self.moment = Moment(state, moment.now)


def _refuse_zeno(fired: int, before: float, now: float, until: float) -> float:
    """Fail where the pace since the last look (time moved from `before` to `now`) does not lead to the end."""
    if (MOST_TRANSITIONS - fired) * (now - before) < (until - now) * _LOOK_EVERY:
        raise SessionFailure(f"the model is zeno: {fired} transitions brought time only to {now:g}")
    return now


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
