"""Load an FMU's library with FMPy, and call one instance of the model in it; in worker processes only.

FMPy loads the library and knows every function's C signature.  The calls of the inner loop (set, step, get) go straight
to those functions with buffers made once: FMPy's own methods build new arrays at every call.

`Instance` is the interface of both versions; `_Instance2` and `_Instance3` implement FMI 2.0 and FMI 3.0.
"""

from __future__ import annotations

import ctypes
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bbfalsify.systems.failures import SessionFailure
from bbfalsify.systems.fmu.description import Description, Variable
from bbfalsify.systems.fmu.messages import Messages, status_word

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)


class FmuError(SessionFailure):
    """The FMU refused, failed or stopped early."""


class Library:
    """The shared library of one FMU, loaded once per process."""

    def __init__(self, description: Description, folder: Path) -> None:
        self.description = description
        self.messages = Messages()
        here = os.getcwd()
        try:
            self.fmpy = _load(description, folder)
        except FmuError:
            raise
        except AttributeError as error:  # ctypes: …/model.so: undefined symbol: fmi2Reset
            missing = str(error).rpartition(" ")[2]
            raise FmuError(f"the library has no function {missing}, which FMI {description.fmi} demands") from None
        except Exception as error:  # FMPy raises plain exceptions
            says = str(error).replace(f"{folder}{os.sep}", "")
            raise FmuError(f"the library cannot be loaded: {says}") from None
        finally:
            os.chdir(here)  # FMPy stays in the library's folder when loading fails

    def instantiate(self) -> Instance:
        return _Instance2(self) if self.description.fmi == 2 else _Instance3(self)


class Instance(ABC):
    """One instance of the model, from instantiation over any number of simulations to `free`."""

    prefix: str
    types: dict[str, tuple[str, Any]]
    """Kind of variable → name of its get and set functions, C type of its values."""

    def __init__(self, library: Library) -> None:
        self._fmu, self._dll, self._messages = library.fmpy, library.fmpy.dll, library.messages
        self._messages.begin()
        try:
            self._instantiate()
        except Exception as error:
            raise FmuError(f"the model could not be instantiated{self._messages.last_words()}") from error
        self.component = self._fmu.component
        self.usable = True
        """After an error only `free` may be called, after a fatal one nothing."""
        self._may_be_freed = True

    @abstractmethod
    def _instantiate(self) -> None: ...

    def begin(self, set_start_values: Callable[[], None], set_inputs: Callable[[], None]) -> None:
        """Initialise at time 0."""
        set_start_values()
        self._enter_initialisation()
        set_inputs()
        self.call("ExitInitializationMode")

    @abstractmethod
    def _enter_initialisation(self) -> None: ...

    @abstractmethod
    def stepper(self, *, may_go_back: bool = False) -> Callable[[float, float], None]:
        """Make a function (time, duration) for one simulation that steps, and raises if a step was not completed."""

    def function(self, name: str) -> Callable[..., int]:
        return getattr(self._dll, self.prefix + name)

    def call(self, name: str, *arguments: Any) -> None:
        self.check(self.function(name)(self.component, *arguments), name)

    def check(self, status: int, name: str, when: str = "") -> None:
        if status > WARNING:
            self.fail(status, name, when)

    def fail(self, status: int, name: str, when: str = "", why: str = "") -> None:
        self.usable = False
        self._may_be_freed = status != FATAL
        said = "discarded it" if status == DISCARD else f"answered {status_word(status)}"
        raise FmuError(f"{self.prefix}{name}{when}: the FMU {said}{why}{self._messages.last_words()}")

    def reset(self) -> None:
        """Return to the state right after instantiation."""
        self._messages.begin()
        self.call("Reset")
        if not self._messages.wanted:
            self.call("SetDebugLogging", 0, 0, None)

    def terminate(self) -> None:
        self.call("Terminate")

    def free(self) -> None:
        self.usable = False
        if self._may_be_freed:
            self._may_be_freed = False
            self.function("FreeInstance")(self.component)

    def set_text(self, variable: Variable, text: str) -> None:
        value = (ctypes.c_char_p * 1)(text.encode())
        self.call("SetString", (ctypes.c_uint * 1)(variable.reference), 1, value, *self.count(1))

    @abstractmethod
    def count(self, values: int) -> tuple[int, ...]:
        """The last argument of get and set functions, where there is one."""

    # ------------------------------------------------------------------ saved states

    _state_word: str

    def save(self) -> ctypes.c_void_p:
        state = ctypes.c_void_p()
        self.call(f"Get{self._state_word}", ctypes.byref(state))
        return state

    def restore(self, state: ctypes.c_void_p) -> None:
        self.call(f"Set{self._state_word}", state)

    def forget(self, state: ctypes.c_void_p) -> None:
        self.call(f"Free{self._state_word}", ctypes.byref(state))


