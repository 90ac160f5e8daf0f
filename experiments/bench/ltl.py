"""Time from a temporal formula to its small Büchi automaton, and what model checking a machine explores.

    python experiments/bench/ltl.py [--formulas 2000] [--size 20] [--machines 200] [--states 200]

CPU milliseconds per formula, in this process, from the syntax tree to the reduced automaton of the violating words.
Formulas are random, of exactly the given size; a second row has only those whose automaton is not trivial.  Then
machines are checked: product states and edges met, against all there are (machine states × automaton states), and the
time per edge, which stays what it is for machines ten times as large where the search is linear.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from arguments import whole_numbers

from bbfalsify.logic.ltl import search
from bbfalsify.logic.ltl.letters import Letters
from bbfalsify.logic.ltl.ltl_formula import atoms
from bbfalsify.logic.ltl.properties import LtlProperty
from bbfalsify.logic.ltl.tableau import translate

sys.path.insert(0, str(Path(__file__).parents[2]))  # the random machines are those of the tests
from tests.support.formulas import INPUTS, random_formula, random_machine  # noqa: E402


def show(what: str, times: list[float], states: list[int]) -> None:
    ms = 1e3 * np.array(times)
    print(
        f"{what:22}{len(ms):>9}{np.median(ms):>10.2f}{np.quantile(ms, 0.95):>10.2f}{ms.max():>10.1f}"
        f"{np.mean(states):>10.1f}{max(states):>8}"
    )


def translations(rng: np.random.Generator, count: int, size: int) -> None:
    times, states = [], []
    for _ in range(count):
        formula = random_formula(rng, size)
        letters = Letters(atoms(formula), INPUTS)
        start = time.process_time()
        automaton = translate(formula, letters, negated=True)
        times.append(time.process_time() - start)
        states.append(len(automaton))
    print(f"{'translation':22}{'formulas':>9}{'median ms':>10}{'95 %':>10}{'max':>10}{'states':>10}{'most':>8}")
    show(f"size {size}", times, states)
    real = [k for k, n in enumerate(states) if n > 1]
    show("… of them, > 1 state", [times[k] for k in real], [states[k] for k in real])


def checks(rng: np.random.Generator, count: int, states: int) -> None:
    print(f"\n{'model checking':22}{'checks':>9}{'violated':>10}{'explored':>10}{'µs/edge':>10}{'edges':>12}")
    for n in (states, 10 * states):
        met, possible, edges, spent = [], [], [], []
        violated = 0
        for _ in range(count if n == states else count // 4):
            wanted, machine = LtlProperty(random_formula(rng, 12)), random_machine(rng, n)
            automaton = wanted.bad_words(INPUTS)
            _ = automaton.table, automaton.everything, wanted.watch(INPUTS)
            start = time.process_time()
            found = search(machine, wanted)
            spent.append(time.process_time() - start)
            violated += found.lasso is not None
            met.append(found.states)
            edges.append(found.edges)
            possible.append(max(1, n * len(automaton)))
        share, each = sum(met) / sum(possible), 1e6 * sum(spent) / max(1, sum(edges))
        print(f"{f'{n} states':22}{len(met):>9}{violated:>10}{share:>10.1%}{each:>10.2f}{sum(edges):>12}")


def main() -> None:
    chosen = whole_numbers(__doc__, formulas=2000, size=20, machines=200, states=200)
    rng = np.random.default_rng(1)
    translations(rng, chosen.formulas, chosen.size)
    checks(rng, chosen.machines, chosen.states)


if __name__ == "__main__":
    main()
