"""What one simulated year of weather costs: `python experiments/bench/weather_year.py`.

A year is a stochastic walk through profiles/weather.yaml (about 134 transitions) and its stimulus (the outdoor
temperature at 8,737 full hours and at every transition).  CPU milliseconds per year, best of several rounds,
interleaved with a plain numpy computation of the same signal from the same walk: compare the ratio, not the figures.
The target is 5 ms a year.  Compiling is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk, compile_network, stochastic_walks
from bbfalsify.modelling import load_profile

PROFILE = Path(__file__).resolve().parent.parent.parent / "profiles" / "weather.yaml"
YEAR = 8736.0
YEARS, ROUNDS = 40, 9
TARGET_MS = 5.0


def numpy_year(walk: Walk, times: np.ndarray, slots: dict[str, int]) -> np.ndarray:
    """The formula of the profile, with the anomaly's exponentials written by hand."""
    season = np.sin(2 * np.pi * (times - 2484) / 8736)
    calm = 5.5 + 16.5 * season + (4.5 + 1.5 * season) * np.sin(2 * np.pi * (times - 9) / 24)
    state = np.searchsorted(walk.times, times, side="right")
    since = times - np.concatenate([[0.0], walk.times])[state]
    target, anomaly = walk.reals[state, slots["g"]], walk.reals[state, slots["A"]]
    return calm + target + (anomaly - target) * np.exp(-since / 72)


def cpu_ms(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return 1000 * (time.process_time() - started) / YEARS


def main() -> None:
    profile = load_profile(str(PROFILE))
    model = compile_network(profile.network)
    usage = Usage(profile, model, YEAR, 1.0)
    slots = {v.name: v.slot for v in model.network.variables}
    seeds = np.arange(YEARS, dtype=np.uint64)
    batch = stochastic_walks(model, seeds, YEAR, 1000)
    walks = [batch.walk(i) for i in range(YEARS)]
    stimuli = [usage.stimulus(walk) for walk in walks]
    differences = [
        np.abs(s.inputs["T_out"] - numpy_year(w, s.times, slots)).max() for s, w in zip(stimuli, walks, strict=True)
    ]
    jobs = {
        "walk": lambda: stochastic_walks(model, seeds, YEAR, 1000),
        "stimulus": lambda: [usage.stimulus(walk) for walk in walks],
        "numpy": lambda: [numpy_year(w, s.times, slots) for s, w in zip(stimuli, walks, strict=True)],
    }
    best = dict.fromkeys(jobs, np.inf)
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            best[name] = min(best[name], cpu_ms(job))
    total = best["walk"] + best["stimulus"]
    print(f"{'one year of weather':28}{'CPU ms':>8}")
    print(f"{'stochastic walk':28}{best['walk']:8.2f}")
    print(f"{'stimulus, 8,737 hours':28}{best['stimulus']:8.2f}")
    print(f"{'together':28}{total:8.2f}   target {TARGET_MS:g}{'' if total < TARGET_MS else '  too slow'}")
    print(f"{'numpy, the signal alone':28}{best['numpy']:8.2f}   ratio {total / best['numpy']:.1f}")
    print(f"largest difference between the two signals: {max(differences):.1e} K")


if __name__ == "__main__":
    main()
