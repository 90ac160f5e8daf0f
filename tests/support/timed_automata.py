"""Random small timed automata with integer constants and few clocks, of which all regions can be explored by hand."""

from __future__ import annotations

import random

from bbfalsify.modelling import Network
from bbfalsify.modelling.formats.python_builder import NetworkBuilder

LARGEST = 3
CLOCKS = ("x", "y")


def random_network(seed: int, *, branches: bool = False) -> Network:
    """One or two processes, two clocks, a small integer; handshakes, broadcasts, urgent and committed locations.

    With `branches`, a third of the edges end in one of two ways.
    """
    return _Maker(random.Random(seed), branches).network()


class Maker:
    """Draws guards; subclasses say what an atom about clocks is."""

    DATA = ("n == 0", "n > 0", "n != 1", "n < 2")

    def __init__(self, random: random.Random) -> None:
        self.random = random

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def atom(self) -> str:
        raise NotImplementedError

    def guard(self, *, clocks: bool) -> str:
        parts = []
        if clocks and self.chance(0.7):
            parts.append(self.atom())
        if clocks and self.chance(0.25):
            parts.append(self.atom() if self.chance(0.6) else f"({self.atom()} || {self.atom()})")
        if self.chance(0.3):
            parts.append(self.random.choice(self.DATA))
        return " && ".join(parts)


class _Maker(Maker):
    def __init__(self, random: random.Random, branches: bool) -> None:
        super().__init__(random)
        self.branches = branches

    def network(self) -> Network:
        b = NetworkBuilder("random")
        b.declare("clock x, y; int[0,2] n = 0; chan c; broadcast chan d; urgent chan u; const int K = 2;")
        processes = self.random.choice([1, 2, 2])
        for p in range(processes):
            automaton = b.automaton(f"P{p}")
            places = [f"L{i}" for i in range(self.random.randint(2, 3))]
            for place in places:
                kind = self.random.random()
                automaton.location(
                    place, invariant=self.invariant() if self.chance(0.5) else None, urgent=kind < 0.08,
                    committed=0.08 <= kind < 0.14,
                )  # fmt: skip
            for place in places:
                for _ in range(self.random.randint(1, 3)):
                    sync = self.random.choice(["c!", "c?", "d!", "d?", "u!", "u?"]) if processes > 1 else None
                    sync = sync if self.chance(0.45) else None
                    clocks = sync is None or sync[0] != "u"
                    guard = self.guard(clocks=clocks) or None
                    if self.branches and self.chance(0.35):
                        ends = [(self.random.choice(places), w, self.update() or "") for w in (1, "n + 1")]
                        automaton.edge(place, guard=guard, sync=sync, branches=ends)
                        continue
                    automaton.edge(place, self.random.choice(places), guard=guard, sync=sync, update=self.update())
            b.instance(f"P{p}")
        return b.build()

    def atom(self) -> str:
        clock, constant = self.random.choice(CLOCKS), self.random.randint(0, LARGEST)
        bound = str(constant) if self.chance(0.85) else self.random.choice(["n", "K", "n + 1"])
        return f"{clock} {self.random.choice(['<', '<=', '>', '>=', '=='])} {bound}"

    def invariant(self) -> str:
        clock = self.random.choice(CLOCKS)
        first = f"{clock} {self.random.choice(['<', '<='])} {self.random.randint(1, LARGEST)}"
        return first if self.chance(0.7) else f"{first} && {self.random.choice(['n < 2', 'y <= 3', 'x <= n + 1'])}"

    def update(self) -> str | None:
        choices = ["x = 0", "y = 0", "x = 0", "n = 0", "n = (n + 1) % 3", "n = 2", "x = 1", "y = K", "x = y"]
        parts = [self.random.choice(choices[: 8 if self.chance(0.9) else 9]) for _ in range(self.random.randint(0, 2))]
        return ", ".join(parts) or None


def random_condition(seed: int, network: Network) -> str:
    """A condition about locations, the integer and clocks; convex in the clocks."""
    r = random.Random(f"condition {seed}")
    process = r.choice(network.processes)
    places = [f"{process.name}.{location.name}" for location in process.locations]
    parts = [r.choice(places) if r.random() < 0.8 else f"!{r.choice(places)}"]
    if r.random() < 0.5:
        parts.append(f"{r.choice(CLOCKS)} {r.choice(['<', '<=', '>', '>='])} {r.randint(0, LARGEST)}")
    if r.random() < 0.3:
        parts.append(r.choice(["n == 2", "n > 0", "n < 2"]))
    return " && ".join(parts)
