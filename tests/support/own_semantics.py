"""UPPAAL's semantics written again, for small random networks: a judge that shares no code with the library.

A network is drawn as data, written as XML for the library, and explored here: guards and updates are evaluated by
Python itself, so reading, resolving, rewriting and executing a model are all judged.  States are regions: the integral
parts of clocks up to the largest constant, and the order of their fractions; one representative of each is followed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from types import CodeType
from xml.sax.saxutils import escape

LARGEST = 3
"""The largest constant that a clock is compared with."""
MOST_REGIONS = 2_500
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

Region = tuple[tuple[int, ...], int, int, tuple[Fraction, ...]]
"""Locations, n, m, clocks."""


class TooMany(Exception):  # noqa: N818
    """The network has more regions than are worth exploring."""


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

    def xml(self) -> str:
        declared = f"clock {', '.join(self.clocks)}; int[0,2] n = 0; int[0,1] m = 0;"
        declared += " chan c; broadcast chan d, e; urgent chan u; urgent broadcast chan w;"
        declared += "".join(f"\nvoid {name}() {{ {body} }}" for name, body in self.functions.items())
        names = ", ".join(f"P{p}" for p in range(len(self.automata)))
        templates = "\n".join(_template(p, automaton) for p, automaton in enumerate(self.automata))
        return (
            f"<nta><declaration>{escape(declared)}</declaration>\n{templates}\n<system>system {names};</system></nta>"
        )


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

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def network(self) -> Sketched:
        pick = self.random.choice
        bodies = list(FUNCTIONS)
        functions = {"bump": pick(bodies[:3]), "back": pick(bodies[3:5])}
        if self.chance(0.3):
            functions |= {"before_update": pick(bodies[4:]), "after_update": pick(bodies[5:])}
        automata = [self.automaton() for _ in range(pick([2, 2, 3]))]
        return Sketched(self.clocks, automata, functions)

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
        parts = []
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


class OwnSemantics:
    """All regions of a network, with what fires in each and what waiting leads to."""

    def __init__(self, network: Sketched) -> None:
        self.network = network
        self._code: dict[str, CodeType] = {}
        zero = (Fraction(0),) * len(network.clocks)
        self.first = self.representative(((0,) * len(network.automata), 0, 0, zero))
        self.fires: dict[Region, list[Region]] = {}
        self.waits: dict[Region, Region | None] = {}
        pending = [self.first] if self.invariants_hold(self.first) else []
        while pending:
            region = pending.pop()
            if region in self.fires:
                continue
            if len(self.fires) == MOST_REGIONS:
                raise TooMany
            self.fires[region] = [self.representative(after) for _, after in self.transitions(region)]
            later = self.later(region)
            self.waits[region] = None if later is None else self.representative(later)
            pending += [*self.fires[region], *([] if later is None else [self.waits[region]])]

    # --- regions -----------------------------------------------------------------------------------------------------

    def representative(self, state: Region) -> Region:
        """The same region with small numbers; a clock beyond all constants is LARGEST + 1."""
        parts = sorted({value % 1 for value in state[3] if value <= LARGEST and value % 1})
        shares = {part: Fraction(k, len(parts) + 1) for k, part in enumerate(parts, 1)} | {Fraction(0): Fraction(0)}
        clocks = (v // 1 + shares[v % 1] if v <= LARGEST else Fraction(LARGEST + 1) for v in state[3])
        return (*state[:3], tuple(map(Fraction, clocks)))

    def later(self, region: Region) -> Region | None:
        """The region after waiting, None if time cannot pass; itself, if all clocks are large."""
        if any(kind for kind in self.kinds(region)):
            return None
        if any(channel in ("u", "w") for channel, _ in self.transitions(region)):
            return None
        small = [value for value in region[3] if value <= LARGEST]
        delay = min((1 - value % 1 for value in small), default=Fraction(1))
        delay = delay / 2 if any(value % 1 == 0 for value in small) else delay
        found = (*region[:3], tuple(value + delay for value in region[3]))
        return found if self.invariants_hold(found) else None

    # --- states ------------------------------------------------------------------------------------------------------

    def evaluated(self, text: str, region: Region) -> bool:
        if text not in self._code:
            as_python = re.sub("!(?!=)", " not ", text).replace("&&", " and ").replace("||", " or ")
            self._code[text] = compile(as_python.strip(), text, "eval")
        return bool(eval(self._code[text], {}, self.values(region)))  # noqa: S307  our own text

    def values(self, region: Region) -> dict[str, Fraction | int]:
        return {"n": region[1], "m": region[2], **dict(zip(self.network.clocks, region[3], strict=True))}

    def kinds(self, region: Region) -> list[str]:
        return [a.locations[i][1] for a, i in zip(self.network.automata, region[0], strict=True)]

    def invariants_hold(self, region: Region) -> bool:
        found = (a.locations[i][0] for a, i in zip(self.network.automata, region[0], strict=True))
        return all(self.evaluated(invariant, region) for invariant in found if invariant)

    # --- transitions -------------------------------------------------------------------------------------------------

    def taking_part(self, region: Region) -> Iterator[list[tuple[int, Arrow]]]:
        """Every choice of processes and their arrows, sender first, then receivers by number."""
        enabled = [
            [a for a in automaton.arrows if a.source == here and (not a.guard or self.evaluated(a.guard, region))]
            for automaton, here in zip(self.network.automata, region[0], strict=True)
        ]
        for p, arrows in enumerate(enabled):
            for arrow in arrows:
                if arrow.sync.endswith("?"):
                    continue
                heard = arrow.sync[:1] + "?"
                receiving = [
                    [(q, other) for other in others if q != p and arrow.sync and other.sync == heard]
                    for q, others in enumerate(enabled)
                ]
                if arrow.sync[:1] in ("c", "u"):
                    yield from ([(p, arrow), one] for group in receiving for one in group)
                else:  # every process that can receive does
                    yield from ([(p, arrow), *chosen] for chosen in product(*filter(None, receiving)))

    def transitions(self, region: Region) -> Iterator[tuple[str, Region]]:
        """Channel and state entered, for every choice of arrows and branches after which all invariants hold."""
        kinds = self.kinds(region)
        for parties in self.taking_part(region):
            if "committed" in kinds and not any(kinds[p] == "committed" for p, _ in parties):
                continue
            for ends in product(*(arrow.ends for _, arrow in parties)):
                locations, values = list(region[0]), self.values(region)
                updates = [update for _, _, found in ends for update in found]
                for update in ("before_update()", *updates, "after_update()"):
                    self.execute(update, values)
                for (p, _), (target, _, _) in zip(parties, ends, strict=True):
                    locations[p] = target
                clocks = tuple(Fraction(values[name]) for name in self.network.clocks)
                after = tuple(locations), int(values["n"]), int(values["m"]), clocks
                if self.invariants_hold(after):
                    yield parties[0][1].sync[:1], after

    def execute(self, update: str, values: dict[str, Fraction | int]) -> None:
        if update.endswith("()"):
            body = self.network.functions.get(update[:-2])
            update = FUNCTIONS[body] if body is not None else ""
        if update not in self._code:
            self._code[update] = compile(update, update, "exec")
        exec(self._code[update], {}, values)  # noqa: S102  our own text

    # --- questions ---------------------------------------------------------------------------------------------------

    def discrete(self) -> set[tuple[tuple[int, ...], int, int]]:
        """Locations, n and m of all states that can be reached."""
        return {region[:3] for region in self.fires}

    def is_dead(self, region: Region | None) -> bool:
        """Tell whether nothing fires, now or after any delay."""
        seen = set()
        while region is not None and region not in seen:
            seen.add(region)
            if self.fires[region]:
                return False
            region = self.waits[region]
        return True

    def can_avoid(self, process: int, location: int) -> bool:
        """Tell whether some run goes on for ever, or ends, without this location."""
        lasting = {region for region in self.fires if region[0][process] != location}
        while True:
            after = {r: [*self.fires[r], *([] if self.waits[r] is None else [self.waits[r]])] for r in lasting}
            lost = {r for r, found in after.items() if found and not lasting.intersection(found)}
            if not lost:
                return self.first in lasting
            lasting -= lost
