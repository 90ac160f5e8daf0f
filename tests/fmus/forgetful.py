"""An FMU of FMI 2.0 whose reset forgets nothing: T grows from one simulation to the next, up to a new instance.

Its library makes a new object for a reset as for a new instance; only a new instance also makes sys.path longer.
"""

import sys

from pythonfmu import Fmi2Causality, Fmi2Slave, Real

remembered = {"T": 0.0, "path": 0}


class Forgetful(Fmi2Slave):
    def __init__(self, **arguments):
        super().__init__(**arguments)
        if len(sys.path) != remembered["path"]:
            remembered.update(T=0.0, path=len(sys.path))
        self.u, self.T = 0.0, remembered["T"]
        self.register_variable(Real("u", causality=Fmi2Causality.input))
        self.register_variable(Real("T", causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        self.T += self.u * step_size
        remembered["T"] = self.T
        return True
