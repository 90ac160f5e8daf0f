import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import (
    Capabilities,
    CapabilityMissing,
    FunctionSystem,
    Port,
    StepwiseSession,
    System,
    require_capability,
    system,
)

STIMULUS = Stimulus(np.array([0.0, 1.0, 3.0]), {"u": np.array([1.0, 2.0, 3.0])}, ((1.0, "up"),))


def execute(box, seed=0):
    with box.open(seed) as session:
        return session.execute(STIMULUS)


def test_the_decorator_makes_a_system_that_is_still_callable():
    @system(inputs={"u": "1"}, outputs={"y": "degC"})
    def double(stimulus):
        """Twice the input."""
        return {"y": 2 * stimulus.inputs["u"]}

    assert isinstance(double, System)
    assert (double.name, double.inputs, double.outputs) == ("double", (Port("u", "1"),), (Port("y", "degC"),))
    assert double.__doc__ == "Twice the input."
    assert execute(double)["y"].tolist() == double(STIMULUS)["y"].tolist() == [2.0, 4.0, 6.0]
    assert not double.capabilities.seedable


def test_two_arguments_are_times_and_inputs():
    box = FunctionSystem(lambda times, inputs: {"y": times + inputs["u"]}, inputs=["u"], outputs=["y"])
    assert execute(box)["y"].tolist() == [1.0, 3.0, 6.0]


def test_arguments_with_defaults_are_settings():
    def scaled(stimulus, factor=3):
        return {"y": factor * stimulus.inputs["u"]}

    assert execute(FunctionSystem(scaled, inputs="u", outputs="y"))["y"].tolist() == [3.0, 6.0, 9.0]


def test_an_argument_named_seed_makes_it_seedable():
    def noisy(stimulus, *, seed):
        return {"y": np.random.default_rng(seed).normal(size=len(stimulus.times))}

    box = FunctionSystem(noisy, inputs=["u"], outputs=["y"])
    assert box.capabilities.seedable
    assert execute(box, 7)["y"].tolist() == execute(box, 7)["y"].tolist() != execute(box, 8)["y"].tolist()


@pytest.mark.parametrize(
    "function", [lambda: {}, lambda a, b, c: {}, lambda stimulus, *, mode: {}], ids=["none", "three", "keyword"]
)
def test_functions_that_could_not_be_called_are_refused(function):
    with pytest.raises(UserError, match="one argument .the stimulus. or two"):
        FunctionSystem(function, inputs=["u"], outputs=["y"])


def test_ports_must_have_different_names_and_there_must_be_an_output():
    with pytest.raises(UserError, match="the name 'u' is used by two ports"):
        FunctionSystem(lambda s: {}, inputs=["u"], outputs=["u"])
    with pytest.raises(UserError, match="declares no output"):
        FunctionSystem(lambda s: {}, inputs=["u"], outputs=[])


class Integrator(StepwiseSession):
    def __init__(self):
        self.y = 0.0

    def observe(self):
        return {"y": self.y}

    def step(self, inputs, duration_s):
        self.y += inputs["u"] * duration_s


def test_a_stepwise_session_executes_whole_signals():
    with Integrator() as session:
        assert session.execute(STIMULUS)["y"].tolist() == [0.0, 1.0, 5.0]


def test_a_missing_capability_is_refused_by_name():
    box = FunctionSystem(lambda s: {}, inputs=[], outputs=["y"], name="box", capabilities=Capabilities(stepwise=True))
    require_capability(box, "stepwise", "learning")
    with pytest.raises(CapabilityMissing, match="splitting needs the capability 'snapshot'.*it declares: stepwise"):
        require_capability(box, "snapshot", "splitting")
