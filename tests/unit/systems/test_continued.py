"""Uses that begin alike go on from saved states, with the answers of a system that is reset each time."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from bbfalsify.core.trace import Stimulus
from bbfalsify.systems import Capabilities, Port, StepwiseSession, continued
from bbfalsify.systems.continued import ContinuedUses, can_continue


class Room(StepwiseSession):
    """T' = (100 heat - T) / 10, and a counter that only the history of steps explains."""

    def __init__(self, owner: Rooms, start: float) -> None:
        self.owner, self.T, self.switched, self.last = owner, start, 0, 0.0

    def observe(self) -> Mapping[str, float]:
        return {"T": self.T, "switched": self.switched}

    def step(self, inputs: Mapping[str, float], duration_s: float) -> None:
        self.owner.steps += 1
        self.switched += inputs["heat"] != self.last
        self.last = inputs["heat"]
        self.T = 100 * self.last + (self.T - 100 * self.last) * math.exp(-duration_s / 10)

    def save(self) -> tuple[float, int, float]:
        return self.T, self.switched, self.last

    def restore(self, state: tuple[float, int, float]) -> None:
        self.T, self.switched, self.last = state

    def forget(self, state: object) -> None:
        self.owner.forgotten += 1

    def __exit__(self, *exception: object) -> None:
        self.owner.closed += 1


class Rooms:
    name = "room"
    inputs = (Port("heat", "1"),)
    outputs = (Port("T", "degC"), Port("switched", "1"))
    parameters: Mapping[str, object] = {}
    capabilities = Capabilities(stepwise=True, snapshot=True)

    def __init__(self) -> None:
        self.steps = self.forgotten = self.closed = 0

    def open(self, seed: int) -> Room:
        return Room(self, 0.0)


def use(moments: list[float], first: float = 0.0) -> Stimulus:
    """Heating is switched at these moments."""
    times = np.unique(np.concatenate([np.arange(0.0, 20.5, 0.5), moments]))
    return Stimulus(times, {"heat": (np.searchsorted(moments, times, side="right") + first) % 2.0})


def random_uses(count: int, seed: int) -> list[Stimulus]:
    rng = np.random.default_rng(seed)
    kept: list[list[float]] = [[]]
    for _ in range(count):
        beginning = kept[rng.integers(len(kept))]
        beginning = beginning[: rng.integers(len(beginning) + 1)]
        at = beginning[-1] if beginning else 0.0
        kept.append([*beginning, *sorted(rng.uniform(at, 20.0, rng.integers(4)).tolist())])
    return [use(moments, float(rng.integers(2))) for moments in kept]


def test_the_answers_are_those_of_a_reset_system():
    """200 uses that share beginnings; a state saved one sample too late or restored under another beginning differs."""
    system, other = Rooms(), Rooms()
    uses, spent = ContinuedUses(system), 0.0
    for stimulus in random_uses(200, 1):
        outputs, simulated = uses.execute(stimulus)
        expected = other.open(0).execute(stimulus)
        assert {name: values.tolist() for name, values in outputs.items()} == {
            n: v.tolist() for n, v in expected.items()
        }
        assert 0.0 <= simulated <= 20.0
        spent += simulated
    assert spent < 0.7 * 200 * 20 and system.steps < 0.7 * other.steps


def test_the_same_use_again_costs_its_last_delay():
    uses = ContinuedUses(Rooms())
    stimulus = use([4.0, 9.0, 15.0])
    assert uses.execute(stimulus)[1] == 20.0
    assert uses.execute(stimulus)[1] == 5.0
    assert uses.execute(use([4.0, 9.0]))[1] == 20.0 - 9.0


def test_states_are_forgotten_and_sessions_closed(monkeypatch):
    monkeypatch.setattr(continued, "MOST_STATES", 3)
    system = Rooms()
    uses = ContinuedUses(system)
    uses.execute(use([2.0, 4.0, 6.0, 8.0, 10.0]))
    assert system.forgotten == 2
    assert uses.execute(use([2.0, 4.0, 6.0, 8.0, 10.0]))[1] == 10.0
    uses.close()
    assert system.closed == 1


@pytest.mark.parametrize("lacks", [{"snapshot": False}, {"stepwise": False}, {"seedable": True}])
def test_who_cannot_be_continued(lacks: dict):
    system = Rooms()
    assert can_continue(system)
    system.capabilities = Capabilities(**{"stepwise": True, "snapshot": True, **lacks})
    assert not can_continue(system)
