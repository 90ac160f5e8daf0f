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

__all__ = [
    "Capabilities",
    "CapabilityMissing",
    "FunctionSystem",
    "MalformedAnswer",
    "Port",
    "Session",
    "StepwiseSession",
    "System",
    "check_outputs",
    "load_system",
    "require_capability",
    "system",
]
