"""Time of one judgement: RTAMT's robustness against our robustness, verdict, violation time and vacuity together.

    python experiments/bench/stl_speed.py [--samples 8737] [--batch 100] [--repeat 20]

Both run in this process on the same trace, an hourly temperature over a year.  CPU seconds, best of several
repetitions; compiling (about ten seconds once, then cached) and parsing are not counted.  RTAMT's time for the batch
is that of one trace times the batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import rtamt
from arguments import whole_numbers

from bbfalsify.logic import parse_stl
from bbfalsify.logic.stl.stl_monitor import judge, warm_up

FORMULA = "always((T<=16) implies (eventually[0:24](T>=18)))"


def cpu_seconds(function: Callable[[], object], repeat: int) -> float:
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def rtamt_evaluation(kind: str, times: np.ndarray, values: np.ndarray) -> Callable[[], float]:
    specification = rtamt.StlDiscreteTimeSpecification() if kind == "discrete" else rtamt.StlDenseTimeSpecification()
    specification.declare_var("T", "float")
    specification.spec = FORMULA
    specification.parse()
    if kind == "discrete":
        table = {"time": times.tolist(), "T": values.tolist()}
        return lambda: specification.evaluate(table)[0][1]
    pairs = [list(pair) for pair in zip(times.tolist(), values.tolist(), strict=True)]
    return lambda: specification.evaluate(["T", pairs])[0][1]


def main() -> None:
    chosen = whole_numbers(__doc__, samples=8737, batch=100, repeat=20)
    rng = np.random.default_rng(1)
    times = np.arange(float(chosen.samples))
    values = 17.5 + 2.0 * np.sin(times * (2 * np.pi / 24)) + rng.normal(0, 0.5, chosen.samples)
    formula = parse_stl(FORMULA)
    warm_up()
    print(f"{FORMULA} on {chosen.samples} samples")
    print(f"{'':10}{'RTAMT':>12}{'bbfalsify':>12}{'ratio':>8}{f'batch of {chosen.batch}':>16}{'ratio':>8}")
    for kind in ("discrete", "dense"):
        theirs = rtamt_evaluation(kind, times, values)
        if judge(formula, times, {"T": values}, time=kind).robustness != theirs():
            raise SystemExit(f"{kind}: the two robustness values differ")
        slow = cpu_seconds(theirs, max(1, chosen.repeat // 5))
        fast = cpu_seconds(lambda kind=kind: judge(formula, times, {"T": values}, time=kind), chosen.repeat)
        traces = [(times, {"T": values + 0.001 * i}) for i in range(chosen.batch)]
        batch = cpu_seconds(lambda kind=kind, traces=traces: [judge(formula, *trace, time=kind) for trace in traces], 3)
        print(
            f"{kind:10}{slow * 1e3:10.1f}ms{fast * 1e3:10.2f}ms{slow / fast:8.0f}"
            f"{batch * 1e3:14.1f}ms{slow * chosen.batch / batch:8.0f}"
        )


if __name__ == "__main__":
    main()
