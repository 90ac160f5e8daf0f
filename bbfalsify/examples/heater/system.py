"""A room with a heater, the running example of usage-aware falsification.

While the heater is on the temperature follows T' = 10 - T/10, while it is off T' = -T/10; it starts at 0 and off.
Between two samples the input is held, so each step is solved exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import system

TIME_CONSTANT_S = 10.0
HIGHEST = 100.0
"""Limit of the temperature while the heater is on."""


def heaters(stimuli: Sequence[Stimulus]) -> list[dict[str, np.ndarray]]:
    """The temperatures of many rooms: the same steps as below, each for all of them at once."""
    lengths = [len(stimulus.times) for stimulus in stimuli]
    durations, targets = np.zeros((2, max(lengths) - 1, len(stimuli)))
    for room, (stimulus, length) in enumerate(zip(stimuli, lengths, strict=True)):
        durations[: length - 1, room] = stimulus.times[1:] - stimulus.times[:-1]
        targets[: length - 1, room] = stimulus.inputs["heat"][:-1]
    decays, targets = np.exp(durations / -TIME_CONSTANT_S), HIGHEST * targets
    temperatures = np.zeros((max(lengths), len(stimuli)))
    for step, (decay, target) in enumerate(zip(decays, targets, strict=True)):
        temperatures[step + 1] = target + (temperatures[step] - target) * decay
    by_room = np.ascontiguousarray(temperatures.T)
    return [{"T": by_room[room, :length]} for room, length in enumerate(lengths)]


@system(inputs={"heat": "1"}, outputs={"T": "degC"}, batch=heaters)
def heater(stimulus: Stimulus) -> dict[str, np.ndarray]:
    """Temperature of the room; `heat` is 1 while the heater is on and 0 while it is off."""
    decays = np.exp(np.diff(stimulus.times) / -TIME_CONSTANT_S).tolist()
    targets = (HIGHEST * stimulus.inputs["heat"][:-1]).tolist()
    temperature = 0.0
    temperatures = [temperature]
    for decay, target in zip(decays, targets, strict=True):
        temperature = target + (temperature - target) * decay
        temperatures.append(temperature)
    return {"T": np.array(temperatures)}
