"""Many states side by side, each with its own random stream: what importance splitting (Algorithm 5) moves along."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.kernel import layout as at
from bbfalsify.kernel.action_law import particle_batch
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.races import refuse_handshakes
from bbfalsify.kernel.rng import seed_streams
from bbfalsify.kernel.walk_results import WalkStatus
from bbfalsify.kernel.walker import Walker, error_message, initial_state, limits

_NO_UNIFORMS = np.zeros((0, 2))
_RUNNING, _FAILED = int(WalkStatus.RUNNING), int(WalkStatus.RUNTIME_ERROR)
"""Plain numbers: comparing an array with a member of an enumeration takes ten times as long."""


@dataclass(frozen=True, eq=False)
class Particles:
    locations: np.ndarray
    integers: np.ndarray
    reals: np.ndarray
    time: np.ndarray
    rng: np.ndarray

    @classmethod
    def initial(cls, model: CompiledModel, seeds: np.ndarray) -> Particles:
        """One particle per seed, all in the initial state."""
        locations, integers, reals = initial_state(model)
        count = len(seeds)
        return cls(
            np.repeat(locations, count, axis=0),
            np.repeat(integers, count, axis=0),
            np.repeat(reals, count, axis=0),
            np.zeros(count),
            _streams(seeds),
        )

    def __len__(self) -> int:
        return len(self.time)

    def take(self, indices: np.ndarray, seeds: np.ndarray | None = None) -> Particles:
        """The states at `indices` (repetitions allowed), each with the new stream of a seed, or else with its own."""
        return Particles(
            np.ascontiguousarray(self.locations[indices]),
            np.ascontiguousarray(self.integers[indices]),
            np.ascontiguousarray(self.reals[indices]),
            np.ascontiguousarray(self.time[indices]),
            np.ascontiguousarray(self.rng[indices]) if seeds is None else _streams(seeds),
        )

    def copy(self) -> Particles:
        return Particles(*(a.copy() for a in (self.locations, self.integers, self.reals, self.time, self.rng)))


@dataclass(frozen=True, eq=False)
class StepResult:
    particles: Particles
    """The states after the step (unchanged where there was none)."""
    status: np.ndarray
    """RUNNING (0) where a step was made, else why not."""
    delay: np.ndarray
    edge: np.ndarray
    action: np.ndarray
    errors: dict[int, str]
    branch: np.ndarray
    """Which branch of the edge was taken."""

    @property
    def made(self) -> np.ndarray:
        """True where a step was made."""
        return np.equal(self.status, _RUNNING)


def _streams(seeds: np.ndarray) -> np.ndarray:
    words = np.ascontiguousarray(seeds, np.uint64)
    result = np.zeros((len(words), 4), np.uint64)
    with np.errstate(over="ignore"):
        seed_streams(np.zeros(4, np.uint64), words, result)
    return result


def stochastic_step(model: CompiledModel, particles: Particles) -> StepResult:
    """One step of every particle under the stochastic semantics."""
    refuse_handshakes(model)
    return _step(model, particles, -1)


def conditional_step(
    model: CompiledModel, particles: Particles, action: int, uniforms: np.ndarray | None = None
) -> StepResult:
    """One step of every particle, drawn from the law given that it carries the action with this index.

    `uniforms` (one row of two numbers in [0, 1) per particle) take the place of random numbers: the first chooses the
    moment, which grows with it, the second the edge.  What the transition itself draws (branches, receivers, random
    updates) still comes from the particle's stream.
    """
    _require_support(model)
    if uniforms is None:
        return _step(model, particles, action)
    numbers = np.ascontiguousarray(uniforms, np.float64)
    if numbers.shape != (len(particles), 2):
        raise ValueError(f"uniforms have shape {numbers.shape}; {(len(particles), 2)} is needed")
    if not np.all((numbers >= 0.0) & (numbers < 1.0)):
        raise ValueError("uniforms must be in [0, 1)")
    return _step(model, particles, action, numbers)


def step_probability(model: CompiledModel, particles: Particles, action: int) -> np.ndarray:
    """The exact probability, per particle, that the next transition carries the action with this index."""
    _require_support(model)
    return _run(model, particles.copy(), action, firing=0)[4]


def edge_probability(model: CompiledModel, particles: Particles, edge: int) -> tuple[np.ndarray, dict[int, str]]:
    """The exact probability, per particle, that the next transition is this edge; and where and how the model fails."""
    _require_support(model)
    status, _, _, _, probability, errors = _run(_labelled_by_edge(model), particles.copy(), edge, firing=0)
    return probability, _messages(model, status, errors)


@lru_cache(maxsize=4)
def _labelled_by_edge(model: CompiledModel) -> CompiledModel:
    """The same model in which every edge is an action of its own."""
    count = len(model.edge_action)
    table = model.T.copy()
    rows = int(table[at.H_EDGE_TABLE]) + at.EDGE_WIDTH * np.arange(count)
    table[rows + at.E_ACTION] = np.where(model.edge_action >= 0, np.arange(count), -1)
    names = tuple(model.edge_text(number) for number in range(count))
    return replace(model, T=table, actions=names, edge_action=table[rows + at.E_ACTION].astype(np.int32))


@lru_cache(maxsize=16)
def supports_conditional(model: CompiledModel) -> str | None:
    """None where the law of the next action is computed exactly, else the reason why not."""
    network = model.network
    used = {e.channel for p in network.processes for e in p.edges}
    handshake = next((c.name for i, c in enumerate(network.channels) if i in used and not c.broadcast), None)
    if handshake is not None:
        return f"channel '{handshake}' is a handshake"
    analysis = model.analysis
    for number in range(len(model.edge_action)):
        process, edge = model.edge(number)
        if edge.is_output and analysis.expression(edge.weight).reads & analysis.clocks:
            return f"the weight of {model.edge_text(number)} reads a clock"
    return None


def _require_support(model: CompiledModel) -> None:
    reason = supports_conditional(model)
    if reason is not None:
        raise UserError(f"conditional steps are not possible in '{model.network.name}': {reason}.")


def _step(model: CompiledModel, particles: Particles, action: int, uniforms: np.ndarray = _NO_UNIFORMS) -> StepResult:
    moved = particles.copy()
    status, delay, edge, branch, _, errors = _run(model, moved, action, firing=1, uniforms=uniforms)
    actions = np.append(model.edge_action, np.int32(-1))[edge]  # no edge is −1, also where the model has none
    return StepResult(moved, status, delay, edge, actions, _messages(model, status, errors), branch)


def _messages(model: CompiledModel, status: np.ndarray, errors: np.ndarray) -> dict[int, str]:
    failed = np.flatnonzero(status == _FAILED)
    return {int(m): error_message(model, *(int(v) for v in errors[m])) for m in failed}


def _run(
    model: CompiledModel, particles: Particles, action: int, *, firing: int, uniforms: np.ndarray = _NO_UNIFORMS
) -> tuple[np.ndarray, ...]:
    if not -1 <= action < len(model.actions):
        raise ValueError(f"action {action} is not an index of {model.actions}")
    count = len(particles)
    status = np.zeros(count, np.int8)
    delay, probability = np.zeros(count), np.zeros(count)
    edge, branch = np.full(count, -1, np.int32), np.zeros(count, np.int32)
    errors = np.zeros((count, 3), np.int64)
    with np.errstate(over="ignore"):
        particle_batch(
            *Walker.of(model).arrays, particles.locations, particles.integers, particles.reals, particles.time,
            particles.rng, *limits(model), action, firing, uniforms, status, delay, edge, branch, probability, errors,
        )  # fmt: skip
    return status, delay, edge, branch, probability, errors
