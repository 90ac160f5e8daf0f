"""UPPAAL's semantics written again, for small random networks: a judge that shares no code with the library.

The library reads a network as XML (`own_networks.py`); here its guards and updates are evaluated by Python itself, so
reading, resolving, rewriting and executing a model are all judged.  States are regions: the integral parts of clocks up
to the largest constant, and the order of their fractions; one representative of each is followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from types import CodeType

from tests.support.own_networks import FUNCTIONS, LARGEST, Arrow, Sketched

MOST_REGIONS = 2_500

Region = tuple[tuple[int, ...], int, int, tuple[Fraction, ...]]
"""Locations, n, m, clocks."""


class TooMany(Exception):  # noqa: N818
    """The network has more regions than are worth exploring."""


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

    def transitions(self, region: Region) -> list[tuple[str, Region]]:
        """Channel and state entered of all that can happen now: what is possible and has the highest priority."""
        possible = list(self.possible(region))
        highest = max((rank for rank, _, _ in possible), default=None)
        return [(channel, after) for rank, channel, after in possible if rank == highest]

    def possible(self, region: Region) -> Iterator[tuple[tuple[int, int], str, Region]]:
        """Priority, channel and state entered, for every choice after which all invariants hold."""
        kinds = self.kinds(region)
        for parties in self.taking_part(region):
            if "committed" in kinds and not any(kinds[p] == "committed" for p, _ in parties):
                continue
            channel = parties[0][1].sync[:1]
            rank = self.network.level(channel), max(self.network.ranks[p] for p, _ in parties)
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
                    yield rank, channel, after

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
