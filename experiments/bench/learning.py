"""CPU time of learning a machine by L#, beside AALpy as it is: the same words, the same hypotheses.

    python experiments/bench/learning.py [STATES …]

Machines are random, of five inputs and three outputs.  The teacher knows the machine and answers with a shortest
counterexample, so that only learning is measured.  AALpy alone is left out above `--limit` states.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from aalpy.learning_algs import run_Lsharp
from aalpy.learning_algs.deterministic.ObservationTree import MealyNode

from bbfalsify.automata.equivalence import difference, minimise
from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.engines.checking.learners import from_aalpy, learner_parts
from bbfalsify.engines.checking.lsharp import run_lsharp


def aalpy(*parts: Any) -> Any:
    MealyNode._id_counter = 0  # AALpy numbers nodes over all learning of a process, and these numbers order sets
    return run_Lsharp(*parts, "mealy", separation_rule="SepSeq", cache_and_non_det_check=False, print_level=0)


class Counted:
    def __init__(self, machine: MealyMachine) -> None:
        self.machine, self.words = machine, 0

    def outputs(self, word: Word) -> Word:
        self.words += 1
        return self.machine.run(word)


def measured(run: Callable[..., Any], machine: MealyMachine) -> tuple[float, int]:
    """CPU seconds and words of one learning."""
    box, started = Counted(machine), time.process_time()
    found = run(*learner_parts(box, machine.inputs, lambda hypothesis: difference(hypothesis, machine)))
    seconds = time.process_time() - started
    if difference(from_aalpy(found, machine.inputs), machine) is not None:
        raise SystemExit(f"{machine.name}: learned another machine")
    return seconds, box.words


def random_machine(states: int) -> MealyMachine:
    rng = np.random.default_rng(1)
    names = tuple(f"i{i}" for i in range(5)), tuple(f"o{o}" for o in range(3))
    successor = rng.integers(states, size=(states, 5), dtype=np.int32)
    return minimise(MealyMachine(*names, successor, rng.integers(3, size=(states, 5), dtype=np.int32)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("states", nargs="*", type=int, default=[50, 100, 200, 500])
    parser.add_argument("--limit", type=int, default=500)
    options = parser.parse_args()
    measured(run_lsharp, random_machine(5))  # compiles
    print(f"{'states':>6} {'words':>8} {'CPU s':>8} {'AALpy':>8} {'times as fast':>14}")
    for states in options.states:
        machine = random_machine(states)
        seconds, words = measured(run_lsharp, machine)
        row = f"{len(machine):6} {words:8,} {seconds:8.2f}"
        if states <= options.limit:
            theirs, their_words = measured(aalpy, machine)
            if their_words != words:
                raise SystemExit(f"{states} states: {words} words here, {their_words} by AALpy")
            row += f" {theirs:8.2f} {theirs / seconds:14.1f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
