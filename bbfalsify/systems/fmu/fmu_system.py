"""Use a functional mock-up unit (FMU) as a black box.

    FmuSystem("house.fmu")
    FmuSystem("house.fmu", inputs={"T_out": "weather.T"}, outputs=["room.T"], start_values={"room.size": 30}, step=0.1)

Ports, units and start values come from the model description; neither reading it nor checking a campaign loads the
FMU's library, which happens in worker processes only.  The archive is unpacked once, before the first worker starts,
and removed after the last has ended.
"""

from __future__ import annotations

import importlib.util
import os
import weakref
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.foreign_files import closest_file, is_file
from bbfalsify.systems.fmu.archive import describe, unpack
from bbfalsify.systems.fmu.description import Description
from bbfalsify.systems.fmu.fmu_settings import FmuSettings, Names, Plan, named
from bbfalsify.systems.fmu.variable_access import Element
from bbfalsify.systems.interface import Capabilities, Port
from bbfalsify.systems.parameters import Values
from bbfalsify.systems.temporary import remove


class FmuSystem:
    """An FMU whose inputs are driven and whose outputs are judged.

    `inputs` (default: all numeric ones) may also name tunable parameters, `outputs` any variable; other variables keep
    their start values.  `start_values` are set before every simulation; all numbers that can be set there are
    `parameters`, which a single simulation may set otherwise.  With `step` the FMU runs on a grid of that
    period, and inputs change only there; an FMU that cannot take steps of any size needs one, from here or from its own
    description.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        start_values: Mapping[str, float | bool | str] | None = None,
        inputs: Names | None = None,
        outputs: Names | None = None,
        step: float | None = None,
        name: str | None = None,
    ) -> None:
        inputs, outputs, start_values = named(inputs), named(outputs), dict(start_values or {})
        self._settings: dict[str, Any] = {
            "start_values": start_values, "inputs": inputs, "outputs": outputs, "step": step, "name": name,
        }  # fmt: skip
        self.path = Path(path).resolve()
        self.name = name or self.path.stem
        self.description = self._read()
        settings = FmuSettings(self.description, str(self.path))
        driven, seen = settings.inputs(inputs), settings.outputs(outputs)
        numbers, texts = settings.start_values(start_values)
        period = settings.period(step)
        settings.finish(driven, seen)
        parameters = settings.parameters(driven.values())
        self.plan = Plan(tuple(driven.values()), tuple(seen.values()), numbers, texts, parameters)
        self.parameters = self.plan.described()
        self.inputs, self.outputs = _ports(driven), _ports(seen)
        self.capabilities = Capabilities(
            stepwise=True, snapshot=self.description.can_save, grid_period_s=period, step_s=period
        )
        self._users = 0
        self._folder: Path | None = None
        self._instances: Any = None

    def _read(self) -> Description:
        if not is_file(self.path):
            closest = closest_file(self.path)
            raise UserError(Problem(f"there is no file {self.path.name}.", file=str(self.path), closest=closest))
        if importlib.util.find_spec("fmpy") is None:
            raise UserError(Problem("FMUs need FMPy: pip install 'bbfalsify[fmi]'.", file=str(self.path)))
        return describe(self.path)

    # ------------------------------------------------------------------ the life of its folder and its library

    def set_up(self) -> None:
        """Unpack the FMU and import FMPy, in the process that starts workers, before the first."""
        if self._folder is None:
            try:
                import fmpy.fmi2
                import fmpy.fmi3  # noqa: F401
            except ImportError as error:
                raise UserError(Problem(f"FMPy cannot be imported: {error}.", file=str(self.path))) from None
            self._unpack()
        self._users += 1

    def tear_down(self) -> None:
        self._users -= 1
        if self._users <= 0:
            self.close()

    def prepare(self) -> None:
        """Load the library, in the process that simulates."""
        if self._instances is None:
            from bbfalsify.systems.fmu.instance_reuse import Instances
            from bbfalsify.systems.fmu.native import Library
            from bbfalsify.systems.fmu.signal_guard import guard_ancestors

            guard_ancestors()
            folder = self._unpack() if self._folder is None else self._folder
            self._instances = Instances(Library(self.description, folder), self.plan)

    def close(self) -> None:
        """Free the model; remove the folder, if this is the process that made it."""
        if self._instances is not None:
            self._instances.close()
            self._instances = None
        if self._folder is not None and self._owner == os.getpid():
            self._remover()
            self._folder = None

    def _unpack(self) -> Path:
        folder, self._owner = unpack(self.path, self.description), os.getpid()
        self._folder, self._remover = folder, weakref.finalize(self, _remove_own, folder, self._owner)
        return folder

    def open(self, seed: int, parameters: Values | None = None) -> Any:
        from bbfalsify.systems.fmu.fmu_session import FmuSession

        self.prepare()
        return FmuSession(self, self._instances, parameters or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(FmuSystem, **self._settings), (str(self.path),)

    def __repr__(self) -> str:
        ports = [", ".join(port.name for port in side) for side in (self.inputs, self.outputs)]
        return f"<FMU {self.name}: {ports[0]} -> {ports[1]}>"


def _ports(elements: Mapping[str, Element]) -> tuple[Port, ...]:
    return tuple(Port(name, variable.unit, variable.low, variable.high) for name, (variable, _) in elements.items())


def _remove_own(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked worker must not remove what the others still use
        remove(folder)
