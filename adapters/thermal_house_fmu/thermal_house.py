"""The thermal house as an FMU of FMI 2.0; packed by build.py together with the equations it shares with the adapter."""

import math

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real
from thermal_house_model import START, advance


class ThermalHouse(Fmi2Slave):
    """One time unit of the FMU is an hour.  T_out is read in the first step of every hour and held until the next."""

    description = "A house with a thermostat in the weather, after sldemo_househeat"

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.T_out, self.T, self.T_start = 0.0, START, START
        self.heating, self.hour, self.held = False, -1, 0.0
        self.register_variable(Real("T_out", causality=Fmi2Causality.input))
        self.register_variable(Real("T", causality=Fmi2Causality.output))
        self.register_variable(Real("T_start", causality=Fmi2Causality.parameter, variability=Fmi2Variability.fixed))

    def exit_initialization_mode(self):
        self.T = self.T_start

    def do_step(self, current_time, step_size):
        if math.floor(current_time) > self.hour:
            self.hour, self.held = math.floor(current_time), self.T_out
        self.T, self.heating = advance(self.T, self.heating, self.held, step_size)
        return True
