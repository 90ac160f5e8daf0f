"""The chasing cars as an FMU of FMI 2.0; ../make_fmus.py packs it."""

from cars_model import CARS, STEP, advance, start, switch
from pythonfmu import Fmi2Causality, Real
from stepping import Stepping


class ChasingCars(Stepping):
    """Ports as in adapters/chasing_cars."""

    description = "Five cars in a row, each chasing the one in front: benchmark CC of the ARCH competition"
    step = STEP

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.places, self.speeds, self.modes = start()
        self.show()
        for car in range(1, CARS + 1):
            self.register_variable(Real(f"y{car}", causality=Fmi2Causality.output))

    def show(self):
        for car, place in enumerate(self.places, start=1):
            setattr(self, f"y{car}", float(place))

    def begin(self):
        switch(self.places, self.modes)

    def advance(self):
        advance(self.places, self.speeds, self.modes, *self.held, self.step)
        self.show()
