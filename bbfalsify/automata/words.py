"""Many words as two arrays.

words = Words.of(("coin", "push"), [("coin",), ("push", "coin")])
words.symbols, words.ends        # [0, 1, 0], [1, 3]: numbers of inputs, and the end of each word
words[1]                         # ("push", "coin")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.automata.mealy import Word
from bbfalsify.core.errors import UserError, unknown_name


@dataclass(frozen=True, eq=False)
class Words:
    """Words over one alphabet, concatenated."""

    inputs: tuple[str, ...]
    symbols: np.ndarray
    """int32, numbers of inputs."""
    ends: np.ndarray
    """int64, the end of each word in `symbols`."""

    @classmethod
    def of(cls, inputs: Sequence[str], words: Iterable[Sequence[str]]) -> Words:
        number = {symbol: i for i, symbol in enumerate(inputs)}
        symbols: list[int] = []
        ends = []
        try:
            for word in words:
                symbols += [number[symbol] for symbol in word]
                ends.append(len(symbols))
        except KeyError as error:
            raise UserError(unknown_name("input", error.args[0], tuple(inputs))) from None
        return cls(tuple(inputs), np.array(symbols, np.int32), np.array(ends, np.int64))

    def __len__(self) -> int:
        return len(self.ends)

    def span(self, index: int) -> slice:
        """The part of `symbols`, and of their outputs, that belongs to a word."""
        return slice(int(self.ends[index - 1]) if index else 0, int(self.ends[index]))

    def __getitem__(self, index: int) -> Word:
        return tuple(self.inputs[i] for i in self.symbols[self.span(index)].tolist())

    def __iter__(self) -> Iterator[Word]:
        names, symbols, start = self.inputs, self.symbols.tolist(), 0
        for end in self.ends.tolist():
            yield tuple([names[i] for i in symbols[start:end]])
            start = end

    def parts(self, count: int) -> Iterator[Words]:
        """Split into parts of `count` words."""
        for first in range(0, len(self), count):
            ends = self.ends[first : first + count]
            start = int(self.ends[first - 1]) if first else 0
            yield Words(self.inputs, self.symbols[start : ends[-1]], ends - start)


def renaming(names: Iterable[str], wanted: Sequence[str]) -> np.ndarray:
    """Array: number among `names` → number among `wanted`, -1 for missing names."""
    number = {name: i for i, name in enumerate(wanted)}
    return np.array([number.get(name, -1) for name in names], np.int32)
