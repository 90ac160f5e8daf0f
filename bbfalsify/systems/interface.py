"""The interface that every black box with signals implements.

A `System` declares its ports and capabilities and opens sessions.  A `Session` is one use of it from reset to close, a
context manager.  A system that takes whole signals gives sessions with `execute(stimulus)`; one that goes step by step
derives its session from `StepwiseSession` and inherits `execute`.

    class Thermostat:
        name = "thermostat"
        inputs = (Port("heat", "1"),)
        outputs = (Port("T", "degC"),)
        capabilities = Capabilities()

        def open(self, seed: int) -> Session: ...

A session that measures its own cost sets an attribute `usage` (a `Usage`), which is read after it is closed.

A system may also declare `parameters`, which are fixed at the beginning of a simulation: see `systems/parameters.py`.

Two optional methods save time: `prepare()` is called once in each worker process before its first simulation (load a
library, start an interpreter), and `close()` once when that process ends.  Neither counts against the time limit of a
simulation.  Resources that all workers share (an unpacked archive) belong in `set_up()` and `tear_down()`: they are
called in the process that starts the workers, before its first and after its last one, and must not run foreign code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.units import unit_problem


@dataclass(frozen=True)
class Port:
    """An input or output of the system, with its unit ("1" for a pure number, None when unknown)."""

    name: str
    unit: str | None = None
    low: float = -math.inf
    high: float = math.inf
    """The range of an input that is not made for every number."""


PortsLike = Mapping[str, str | None] | Iterable[str | Port]


def as_ports(ports: PortsLike) -> tuple[Port, ...]:
    """Make ports of names with units, or of names alone."""
    if isinstance(ports, str):
        ports = (ports,)
    if isinstance(ports, Mapping):
        return tuple(Port(name, unit) for name, unit in ports.items())
    return tuple(port if isinstance(port, Port) else Port(port) for port in ports)


def unit_problems(system: System, agreed: Collection[str] = ()) -> list[Problem]:
    """Units of ports that are neither in the table of units nor agreed with a profile: typos perhaps."""
    ports = [port for port in (*system.inputs, *system.outputs) if port.unit is not None and port.unit not in agreed]
    found = [(port.name, problem) for port in ports if (problem := unit_problem(str(port.unit))) is not None]
    return [replace(wrong, message=f"system '{system.name}', port '{name}': {wrong.message}") for name, wrong in found]


@dataclass(frozen=True)
class Capabilities:
    """Optional abilities of a system, checked before a run starts."""

    seedable: bool = False
    """`open(seed)` fixes everything random inside: the same seed and stimulus give the same trace."""
    stepwise: bool = False
    """Outputs can be seen before all inputs are decided: sessions have `observe()` and `step(inputs, duration_s)`."""
    snapshot: bool = False
    """Sessions have `save()`, and `restore(state)` to continue from there as often as wanted."""
    forkable: bool = False
    """Sessions have `fork()`: another session that continues from here, independently."""
    batch: bool = False
    """Sessions have `execute_many(stimuli)` (of a seedable system also `seeds=`): the outputs of each, in one call."""
    real_time: bool = False
    """Time passes by itself: a simulation of 20 s takes 20 s."""
    exclusive: bool = False
    """Only one exists (a device, a server on a fixed port): sessions cannot run side by side."""
    single_session: bool = False
    """It cannot be reset: there is one session, which goes on from query to query."""
    grid_period_s: float | None = None
    """Inputs can change only at multiples of this period; None means at any time."""
    step_s: float | None = None
    """Outputs change only at multiples of this step and at events, and hold in between: finer samples show nothing
    new.  Infinite: at events only.  None: at any time."""


@dataclass(frozen=True)
class Usage:
    """CPU time and memory of the black box's own process in one simulation; None where they cannot be measured.

    A system whose session has no `usage` runs in the worker, so the worker is measured: its CPU time during the
    simulation, and its peak memory so far.
    """

    cpu_seconds: float | None = None
    memory_mb: float | None = None


class CapabilityMissing(UserError):
    """The run needs an ability that this system does not declare."""


@runtime_checkable
class Releasable(Protocol):
    """Leaving the context releases it, whatever happened."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None: ...


