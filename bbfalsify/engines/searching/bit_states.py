"""Bit-state hashing (Holzmann): a visited state is three bits of one large array.

A state whose three bits happen to be set is taken for visited, and what only it leads to is missed.  So a search over
bits finds, but never proves.
"""

from __future__ import annotations

import hashlib

import numpy as np

from bbfalsify.engines.searching.transition_system import State

HASHES = 3


class BitStates:
    def __init__(self, megabytes: float | None) -> None:
        size = int((megabytes or 1.0) * 1e6)
        self._bytes = np.zeros(max(size, 1), np.uint8)
        self._bits = 8 * len(self._bytes)
        self._count = 0
        self.missed = 0.0
        """Expected number of states taken for visited by mistake."""

    def _places(self, state: State) -> list[int]:
        # The built-in hash of texts differs from process to process, so states are hashed by what they look like.
        text = state if isinstance(state, bytes) else repr(state).encode()
        digest = hashlib.blake2b(text, digest_size=8 * HASHES).digest()
        return [int.from_bytes(digest[i : i + 8], "little") % self._bits for i in range(0, 8 * HASHES, 8)]

    def __contains__(self, state: State) -> bool:
        return all(self._bytes[place >> 3] >> (place & 7) & 1 for place in self._places(state))

    def add(self, state: State) -> None:
        self.missed += (HASHES * self._count / self._bits) ** HASHES
        self._count += 1
        for place in self._places(state):
            self._bytes[place >> 3] |= 1 << (place & 7)

    def __len__(self) -> int:
        """Number of states added."""
        return self._count
