"""The fixed steps of a model, whatever steps its FMU is asked for."""

from pythonfmu import Fmi2Causality, Fmi2Slave, Real

ROUNDING = 1e-9
"""Times that differ by less are the same [s]."""


class Stepping(Fmi2Slave):
    """Throttle and brake are read at the beginning of every step of the model, as in the adapter.

    Outputs are those of the last step before the asked time: an output at a time does not see the inputs that begin
    to act at it.
    """

    step = 0.01

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.throttle, self.brake = 0.0, 0.0
        self.held, self.steps_done, self.begun = (0.0, 0.0), 0, False
        for name in ("throttle", "brake"):
            self.register_variable(Real(name, causality=Fmi2Causality.input))

    def begin(self):
        """Change modes; inputs are in `held`."""
        raise NotImplementedError

    def advance(self):
        """Move the state by one step."""
        raise NotImplementedError

    def do_step(self, current_time, step_size):
        end = current_time + step_size
        while self.steps_done * self.step < end - ROUNDING:
            if not self.begun:
                self.held, self.begun = (self.throttle, self.brake), True
                self.begin()
            if (self.steps_done + 1) * self.step > end + ROUNDING:
                break
            self.advance()
            self.steps_done, self.begun = self.steps_done + 1, False
        return True
