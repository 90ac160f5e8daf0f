"""Environments of gymnasium as black boxes: actions are the inputs, observations the outputs.

    bbfalsify info gym:Pendulum-v1
    bbfalsify doctor "gym:CartPole-v1?set.max_episode_steps=500"

An action of numbers is the inputs `action[0]`, `action[1]`, …; one out of n is the input `action`, rounded to 0…n−1.
The outputs are `obs[0]`, `obs[1]`, …, `reward`, and `ended` (0 or 1): after the end of an episode nothing changes.  An
environment steps on a grid: the action that holds at the beginning of a step is the one taken.  The length of a step is
the environment's own `tau` or `dt`, else 1; `GymSystem(..., step=0.1)` overrules it.  The first state is drawn from the
seed of the simulation.  Settings `set.NAME=VALUE` are handed to `gymnasium.make`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.interface import Capabilities, NothingToClose, Port

ACTION, OBSERVATION = "action", "obs"
REWARD, ENDED = "reward", "ended"
_SLACK = 1e-9
"""Part of a step by which a sample may come before the step's end and still see it: times are rounded."""


class GymSystem:
    """An environment by its name."""

    def __init__(
        self, environment: str, *, step: float | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        """`settings` are handed to `gymnasium.make`; `step` is the length of a step."""
        self.environment, self.settings = environment, dict(settings or {})
        self.name = environment.rpartition("/")[2].replace("-", "_")
        made = self._make()
        try:
            self._choices = _choices(environment, made.action_space)
            shape = _shape(environment, made.observation_space)
            own = next(
                (v for n in ("tau", "dt") if isinstance(v := getattr(made.unwrapped, n, None), int | float)), 1.0
            )
            low, high = (np.ravel(bound) for bound in _bounds(made.action_space))
        finally:
            made.close()
        names = [ACTION] if self._choices else [f"{ACTION}[{i}]" for i in range(len(low))]
        self.inputs = tuple(Port(n, low=float(a), high=float(b)) for n, a, b in zip(names, low, high, strict=True))
        observed = [f"{OBSERVATION}[{i}]" for i in range(math.prod(shape))]
        self.outputs = tuple(Port(name) for name in (*observed, REWARD, ENDED))
        self.step_s = float(own if step is None else step)
        if not (self.step_s > 0 and math.isfinite(self.step_s)):
            raise UserError(f"the step of '{environment}' must be a positive number, found {step!r}.")
        self.capabilities = Capabilities(seedable=True, grid_period_s=self.step_s)

    def open(self, seed: int) -> _Episode:
        return _Episode(self, self._make(), seed)

    def _make(self) -> Any:
        gymnasium = _gymnasium()
        try:
            return gymnasium.make(self.environment, **self.settings)
        except gymnasium.error.UnregisteredEnv:
            known = gymnasium.registry.keys()
            raise UserError(unknown_name("environment", self.environment, known)) from None
        except Exception as error:  # an environment may raise anything when it is made
            raise UserError(f"gymnasium cannot make '{self.environment}': {error}") from None

    def action(self, held: Mapping[str, float]) -> Any:
        """Return the action that these inputs mean."""
        if self._choices:
            first, count = self._choices
            return first + min(max(round(held[ACTION]) - first, 0), count - 1)
        return np.array([held[port.name] for port in self.inputs], dtype=np.float32)


class _Episode(NothingToClose):
    def __init__(self, system: GymSystem, environment: Any, seed: int) -> None:
        self._system, self._environment, self._seed = system, environment, seed

    def execute(self, stimulus: Stimulus) -> Mapping[str, np.ndarray]:
        step, times = self._system.step_s, stimulus.times
        observed, _ = self._environment.reset(seed=self._seed % 2**32)
        row = [*np.ravel(observed).astype(float), 0.0, 0.0]
        rows: list[list[float]] = []
        taken = 0
        for t in times.tolist():
            while (taken + 1) * step <= t - times[0] + _SLACK * step:
                row = row if row[-1] else self._next(stimulus, float(times[0]) + taken * step)
                taken += 1
            rows.append(row)
        columns = np.array(rows).T
        return {port.name: columns[i] for i, port in enumerate(self._system.outputs)}

    def _next(self, stimulus: Stimulus, now: float) -> list[float]:
        """Take one step with the inputs that hold at `now`."""
        at = int(np.searchsorted(stimulus.times, now + _SLACK * self._system.step_s, side="right")) - 1
        action = self._system.action({name: float(values[at]) for name, values in stimulus.inputs.items()})
        observed, reward, ended, cut, _ = self._environment.step(action)
        return [*np.ravel(observed).astype(float), float(reward), float(ended or cut)]

    def __exit__(self, *exception: Any) -> None:
        self._environment.close()


def _gymnasium() -> Any:
    try:
        import gymnasium
    except ImportError:
        raise UserError("environments need gymnasium: pip install 'bbfalsify[gym]'.") from None
    return gymnasium


def _choices(environment: str, space: Any) -> tuple[int, int] | None:
    """Return the first of so many actions, one of which is chosen; None for an action of numbers."""
    kind = type(space).__name__
    if kind == "Discrete":
        return int(space.start), int(space.n)
    if kind != "Box":
        allowed = ("Box (numbers)", "Discrete (one of several)")
        raise UserError(Problem(f"the actions of '{environment}' are of kind {kind}.", allowed=allowed))
    return None


def _bounds(space: Any) -> tuple[Any, Any]:
    return (space.low, space.high) if hasattr(space, "low") else (space.start, space.start + space.n - 1)


def _shape(environment: str, space: Any) -> tuple[int, ...]:
    if type(space).__name__ not in ("Box", "Discrete"):
        kind = type(space).__name__
        raise UserError(
            Problem(f"the observations of '{environment}' are of kind {kind}.", allowed=("Box", "Discrete"))
        )
    return tuple(space.shape)
