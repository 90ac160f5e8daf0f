"""Random small timed networks as UPPAAL text: what `timed_automata.py` lacks, all in one language.

Three processes, arrays of clocks indexed by data, functions that read and set clocks, bounds from tables, several
receiving edges, urgent broadcasts, priorities of channels, comparisons of two clocks, and (when asked for) stopwatches.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import Network, load_network
from tests.support.timed_automata import LARGEST, Maker

_DECLARED = (
    " int[0,2] n = 0; int[0,1] m = 0; chan c; broadcast chan d; urgent chan u; urgent broadcast chan w;"
    " const int K = 2; int[0,3] A[3] = {1, 3, 0}; bool late() { return x >= 2; } int lim(int i) { return A[i] + 0; }"
    " void bump() { n = (n + 1) % 3; if (n == 1) x = 0; } void back() { y = 0; m = 1 - m; }"
)


@dataclass(frozen=True)
class Text:
    """A network, its text, and two conditions about its states."""

    network: Network
    text: str
    condition: str
    premise: str


def random_text(seed: int, *, stopwatches: bool = False) -> Text | None:
    """A network, or None where the reader refuses what was drawn (some priorities)."""
    maker = _Maker(random.Random(f"text {seed} {stopwatches}"), stopwatches)
    text = maker.text()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "random.xta"
        file.write_text(text)
        try:
            network = load_network(file)
        except UserError as error:
            assert "these priorities are not supported" in str(error), (seed, str(error))
            return None
    return Text(network, text, maker.condition(network), maker.condition(network))


class _Maker(Maker):
    DATA = (*Maker.DATA, "m == 0", "m == 1")

    def __init__(self, drawn: random.Random, stopwatches: bool) -> None:
        super().__init__(drawn)
        self.stopwatches, self.rates = stopwatches, False
        self.differences, self.priorities = self.chance(0.2), self.chance(0.2)
        self.arrays = not self.differences and self.chance(0.3)
        self.clocks = ["x", "y", *(["z[0]", "z[1]", "z[n > 0 ? 1 : 0]"] if self.arrays else [])]

    def text(self) -> str:
        text = ("clock x, y; clock z[2];" if self.arrays else "clock x, y;") + _DECLARED
        text += " chan priority c < default < d;\n" if self.priorities else "\n"
        count = self.random.choice([1, 2, 2, 3])
        for p in range(count):
            self.rates = self.stopwatches and p == 0  # one process decides how clocks run
            text += f"process P{p}() {self.process(count > 1)}\n"
        return text + "system " + ", ".join(f"P{p}" for p in range(count)) + ";\n"

    def process(self, several: bool) -> str:
        places = [f"L{i}" for i in range(self.random.randint(2, 3))]
        states, urgent, committed, edges = [], [], [], []
        for place in places:
            invariant, kind = self.invariant(), self.random.random()
            states.append(place + (f" {{ {invariant} }}" if invariant else ""))
            (urgent if kind < 0.08 else committed if kind < 0.15 else []).append(place)
            for _ in range(self.random.randint(1, 3)):
                channels = "cddd" + ("uw" if self.chance(0.3) else "")
                sync = self.random.choice(channels) + self.random.choice("!?") if several and self.chance(0.5) else ""
                labels = {"guard": self.guard(clocks=sync[:1] not in ("u", "w")), "sync": sync, "assign": self.update()}
                written = "".join(f"{key} {value}; " for key, value in labels.items() if value)
                edges.append(f"{place} -> {self.random.choice(places)} {{ {written}}}")
        parts = [f"state {', '.join(states)};"]
        parts += [f"commit {', '.join(committed)};"] if committed else []
        parts += [f"urgent {', '.join(urgent)};"] if urgent else []
        return "{ " + " ".join([*parts, "init L0;", f"trans {', '.join(edges)};"]) + " }"

    def atom(self) -> str:
        draw = self.random
        if self.differences and self.chance(0.4):
            return f"x - y {draw.choice(['<', '<=', '>', '>=', '=='])} {draw.randint(-2, 2)}"
        if self.chance(0.1):
            return draw.choice(["late()", "!late()"])
        bound = draw.choice(["n", "K", "n + 1", "A[n]", "lim(n)", "m + n"])
        bound = bound if self.chance(0.25) else str(draw.randint(0, LARGEST))
        return f"{draw.choice(self.clocks)} {draw.choice(['<', '<=', '>', '>=', '==', '<=', '!='])} {bound}"

    def invariant(self) -> str:
        draw, parts = self.random, ["x <= 3 && y <= 3"] if self.differences else []
        if self.chance(0.5):
            bound = draw.choice(["1", "2", "3", "n + 1", "A[m]"])
            parts.append(f"{draw.choice(self.clocks)} {draw.choice(['<', '<='])} {bound}")
        if self.chance(0.1):
            parts.append(draw.choice(["n < 2", "(m == 0 || x <= 2)", "n != 1"]))
        if self.differences and self.chance(0.2):
            parts.append(f"x - y <= {draw.randint(0, 2)}")
        if self.rates and self.chance(0.6):
            parts.append(draw.choice(["x' == 0", "y' == 0", "x' == m", "x' == 0 && y' == 0", "y' == (n > 0 ? 1 : 0)"]))
        return " && ".join(parts)

    def update(self) -> str:
        choices = ["x = 0", "y = 0", "x = 0", "n = 0", "n = (n + 1) % 3", "n = 2", "x = 1", "y = K", "m = 1 - m"]
        choices += ["bump()", "back()", "x = n", "x = A[n]"]
        choices += ["z[n > 0 ? 1 : 0] = 0", "z[0] = 0", "z[1] = 2", "z[m] = 1"] if self.arrays else []
        choices += ["x = y", "y = x"] if self.chance(0.1) else []
        return ", ".join(self.random.choice(choices) for _ in range(self.random.randint(0, 2)))

    def condition(self, network: Network) -> str:
        """Mostly convex in the clocks."""
        draw = self.random
        process = draw.choice(network.processes)
        parts = [("!" if self.chance(0.2) else "") + f"{process.name}.{draw.choice(process.locations).name}"]
        if self.chance(0.5):
            parts.append(f"{draw.choice('xy')} {draw.choice(['<', '<=', '>', '>='])} {draw.randint(0, LARGEST)}")
        if self.differences and self.chance(0.3):
            parts.append(f"x - y {draw.choice(['<', '>='])} {draw.randint(-2, 2)}")
        if self.chance(0.3):
            parts.append(draw.choice(["n == 2", "n > 0", "n < 2", "m == 1"]))
        return " && ".join(parts)
