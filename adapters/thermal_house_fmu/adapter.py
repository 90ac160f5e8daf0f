"""The thermal house as an FMU; build.py makes it."""

from pathlib import Path

from bbfalsify import UserError
from bbfalsify.systems import FmuSystem

FMU = Path(__file__).parent / "ThermalHouse.fmu"
if not FMU.is_file():
    raise UserError(f"{FMU.name} is not built yet: pip install pythonfmu, then python {FMU.parent / 'build.py'}")

system = FmuSystem(FMU, name="thermal_house_fmu")
