"""FMUs (FMI 2.0 and 3.0, co-simulation) as black boxes."""

from bbfalsify.systems.fmu.fmu_system import FmuSystem

__all__ = ["FmuSystem"]
