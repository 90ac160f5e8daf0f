"""Black boxes: their interface, kinds of systems (functions, programs, servers, FMUs, models), loading and checks.

Servers, FMUs and models are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bbfalsify.systems.failures import MalformedAnswer, NoAnswer, SessionFailure, SystemDied
from bbfalsify.systems.function import FunctionSystem, system
from bbfalsify.systems.interface import (
    Capabilities,
    CapabilityMissing,
    Port,
    Session,
    StepwiseSession,
    System,
    Usage,
    require_capability,
)
from bbfalsify.systems.loading import load_system
from bbfalsify.systems.output_checks import check_outputs
from bbfalsify.systems.parameters import ParameterInfo, Preset
from bbfalsify.systems.programs.octave import matlab_command, octave_command
from bbfalsify.systems.programs.one_shot import ProgramSystem
from bbfalsify.systems.programs.persistent import ProcessSymbolSystem, ProcessSystem
from bbfalsify.systems.sampled import SampledSystem
from bbfalsify.systems.symbols import MachineSystem, SymbolSession, SymbolSystem

if TYPE_CHECKING:
    from bbfalsify.systems.fmu import FmuSystem
    from bbfalsify.systems.servers import (
        BytesMapper,
        Closed,
        Connection,
        LineMapper,
        Server,
        Silence,
        SocketSystem,
        Tls,
    )

_LATER = {
    "FmuSystem": "bbfalsify.systems.fmu",
    **dict.fromkeys(
        ("BytesMapper", "Closed", "Connection", "LineMapper", "Server", "Silence", "SocketSystem", "Tls"),
        "bbfalsify.systems.servers",
    ),
}
"""Names whose modules only their users should wait for."""

__all__ = [
    "BytesMapper",
    "Capabilities",
    "CapabilityMissing",
    "Closed",
    "Connection",
    "FmuSystem",
    "FunctionSystem",
    "LineMapper",
    "MachineSystem",
    "MalformedAnswer",
    "NoAnswer",
    "ParameterInfo",
    "Port",
    "Preset",
    "ProcessSymbolSystem",
    "ProcessSystem",
    "ProgramSystem",
    "SampledSystem",
    "Server",
    "Session",
    "SessionFailure",
    "Silence",
    "SocketSystem",
    "StepwiseSession",
    "SymbolSession",
    "SymbolSystem",
    "System",
    "SystemDied",
    "Tls",
    "Usage",
    "check_outputs",
    "load_system",
    "matlab_command",
    "octave_command",
    "require_capability",
    "system",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_LATER[name]), name)
