"""The probability of any violation by importance sampling, where plain simulation met too few."""

from __future__ import annotations

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.importance import FEW, RELATIVE, ImportanceSampling
from bbfalsify.engines.estimation.tilted_uses import TiltedUses
from bbfalsify.engines.estimation.uses import JudgedUses
from bbfalsify.engines.falsification.smc import SmcOptions
from bbfalsify.engines.falsification.usage import Usage

FEW_HITS = 10
"""With fewer violations than this, plain simulation says too little."""
LEAST, MOST = 50, 1000
"""Uses in each round of training."""


def rare_total(ask: Ask, usage: Usage, requirement: int, options: SmcOptions, seeds: SeedTree) -> Estimate | None:
    """How probable any violation is, by at most as many uses as plain simulation may take; None where it stays unknown.

    An estimate whose weights have heavy tails is not told.
    """
    most = options.simulations or 20 * MOST
    uses = JudgedUses(ask, usage, requirement, f"rare/{requirement}")
    sampling = ImportanceSampling(
        TiltedUses(uses), seeds, options.confidence, options.relative or RELATIVE, min(MOST, max(LEAST, most // 20)),
        most, lambda: True,
    )  # fmt: skip
    found = sampling.estimate()
    heavy = any("heavy tails" in warning for warning in sampling.said)
    return None if found.none_seen or heavy or sampling.effective < FEW else found
