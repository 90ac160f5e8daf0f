"""The automatic transmission as an FMU of FMI 2.0; ../make_fmus.py packs it."""

from pythonfmu import Fmi2Causality, Integer, Real
from stepping import Stepping
from transmission_model import CHART_STEPS, IDLE_RPM, MPH_PER_WHEEL_RPM, STEP, advance, shift


class AutomaticTransmission(Stepping):
    """Ports as in adapters/automatic_transmission; the chart sees the throttle that begins with its look."""

    description = "A car with an automatic gearbox, benchmark AT of the ARCH competition"
    step = STEP

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.speed, self.rpm, self.gear = 0.0, IDLE_RPM, 1
        self.wheel, self.waiting, self.ticks = 0.0, 0, 0
        for name in ("speed", "rpm"):
            self.register_variable(Real(name, causality=Fmi2Causality.output))
        self.register_variable(Integer("gear", causality=Fmi2Causality.output))

    def begin(self):
        if self.steps_done % CHART_STEPS == 0:
            gear, self.waiting, self.ticks = shift(self.gear - 1, self.waiting, self.ticks, self.speed, self.held[0])
            self.gear = gear + 1

    def advance(self):
        self.rpm, self.wheel = advance(self.rpm, self.wheel, *self.held, self.gear - 1)
        self.speed = self.wheel * MPH_PER_WHEEL_RPM
