"""Small random networks as UPPAAL's XML, for a judge that shares no code with the library (`own_semantics.py`).

Processes often receive one broadcast by several edges, also with branches; there are urgent and committed locations,
urgent channels, functions, `before_update`, and priorities of channels and processes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise
from xml.sax.saxutils import escape

LARGEST = 3
"""The largest constant that a clock is compared with."""
FUNCTIONS = {
    "n = (n + 1) % 3; if (n == 1) x = 0;": "n = (n + 1) % 3\nif n == 1: x = 0",
    "n = n == 2 ? 0 : n + 1;": "n = 0 if n == 2 else n + 1",
    "if (m == 1) { n = 0; } else { x = 1; }": "if m == 1: n = 0\nelse: x = 1",
    "x = 0; m = 1 - m;": "x = 0; m = 1 - m",
    "m = 1 - m;": "m = 1 - m",
    "n = 2;": "n = 2",
    "if (n == 2) n = 0;": "if n == 2: n = 0",
    "x = 0;": "x = 0",
}
"""Bodies of functions, in UPPAAL's language and in Python."""


@dataclass
class Arrow:
    source: int
    guard: str
    sync: str
    ends: list[tuple[int, str, list[str]]]
    """Target, weight, updates; several are the branches behind a branch point."""


@dataclass
class Automaton:
    locations: list[tuple[str, str]]
    """Invariant, and urgent or committed."""
    arrows: list[Arrow]


@dataclass
class Sketched:
    clocks: tuple[str, ...]
    automata: list[Automaton]
    functions: dict[str, str] = field(default_factory=dict)
    levels: list[list[str]] = field(default_factory=list)
    """Channels by rising priority, `default` among them; all are equal if there are none."""
    ranks: list[int] = field(default_factory=list)
    """Priority of each process: as that of the process before it, or one more."""

    def level(self, channel: str) -> int:
        return next((k for k, names in enumerate(self.levels) if (channel or "default") in names), 0)

    def xml(self) -> str:
        declared = f"clock {', '.join(self.clocks)}; int[0,2] n = 0; int[0,1] m = 0;"
        declared += " chan c; broadcast chan d, e; urgent chan u; urgent broadcast chan w;"
        if self.levels:
            declared += f" chan priority {' < '.join(', '.join(names) for names in self.levels)};"
        declared += "".join(f"\nvoid {name}() {{ {body} }}" for name, body in self.functions.items())
        names = "P0"
        for p, (before, rank) in enumerate(pairwise(self.ranks), 1):
            names += f" < P{p}" if rank > before else f", P{p}"
        templates = "\n".join(_template(p, automaton) for p, automaton in enumerate(self.automata))
        system = f"<system>system {escape(names)};</system>"
        return f"<nta><declaration>{escape(declared)}</declaration>\n{templates}\n{system}</nta>"


def _label(kind: str, text: str) -> str:
    return f'<label kind="{kind}">{escape(text)}</label>' if text else ""


def _template(p: int, automaton: Automaton) -> str:
    parts, arrows = [f"<template><name>P{p}</name>"], []
    for i, (invariant, kind) in enumerate(automaton.locations):
        inside = _label("invariant", invariant) + (f"<{kind}/>" if kind else "")
        parts.append(f'<location id="l{p}_{i}"><name>L{i}</name>{inside}</location>')
    for k, arrow in enumerate(automaton.arrows):
        begins = f'<transition><source ref="l{p}_{arrow.source}"/>'
        labels = _label("guard", arrow.guard) + _label("synchronisation", arrow.sync)
        ends = [
            (f'<target ref="l{p}_{target}"/>', w, _label("assignment", ", ".join(u))) for target, w, u in arrow.ends
        ]
        if len(ends) == 1:
            arrows.append(f"{begins}{ends[0][0]}{labels}{ends[0][2]}</transition>")
            continue
        parts.append(f'<branchpoint id="b{p}_{k}"/>')
        arrows.append(f'{begins}<target ref="b{p}_{k}"/>{labels}</transition>')
        arrows += [
            f'<transition><source ref="b{p}_{k}"/>{target}{updates}{_label("probability", weight)}</transition>'
            for target, weight, updates in ends
        ]
    return "".join([*parts, f'<init ref="l{p}_0"/>', *arrows, "</template>"])


