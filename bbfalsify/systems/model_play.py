"""Let a compiled model run from moment to moment, and change its state from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bbfalsify.modelling.network.expressions import Kind, Read
from bbfalsify.modelling.profiles.black_box import BlackBox
from bbfalsify.systems.failures import SessionFailure
from bbfalsify.systems.parameters import Values

if TYPE_CHECKING:
    from bbfalsify.kernel import Particles, StepResult

MOST_TRANSITIONS = 200_000
"""A model that makes more transitions in one step counts as zeno, and so does one whose pace says that it will."""
_LOOK_EVERY = 20_000


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
