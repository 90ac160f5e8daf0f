"""The heater of the running example as an FMU of FMI 2.0: T' = (100 heat - T) / 10, solved exactly in each step."""

import math

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real, String


class Heater(Fmi2Slave):
    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.heat, self.boost, self.level = 0.0, False, 0
        self.T, self.hot, self.steps = 0.0, False, 0
        self.power, self.label = 100.0, "heater"
        inside, fixed = {"causality": Fmi2Causality.input}, {"variability": Fmi2Variability.tunable}
        self.register_variable(Real("heat", **inside))
        self.register_variable(Boolean("boost", **inside))
        self.register_variable(Integer("level", **inside))
        self.register_variable(Real("power", causality=Fmi2Causality.parameter, **fixed))
        self.register_variable(String("label", causality=Fmi2Causality.parameter, **fixed))
        self.register_variable(Real("T", causality=Fmi2Causality.output))
        self.register_variable(Boolean("hot", causality=Fmi2Causality.output))
        self.register_variable(Integer("steps", causality=Fmi2Causality.output))
        self.register_variable(Integer("letters", causality=Fmi2Causality.local, getter=lambda: len(self.label)))

    def do_step(self, current_time, step_size):
        target = self.power * self.heat * (2.0 if self.boost else 1.0) + self.level
        self.T = target + (self.T - target) * math.exp(-step_size / 10.0)
        self.hot = self.T > 75.0
        self.steps += 1
        return True

    def _get_fmu_state(self):
        return {"T": self.T, "hot": self.hot, "steps": self.steps, "heat": self.heat}