class Drawing:
    """Draws networks in which processes often receive one broadcast by several edges, also with branches."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(f"own semantics {seed}")
        self.clocks = ("x", "y", "z")[: self.random.choice([1, 2, 2, 3] if seed % 3 == 0 else [1, 2, 2])]
        self.heavy = seed % 4 != 0
        """Nearly all is broadcast, and most guards are missing."""
        self.prioritised = seed % 5 == 0
        """Few invariants then: not every priority above them is read."""

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def network(self) -> Sketched:
        pick = self.random.choice
        bodies = list(FUNCTIONS)
        functions = {"bump": pick(bodies[:3]), "back": pick(bodies[3:5])}
        if self.chance(0.3):
            functions |= {"before_update": pick(bodies[4:]), "after_update": pick(bodies[5:])}
        automata = [self.automaton() for _ in range(pick([2, 2, 3]))]
        sketched = Sketched(self.clocks, automata, functions, ranks=[0] * len(automata))
        if self.prioritised:
            self.give_priorities(sketched)
        return sketched

    def give_priorities(self, sketched: Sketched) -> None:
        levels: list[list[str]] = [[], [], []]
        for name in ("c", "d", "e", "u", "w", "default"):
            self.random.choice(levels).append(name)
        sketched.levels = [names for names in levels if names] if self.chance(0.7) else []
        for p in range(1, len(sketched.ranks)):
            sketched.ranks[p] = sketched.ranks[p - 1] + self.random.randint(0, 1)

    def automaton(self) -> Automaton:
        places = range(self.random.randint(2, 3))
        locations = []
        for _ in places:
            kind = self.random.random()
            locations.append((self.invariant(), "urgent" if kind < 0.08 else "committed" if kind < 0.16 else ""))
        arrows = [self.arrow(i, len(places), self.sync()) for i in places for _ in range(self.random.randint(1, 3))]
        receiving = self.random.choice(places)
        arrows += [self.arrow(receiving, len(places), "d?") for _ in range(self.random.randint(1, 2))]
        return Automaton(locations, arrows)

    def sync(self) -> str:
        if not self.chance(0.9 if self.heavy else 0.7):
            return ""
        channels = "d" if self.heavy else self.random.choice(["ddec", "cdddeuw"])
        return self.random.choice(channels) + self.random.choice("!??")

    def arrow(self, source: int, places: int, sync: str) -> Arrow:
        several = self.chance(0.4)
        ends = [
            (self.random.randrange(places), self.random.choice(["1", "3", "n + 1"]), self.updates())
            for _ in range(self.random.choice([2, 2, 3]) if several else 1)
        ]
        guarded = not self.heavy or self.chance(0.4)
        return Arrow(source, self.guard(clocks=sync[:1] not in ("u", "w")) if guarded else "", sync, ends)

    def atom(self, *, clocks: bool) -> str:
        if not clocks or self.chance(0.25):
            return self.random.choice(["n == 0", "n > 0", "m == 1", "m == 0", "n != 2", "n == m"])
        bound = self.random.randint(0, LARGEST) if self.chance(0.8) else self.random.choice(["n", "n + 1", "m"])
        return f"{self.random.choice(self.clocks)} {self.random.choice(['<', '<=', '>=', '>', '=='])} {bound}"

    def guard(self, *, clocks: bool) -> str:
        return " && ".join(self.atom(clocks=clocks) for _ in range(self.random.choice([0, 1, 1, 2])))

    def invariant(self) -> str:
        parts: list[str] = []
        if self.prioritised and self.chance(0.6):
            return ""
        if self.chance(0.45):
            bound = self.random.randint(1, LARGEST) if self.chance(0.8) else self.random.choice(["n + 1", "m + 1", "n"])
            parts.append(f"{self.random.choice(self.clocks)} {self.random.choice(['<', '<='])} {bound}")
        if self.chance(0.15):
            parts.append(self.random.choice(["n < 2", "m == 0", "n != 1", "(n == 0 || m == 1)"]))
        if self.chance(0.08):
            parts.append(f"{self.random.choice(self.clocks)} >= 1")
        return " && ".join(parts)

    def updates(self) -> list[str]:
        clock = self.random.choice(self.clocks)
        choices = [f"{clock} = 0", f"{clock} = 0", f"{clock} = {self.random.randint(0, LARGEST)}", "n = 0", "n = 2",
                   "n = (n + 1) % 3", "m = 1 - m", "m = 1", f"{clock} = n", "bump()", "back()"]  # fmt: skip
        return [self.random.choice(choices) for _ in range(self.random.choice([0, 0, 1, 1, 2, 3]))]
