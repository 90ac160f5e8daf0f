"""Black boxes: what they look like, how to make one of a function, how to load one, how their answers are checked."""

from bbfalsify.systems.border import MalformedAnswer, check_outputs
from bbfalsify.systems.function import FunctionSystem, system
from bbfalsify.systems.interface import (
    Capabilities,
    CapabilityMissing,
    Port,
    Session,
    StepwiseSession,
    System,
    require_capability,
)
from bbfalsify.systems.loading import load_system
from bbfalsify.systems.symbols import MachineSystem, SymbolSession, SymbolSystem

__all__ = [
    "Capabilities",
    "CapabilityMissing",
    "FunctionSystem",
    "MachineSystem",
    "MalformedAnswer",
    "Port",
    "Session",
    "StepwiseSession",
    "SymbolSession",
    "SymbolSystem",
    "System",
    "check_outputs",
    "load_system",
    "require_capability",
    "system",
]
