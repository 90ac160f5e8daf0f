"""An FMU of FMI 3.0 with arrays and many types: y = gain * u, total, a counter; it can stop, return early and fail."""

import numpy as np
from pythonfmu3 import (
    Boolean,
    Dimension,
    Float64,
    Fmi3Causality,
    Fmi3Initial,
    Fmi3Slave,
    Fmi3Status,
    Fmi3StepResult,
    Fmi3Variability,
    Int32,
    Int64,
    UInt64,
)

INPUT, OUTPUT = {"causality": Fmi3Causality.input}, {"causality": Fmi3Causality.output}
PARAMETER = {"causality": Fmi3Causality.parameter, "variability": Fmi3Variability.tunable}


class Box(Fmi3Slave):
    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.n = 3
        self.u, self.y, self.m = np.array([0.0, 10.0, 20.0]), np.zeros(3), np.arange(6.0).reshape(2, 3)
        self.on, self.level, self.gain, self.deed = False, 0, 2.0, 0
        self.total, self.odd, self.count, self.big = 30.0, False, 0, 2**40
        size = Dimension(valueReference="0")
        self.register_variable(
            UInt64(
                "n",
                causality=Fmi3Causality.structuralParameter,
                variability=Fmi3Variability.tunable,
                initial=Fmi3Initial.exact,
            )
        )
        # The builder's own setter asks numpy for something that numpy 2.1 no longer has.
        self.register_variable(Float64("u", dimensions=[size], setter=self.set_u, **INPUT))
        self.register_variable(Boolean("on", **INPUT))
        self.register_variable(Int32("level", **INPUT))
        self.register_variable(Float64("gain", **PARAMETER))
        self.register_variable(Int32("deed", **PARAMETER))
        self.register_variable(Float64("y", dimensions=[size], **OUTPUT))
        self.register_variable(Float64("m", dimensions=[Dimension(start="2"), Dimension(start="3")], **OUTPUT))
        self.register_variable(Float64("total", **OUTPUT))
        self.register_variable(Boolean("odd", **OUTPUT))
        self.register_variable(Int32("count", **OUTPUT))
        self.register_variable(Int64("big", **OUTPUT))

    def set_u(self, values):
        self.u = np.array(values)

    def do_step(self, current_time, step_size):
        self.y = self.gain * self.u
        self.m = self.m + 1.0
        self.total = float(self.u.sum()) + self.level + (100.0 if self.on else 0.0)
        self.count += 1
        self.odd = self.count % 2 == 1
        if self.count == 3 and self.deed == 1:
            return Fmi3StepResult(status=Fmi3Status.ok, terminateSimulation=True)
        if self.count == 3 and self.deed == 2:
            return Fmi3StepResult(status=Fmi3Status.discard)
        if self.count == 3 and self.deed == 3:
            return Fmi3StepResult(status=Fmi3Status.fatal)
        return True
