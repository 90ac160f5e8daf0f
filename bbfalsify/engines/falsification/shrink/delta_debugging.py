"""Generate the cuts of delta debugging for words of an automaton.

Parts of one size start at every half size.  A part is left out, or replaced by a shorter way through the profile to the
same place; whether the profile allows the result, and whether it still violates, is checked later.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bbfalsify.engines.falsification.search.neighbours import Key, Place
from bbfalsify.engines.falsification.search.routes import Routes

SMALL = 6
"""Size up to which parts become smaller one by one instead of by halving, because of the loops of a profile."""


@dataclass(frozen=True)
class Cut:
    """A word with a part left out."""

    word: Key
    parts: tuple[int | str, ...]
    """Positions of the longer word that are kept, and actions of a way that replaces the part."""

    @staticmethod
    def of(longer: Key, parts: Sequence[int | str]) -> Cut:
        return Cut(tuple(longer[part] if isinstance(part, int) else part for part in parts), tuple(parts))

    @property
    def untouched(self) -> int:
        """Number of actions before the first that is left out."""
        return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], enumerate(self.parts)))


def next_size(size: int) -> int:
    return size // 2 if size > SMALL else size - 1


def cuts_of_size(word: Key, places: Sequence[Place], size: int, routes: Routes) -> Iterator[Cut]:
    """Yield every shorter word without one part; `places` are those before each action and after the last."""
    seen: set[Key] = set()
    for start in range(0, len(word), max(1, size // 2)):
        end = min(start + size, len(word))
        ways: list[Key] = [()]
        if end < len(word):
            way = routes.shortest(places[start], places[end])
            ways += [way] if way is not None and 0 < len(way) < end - start else []
        for way in ways:
            cut = Cut.of(word, [*range(start), *way, *range(end, len(word))])
            if cut.word and cut.word not in seen:
                seen.add(cut.word)
                yield cut


def latest_places(word: Key, longer: Key) -> tuple[int, ...] | None:
    """Find the last positions of these actions, in this order, in the longer word; None if there are none."""
    places: list[int] = []
    at = len(longer)
    for action in reversed(word):
        at = next((i for i in range(at - 1, -1, -1) if longer[i] == action), -1)
        if at < 0:
            return None
        places.append(at)
    return tuple(reversed(places))
