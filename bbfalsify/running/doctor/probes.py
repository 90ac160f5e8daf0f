"""Systems in disguise: each uses an ability that a system declares, and must then answer as the system itself does.

    Probe(system, "batch")       executes each stimulus together with others, in one call
    Probe(system, "stepwise")    executes it step by step
    Probe(system, "continued")   … by the session's own steps, from outside
    Probe(system, "snapshot")    … saving the state half way, going on, coming back and going on again
    Probe(system, "fork")        … in a fork of the session, after the session itself has gone on
    Probe(system, "symbols")     saves before each symbol, gives it others, comes back
    Probe(system, "branches")    forks before each symbol, gives the others to the fork

A probe is a system like any other, so it runs in a worker process and under the same limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, cast

import numpy as np

from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.systems.failures import MalformedAnswer
from bbfalsify.systems.interface import Capabilities, System, as_columns, execute_until
from bbfalsify.systems.loading import Origin, origin_of
from bbfalsify.systems.symbols import SymbolSystem


class Probe:
    """The system, used in a certain way."""

    def __init__(self, system: System | SymbolSystem | Origin, way: str) -> None:
        self.system = system.load() if isinstance(system, Origin) else system
        self.way = way

    def __reduce__(self) -> tuple[Any, ...]:
        """A worker that inherits nothing loads what came from a file."""
        return Probe, (origin_of(self.system) or self.system, self.way)

    def __getattr__(self, name: str) -> Any:
        """Everything else (names, ports, prepare, close, …) is that of the system."""
        if name in ("system", "way"):  # not yet there while it is being made
            raise AttributeError(name)
        return getattr(self.system, name)

    @property
    def capabilities(self) -> Capabilities:
        return replace(self.system.capabilities, batch=False)

    def open(self, seed: int) -> _ProbeSession:
        return _SESSIONS[self.way](self.system, self.system.open(seed), seed)


class _ProbeSession:
    def __init__(self, system: Any, session: Any, seed: int) -> None:
        self.system, self.session, self.seed = system, session, seed

    def __enter__(self) -> _ProbeSession:
        self.session = self.session.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        swallowed: bool | None = self.session.__exit__(kind, error, traceback)
        return swallowed


class _Batch(_ProbeSession):
    def execute(self, stimulus: Stimulus) -> Mapping[str, Any]:
        half = len(stimulus.times) // 2 + 1
        other = Stimulus(stimulus.times[:half], {n: 1.0 - v[:half] for n, v in stimulus.inputs.items()})
        seeds = {"seeds": [self.seed + 1, self.seed, self.seed + 2]} if self.system.capabilities.seedable else {}
        answers: list[Mapping[str, Any]] = list(self.session.execute_many([other, stimulus, other], **seeds))
        if len(answers) != 3:
            raise MalformedAnswer(f"execute_many gave {len(answers)} answers to 3 stimuli")
        return answers[1]


class _Stepwise(_ProbeSession):
    def execute(self, stimulus: Stimulus) -> Mapping[str, Any]:
        return execute_until(self.session, stimulus, lambda so_far: False, every=7)


class _Continued(_ProbeSession):
    def execute(self, stimulus: Stimulus) -> Mapping[str, Any]:
        return as_columns(self._rows(stimulus, [dict(self.session.observe())]))

    def _rows(
        self, stimulus: Stimulus, rows: list[dict[str, float]], until: int | None = None
    ) -> list[dict[str, float]]:
        """Go on from the last row to sample `until`."""
        rows = list(rows)
        for i in range(len(rows) - 1, len(stimulus.times) - 1 if until is None else until):
            inputs = {name: float(values[i]) for name, values in stimulus.inputs.items()}
            self.session.step(inputs, float(stimulus.times[i + 1] - stimulus.times[i]))
            rows.append(dict(self.session.observe()))
        return rows


class _Snapshot(_Continued):
    def execute(self, stimulus: Stimulus) -> Mapping[str, Any]:
        first = self._rows(stimulus, [dict(self.session.observe())], len(stimulus.times) // 2)
        state = self.session.save()
        self._rows(stimulus, first)
        self.session.restore(state)
        return as_columns(self._rows(stimulus, first))


class _Fork(_Continued):
    def execute(self, stimulus: Stimulus) -> Mapping[str, Any]:
        first = self._rows(stimulus, [dict(self.session.observe())], len(stimulus.times) // 2)
        original, self.session = self.session, self.session.fork()
        try:
            with self.session:
                other = _Continued(self.system, original, self.seed)
                other._rows(stimulus, first)
                return as_columns(self._rows(stimulus, first))
        finally:
            self.session = original


class _Symbols(_ProbeSession):
    steps = 0

    def step(self, symbol: str) -> str:
        state = self.session.save()
        self._stray(self.session)
        self.session.restore(state)
        return cast(str, self.session.step(symbol))

    def _stray(self, session: Any) -> None:
        """A detour; of several lengths, because a system may come home after two steps."""
        alphabet = self.system.alphabet
        self.steps += 1
        for i in range(self.steps % 3 + 1):
            session.step(alphabet[(self.steps + i) % len(alphabet)])


class _Branches(_Symbols):
    def step(self, symbol: str) -> str:
        with self.session.fork() as other:
            self._stray(other)
        return cast(str, self.session.step(symbol))


_SESSIONS: dict[str, type[_ProbeSession]] = {
    "batch": _Batch,
    "stepwise": _Stepwise,
    "continued": _Continued,
    "snapshot": _Snapshot,
    "fork": _Fork,
    "symbols": _Symbols,
    "branches": _Branches,
}


def changes_between_steps(stimulus: Stimulus, trace: Trace, step: float) -> Iterator[str]:
    """Describe where outputs change neither at a multiple of the step nor with an input."""
    steps, part = np.divmod(trace.times / step, 1.0)
    # Rounding may put samples at a multiple on either side of it: they are left out.
    inside = (part > 1e-6) & (part < 1 - 1e-6)
    quiet = inside[1:] & inside[:-1] & (np.diff(steps) == 0)
    for values in stimulus.inputs.values():
        quiet &= np.diff(values) == 0
    for name, values in trace.signals.items():
        moved = np.flatnonzero(quiet & (np.diff(values) != 0))
        if len(moved):
            before, after = trace.times[moved[0]], trace.times[moved[0] + 1]
            yield f"'{name}' changed between {before:g} and {after:g}, and the step is {step:g}."
