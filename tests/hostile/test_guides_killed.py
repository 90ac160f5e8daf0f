"""SIGKILL in the middle of every guide: resumed, a search ends as if nothing had happened, on any number of workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bbfalsify import falsify, system
from bbfalsify.engines.falsification.guides.guide_table import BUILT_IN
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.modelling import Profile, value_profile
from tests import heater
from tests.hostile.test_engines_killed import concluded
from tests.hostile.test_kills import executed, heater_system, killed_after, recorded

PIECES = 8


@system(inputs=["throttle"], outputs=["v"], parameters={"mass": 1.0})
def car(times, inputs, *, mass):
    v = np.zeros(len(times))
    for i, dt in enumerate(np.diff(times)):
        v[i + 1] = v[i] + dt * (0.12 * inputs["throttle"][i] - 0.085 * v[i]) / mass
    return {"v": v}


def signals() -> Profile:
    return value_profile({"throttle": {"range": [0, 100], "pieces": PIECES}}, {"mass": {"uniform": [0.5, 2]}})


SPACES = {
    # the first is found after some steps, the second never: guides change their focus, and use the whole budget
    "signals": (car, signals, ["always[0:20](v <= 95) or always[30:40](v >= 12)", "always[0:40](v <= 1000)"], 40),
    "automata": (heater_system, heater.profile, ["always[0:20](T <= 75)", "always[0:20](T <= 500)"], 20),
}


def run(space: str, guide: str, jobs: int, directory: Path) -> None:
    tested, profile, requirements, horizon = SPACES[space]
    options = Options(simulations=150, passes=2, traces=5, guide=guide, shrink=30)
    falsify(
        tested, profile(), requirements, horizon=horizon, options=options, seed=4, jobs=jobs, directory=directory,
        period=0.1,
    )  # fmt: skip


def kill_and_resume(space: str, guide: str, folder: Path, kills: int) -> None:
    """Kill runs of one and two workers at moments spread over the search; each is resumed with the other number."""
    run(space, guide, 1, folder / "whole")
    size, hits = recorded(folder / "whole"), 0
    for number, share in enumerate((np.arange(kills) + 0.5) / kills):
        place, jobs = folder / str(number), 1 + number % 2
        enough = lambda place=place, share=share: recorded(place) >= share * size  # noqa: E731
        hits += killed_after(0.0, run, space, guide, jobs, place, once=enough)
        run(space, guide, 3 - jobs, place)
        assert concluded(place) == concluded(folder / "whole")
        assert executed(place) == executed(folder / "whole"), "asked for other simulations, or for some twice"
    assert hits >= kills / 2, "the kills come too late"


@pytest.mark.parametrize("space", SPACES)
def test_a_portfolio_killed_in_the_middle(space, tmp_path):
    kill_and_resume(space, "portfolio", tmp_path, kills=2)


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("guide", BUILT_IN)
def test_every_guide_killed_eight_times(space, guide, tmp_path):
    """More than a hundred and forty kills; what a guide cannot search, another takes over."""
    kill_and_resume(space, guide, tmp_path, kills=8)
