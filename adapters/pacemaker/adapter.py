"""A pacemaker that paces at its lower rate limit: the benchmark PM of the ARCH competition.  Time is in seconds."""

from __future__ import annotations

import numpy as np
from pacemaker_model import pace

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import system


@system(inputs={"rate": "1"}, outputs={"count": "1"})
def pacemaker(stimulus: Stimulus) -> dict[str, np.ndarray]:
    """Number of paces so far."""
    return {"count": pace(stimulus.times, stimulus.inputs["rate"])}
