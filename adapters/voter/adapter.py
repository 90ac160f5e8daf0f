"""A voter over three redundant sensors: the majority decides."""

from __future__ import annotations

import numpy as np

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import system

MAJORITY = 2


@system(inputs={"s1": "1", "s2": "1", "s3": "1"}, outputs={"out_ok": "1"})
def voter(stimulus: Stimulus) -> dict[str, np.ndarray]:
    """1 while a majority of the sensors works, else 0: the output cannot be trusted."""
    working = sum(signal >= 0.5 for signal in stimulus.inputs.values())
    return {"out_ok": (working >= MAJORITY).astype(float)}
