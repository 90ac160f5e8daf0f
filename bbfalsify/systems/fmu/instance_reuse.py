"""Reuse instances of an FMU after a reset as long as the answers stay correct.

Resetting is cheaper than making a new instance, but not every FMU resets completely.  So resets are tested: at the 1st,
2nd, 4th, 8th, … use of a reset instance the same simulation runs on a new one too.  If the answers differ, the new one
counts, and from then on every simulation gets a new instance.  When a reset instance fails, the simulation is repeated
on a new one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

from bbfalsify.systems.fmu.fmu_settings import Plan
from bbfalsify.systems.fmu.native import FmuError, Instance, Library
from bbfalsify.systems.fmu.variable_access import Element, reader, writer

_WORTH_IT_S = 1.0
"""A longer simulation gains nothing from a reset, and should not be run twice within one time limit."""


class Prepared:
    """An instance together with all its calls."""

    def __init__(self, instance: Instance, plan: Plan) -> None:
        self.instance = instance
        self.read = reader(instance, plan.outputs)
        self.write = writer(instance, plan.inputs, plan.start_numbers)
        self._texts = plan.start_texts
        self._started: tuple[Element, ...] = ()
        """Elements that `_write_start` sets."""
        self._write_start = writer(instance, self._started)

    def begin(self, inputs: np.ndarray | None, starts: Mapping[Element, float]) -> None:
        """Initialise at time 0 with these inputs (None: those the FMU starts with) and start values."""
        self.instance.begin(lambda: self._set(starts), lambda: None if inputs is None else self.write(inputs))

    def _set(self, starts: Mapping[Element, float]) -> None:
        if self._started != (elements := tuple(starts)):
            self._started, self._write_start = elements, writer(self.instance, elements)
        self._write_start(np.array(list(starts.values())))
        for variable, text in self._texts.items():
            self.instance.set_text(variable, text)


Simulation = Callable[[Prepared], np.ndarray]


class Instances:
    """The instances of one process, of which at most one is alive, because some FMUs can have only one."""

    def __init__(self, library: Library, plan: Plan) -> None:
        self._library, self._plan = library, plan
        self._spare: Prepared | None = None
        self._uses_after_reset = 0
        self.reset_works = True
        """True until a reset has failed."""

    def simulate(self, simulation: Simulation) -> np.ndarray:
        """Simulate on a reset instance where that gives the same answer as a new one, else on a new one."""
        started = time.perf_counter()
        used = self._reset_spare()
        if used is None:
            return self._on_a_new_one(simulation, started)
        self._uses_after_reset += 1
        try:
            answer = simulation(used)
        except FmuError:
            used.instance.free()
            return self._on_a_new_one(simulation, started)
        except BaseException:
            used.instance.free()
            raise
        if self._uses_after_reset & (self._uses_after_reset - 1):
            self._keep(used, started)
            return answer
        used.instance.free()
        truth = self._on_a_new_one(simulation, started)
        if not np.array_equal(answer, truth, equal_nan=True):
            self._distrust("a reset instance gave another answer than a new one")
        return truth

    def new(self) -> Prepared:
        """Make a new instance, which the caller frees."""
        self.close()
        return Prepared(self._library.instantiate(), self._plan)

    def close(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.instance.free()

    def _on_a_new_one(self, simulation: Simulation, started: float) -> np.ndarray:
        made = self.new()
        try:
            answer = simulation(made)
        except BaseException:
            made.instance.free()
            raise
        self._keep(made, started)
        return answer

    def _keep(self, used: Prepared, started: float) -> None:
        """Finish the simulation; keep the instance for the next one where that is worth it."""
        try:
            used.instance.terminate()
        except FmuError:
            used.instance.free()
            return
        if self.reset_works and time.perf_counter() - started < _WORTH_IT_S:
            self._spare = used
        else:
            used.instance.free()

    def _reset_spare(self) -> Prepared | None:
        spare, self._spare = self._spare, None
        if spare is None:
            return None
        try:
            spare.instance.reset()
        except FmuError as error:
            spare.instance.free()
            self._distrust(str(error))
            return None
        return spare

    def _distrust(self, why: str) -> None:
        self.reset_works = False
        self.close()
        sys.stderr.write(f"[FMU] reset does not work, every simulation gets a new instance: {why}\n")
