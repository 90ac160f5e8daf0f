"""The heater of the quick start; the black box itself ships with the package, so that there is one copy of it."""

from bbfalsify.examples.heater.system import heater as system

__all__ = ["system"]