@runtime_checkable
class Session(Releasable, Protocol):
    """One use of the black box."""

    def execute(self, stimulus: Stimulus) -> Mapping[str, np.ndarray]:
        """Each output at each of `stimulus.times`."""
        ...


@runtime_checkable
class System(Protocol):
    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    capabilities: Capabilities

    def open(self, seed: int) -> Session:
        """A fresh session; `seed` matters only to a seedable system."""
        ...


class BlackBox(Protocol):
    """A system of signals or of symbols, as far as both are alike."""

    @property
    def name(self) -> str: ...
    @property
    def capabilities(self) -> Capabilities: ...
    def open(self, seed: int) -> AbstractContextManager[Any]: ...


Enough = Callable[[Mapping[str, np.ndarray]], bool]
"""Given the outputs so far: need the rest not be executed?"""


class NothingToClose:
    """Context manager methods for a session that holds no resources; others override `__exit__`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        return None


class StepwiseSession(NothingToClose):
    """A session that advances step by step; implement `observe` and `step`."""

    def observe(self) -> Mapping[str, float]:
        """The outputs now."""
        raise TypeError(f"{type(self).__name__} must define observe()")

    def step(self, inputs: Mapping[str, float], duration_s: float) -> None:
        """Hold the inputs for `duration_s` seconds."""
        raise TypeError(f"{type(self).__name__} must define step()")

    def execute(self, stimulus: Stimulus) -> Mapping[str, np.ndarray]:
        return self.execute_until(stimulus, _never, every=len(stimulus.times))

    def execute_until(self, stimulus: Stimulus, enough: Enough, *, every: int) -> Mapping[str, np.ndarray]:
        """As `execute`, but stop once the outputs so far are `enough`, which is asked every `every` samples."""
        rows = [dict(self.observe())]
        held = {name: values.tolist() for name, values in stimulus.inputs.items()}
        for i, duration_s in enumerate(np.diff(stimulus.times).tolist()):
            if len(rows) % every == 0 and enough(as_columns(rows)):
                break
            self.step({name: values[i] for name, values in held.items()}, duration_s)
            rows.append(dict(self.observe()))
        return as_columns(rows)


def execute_until(session: Any, stimulus: Stimulus, enough: Enough, *, every: int) -> Mapping[str, np.ndarray]:
    """Call `execute_until` of any session of a stepwise system, also of one that has only `observe` and `step`."""
    own = getattr(session, "execute_until", None)
    if own is not None:
        return own(stimulus, enough, every=every)
    return StepwiseSession.execute_until(session, stimulus, enough, every=every)


def _never(so_far: Mapping[str, np.ndarray]) -> bool:
    return False


def as_columns(rows: list[dict[str, float]]) -> dict[str, np.ndarray]:
    """Turn outputs sample by sample into one array per output."""
    # Names are taken from every row, so that check_outputs notices an output that comes and goes.
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}


def own_step(system: BlackBox) -> float | None:
    """The step between whose multiples (and events) outputs hold; None where they may change at any time."""
    step = system.capabilities.step_s
    if step is not None and not step > 0:
        raise UserError(f"system '{system.name}': its step must be a positive number, found {step!r}.")
    return step


def usable_jobs(system: BlackBox, jobs: int) -> int:
    """Number of workers that may use the system at the same time."""
    # Asking a program for its capabilities may start it, so ask only if the answer matters.
    return 1 if jobs > 1 and (system.capabilities.exclusive or system.capabilities.single_session) else jobs


def require_capability(system: BlackBox, capability: str, purpose: str) -> None:
    """Raise CapabilityMissing if the system does not declare the capability."""
    if not getattr(system.capabilities, capability):
        declared = tuple(f.name for f in fields(Capabilities) if getattr(system.capabilities, f.name))
        raise CapabilityMissing(
            Problem(
                f"{purpose} needs the capability '{capability}', which the system '{system.name}' does not declare "
                f"(it declares: {', '.join(declared) or 'none'})."
            )
        )
