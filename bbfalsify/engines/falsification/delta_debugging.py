"""Which parts of a word may be left out: delta debugging's cuts, fitted to an automaton.

Parts of one size are taken every half size.  A part is simply left out, or replaced by a shorter way through the
profile that leads to where it led; whether the profile allows the result, and whether it still violates, is seen later.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bbfalsify.engines.falsification.neighbours import Key, Place
from bbfalsify.engines.falsification.routes import Routes

SMALL = 6
"""Parts up to this size are not halved, but made smaller one by one: loops of a profile have some length."""


@dataclass(frozen=True)
class Cut:
    """A word with a part left out."""

    word: Key
    parts: tuple[int | str, ...]
    """Of the longer word, the positions that are kept; new actions of a way that takes the part's place."""

    @staticmethod
    def of(longer: Key, parts: Sequence[int | str]) -> Cut:
        return Cut(tuple(longer[part] if isinstance(part, int) else part for part in parts), tuple(parts))

    @property
    def untouched(self) -> int:
        """Actions before the first that is left out."""
        return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], enumerate(self.parts)))


def next_size(size: int) -> int:
    return size // 2 if size > SMALL else size - 1


def cuts_of_size(word: Key, places: Sequence[Place], size: int, routes: Routes) -> Iterator[Cut]:
    """Every shorter word that leaves out one part; `places` are those before each action and after the last."""
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
    """Where the longer word has these actions in this order, as near to its end as possible; None: nowhere."""
    places: list[int] = []
    at = len(longer)
    for action in reversed(word):
        at = next((i for i in range(at - 1, -1, -1) if longer[i] == action), -1)
        if at < 0:
            return None
        places.append(at)
    return tuple(reversed(places))
