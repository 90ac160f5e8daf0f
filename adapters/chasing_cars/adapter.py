"""Five cars in a row, each chasing the one in front: the benchmark CC of the ARCH competition.  Time is in seconds."""

from __future__ import annotations

import numpy as np
from cars_model import chase

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import system


@system(
    inputs={"throttle": "1", "brake": "1"},
    outputs={"y1": "m", "y2": "m", "y3": "m", "y4": "m", "y5": "m"},
    step=0.01,
)
def chasing_cars(stimulus: Stimulus) -> dict[str, np.ndarray]:
    """Places of the five cars."""
    places = chase(stimulus.times, stimulus.inputs["throttle"], stimulus.inputs["brake"])
    return {f"y{car}": row for car, row in enumerate(places, start=1)}
