"""One use of an FMU, from reset to close.

Steps end at every sample of the stimulus (the grid together with all events), so inputs change at their exact times.
An output sample at an event shows the moment before the new inputs act; at time 0 the first inputs count already.

An FMU that cannot take steps of any size runs on its own grid: an input that changes between two grid points acts from
the next one on, and an output holds from its grid point until the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.fmu.instance_reuse import Instances, Prepared
from bbfalsify.systems.fmu.native import FmuError
from bbfalsify.systems.fmu.variable_access import unfit
from bbfalsify.systems.interface import Enough, StepwiseSession
from bbfalsify.systems.parameters import Values

if TYPE_CHECKING:
    import ctypes

    from bbfalsify.systems.fmu.fmu_system import FmuSystem

_EARLY = 1e-9
"""A sample so close before a grid point (in grid steps) is on it."""


class Snapshot:
    """A saved state; good for its session only."""

    __slots__ = ("_inputs", "_session", "_state", "_steps", "_time")

    def __init__(self, session: FmuSession, state: ctypes.c_void_p) -> None:
        self._session, self._state = session, state
        self._time, self._steps, self._inputs = session._time, session._steps, session._inputs


class FmuSession(StepwiseSession):
    def __init__(self, system: FmuSystem, instances: Instances, parameters: Values) -> None:
        self._system, self._instances = system, instances
        self._starts = system.plan.starts(parameters)
        self._grid = system.capabilities.grid_period_s
        self._prepared: Prepared | None = None
        """The instance of a simulation that goes step by step."""
        self._step: Callable[[float, float], None]
        self._time, self._steps = 0.0, 0
        self._inputs: np.ndarray | None = None
        self._snapshots: set[Snapshot] = set()

    # ------------------------------------------------------------------ whole signals

    def execute(self, stimulus: Stimulus) -> Mapping[str, np.ndarray]:
        return self._execute(stimulus, None, 1)

    def execute_until(self, stimulus: Stimulus, enough: Enough, *, every: int) -> Mapping[str, np.ndarray]:
        return self._execute(stimulus, enough, every)

    def _execute(self, stimulus: Stimulus, enough: Enough | None, every: int) -> Mapping[str, np.ndarray]:
        times = stimulus.times
        inputs = self._matrix(stimulus.inputs, len(times))
        if self._grid is None:
            steps, points = times, np.arange(len(times))
        else:
            points = np.floor(times / self._grid + _EARLY).astype(np.int64)
            steps = np.arange(points[-1] + 1) * self._grid
            inputs = inputs[np.searchsorted(times, steps + _EARLY * self._grid, side="right") - 1]

        def outputs(rows: np.ndarray) -> Mapping[str, np.ndarray]:
            """Outputs at the samples that these steps have reached."""
            reached = rows[points[: np.searchsorted(points, len(rows))]]
            return {port.name: reached[:, column] for column, port in enumerate(self._system.outputs)}

        stop = None if enough is None else lambda rows: enough(outputs(rows))
        stop_every = max(1, every * len(steps) // len(times))

        def simulation(made: Prepared) -> np.ndarray:
            made.begin(inputs[0], self._starts)
            return _run(made, steps, inputs, self._width, stop, stop_every)

        return outputs(self._instances.simulate(simulation))

    @property
    def _width(self) -> int:
        return len(self._system.outputs)

    def _matrix(self, inputs: Mapping[str, np.ndarray], samples: int) -> np.ndarray:
        """One row per sample, one column per input port."""
        matrix = np.empty((samples, len(self._system.inputs)))
        for column, (port, (variable, _)) in enumerate(zip(self._system.inputs, self._system.plan.inputs, strict=True)):
            matrix[:, column] = inputs[port.name]
            if (wrong := unfit(variable, matrix[:, column])) is not None:
                raise FmuError(f"input '{port.name}' {wrong}")
        return matrix

    # ------------------------------------------------------------------ step by step

    def observe(self) -> Mapping[str, float]:
        row = np.empty(self._width)
        self._started().read(row)
        return {port.name: value for port, value in zip(self._system.outputs, row.tolist(), strict=True)}

    def step(self, inputs: Mapping[str, float], duration_s: float) -> None:
        row = self._matrix({name: np.array([value]) for name, value in inputs.items()}, 1)[0]
        prepared = self._started()
        until = self._time + duration_s
        if self._grid is None:
            self._advance(prepared, row, self._time, duration_s)
        else:
            early = _EARLY * self._grid
            while True:
                point = self._steps * self._grid
                if self._time - early < point < until - early:
                    self._inputs = row
                if point + self._grid > until + early:
                    break
                self._advance(prepared, self._inputs, point, self._grid)
                self._steps += 1
        self._time = until

    def _advance(self, prepared: Prepared, row: np.ndarray | None, time: float, duration: float) -> None:
        assert row is not None  # the first step of a grid is at time 0, where the inputs are set
        prepared.write(row)
        self._step(time, duration)

    def start(self, inputs: Mapping[str, float]) -> None:
        """Begin with these inputs, as `execute` does; without it a simulation step by step begins without inputs."""
        self._begin(self._matrix({name: np.array([value]) for name, value in inputs.items()}, 1)[0])

    def _begin(self, inputs: np.ndarray | None) -> None:
        self._prepared = self._instances.new()
        self._prepared.begin(inputs, self._starts)
        self._step = self._prepared.instance.stepper(may_go_back=self._system.capabilities.snapshot)

    def _started(self) -> Prepared:
        if self._prepared is None:
            self._begin(None)
        assert self._prepared is not None
        return self._prepared

    def save(self) -> Snapshot:
        """Save the state, from which this session can continue any number of times."""
        if not self._system.capabilities.snapshot:
            raise FmuError("this FMU cannot save its state")
        snapshot = Snapshot(self, self._started().instance.save())
        self._snapshots.add(snapshot)
        return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        if snapshot._session is not self or snapshot not in self._snapshots:
            raise FmuError("this state was saved in another session, or in one that has ended")
        self._started().instance.restore(snapshot._state)
        self._time, self._steps, self._inputs = snapshot._time, snapshot._steps, snapshot._inputs

    def forget(self, snapshot: Snapshot) -> None:
        """Free a saved state that is not needed any more."""
        if snapshot in self._snapshots:
            self._snapshots.remove(snapshot)
            self._started().instance.forget(snapshot._state)

    def __exit__(self, *exception: object) -> None:
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            return
        try:
            if prepared.instance.usable:
                for snapshot in self._snapshots:
                    prepared.instance.forget(snapshot._state)
                prepared.instance.terminate()
        finally:
            self._snapshots.clear()
            prepared.instance.free()


def _run(
    prepared: Prepared,
    times: np.ndarray,
    inputs: np.ndarray,
    width: int,
    stop: Callable[[np.ndarray], bool] | None,
    stop_every: int,
) -> np.ndarray:
    """Set inputs that changed, step to the next time and read, for all times or until `stop` says so."""
    rows = np.empty((len(times), width))
    read, write, step = prepared.read, prepared.write, prepared.instance.stepper()
    changed = np.r_[False, (inputs[1:] != inputs[:-1]).any(axis=1)].tolist()
    moments, durations = times.tolist(), np.diff(times).tolist()
    read(rows[0])
    for i, duration in enumerate(durations):
        if stop is not None and (i + 1) % stop_every == 0 and stop(rows[: i + 1]):
            return rows[: i + 1].copy()
        if changed[i]:
            write(inputs[i])
        step(moments[i], duration)
        read(rows[i + 1])
    return rows
