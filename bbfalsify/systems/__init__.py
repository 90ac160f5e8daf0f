"""Black boxes: what they look like, how to make one of a function, how to load one, how their answers are checked."""

from typing import Any

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
from bbfalsify.systems.programs.one_shot import ProgramSystem
from bbfalsify.systems.programs.persistent import ProcessSymbolSystem, ProcessSystem
from bbfalsify.systems.symbols import MachineSystem, SymbolSession, SymbolSystem

__all__ = [
    "Capabilities",
    "CapabilityMissing",
    "FmuSystem",
    "FunctionSystem",
    "MachineSystem",
    "MalformedAnswer",
    "NoAnswer",
    "Port",
    "ProcessSymbolSystem",
    "ProcessSystem",
    "ProgramSystem",
    "Session",
    "SessionFailure",
    "StepwiseSession",
    "SymbolSession",
    "SymbolSystem",
    "System",
    "SystemDied",
    "Usage",
    "check_outputs",
    "load_system",
    "require_capability",
    "system",
]


def __getattr__(name: str) -> Any:
    """FMUs are read by code that only those who use one should wait for."""
    if name == "FmuSystem":
        from bbfalsify.systems.fmu import FmuSystem

        return FmuSystem
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
