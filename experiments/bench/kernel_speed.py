"""How fast the kernel walks.  One command, from the top of the repository:

    python experiments/bench/kernel_speed.py

Figures are transitions per CPU second (best of five, interleaved), and their ratio to a fixed compiled loop measured in
the same run: compare ratios between machines, not the figures.  Compilation is not counted; it is shown first.

"reach" rows are walks of `bbfalsify reach` (RET) that look for a target they never meet: Fischer with indexed guards,
the same with guards the kernel must interpret, a model with channels and functions, and one with stopwatches.
"compiled" rows are the same walks when the model's own code is compiled, as it is after two seconds of a search.  The
rows of the loop count turns of a loop in an update instead of transitions.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial

import numba
import numpy as np

from bbfalsify.examples import example_folder
from bbfalsify.examples.models.protocols import train_gate
from bbfalsify.examples.models.scheduling import satellite
from bbfalsify.kernel import CompiledModel, accelerated_walks, compile_network, count_steps, stochastic_walks
from bbfalsify.kernel.native_code import NativePlan
from bbfalsify.kernel.target_search import Heuristic, Target, TargetSearch
from bbfalsify.kernel.walker import Walker
from bbfalsify.logic.reach_query import parse_query
from bbfalsify.modelling import Network, load_profile, parse_network

FISCHER = """
format_version: 1
name: fischer
declarations: |
  const int N = %d;
  const int K = 2;
  int[0,N] id;
automata:
  P:
    parameters: "const int[1,N] pid"
    declarations: clock x;
    initial: A
    locations: {A: {}, req: {invariant: "x <= K"}, wait: {}, cs: {}}
    edges:
      - {from: A, to: req, action: try, guard: "id == 0", update: "x = 0"}
      - {from: req, to: wait, action: set, update: "x = 0, id = pid"}
      - {from: wait, to: cs, action: enter, guard: "x > K && id == pid"}
      - {from: wait, to: req, action: retry, guard: "id == 0", update: "x = 0"}
      - {from: cs, to: A, action: leave, update: "id = 0"}
"""


@numba.njit
def calibration(rounds: int) -> int:
    """A dependent chain of integer operations and branches; nothing a compiler can leave out."""
    x = 12345
    total = 0
    for i in range(rounds):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        if x & 64:
            total += x >> 3
        else:
            total ^= i
    return total


GENERAL_FISCHER = FISCHER.replace('"id == 0"', '"id + pid == pid"').replace(
    "x > K && id == pid", "x - K > 0 && id - pid == 0"
)
LOOP_TURNS = 500
LOOP = f"""
format_version: 1
name: loop
declarations: |
  int n;
  void work() {{ int s = n; for (i : int[0,{LOOP_TURNS - 1}]) {{ if (s % 2 == 0) s = s / 2 + i; else s = s + 3; }} n = s % 100; }}
automata:
  P:
    initial: A
    locations: {{A: {{}}}}
    edges: [{{from: A, to: A, action: turn, update: "work()"}}]
"""  # noqa: E501  (code of the model)
SIZES = (10, 25, 50)


def reach_jobs() -> dict[str, Callable[[], int]]:
    families: dict[str, Callable[[int], Network]] = {
        "Fischer, indexed guards": lambda n: parse_network(FISCHER % n),
        "Fischer, general guards": lambda n: parse_network(GENERAL_FISCHER % n),
        "train gate, channels and functions": train_gate,
        "tasks, stopwatches": lambda n: satellite(70, min(n, 32)),
    }
    jobs = {}
    for name, make in families.items():
        for size in SIZES:
            network = make(size)
            target = Target(compile_network(network), parse_query("E<> false", network).alive)
            label = f"reach: {name}, N = {min(size, 32) if 'tasks' in name else size}"
            jobs[label] = partial(steps_of, TargetSearch(target, Heuristic.RET))
            if "Fischer" not in name:
                jobs[label.replace("reach", "compiled")] = partial(steps_of, compiled_search(target))
    network = parse_network(LOOP)
    target = Target(compile_network(network), parse_query("E<> false", network).alive)
    jobs["reach: turns of a loop in an update"] = partial(turns_of, TargetSearch(target, Heuristic.RET))
    jobs["compiled: turns of a loop in an update"] = partial(turns_of, compiled_search(target))
    return jobs


def turns_of(search: TargetSearch) -> int:
    return LOOP_TURNS * search.walks(np.arange(4, dtype=np.uint64), np.array([0, 3, 7, 10]), 500).steps


def compiled_search(target: Target) -> TargetSearch:
    """A search whose guards, updates and functions are machine code, as after the first seconds of a run."""
    walker = Walker.of(target.model)
    plan = NativePlan.of(target.model)
    if plan is not None:
        if not plan.is_compiled:
            plan.compile()
        plan.install(walker)
    return TargetSearch(target, Heuristic.RET, walker)


def steps_of(search: TargetSearch) -> int:
    return search.walks(np.arange(4, dtype=np.uint64), np.array([0, 3, 7, 10]), 8192).steps


def model(text: str) -> CompiledModel:
    return compile_network(parse_network(text))


def rate(work, repetitions: int = 1) -> float:
    start = time.process_time()
    done = sum(work() for _ in range(repetitions))
    return done / (time.process_time() - start)


def main() -> None:
    seeds = np.arange(4, dtype=np.uint64)
    many = np.arange(20_000, dtype=np.uint64)
    heater = compile_network(load_profile(example_folder("heater") / "profile.yaml").network)
    fischer_10, fischer_50 = model(FISCHER % 10), model(FISCHER % 50)
    jobs = {
        "calibration loop (rounds)": lambda: (calibration(20_000_000), 20_000_000)[1],
        "heater, accelerated": lambda: count_steps(heater, seeds, 200_000),
        "heater, stochastic": lambda: count_steps(heater, seeds, 200_000, stochastic=True),
        "heater, accelerated, recorded to horizon 20": lambda: int(
            accelerated_walks(heater, many, 10, 20.0, 100).steps.sum()
        ),
        "heater, stochastic, recorded to horizon 20": lambda: int(
            stochastic_walks(heater, many, 20.0, 100).steps.sum()
        ),
        "Fischer, N = 10, accelerated": lambda: count_steps(fischer_10, seeds, 200_000),
        "Fischer, N = 50, accelerated": lambda: count_steps(fischer_50, seeds, 200_000),
        **reach_jobs(),
    }
    start = time.process_time()
    for job in jobs.values():
        job()
    print(f"compiling or loading, and one run of each: {time.process_time() - start:.1f} CPU s\n")
    best = dict.fromkeys(jobs, 0.0)
    for _ in range(5):
        for name, job in jobs.items():
            best[name] = max(best[name], rate(job))
    unit = best["calibration loop (rounds)"]
    print(f"{'':50}{'million / CPU s':>16}{'ratio':>10}")
    for name, value in best.items():
        print(f"{name:50}{value / 1e6:16.2f}{value / unit:10.5f}")
    print(f"\nmemory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