class _Instance2(Instance):
    prefix = "fmi2"
    _state_word = "FMUstate"
    types = {
        "Real": ("Real", ctypes.c_double),
        "Integer": ("Integer", ctypes.c_int),
        "Enumeration": ("Integer", ctypes.c_int),
        "Boolean": ("Boolean", ctypes.c_int),
    }

    def _instantiate(self) -> None:
        self._fmu.instantiate(callbacks=self._messages.callbacks2(), loggingOn=self._messages.wanted)

    def count(self, values: int) -> tuple[int, ...]:
        return ()

    def _enter_initialisation(self) -> None:
        self.call("SetupExperiment", 0, 0.0, 0.0, 0, 0.0)  # no tolerance, from time 0, no end known
        self.call("EnterInitializationMode")

    def stepper(self, *, may_go_back: bool = False) -> Callable[[float, float], None]:
        do_step, component, never_back = self.function("DoStep"), self.component, not may_go_back

        def step(time: float, duration: float) -> None:
            status = do_step(component, time, duration, never_back)
            if status > WARNING:
                why = self._how_far() if status == DISCARD else ""
                self.fail(status, "DoStep", _step_words(time, duration), why)

        return step

    def _how_far(self) -> str:
        """Ask an FMU that discarded a step how far it came."""
        reached, ended = ctypes.c_double(math.nan), ctypes.c_int(0)
        known = self.function("GetRealStatus")(self.component, 2, ctypes.byref(reached)) == OK
        text = f" at time {reached.value:.6g}" if known and math.isfinite(reached.value) else ""
        if self.function("GetBooleanStatus")(self.component, 3, ctypes.byref(ended)) == OK and ended.value:
            text += " and wants to end the simulation"
        return text


class _Instance3(Instance):
    prefix = "fmi3"
    _state_word = "FMUState"
    types = {
        "Float32": ("Float32", ctypes.c_float),
        "Float64": ("Float64", ctypes.c_double),
        "Enumeration": ("Int64", ctypes.c_int64),
        "Boolean": ("Boolean", ctypes.c_bool),
        **{
            f"{sign}Int{bits}": (f"{sign}Int{bits}", getattr(ctypes, f"c_{sign.lower()}int{bits}"))
            for sign in ("", "U")
            for bits in (8, 16, 32, 64)
        },
    }

    def _instantiate(self) -> None:
        self._fmu.instantiate(logMessage=self._messages.callback3, loggingOn=self._messages.wanted)

    def count(self, values: int) -> tuple[int, ...]:
        return (values,)

    def _enter_initialisation(self) -> None:
        self.call("EnterInitializationMode", False, 0.0, 0.0, False, 0.0)

    def stepper(self, *, may_go_back: bool = False) -> Callable[[float, float], None]:
        do_step, component, never_back = self.function("DoStep"), self.component, not may_go_back
        event, ended, early, reached = ctypes.c_bool(), ctypes.c_bool(), ctypes.c_bool(), ctypes.c_double()
        answers = [ctypes.byref(answer) for answer in (event, ended, early, reached)]

        def stopped(time: float, duration: float, what: str) -> None:
            self.usable = False
            raise FmuError(f"fmi3DoStep{_step_words(time, duration)}: the FMU {what} at time {reached.value:.6g}")

        def step(time: float, duration: float) -> None:
            if ended.value:  # asked for after the step before; only then is there one step too many
                stopped(time, duration, "wanted to end the simulation")
            early.value = False
            reached.value = time + duration
            status = do_step(component, time, duration, never_back, *answers)
            if status > WARNING:
                self.fail(status, "DoStep", _step_words(time, duration))
            if early.value or abs(reached.value - time - duration) > 1e-6 * duration:
                stopped(time, duration, "wants to end the simulation" if ended.value else "returned early")

        return step


def _step_words(time: float, duration: float) -> str:
    return f" from time {time:.6g} to {time + duration:.6g}"


def _load(description: Description, folder: Path) -> Any:
    try:
        from fmpy.fmi2 import FMU2Slave
        from fmpy.fmi3 import FMU3Slave
    except ImportError as error:
        raise FmuError(f"FMPy cannot be imported ({error}); {INSTALL}") from None
    return (FMU2Slave if description.fmi == 2 else FMU3Slave)(
        guid=description.token,
        modelIdentifier=description.identifier,
        unzipDirectory=str(folder),
        instanceName=description.identifier,
    )


INSTALL = "install it with: pip install 'bbfalsify[fmi]'"
