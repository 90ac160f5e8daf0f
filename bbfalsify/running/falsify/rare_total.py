"""The probability of any violation by importance sampling, where plain simulation met too few."""

from __future__ import annotations

from collections.abc import Sequence

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.importance import FEW, RELATIVE, ImportanceSampling
from bbfalsify.engines.estimation.tilted_uses import TiltedUses
from bbfalsify.engines.estimation.uses import JudgedUses
from bbfalsify.engines.estimation.words import MOST_WORDS, Key, Words
from bbfalsify.engines.falsification.baseline.smc import SmcOptions
from bbfalsify.engines.falsification.usage import Usage

FEW_HITS = 10
"""With fewer violations than this, plain simulation says too little."""
LEAST, MOST = 50, 1000
"""Uses in each round of training."""


def rare_total(
    ask: Ask, usage: Usage, requirement: int, options: SmcOptions, seeds: SeedTree, listed: Sequence[Key] = ()
) -> Estimate | None:
    """How probable any violation is, by at most as many uses as plain simulation may take; None where it stays unknown.

    An estimate whose weights have heavy tails is not told; then the listed words are summed, which is at least so much;
    each of them may take as many uses again.
    """
    most = options.simulations or 20 * MOST
    uses = JudgedUses(ask, usage, requirement, f"rare/{requirement}")
    sampling = ImportanceSampling(
        TiltedUses(uses), seeds, options.confidence, options.relative or RELATIVE, min(MOST, max(LEAST, most // 20)),
        most, lambda: True,
    )  # fmt: skip
    found = sampling.estimate()
    if not found.none_seen and sampling.trusted and sampling.effective >= FEW:
        return found
    of_words = Words(
        JudgedUses(ask, usage, requirement, f"rare/{requirement}/listed"), seeds.child("listed"), options.confidence,
        options.relative or RELATIVE, min(MOST, max(LEAST, most // 20)), most * min(len(listed), MOST_WORDS),
        lambda: True,
    )  # fmt: skip
    return of_words.sum_over(listed[:MOST_WORDS]) if listed else None
