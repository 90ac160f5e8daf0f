"""What a sound verdict about a finite machine costs: our testers beside AALpy with its own W oracle, in one run.

    python experiments/bench/checking.py FOLDER [MACHINE …] [--limit SYMBOLS] [--seeds N]

FOLDER holds machines as DOT files.  Each is learned with its true number of states as the bound, so that what comes out
is right for certain: by our tester (H) with AALpy's KV and L#, over several orders of the tests, and by AALpy alone (KV
and W).  Counted is what reaches the box: words (resets) and symbols.  The last column is the CPU time of everything
but the learner (drawing up tests, the box itself, comparing, entering into the tree) per tested symbol.
A second table shows how many symbols the suites for one more state than there are have.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from aalpy.base import SUL, Oracle
from aalpy.learning_algs import run_KV, run_Lsharp
from aalpy.oracles import WMethodEqOracle

from bbfalsify.automata.equivalence import difference, minimise
from bbfalsify.automata.mealy import MealyMachine, parse_dot, read_dot
from bbfalsify.automata.observation_tree import ObservationTree, first_disagreement
from bbfalsify.engines.checking.conformance import METHODS, test_batches

sys.path.insert(0, str(Path(__file__).parents[2]))  # what finds differences is that of the tests
from tests.support.machines import add_many, first_difference, run_many  # noqa: E402

MACHINES = ("TCP_Linux_Client", "DropBear", "TCP_Windows8_Server", "BitVise")


class TooManySymbols(Exception):
    pass


class Stepped(SUL):
    """A machine as AALpy likes it: symbol by symbol."""

    def __init__(self, machine: MealyMachine, limit: int) -> None:
        super().__init__()
        self.machine, self.limit, self.words, self.symbols = machine, limit, 0, 0
        self._number = {symbol: i for i, symbol in enumerate(machine.inputs)}
        self._successor, self._answer = machine.successor.tolist(), machine.answer.tolist()
        self._state = machine.initial

    def pre(self) -> None:
        self.words += 1
        self._state = self.machine.initial

    def post(self) -> None: ...

    def step(self, symbol: str) -> str:
        self.symbols += 1
        if self.symbols > self.limit:
            raise TooManySymbols
        i = self._number[symbol]
        output = self.machine.outputs[self._answer[self._state][i]]
        self._state = self._successor[self._state][i]
        return output


class Remembered(SUL):
    """The same machine behind our observation tree: whole words, and none twice."""

    def __init__(self, machine: MealyMachine) -> None:
        super().__init__()
        self.machine, self.tree, self.words, self.symbols = machine, ObservationTree(), 0, 0

    def query(self, word: tuple[str, ...]) -> list[str]:
        outputs = self.tree.outputs(word)
        if outputs is None:
            outputs = self.machine.run(word)
            self.tree.add(word, outputs)
            self.words += 1
            self.symbols += len(word)
        return list(outputs)

    def pre(self) -> None:
        raise NotImplementedError

    post = step = pre


class Tester(Oracle):
    """All that is known first, then the tests up to the bound."""

    def __init__(self, box: Remembered, method: str, seed: int) -> None:
        super().__init__(list(box.machine.inputs), box)
        self.box, self.method, self.rng = box, method, np.random.default_rng(seed)
        self.cpu_seconds, self.tested = 0.0, 0

    def find_cex(self, hypothesis: object) -> tuple[str, ...] | None:
        machine = parse_dot(str(hypothesis))
        started = time.process_time()
        try:
            return self._disagreement(machine)
        finally:
            self.cpu_seconds += time.process_time() - started

    def _disagreement(self, hypothesis: MealyMachine) -> tuple[str, ...] | None:
        box = self.box
        wrong = first_disagreement(box.tree, hypothesis)
        if wrong is not None:
            return wrong
        extra = len(box.machine) - len(hypothesis)
        for words in test_batches(self.method, hypothesis, extra, tree=box.tree, rng=self.rng):
            outputs = run_many(box.machine, words)
            box.words += len(words)
            box.symbols += len(words.symbols)
            self.tested += len(words.symbols)
            add_many(box.tree, words, outputs, box.machine.outputs)
            wrong = first_difference(hypothesis, words, outputs, box.machine.outputs)
            if wrong is not None:
                return wrong
        return None


def ours(machine: MealyMachine, learner: str, seed: int) -> tuple[Remembered, Tester, float]:
    box = Remembered(machine)
    tester = Tester(box, "h", seed)
    started = time.process_time()
    plain = {"cache_and_non_det_check": False, "print_level": 0}
    if learner == "KV":
        found = run_KV(list(machine.inputs), box, tester, "mealy", **plain)
    else:
        found = run_Lsharp(list(machine.inputs), box, tester, "mealy", separation_rule="SepSeq", **plain)
    seconds = time.process_time() - started
    if difference(parse_dot(str(found)), machine) is not None:
        raise SystemExit(f"{machine.name}: learned another machine")
    return box, tester, seconds


def aalpy(machine: MealyMachine, limit: int) -> tuple[int, int, float, bool]:
    """(words, symbols, CPU seconds, finished)"""
    box, started = Stepped(machine, limit), time.process_time()
    try:
        oracle = WMethodEqOracle(list(machine.inputs), box, len(machine))
        run_KV(list(machine.inputs), box, oracle, "mealy", print_level=0)
        return box.words, box.symbols, time.process_time() - started, True
    except TooManySymbols:
        return box.words, box.symbols, time.process_time() - started, False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("machines", nargs="*", default=MACHINES)
    parser.add_argument("--limit", type=int, default=2_000_000, help="symbols after which AALpy is stopped")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    machines = [minimise(read_dot(options.folder / f"{name}.dot")) for name in options.machines]
    ours(machines[0], "KV", 0)  # compiles

    print(f"{'machine':22} {'with':12} {'words':>9} {'symbols':>10} {'of AALpy':>9} {'CPU s':>7} {'µs/tested':>9}")
    for machine in machines:
        words, symbols, seconds, finished = aalpy(machine, options.limit)
        more = "" if finished else ">"
        shown = more + format(symbols, ",")
        print(f"{machine.name:22} {'AALpy KV, W':12} {words:9,} {shown:>10} {'':9} {seconds:7.2f}")
        for learner in ("KV", "L#"):
            runs = [ours(machine, learner, seed) for seed in range(options.seeds)]
            counts = sorted(box.symbols for box, _, _ in runs)
            middle = sorted(runs, key=lambda run: run[0].symbols)[len(runs) // 2]
            box, seconds = middle[0], float(np.mean([s for *_, s in runs]))
            micro = 1e6 * sum(t.cpu_seconds for _, t, _ in runs) / max(1, sum(t.tested for _, t, _ in runs))
            share = f"{'' if finished else '<'}{box.symbols / symbols:.3f}"
            print(
                f"{machine.name:22} {learner + ', H':12} {box.words:9,} {box.symbols:10,} {share:>9} {seconds:7.2f} "
                f"{micro:9.2f}   {counts[0]:,} … {counts[-1]:,} in {len(runs)} orders"
            )

    print(f"\n{'symbols of suites for n + 1':28}" + "".join(f"{method:>12}" for method in METHODS))
    for machine in machines:
        totals = [sum(len(words.symbols) for words in test_batches(m, machine, 1)) for m in METHODS]
        print(f"{machine.name:22} {len(machine):5}" + "".join(f"{total:12,}" for total in totals))


if __name__ == "__main__":
    main()
