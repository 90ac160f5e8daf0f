"""A car with an automatic gearbox: the benchmark AT of the ARCH competition.  Time is in seconds."""

from __future__ import annotations

import numpy as np
from transmission_model import STEP, drive

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import system


@system(
    inputs={"throttle": "%", "brake": "1"},
    outputs={"speed": "mph", "rpm": "rpm", "gear": "1"},
    step=STEP,
)
def automatic_transmission(stimulus: Stimulus) -> dict[str, np.ndarray]:
    """Speed [mph], engine speed [rpm] and gear of a car from standstill."""
    inputs = stimulus.inputs
    speed, rpm, gear = drive(stimulus.times, inputs["throttle"], inputs["brake"])
    return {"speed": speed, "rpm": rpm, "gear": gear}
