"""Named seeds: every random choice has a name, and its numbers depend on that name alone.

    root = SeedTree(7)
    rng = root.child("run", 3, "query", 17).rng()      # a numpy Generator
    word = root.child("run", 3, "walks").word()        # 64 bits for the compiled kernel

A new consumer changes no other consumer's numbers, and the order of requests does not matter: one core, eight
processes and a cluster give the same result.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def draw_seed() -> int:
    """Draw a seed for a run that was given none; callers print and store it."""
    return secrets.randbelow(2**31)


@dataclass(frozen=True)
class SeedTree:
    root: int
    path: tuple[str, ...] = ()

    def child(self, *names: object) -> SeedTree:
        return SeedTree(self.root, self.path + tuple(str(n) for n in names))

    def _digest(self) -> bytes:
        return hashlib.sha256(f"{self.root}\x1e{chr(31).join(self.path)}".encode()).digest()

    def word(self) -> int:
        """64 bits, for generators that are seeded by one integer."""
        return int.from_bytes(self._digest()[:8], "little")

    def words(self, count: int) -> np.ndarray:
        """`count` independent 64-bit words (uint64); the first ones do not depend on `count`."""
        import numpy as np

        return self.rng().integers(0, 2**64, size=count, dtype=np.uint64)

    def rng(self) -> np.random.Generator:
        import numpy as np

        entropy = np.frombuffer(self._digest(), "<u4")
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))

    def __str__(self) -> str:
        return f"{self.root}:{'/'.join(self.path)}"
